// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/segment.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/runtime/trace/step_recorder.hpp>

// Traces and errors of segments.

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void segment::run_traced(frame& f) const {
    const auto iteration = f.context->trace->iteration_of(this);
    run_all([&](int begin, int end, int lane) {
        for (; begin < end; ++begin) run_step_traced(f, b_.steps[begin], iteration, lane);
    });
}

RILL_COLD void segment::run_step_traced(frame& f, const step& s, std::int64_t iteration, int lane) const {
    const auto& scope = *f.context->trace;
    const int group = b_.group_of[s.item];
    const std::vector<int> alone{s.item};
    std::vector<step_trace::entry> entries;
    for (const int i : group < 0 ? alone : b_.fusion_groups[group].items) {
        const auto& it = b_.graph.items[i];
        auto& e = entries.emplace_back(
            scope.entry_of(b_.graph.name_of(i), it.origin ? it.op->name() : std::string_view("Copy")));
        e.iteration = iteration;
        e.lane = lane;
        for (const int slot : b_.value_slot[i])
            if (b_.slots[slot].where != home::block) e.bytes += static_cast<std::int64_t>(b_.slots[slot].bytes);
    }
    const auto bytes = entries[0].bytes;
    const auto count = static_cast<int>(entries.size());
    const int first = scope.to.begin(std::move(entries));
    try {
        if (s.region < 0) {
            run_step(f, s);
            return scope.to.end(first, count);
        }
        const traced_context within(*f.context, scope.within(first, *b_.graph.items[s.item].op->regions()));
        auto args = args_of(f, s);
        args.step = &within;
        scope.to.end(first, {.bytes = bytes, .iterations = run_bodies(f, s, args)});
    } catch (...) {
        scope.to.end(first, count);
        rethrow_from(f, s);
    }
}

RILL_COLD void segment::throw_uninitialised(std::size_t v) const {
    throw failed_precondition("variable '" + b_.variables[v].origin->name + "' (made at " +
                              to_string(b_.variables[v].origin->where) +
                              ") is uninitialized: run global_variables_initializer() first, or its "
                              "initializer() if it is in no collection");
}

RILL_COLD std::string segment::described(const step& s, const std::string& what) const {
    const auto* n = b_.graph.items[s.item].origin;
    if (!n) return what;
    std::string written;
    for (int w = 0; w < s.writes; ++w) {
        const auto at = static_cast<std::size_t>(b_.write_list[s.first_write + w].variable);
        written += (w == 0 ? "; it writes '" : ", '") + b_.variables[at].origin->name + "'";
    }
    return n->op->label() + ": " + what + " (" + place_of(*n) + written + ")";
}

RILL_COLD void segment::rethrow_from(const frame& f, const step& s) const {
    if (const auto e = first_error(f); e.step <= s.number)
        throw_recorded(e, e.step == s.number ? s : b_.steps[e.step]); // s may be a folded step
    rethrow_described([&](const std::string& what) { return described(s, what); });
}

RILL_COLD error_record segment::first_error(const frame& f) {
    error_record first;
    for (const auto& d : f.on_device) {
        if (const auto e = d.recorded(); e.step < first.step) first = e;
    }
    return first;
}

/// Thrown to leave a run whose error a device has recorded.
struct error_is_recorded {};

RILL_COLD void segment::check_error_records(const frame& f, const step& s) {
    if (first_error(f).step <= s.number) throw error_is_recorded{};
}

RILL_COLD void segment::throw_recorded(const error_record& e, const step& s) const {
    const error problem = e.where->describe(e.found);
    throw_error(problem.code(), described(s, problem.what()));
}

}}} // namespace rill::RILL_ABI::detail
