// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/optimizer.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/ops/array/gradient_rows.hpp>
#include <rill/ops/state/is_initialized.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<gradient_and_variable> gradients_by_variables(const endpoint& loss, const minimize_options& how,
                                                                      const std::source_location& where) {
    const auto& chosen = how.variables;
    const graph g(*loss.from->owner);
    std::vector<any_tensor> variables;
    if (chosen.given())
        variables = *chosen.given();
    else
        for (const auto& e : g.collection(collections::trainable_variables)) variables.emplace_back(e);
    if (chosen.given() && variables.empty())
        throw invalid_argument("minimize: the list of variables is empty" + at_place(where));
    for (const auto& v : variables) check_is_variable(v, "minimize", where);
    std::vector<endpoint> xs(variables.begin(), variables.end());
    const auto d = gradient_endpoints({loss}, xs, {.colocate = how.colocate}, where);
    std::vector<gradient_and_variable> out;
    for (std::size_t i = 0; i < d.size(); ++i)
        if (d[i]) out.push_back({with_joined_rows(d[i]), variables[i]});
    if (out.empty())
        throw invalid_argument("minimize: '" + name_of(loss) + "' depends on " +
                               (chosen.given() ? "none of the given variables" : "no trainable variable") +
                               at_place(where));
    return out;
}

RILL_INLINE operation counted(const operation& updates, const step_counter& step, const std::source_location& where) {
    const any_tensor& counter = step.variable_handle();
    if (!counter) return updates;
    check_is_variable(counter, "minimize", where);
    const auto& type = type_of(counter.end());
    if ((type.type != dtype::int32 && type.type != dtype::int64) || type.shape != dims{})
        throw invalid_argument("minimize: the step is counted in an int32 or int64 of rank 0; '" + counter.name() +
                               "' is " + to_string(type) + at_place(where));
    const graph_scope here(updates.graph());
    const control_scope after({updates.node()});
    require_fused();
    const endpoint one = add_constant(current_graph(), filled_array(type.type, type.shape, 1), false, {}, where);
    auto made = joined_write(info_of<assign_add_op::joins>, counter, one);
    const node* added = add_node(current_graph(), make_op(assign_add_op{{std::move(made.spec)}}),
                                 std::move(made.inputs), {}, false, where);
    return group(operation(added));
}

RILL_INLINE void check_untyped_loss(const endpoint& loss) {
    const auto& [type, shape] = type_of(loss);
    const auto refuse = [&](const std::string& why) {
        throw invalid_argument("minimize: " + why + "; '" + name_of(loss) + "' is " + to_string(type_of(loss)) +
                               ", made at " + to_string(loss.from->where));
    };
    if (type != dtype::float32 && type != dtype::float64)
        refuse("a loss whose dtype is known at run time only must be float32 or float64");
    if (shape.known_rank() && shape.rank != 0)
        refuse("the loss must be of rank 0; reduce it (reduce_mean, reduce_sum)");
}

RILL_INLINE std::vector<gradient_and_variable> checked_pairs(const std::vector<gradient_and_variable>& pairs,
                                                             std::initializer_list<dtype> types,
                                                             const std::source_location& where) {
    std::vector<gradient_and_variable> given;
    for (const auto& p : pairs) {
        if (!p.gradient) continue;
        const dtype type = p.variable.dtype();
        if (!detail::contains(types, type)) {
            std::string wanted;
            for (const dtype t : types) wanted += (wanted.empty() ? "" : " or ") + std::string(to_string(t));
            throw invalid_argument("apply_gradients: '" + p.variable.name() + "' is " + std::string(to_string(type)) +
                                   "; here variables are " + wanted + at_place(where));
        }
        given.push_back(p);
    }
    if (given.empty()) throw invalid_argument("apply_gradients: there are no gradients" + at_place(where));
    return given;
}

RILL_INLINE operation add_update(op_ptr op, const gradient_and_variable& pair, std::span<const char* const> slots,
                                 std::span<const double> first_values, const std::vector<endpoint>& numbers,
                                 std::initializer_list<endpoint> values) {
    endpoint_list inputs{pair.variable};
    for (std::size_t i = 0; i < slots.size(); ++i)
        inputs.push_back(add_slot(pair.variable, slots[i], i < first_values.size() ? first_values[i] : 0));
    inputs.append(numbers);
    inputs.append({values.begin(), values.size()});
    return operation(
        add_node(current_graph(), std::move(op), std::move(inputs), "update_" + pair.variable.node()->name));
}

RILL_INLINE endpoint add_slot(const any_tensor& of, const std::string& name, double first_value) {
    const auto& type = type_of(of.end());
    const colocate_with beside(of);
    const region_scope outside(nullptr); // the variable is in no region and waits for no node
    const endpoint slot = add_variable(type, of.node()->name + "/" + name, {.trainable = false}, of.node()->where);
    const node_scope below(slot);
    const auto filled = filled_array(type.type, type.shape, first_value);
    const endpoint all{add_node(current_graph(), make_op(constant_op{filled}), {}, "initial_value"), 0};
    set_initial_value(slot, all, of.node()->where);
    return slot;
}

}}} // namespace rill::RILL_ABI::detail
