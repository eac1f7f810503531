// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/thrust/can_launch.hpp>

#include <algorithm>
#include <string>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD elementwise_launcher compiled_launch(const device_launchers& device, const fused_spec& spec) {
    using form = fused_spec::form;
    const auto found = device.elementwise.find(spec.kernel());
    if (!found || spec.kind == form::program || spec.body->code.empty())
        return nullptr; // without code, leaves are results
    if (spec.kind == form::forward) return found->forward;
    if (spec.kind == form::adjoint) return found->adjoint;
    return static_cast<int>(spec.leaves.size()) == found->by_result_leaves ? found->by_result : nullptr;
}

RILL_COLD bool can_launch(const device_type& type, const fused_spec& spec) {
    const auto& launchers = launchers_of(type.name);
    const program& p = *spec.body;
    const auto has = [](const auto& table, const std::string& key) {
        return table.find(key) || (load_rare_kernels() && table.find(key));
    };
    const auto adds_up = [&](combine how, int value) {
        return how == combine::map || has(launchers.reductions, kernel_key(to_string(how), p.type_of(value)));
    };
    for (std::size_t k = 0; k < spec.leaves.size(); ++k) // the gradient of a mean is divided, which sums can do
        if (spec.leaves[k].view.how == combine::mean && !adds_up(combine::sum, static_cast<int>(k))) return false;
    for (std::size_t r = 0; r < spec.results.size(); ++r)
        if (!adds_up(spec.results[r].like >= 0 ? combine::sum : spec.results[r].reduce.how, p.results[r])) return false;
    return compiled_launch(launchers, spec) ||
           std::all_of(p.code.begin(), p.code.end(), [&](const program::instruction& i) {
               return has(launchers.elementwise, instruction_key(p, i));
           });
}

}}} // namespace rill::RILL_ABI::detail
