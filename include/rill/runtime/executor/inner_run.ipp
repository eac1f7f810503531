// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/inner_run.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/runtime/dataflow/frames_run.hpp>
#include <rill/runtime/left_out.hpp>
#include <rill/runtime/executor/piecewise_run.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/ragged.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::unique_ptr<inner_run> inner_run_of(plan& p, std::span<const any_array> feeds) {
    if (p.by_frames()) return make_frames_run(*p.by_frames(), feeds);
    if (detail::any_of(feeds, [](const any_array& f) { return is_ragged(f.type()) || f.empty(); })) p.cut();
    return p.in_pieces() ? std::make_unique<piecewise_run>(*p.in_pieces(), feeds) : nullptr;
}

RILL_COLD std::vector<any_array> run_plan(plan& p, std::span<const any_array> feeds, const step_context* context) {
    std::vector<any_array> filled;
    if (detail::any_of(feeds, [](const any_array& f) { return f.empty(); })) {
        filled.assign(feeds.begin(), feeds.end());
        for (std::size_t i = 0; i < filled.size(); ++i)
            if (filled[i].empty()) filled[i] = stand_in(type_of(p.graph().feeds[i]));
        feeds = filled;
    }
    if (!p.in_pieces())
        for (const auto& f : feeds) refuse_ragged({&f.type(), 1});
    struct holder {
        plan& of;
        std::unique_ptr<held_step> step;
        ~holder() { of.release(std::move(step)); }
    } held{p, p.acquire(feeds)};
    std::vector<any_array> values;
    auto& step = *held.step;
    if (step.in_pieces) { // as these feeds have just shown: nothing in it waits
        p.control().run(*step.in_pieces, context ? *context : no_step);
        for (std::size_t i = 0; i < p.graph().fetches.size(); ++i)
            values.push_back(owned_copy(p.control().fetched(*step.in_pieces, i)));
        return values;
    }
    std::vector<const void*> data;
    for (const auto& f : feeds) data.push_back(f.data());
    step.memory->context = context ? context : &no_step;
    step.of->run(*step.memory, data);
    for (std::size_t i = 0; i < p.graph().fetches.size(); ++i) {
        const auto& type = step.of->fetch_type(i);
        values.push_back(owned_copy(type.type, type.shape, step.of->fetch_data(*step.memory, i)));
    }
    return values;
}

}}} // namespace rill::RILL_ABI::detail
