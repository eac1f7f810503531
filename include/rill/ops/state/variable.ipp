// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/variable.hpp>

#include <string>
#include <utility>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/state/assign.hpp>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> variable_op::outputs(std::span<const tensor_type>) const { return {type}; }

namespace detail {

RILL_INLINE const std::string& checked_shape(const std::string& name, const any_array& value, const dims& wanted) {
    if (value.shape() != wanted)
        throw invalid_argument("variable '" + name + "': the value has the shape " + to_string(value.shape()) +
                               ", not " + to_string(wanted));
    return name;
}

RILL_INLINE endpoint add_variable(const tensor_type& type, const std::string& name, const variable_options& options,
                                  const std::source_location& where) {
    if (!type.shape.complete())
        throw invalid_argument("variable '" + name + "': every extent must be known, the shape is " +
                               to_string(type.shape));
    const graph g = current_graph();
    const endpoint e{add_node(g, make_op(variable_op{type}), {}, name, false, where), 0};
    if (options.local)
        g.add_to_collection(collections::local_variables, e);
    else
        g.add_to_collection(collections::variables, e);
    if (options.trainable && !options.local) g.add_to_collection(collections::trainable_variables, e);
    return e;
}

RILL_INLINE void set_initial_value(const endpoint& variable, const endpoint& value, const std::source_location& where) {
    // control dependencies of the place where the variable is made are not its initializer's
    const control_dependencies none;
    const graph g(*variable.from->owner);
    const node* assign = add_node(g, make_op(assign_op{}), {variable, value}, "initialize", false, where);
    g.state().set_initializer(variable.from, assign);
}

RILL_INLINE operation initializers_of(const std::string& collection, const std::string& name,
                                      const std::source_location& where) {
    const graph g = current_graph();
    std::vector<const node*> all;
    for (const auto& e : g.collection(collection))
        if (const auto* i = g.state().initializer(e.from)) all.push_back(i);
    return add_group(std::move(all), name, where);
}

} // namespace detail

RILL_INLINE operation global_variables_initializer(const std::source_location& where) {
    return detail::initializers_of(collections::variables, "init", where);
}

RILL_INLINE operation local_variables_initializer(const std::source_location& where) {
    return detail::initializers_of(collections::local_variables, "init_local", where);
}

} // namespace rill::inline RILL_ABI
