// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/prefetched_parameters.hpp>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD prefetched_parameters::prefetched_parameters()
    : copies_(std::make_shared<std::vector<detail::parameter_copy>>()) {}

namespace detail {

RILL_COLD std::vector<any_tensor> with_copies(const std::vector<parameter_copy>& copies,
                                              const trained_variables& wanted) {
    if (copies.empty()) throw failed_precondition("prefetched_parameters: no parameter has a copy yet");
    const graph_scope here(copies[0].variable.graph());
    auto all = wanted.given() ? *wanted.given() : trainable_variables();
    for (auto& v : all)
        for (const auto& c : copies)
            if (c.variable.end() == v.end()) v = c.copy;
    return all;
}

RILL_COLD void use_variables(const std::vector<parameter_copy>& copies, std::vector<gradient_and_variable>& pairs) {
    for (auto& p : pairs)
        for (const auto& c : copies)
            if (c.copy.end() == p.variable.end()) p.variable = c.variable;
}

RILL_COLD std::vector<const node*> updates_of(const operation& updated, const any_tensor& variable) {
    const auto* const all = updated.node();
    std::vector<const node*> updates{all};
    if (all->inputs.empty()) updates.assign(all->control_inputs.begin(), all->control_inputs.end()); // a group
    std::vector<const node*> own;
    for (const auto* u : updates)
        if (!u->inputs.empty() && u->inputs[0] == variable.end()) own.push_back(u);
    return own.empty() ? std::vector<const node*>{all} : own;
}

} // namespace detail

}} // namespace rill::RILL_ABI
