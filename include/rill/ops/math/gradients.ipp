// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/gradients.hpp>

#include <optional>
#include <string>
#include <vector>

#include <rill/graph/gradients.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE std::vector<endpoint> gradient_endpoints(const std::vector<endpoint>& ys, const std::vector<endpoint>& xs,
                                                     const gradient_options& options) {
    if (ys.empty()) throw invalid_argument("gradients: no ys were given");
    if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size())
        throw invalid_argument("gradients: " + std::to_string(ys.size()) + " ys and " +
                               std::to_string(options.grad_ys.size()) + " grad_ys");
    const std::vector<endpoint> seeds(options.grad_ys.begin(), options.grad_ys.end());
    const std::vector<endpoint> stop(options.stop.begin(), options.stop.end());
    const auto check = [&](const std::vector<endpoint>& all, bool may_be_null) {
        for (const auto& e : all) {
            if (!e && may_be_null) continue;
            if (!e) throw failed_precondition("gradients: a null tensor was used");
            if (e.from->owner != ys[0].from->owner)
                throw invalid_argument("gradients: '" + name_of(e) + "' belongs to another graph than '" +
                                       name_of(ys[0]) + "'");
        }
    };
    check(ys, false);
    check(xs, false);
    check(seeds, true);
    check(stop, false);
    require_fused();
    const graph_scope here(graph(*ys[0].from->owner));
    return add_gradients(
        ys, xs, seeds, stop,
        {[](endpoint y) { return filled_like(y, 1); }, [](const auto& terms) { return add_n(terms); }});
}

RILL_INLINE std::vector<std::optional<any_tensor>> gradient_tensors(const std::vector<any_tensor>& ys,
                                                                    const std::vector<any_tensor>& xs,
                                                                    const gradient_options& options) {
    const auto d = gradient_endpoints({ys.begin(), ys.end()}, {xs.begin(), xs.end()}, options);
    std::vector<std::optional<any_tensor>> out;
    for (const auto& e : d) out.push_back(e ? std::optional<any_tensor>(e) : std::nullopt);
    return out;
}

} // namespace rill::inline RILL_ABI::detail
