// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/link/dynamic_runtime.hpp>

#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/passes/functionalize/functionalize_control_flow.hpp>
#include <rill/passes/split_into_stages.hpp>
#include <rill/runtime/control_flow/region_kernels.hpp>
#include <rill/runtime/dataflow/dataflow_executor.hpp>
#include <rill/runtime/dataflow/dataflow_plan.hpp>
#include <rill/runtime/executor/step_executor.hpp>
#include <rill/runtime/plan/staged_plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void register_dynamic_runtime() {
    static constexpr dynamic_runtime all{
        .functionalize =
            [](const plan_key& key, const flow_ops& ops, bool regions) {
                return functionalize_control_flow({key.fetches, key.targets, key.feeds, key.within, key.functionalized},
                                                  ops, regions);
            },
        .make_dataflow_plan =
            [](const plan_key& key, const session_options& options, const std::shared_ptr<resource_store>& resources,
               const std::shared_ptr<placement>& where) {
                return owned_by_pointer<const dataflow_plan>(
                    std::make_unique<const dataflow_plan>(key, options, resources, where));
            },
        .needs_stages = &needs_stages,
        .may_need_stages =
            [](const subgraph& g) {
                return detail::any_of(g.items,
                                      [](const auto& it) { return it.origin && may_have_dynamic_shapes(*it.origin); });
            },
        .make_staged_plan =
            [](const subgraph& g, const session_options& options, const std::shared_ptr<resource_store>& resources,
               const std::shared_ptr<placement>& where) {
                return owned_by_pointer<const staged_plan>(
                    std::make_unique<const staged_plan>(g, options, resources, where));
            },
        .close =
            [](const dataflow_plan* dataflow, const staged_plan* stages) noexcept {
                if (dataflow) dataflow->close();
                if (stages) stages->close();
            },
        .compile_bodies = &compile_bodies,
        .bind_region = &bind_region,
        .make_memory = [](const static_region_kernel& step) { return owned_by_pointer(step.make_memory()); },
        .run_region = [](const static_region_kernel& step, static_region_kernel::memory& own,
                         const kernel_args& args) { return step.run(own, args); },
        .begin =
            [](const staged_plan& plan, std::span<const any_array> feeds) {
                return owned_by_pointer(std::make_unique<step_executor>(plan, feeds));
            },
        .start = [](step_executor& run, const step_context& context,
                    std::function<void()> resume) { run.start(context, std::move(resume)); },
        .drive = [](step_executor& run) { return run.drive(); },
        .fetched = [](const step_executor& run, std::size_t i) -> const any_array& { return run.fetched(i); }};
    const dynamic_runtime* none = nullptr;
    registered_dynamic_runtime.compare_exchange_strong(none, &all);
}

}}} // namespace rill::RILL_ABI::detail
