// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <source_location>
#include <string>
#include <vector>

#include <rill/ops/control/group.hpp>

// The variables of the current graph: lists of them, and their initializer.

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the members of a collection whose names lie in a scope. An empty scope selects all.
std::vector<any_tensor> variables_of(const char* collection, const std::string& scope);

operation initializers_of(const std::string& collection, const std::string& name, const std::source_location& where);

} // namespace detail

/// Returns the variables made so far that sessions save and share, in order of creation. With a scope, returns those whose names begin with
/// "scope/": trainable_variables("generator") has "generator/w", not "generator_1/w".
inline std::vector<any_tensor> global_variables(const std::string& scope = {}) {
    return detail::variables_of(collections::variables, scope);
}
/// Returns the variables that optimizers change.
inline std::vector<any_tensor> trainable_variables(const std::string& scope = {}) {
    return detail::variables_of(collections::trainable_variables, scope);
}
/// Returns the variables that belong to this process.
inline std::vector<any_tensor> local_variables(const std::string& scope = {}) {
    return detail::variables_of(collections::local_variables, scope);
}

/// Returns an operation that gives every variable made so far in the current graph its first value.
operation global_variables_initializer(const std::source_location& where = std::source_location::current());
operation local_variables_initializer(const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD std::vector<any_tensor> variables_of(const char* collection, const std::string& scope) {
    const std::string prefix = scope.empty() || scope.back() == '/' ? scope : scope + "/";
    std::vector<any_tensor> all;
    for (const auto& e : current_graph().collection(collection))
        if (e.from->name == scope || e.from->name.starts_with(prefix)) all.emplace_back(e);
    return all;
}

RILL_COLD operation initializers_of(const std::string& collection, const std::string& name,
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

}} // namespace rill::RILL_ABI
#endif
