// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/optimizer.hpp>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE std::vector<gradient_and_variable> gradients_by_variables(const endpoint& loss,
                                                                      std::vector<any_tensor> variables) {
    const graph g(*loss.from->owner);
    if (variables.empty())
        for (const auto& e : g.collection(collections::trainable_variables)) variables.emplace_back(e);
    std::vector<endpoint> xs(variables.begin(), variables.end());
    const auto d = gradient_endpoints({loss}, xs, {});
    std::vector<gradient_and_variable> out;
    for (std::size_t i = 0; i < d.size(); ++i)
        if (d[i]) out.push_back({d[i], variables[i]});
    if (out.empty()) throw invalid_argument("minimize: '" + name_of(loss) + "' depends on no trainable variable");
    return out;
}

RILL_INLINE void check_pairs(const std::vector<gradient_and_variable>& pairs, dtype loss) {
    for (const auto& p : pairs)
        if (p.variable.dtype() != loss)
            throw invalid_argument("apply_gradients: '" + p.variable.name() + "' is " +
                                   std::string(to_string(p.variable.dtype())) + ", the loss " +
                                   std::string(to_string(loss)));
}

RILL_INLINE endpoint add_slot(const any_tensor& of, const std::string& name, double first_value) {
    const auto& type = type_of(of.end());
    const colocate_with beside(of);
    const endpoint slot = add_variable(type, of.node()->name + "/" + name, {.trainable = false}, of.node()->where);
    any_array value(type.type, type.shape);
    const scalar_value one = scalar_of(type.type, first_value);
    for (index_t i = 0; i < value.size(); ++i)
        std::memcpy(static_cast<std::byte*>(value.mutable_data()) + static_cast<std::size_t>(i) * size_of(type.type),
                    one.bytes.data(), size_of(type.type));
    const endpoint initial{
        add_node(current_graph(), make_op(constant_op{value}), {}, of.node()->name + "/" + name + "/initial_value"), 0};
    const node* assign =
        add_node(current_graph(), make_op(assign_op{}), {slot, initial}, of.node()->name + "/" + name + "/initialize");
    current_graph().state().set_initializer(slot.from, assign);
    return slot;
}

} // namespace rill::inline RILL_ABI::detail
