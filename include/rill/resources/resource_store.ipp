// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/resource_store.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <set>
#include <utility>

#include <rill/core/any_array.hpp>
#include <rill/core/shared.hpp>
#include <rill/graph/graph.hpp>
#include <rill/resources/container_set.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD resource_store::resource_store(allocator& memory, step_threads threads, std::shared_ptr<container_set> task,
                                         int replica)
    : memory_(memory), threads_(std::move(threads)), of_task_(task != nullptr),
      own_(task ? std::move(task) : detail::make_shared<container_set>(memory)), replica_(replica) {}

RILL_COLD std::uint32_t resource_store::incarnation() const noexcept { return own_->incarnation(); }

RILL_COLD container_set& resource_store::set_of(const resource_name& place) const {
    return of_task_ || place.is_private() ? *own_ : container_set::of_process();
}

RILL_COLD std::shared_ptr<resource> resource_store::find(const node* n, const resource_name& place,
                                                         const std::string& described, const resource_maker& make) {
    try {
        return set_of(place).find(place, n->name, described, make, weak_from_this());
    } catch (const invalid_argument& two_of_one_name) {
        throw invalid_argument(error_at(*n, n->op->label(), two_of_one_name.what()));
    }
}

RILL_INLINE std::shared_ptr<variable_state> resource_store::variable(const node* n, const memory_space* space) {
    const std::lock_guard lock(mutex_);
    auto& found = variables_[n];
    if (!found.is_bound) found = {find_variable(n, space), true};
    if (found.state->space() != space) refuse_memory(*n, *found.state, space); // another session has made it
    return found.state;
}

RILL_COLD void resource_store::refuse_memory(const node& n, const variable_state& is, const memory_space* wanted) {
    const auto name_of = [](const memory_space* space) {
        return space ? "'" + space->name + "'" : std::string("the host");
    };
    throw invalid_argument(error_at(n, n.op->label(),
                                    "the variable lies in the memory of " + name_of(is.space()) +
                                        ", this session places it in that of " + name_of(wanted)));
}

RILL_COLD std::shared_ptr<variable_state> resource_store::find_variable(const node* n, const memory_space* space) {
    const auto& type = n->outputs[0];
    if (!type.shape.complete())
        throw unimplemented("variable '" + n->name + "' has the shape " + to_string(type.shape) +
                            ": every extent of a variable must be known");
    const auto place = n->op->resource_place();
    const bool in_place = n->op->updates_in_place();
    auto& memory = blocks_of(space, set_of(place).memory());
    return std::static_pointer_cast<variable_state>(
        find(n, place, variable_state::described(type, space, in_place), [&](const std::string&) {
            auto state = detail::make_shared<variable_state>(type, memory, space, in_place);
            if (const any_array first = n->owner->value(n); !first.empty()) state->begin_with(first);
            return state;
        }));
}

RILL_COLD std::shared_ptr<variable_state> resource_store::known_variable(const node* n) {
    const std::lock_guard lock(mutex_);
    auto& found = variables_[n];
    if (found.state) return found.state;
    const std::uint64_t made = own_->made() + container_set::of_process().made(); // read before the look-up
    if (found.missed_at == made) return nullptr;
    const auto place = n->op->resource_place();
    const auto there = std::dynamic_pointer_cast<variable_state>(
        set_of(place).known(place, n->name, variable_state::kind, weak_from_this()));
    if (there && there->type() == n->outputs[0])
        found.state = there;
    else
        found.missed_at = made;
    return found.state;
}

RILL_COLD bool resource_store::has_value(const node* n) {
    if (const auto state = known_variable(n)) return state->read() != nullptr;
    const auto place = n->op->resource_place();
    return !set_of(place).waiting(place.container, place.known_as(n->name), variable_state::kind).empty();
}

RILL_COLD any_array resource_store::variable_value(const node* n) {
    if (const auto state = known_variable(n)) {
        const auto block = state->read();
        if (!block) return {};
        const any_array shared(state->type().type, state->type().shape, block->data(), block, state->space());
        return state->space() || state->in_place() ? copied_to(shared, nullptr) : shared;
    }
    const auto place = n->op->resource_place();
    const auto parts = set_of(place).waiting(place.container, place.known_as(n->name), variable_state::kind);
    return parts.empty() ? any_array() : parts[0].value;
}

RILL_COLD saved_resource resource_store::saved_variable(const node* n, const any_array& value) const {
    if (value.type() != n->outputs[0])
        throw invalid_argument(
            error_at(*n, n->op->label(),
                     "it is " + to_string(n->outputs[0]) + ", the saved value is " + to_string(value.type())));
    const auto place = n->op->resource_place();
    return {place.container, place.known_as(n->name), variable_state::kind, !place.is_private(), {{"", value}}};
}

RILL_COLD void resource_store::restore_variable(const node* n, const any_array& value) {
    set_of(n->op->resource_place()).restore(saved_variable(n, value));
}

RILL_COLD void resource_store::check_variable(const node* n, const any_array& value) {
    set_of(n->op->resource_place()).check(saved_variable(n, value));
}

RILL_COLD std::vector<saved_resource> resource_store::saved_resources() {
    std::vector<saved_resource> all;
    const auto add = [&](container_set::entry&& e, bool of_process) {
        if (e.what) e.waiting = e.what->saved_parts();
        if (e.waiting.empty() || e.kind == variable_state::kind) return;
        all.push_back({std::move(e.container), std::move(e.name), std::move(e.kind), of_process, std::move(e.waiting)});
    };
    for (auto& e : own_->entries()) add(std::move(e), false);
    if (of_task_) return all;
    std::vector<container_set::entry> shared;
    {
        std::set<const resource*> seen; // several nodes may name one resource
        const std::lock_guard lock(mutex_);
        for (const auto& [n, found] : resources_)
            if (found.what && !found.place.is_private() && seen.insert(found.what.get()).second)
                shared.push_back({found.place.container,
                                  found.place.known_as(n->name),
                                  kind_of(found.what->described()),
                                  found.what,
                                  {}});
    }
    for (auto& e : shared) add(std::move(e), true);
    return all;
}

RILL_COLD container_set& resource_store::set_of(const saved_resource& saved) const {
    return saved.of_process && !of_task_ ? container_set::of_process() : *own_;
}

RILL_COLD void resource_store::restore_resource(const saved_resource& saved) { set_of(saved).restore(saved); }

RILL_COLD void resource_store::check_resource(const saved_resource& saved) { set_of(saved).check(saved); }

RILL_COLD void resource_store::share(const node* n, const std::shared_ptr<variable_state>& value) {
    const std::lock_guard lock(mutex_);
    const auto found = find(n, n->op->resource_place(), value->described(), [&](const std::string&) { return value; });
    if (found != value) throw internal("variable '" + n->name + "' is in use, and can't have another state");
    variables_[n] = {value, true};
}

RILL_COLD void resource_store::answer(kernel_request& request, const op& o, const node& n) {
    request.on.pool = threads_.for_ops();
    request.replica = replica_ != 0 && o.resource_place().is_private() ? replica_ : 0;
    request.seed = request.seed_of_replica(o.seed() ? o.seed() : hash_combine(n.owner->seed(), hash_bytes(n.name)));
    request.find_resource = finder(&n);
    request.session = session_;
}

RILL_COLD decltype(kernel_request::find_resource) resource_store::finder(const node* n) {
    return [this, n](const resource_name& place, const std::string& described, const auto& make) {
        const std::lock_guard lock(mutex_);
        auto& found = resources_[n];
        if (!found.what) {
            found.what = find(n, place, described, [&](const std::string& known_as) {
                auto made = make(known_as, set_of(place).memory());
                make_findable(made, incarnation());
                return made;
            });
            found.place = place;
        }
        return found.what;
    };
}

RILL_COLD void resource_store::end(const char* why) noexcept {
    why_ended_ = why;
    session_->cancel();
}

RILL_COLD void resource_store::forget(const graph_state& g) noexcept {
    const auto is_of = [&](const auto& entry) { return entry.first->owner == &g; };
    const std::lock_guard lock(mutex_);
    erase_if(variables_, is_of); // without an allocation: entries of a graph that is gone must not stay
    erase_if(resources_, is_of);
}

RILL_INLINE void resource_store::release() noexcept {
    {
        const std::lock_guard lock(mutex_);
        variables_.clear();
        resources_.clear();
    }
    if (!of_task_) own_->clear();
}

RILL_INLINE std::size_t resource_store::variable_bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (const auto& [n, v] : variables_)
        if (v.state && v.state->has_value()) bytes += v.state->type().bytes();
    return bytes;
}

}}} // namespace rill::RILL_ABI::detail
