// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/trace/step_recorder.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <rill/core/algorithm.hpp>
#include <rill/runtime/tensor_list.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD step_recorder::step_recorder(step_trace& into, rill::environment& environment)
    : into_(into), environment_(environment), start_(environment.now()), threads_{std::this_thread::get_id()} {
    into_.entries.clear();
}

RILL_COLD step_recorder::~step_recorder() {
    const auto at = now();
    for (auto& e : into_.entries)
        if (e.end == open) e.end = at;
}

RILL_COLD std::int64_t step_recorder::now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(environment_.now() - start_).count();
}

RILL_COLD int step_recorder::begin(std::vector<step_trace::entry> together) {
    const std::lock_guard lock(mutex_);
    const auto me = std::this_thread::get_id();
    const auto thread = detail::find(threads_, me) - threads_.begin();
    if (thread == std::ssize(threads_)) threads_.push_back(me);
    const auto first = static_cast<int>(into_.entries.size());
    const auto at = now();
    for (auto& e : together) {
        e.begin = at;
        e.end = open;
        e.thread = static_cast<int>(thread);
        into_.entries.push_back(std::move(e));
    }
    return first;
}

RILL_COLD void step_recorder::end(int first, int count) {
    const std::lock_guard lock(mutex_);
    const auto at = now();
    for (int i = first; i < first + count; ++i) into_.entries[static_cast<std::size_t>(i)].end = at;
}

RILL_COLD void step_recorder::end(int entry, const outcome& o) {
    const std::lock_guard lock(mutex_);
    auto& e = into_.entries[static_cast<std::size_t>(entry)];
    e.end = o.at < 0 ? now() : o.at;
    e.bytes = o.bytes;
    e.iterations = o.iterations;
}

RILL_COLD trace_scope trace_scope::within(int entry, const region_attributes& use) const {
    using form = region_attributes::form;
    return {.to = to, .inside = entry, .counts = use.how == form::repeat || use.how == form::scan};
}

RILL_COLD step_trace::entry trace_scope::entry_of(std::string node, std::string_view op) const {
    step_trace::entry e{std::move(node), std::string(op)};
    e.stage = stage;
    e.inside = inside;
    e.iteration = iteration;
    return e;
}

RILL_COLD std::int64_t bytes_of(std::span<const any_array> all) {
    std::int64_t bytes = 0;
    for (const auto& a : all)
        if (const auto* slices = tensor_list_items(a))
            bytes += bytes_of(*slices);
        else if (!a.empty())
            bytes += a.shape().size() * static_cast<std::int64_t>(size_of(a.dtype()));
    return bytes;
}

RILL_COLD std::int64_t trace_scope::iteration_of(const void* body) {
    if (!counts) return iteration;
    for (auto& [of, next] : runs)
        if (of == body) return next++;
    runs.emplace_back(body, 1);
    return 0;
}

}}} // namespace rill::RILL_ABI::detail
