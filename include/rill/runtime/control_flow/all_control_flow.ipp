// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/all_control_flow.hpp>

#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/passes/functionalize/raise.hpp>
#include <rill/runtime/control_flow/bodies.hpp>
#include <rill/passes/cut.hpp>
#include <rill/runtime/dataflow/frames.hpp>
#include <rill/runtime/dataflow/frames_run.hpp>
#include <rill/runtime/plan/piecewise.hpp>
#include <rill/runtime/executor/piecewise_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD const control_flow& control_flow_of_program() {
    static constexpr control_flow all{
        .raise =
            [](const plan_key& key, const flow_ops& ops, bool regions) {
                return raise_flow({key.fetches, key.targets, key.feeds, key.within, key.raised}, ops, regions);
            },
        .by_frames =
            [](const plan_key& key, const session_options& options, const std::shared_ptr<resource_store>& resources,
               const device_type& otherwise) {
                return owned_by_pointer<const frames_plan>(
                    std::make_unique<const frames_plan>(key, options, resources, otherwise));
            },
        .needs_cut = &needs_cut,
        .may_need_cut =
            [](const subgraph& g) {
                return detail::any_of(g.items,
                                      [](const auto& it) { return it.origin && extents_may_change(*it.origin); });
            },
        .in_pieces =
            [](const subgraph& g, const session_options& options, const std::shared_ptr<resource_store>& resources,
               const device_type& otherwise) {
                return owned_by_pointer<const piecewise_plan>(
                    std::make_unique<const piecewise_plan>(g, options, resources, otherwise));
            },
        .close =
            [](const frames_plan* frames, const piecewise_plan* pieces) noexcept {
                if (frames) frames->close();
                if (pieces) pieces->close();
            },
        .compile_bodies = &compile_bodies,
        .bind_region = &bind_region,
        .make_memory = [](const frame_region_step& step) { return owned_by_pointer(step.make_memory()); },
        .run_region = [](const frame_region_step& step, frame_region_step::memory& own,
                         const kernel_args& args) { return step.run(own, args); },
        .begin =
            [](const piecewise_plan& plan, std::span<const any_array> feeds) {
                return owned_by_pointer(std::make_unique<piecewise_run>(plan, feeds));
            },
        .run = [](piecewise_run& run, const step_context& context) { run.run(context); },
        .fetched = [](const piecewise_run& run, std::size_t i) -> const any_array& { return run.fetched(i); }};
    return all;
}

}}} // namespace rill::RILL_ABI::detail
