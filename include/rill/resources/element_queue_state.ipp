// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/element_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include <rill/core/shape_rules.hpp>

// The saved state of a queue.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a copy of element k of a batch.
inline any_array element_of(const any_array& batch, index_t k, allocator& memory) {
    any_array one(batch.dtype(), rules::slice(batch.shape()), memory);
    const auto bytes = static_cast<std::size_t>(one.size()) * size_of(one.dtype());
    copy_elements(one.dtype(), static_cast<const std::byte*>(batch.data()) + static_cast<std::size_t>(k) * bytes,
                  one.mutable_data(), one.size());
    return one;
}

RILL_COLD void element_queue::add_waiting(const call& c, std::vector<std::vector<any_array>>& to) const {
    if (c.what == form::enqueue) return to.push_back(c.given);
    for (index_t k = c.done; k < c.count; ++k) {
        auto& e = to.emplace_back();
        for (const auto& batch : c.given) e.push_back(element_of(batch, k, slots_.memory()));
    }
}

RILL_COLD std::vector<named_array> element_queue::saved_parts() const {
    std::vector<named_array> parts;
    const std::lock_guard lock(mutex_);
    auto slots = order_->slots();
    for (const auto& a : line(1)) { // the elements of an incomplete batch would return to the front
        const auto& taken = static_cast<const call&>(*a).taken;
        slots.insert(slots.begin(), taken.begin(), taken.end());
    }
    std::vector<std::vector<any_array>> elements;
    for (const auto slot : slots) elements.push_back(slots_.peek(slot));
    for (const auto& a : line(0))
        if (const auto& c = static_cast<const call&>(*a); c.is_saved) add_waiting(c, elements);
    any_array state(dtype::int64, dims{3});
    auto* const numbers = static_cast<std::int64_t*>(state.mutable_data());
    numbers[0] = static_cast<std::int64_t>(elements.size());
    numbers[1] = static_cast<std::int64_t>(order_->drawn());
    numbers[2] = closed_;
    parts.push_back({"state", state});
    if (elements.empty()) return parts;
    if (elements.size() > slots.size()) {
        any_array waiting(dtype::int64, dims{});
        *static_cast<std::int64_t*>(waiting.mutable_data()) = static_cast<std::int64_t>(elements.size() - slots.size());
        parts.push_back({"waiting", waiting});
    }
    for (std::size_t c = 0; c < traits_.components.size(); ++c) {
        const auto& first = elements[0][c];
        const std::string name = std::to_string(c);
        if (detail::all_of(elements, [&](const auto& e) { return e[c].shape() == first.shape(); }) &&
            first.shape().rank < max_rank) {
            dims shape{static_cast<index_t>(elements.size())};
            for (int i = 0; i < first.shape().rank; ++i) shape.push(first.shape()[i]);
            any_array all(first.dtype(), shape);
            auto* to = static_cast<std::byte*>(all.mutable_data());
            for (const auto& e : elements) {
                copy_elements(first.dtype(), e[c].data(), to, first.size());
                to += static_cast<std::size_t>(first.size()) * size_of(first.dtype());
            }
            parts.push_back({name, all});
        } else {
            for (std::size_t k = 0; k < elements.size(); ++k)
                parts.push_back({name + "/" + std::to_string(k), elements[k][c]});
        }
    }
    return parts;
}

RILL_COLD element_queue::contents element_queue::contents_of(std::span<const named_array> parts) const {
    const auto refuse = [&] { throw invalid_argument(named() + ": the saved state is of another queue"); };
    std::map<std::string_view, const any_array*> by_name;
    for (const auto& p : parts) by_name[p.name] = &p.value;
    const auto find = [&](const std::string& name) -> const any_array* {
        const auto at = by_name.find(name);
        return at == by_name.end() ? nullptr : at->second;
    };
    const any_array* const state = find("state");
    if (!state || state->type() != tensor_type{dtype::int64, dims{3}}) refuse();
    const auto numbers = state->elements<std::int64_t>();
    const auto count = numbers[0];
    constexpr std::int64_t most = 1 << 30, most_without_bytes = 1 << 20; // slot numbers have 32 bits
    if (count < 0 || count > most) refuse();
    contents found{.drawn = static_cast<std::uint64_t>(numbers[1]), .is_closed = numbers[2] != 0};
    if (const any_array* const waiting = find("waiting")) {
        if (waiting->type() != tensor_type{dtype::int64, dims{}}) refuse();
        const auto n = waiting->value<std::int64_t>();
        if (n < 0 || n > count) refuse();
        found.waiting = static_cast<std::size_t>(n);
    }
    for (std::int64_t k = 0; k < count; ++k) {
        auto& e = found.elements.emplace_back();
        for (std::size_t c = 0; c < traits_.components.size(); ++c) {
            if (const auto* all = find(std::to_string(c))) {
                if (all->shape().rank < 1 || all->shape()[0] != count) refuse();
                if (all->size() == 0 && count > most_without_bytes) refuse();
                e.push_back(element_of(*all, k, slots_.memory()));
            } else if (const auto* one_alone = find(std::to_string(c) + "/" + std::to_string(k))) {
                e.push_back(*one_alone);
            } else {
                refuse();
            }
        }
        check_element(e, false);
    }
    return found;
}

RILL_COLD void element_queue::check_parts(std::span<const named_array> parts) const { contents_of(parts); }

RILL_COLD void element_queue::restore_parts(std::span<const named_array> parts) {
    auto found = contents_of(parts);
    change([&] {
        slots_.drop(order_->slots());
        while (order_->size() > 0) order_->take_last();
        refuse_waiting([](const attempt& a) { return static_cast<const call&>(a).is_restored; }, nullptr);
        const std::size_t inside = found.elements.size() - found.waiting;
        for (std::size_t k = 0; k < found.elements.size(); ++k) {
            auto& e = found.elements[k];
            if (k >= inside) {
                join(std::make_shared<call>(
                    call{{}, form::enqueue, std::move(e), {}, /*is_saved=*/true, /*is_restored=*/true}));
                continue;
            }
            const auto slot = slots_.put(std::move(e));
            order_->put(slot, traits_.priority ? slots_.priority(slot) : 0);
        }
        order_->set_drawn(found.drawn);
        closed_ = found.is_closed;
    });
}

}}} // namespace rill::RILL_ABI::detail
