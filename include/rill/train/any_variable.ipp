// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/any_variable.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD any_tensor any_variable(const std::string& name, dtype type, const dims& shape,
                                  const any_initializer& initializer, const variable_options& options,
                                  const std::source_location& where) {
    if (!initializer.makes(type))
        throw invalid_argument("any_variable '" + name + "': the initializer makes no " + std::string(to_string(type)) +
                               detail::at_place(where));
    detail::require_catalogue(); // the elements may be of any type
    require_kernel<assign_op, void>();
    const any_tensor made = detail::add_variable({type, shape}, name, options, where);
    const graph_scope here(made.graph());
    const detail::initial_value_scope first(made);
    detail::set_initial_value(made, initializer(type, shape), where);
    return made;
}

}} // namespace rill::RILL_ABI
