// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/scalar/scalar_frame_layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace rill { inline namespace RILL_ABI { namespace detail {

template <class E> void splat_as(std::byte* to, const std::byte* from, int lanes) {
    E value;
    std::memcpy(&value, from, sizeof(E));
    // a constant trip count allows one store of a whole line: a wide load would stall on several narrow stores
    constexpr int whole = static_cast<int>(number_place::line / sizeof(E));
    if (lanes == whole)
        for (int i = 0; i < whole; ++i) std::memcpy(to + static_cast<std::size_t>(i) * sizeof(E), &value, sizeof(E));
    else
        for (int i = 0; i < lanes; ++i) std::memcpy(to + static_cast<std::size_t>(i) * sizeof(E), &value, sizeof(E));
}
RILL_INLINE void splat_number(void* to, const void* from, std::size_t element, int lanes) {
    auto* const t = static_cast<std::byte*>(to);
    const auto* const f = static_cast<const std::byte*>(from);
    switch (element) {
    case 1: return splat_as<std::uint8_t>(t, f, lanes);
    case 2: return splat_as<std::uint16_t>(t, f, lanes);
    case 4: return splat_as<std::uint32_t>(t, f, lanes);
    case 8: return splat_as<std::uint64_t>(t, f, lanes);
    default: return splat_as<std::array<std::uint64_t, 2>>(t, f, lanes);
    }
}

template <class E> void splat_block(const block_args& a) {
    splat_as<E>(static_cast<std::byte*>(a.result[0]), static_cast<const std::byte*>(a.leaf[0]), static_cast<int>(a.n));
}
RILL_COLD block_function splat_function(std::size_t element) {
    switch (element) {
    case 1: return &splat_block<std::uint8_t>;
    case 2: return &splat_block<std::uint16_t>;
    case 4: return &splat_block<std::uint32_t>;
    case 8: return &splat_block<std::uint64_t>;
    default: return &splat_block<std::array<std::uint64_t, 2>>;
    }
}

RILL_COLD scalar_frame_layout::scalar_frame_layout(const scalar_code& code)
    : code_(code), place_(code.values.size()), last_(code.values.size()) {
    for (std::size_t k = 0; k < code.calls.size(); ++k)
        for (const int r : reads(code.calls[k])) last_[r] = k;
    for (const int r : code.results) last_[r] = code.calls.size();
    put_loop_carried();
    for (std::size_t v = 0; v < code.values.size(); ++v) {
        const auto& value = code.values[v];
        if (value.where == scalar_code::home::computed || value.lanes == 0) continue;
        if (code.repeats) last_[v] = code.calls.size();
        put(v);
    }
}

RILL_COLD void scalar_frame_layout::put_loop_carried() {
    for (const auto& t : code_.carried) {
        const auto now = static_cast<std::size_t>(t.value);
        auto lines = lines_of(now);
        const bool made = t.next >= 0 && code_.values[t.next].where == scalar_code::home::computed &&
                          place_[t.next].in == number_place::nowhere;
        if (made) lines = std::max(lines, lines_of(static_cast<std::size_t>(t.next)));
        const auto at = std::exchange(lines_[number_place::current], lines_[number_place::current] + lines);
        place_[now] = {number_place::current, at};
        if (made) place_[t.next] = {number_place::next, at};
    }
}

RILL_COLD void scalar_frame_layout::advance(std::size_t k) {
    const auto& c = code_.calls[k];
    for (const int w : writes(c))
        if (w >= 0) put(static_cast<std::size_t>(w));
    for (const int r : reads(c)) {
        auto& last = last_[r];
        if (last != k || place_[r].in != number_place::scratch) continue;
        last = code_.calls.size(); // an operand may occur twice: free it once
        free_of(lines_of(static_cast<std::size_t>(r))).push_back(place_[r].at);
    }
}

RILL_COLD std::uint32_t scalar_frame_layout::lines_of(std::size_t v) const {
    const std::size_t bytes = code_.values[v].element() * static_cast<std::size_t>(code_.values[v].lanes);
    return static_cast<std::uint32_t>((bytes + number_place::line - 1) / number_place::line);
}

RILL_COLD std::vector<std::uint32_t>& scalar_frame_layout::free_of(std::uint32_t lines) {
    if (lines >= free_.size()) free_.resize(lines + 1);
    return free_[lines];
}

RILL_COLD void scalar_frame_layout::put(std::size_t v) {
    if (place_[v].in != number_place::nowhere) return;
    const auto in =
        code_.values[v].where == scalar_code::home::constant ? number_place::constant : number_place::scratch;
    const auto lines = lines_of(v);
    auto& free = free_of(lines);
    if (in == number_place::scratch && !free.empty()) {
        place_[v] = {in, free.back()};
        free.pop_back();
    } else {
        place_[v] = {in, std::exchange(lines_[in], lines_[in] + lines)};
    }
}

RILL_COLD placed_calls::placed_calls(const scalar_code& code, scalar_frame_layout& layout)
    : masks_(code.masks), numbers_(code.constants) {
    for (const auto s : code.scalars) scalars_.push_back(numbers_[s].bytes.data());
    std::vector<number_place> operands;
    for (std::size_t k = 0; k < code.calls.size(); ++k) {
        const auto& c = code.calls[k];
        layout.advance(k);
        operands.clear();
        for (const auto& all : {layout.reads(c), layout.writes(c)})
            for (const int v : all) operands.push_back(layout[v]);
        add_call({c.run, c.lanes, c.reads, 0, scalars_.data() + c.first_scalar, masks_.data() + c.first_mask},
                 operands);
        for (const int w : layout.writes(c)) {
            if (w < 0) continue;
            const auto& value = code.values[w];
            if (value.lanes != c.lanes) add_splat(value.element(), value.lanes, layout[w], layout[w]);
            if (!code.results.empty() && w == code.results[0]) before_result_ = calls_.size();
        }
    }
    for (const auto& t : code.carried) {
        if (t.next < 0) continue;
        const auto& value = code.values[t.value];
        const number_place from = layout[t.next], to{number_place::next, layout[t.value].at};
        if (from != to) add_splat(value.element(), value.lanes, from, to);
    }
    place_constants(code, layout);
}

RILL_COLD void placed_calls::add_call(call c, std::span<const number_place> operands) {
    c.operands = static_cast<std::uint32_t>(operands.size());
    calls_.push_back(c);
    places_.append(operands);
    widest_ = std::max(widest_, operands.size());
}

RILL_COLD void placed_calls::add_splat(std::size_t element, int lanes, const number_place& from,
                                       const number_place& to) {
    add_call({splat_function(element), lanes, 1, 0, nullptr, nullptr}, std::array{from, to});
}

RILL_COLD void placed_calls::place_constants(const scalar_code& code, const scalar_frame_layout& layout) {
    constants_.resize(layout.lines(number_place::constant));
    for (std::size_t v = 0; v < code.values.size(); ++v)
        if (const auto& value = code.values[v]; value.where == scalar_code::home::constant && value.lanes > 0)
            splat_number(constants_[layout[static_cast<int>(v)].at].bytes, code.constants[value.number].bytes.data(),
                         value.element(), value.lanes);
}

}}} // namespace rill::RILL_ABI::detail
