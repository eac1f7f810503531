// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/resource_store.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include <rill/core/any_array.hpp>
#include <rill/core/shared.hpp>
#include <rill/graph/graph.hpp>
#include <rill/resources/shared_resources.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::shared_ptr<variable_state> resource_store::variable(const node* n, const device_type* space) {
    const std::lock_guard lock(mutex_);
    auto& found = variables_[n];
    if (!found) {
        if (!n->outputs[0].shape.complete())
            throw unimplemented("variable '" + n->name + "' has the shape " + to_string(n->outputs[0].shape) +
                                ": every extent of a variable must be known");
        const auto name = n->op->resource_place();
        auto& memory = space && space->memory ? *space->memory : name.is_private() ? memory_ : default_allocator();
        const auto make = [&](const std::string&) {
            auto state = detail::make_shared<variable_state>(n->outputs[0], memory, space, n->op->updates_in_place());
            if (const any_array first = n->owner->value(n); !first.empty()) state->begin_with(first);
            return state;
        };
        found = name.is_private()
                    ? make({})
                    : std::static_pointer_cast<variable_state>(
                          shared(n, name, variable_state::described(n->outputs[0], n->op->updates_in_place()), make));
    }
    return found;
}

RILL_COLD std::shared_ptr<resource>
resource_store::shared(const node* n, const resource_name& name, const std::string& described,
                       const std::function<std::shared_ptr<resource>(const std::string&)>& make) {
    try {
        return shared_resources::of_process().find(name, n->name, described, make, weak_from_this());
    } catch (const invalid_argument& two_of_one_name) {
        throw invalid_argument(error_at(*n, n->op->label(), two_of_one_name.what()));
    }
}

RILL_COLD void resource_store::answer(kernel_request& request, const op& o, const node& n) {
    request.pool = threads_.for_ops();
    request.seed = o.seed() ? o.seed() : hash_combine(n.owner->seed(), hash_bytes(n.name));
    request.find_resource = finder(&n);
    request.session = session_;
}

RILL_COLD decltype(kernel_request::find_resource) resource_store::finder(const node* n) {
    return [this, n](const resource_name& name, const std::string& described, const auto& make) {
        const std::lock_guard lock(mutex_);
        auto& found = resources_[n];
        if (found) return found;
        if (!name.is_private())
            return found = shared(n, name, described,
                                  [&](const std::string& known_as) { return make(known_as, default_allocator()); });
        found = make(n->name, memory_);
        make_findable(found);
        return found;
    };
}

RILL_COLD void resource_store::end(const char* why) noexcept {
    why_ended_ = why;
    ended_ = true;
    session_->now();
}

RILL_COLD std::shared_ptr<variable_state> resource_store::known_variable(const node* n) {
    const std::lock_guard lock(mutex_);
    const auto at = variables_.find(n);
    return at == variables_.end() ? nullptr : at->second;
}

RILL_COLD void resource_store::share(const node* n, std::shared_ptr<variable_state> value) {
    const std::lock_guard lock(mutex_);
    variables_[n] = std::move(value);
}

RILL_INLINE void resource_store::release() noexcept {
    const std::lock_guard lock(mutex_);
    variables_.clear();
    resources_.clear();
}

RILL_INLINE std::size_t resource_store::variable_bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (const auto& [n, v] : variables_)
        if (v->has_value()) bytes += v->type().bytes();
    return bytes;
}

}}} // namespace rill::RILL_ABI::detail
