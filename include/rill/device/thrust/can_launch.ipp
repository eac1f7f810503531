// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/thrust/can_launch.hpp>

#include <algorithm>
#include <string>

#include <rill/device/thrust/launch.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

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
    const auto whole = launchers.elementwise.find(spec.kernel());
    if (whole && (spec.is_adjoint() ? whole->adjoint : whole->forward)) return true;
    return std::all_of(p.code.begin(), p.code.end(), [&](const program::instruction& i) {
        return has(launchers.elementwise, instruction_key(p, i));
    });
}

}}} // namespace rill::RILL_ABI::detail
