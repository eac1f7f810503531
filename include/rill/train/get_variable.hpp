// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rill/train/any_variable.hpp>

// Variables by name: the first call with a name makes the variable, later calls return it.

namespace rill { inline namespace RILL_ABI {

/// The ways in which get_variable treats an existing variable of that name.
enum class reuse {
    never,    // makes a new variable; an existing one is an error
    always,   // returns the existing variable; a missing one is an error
    automatic // returns the existing variable, or makes it
};

struct variable_scope_options {
    /// The sharing of variables. Inside a scope that says `always` or `automatic`, `never` means that scope's value.
    rill::reuse reuse = rill::reuse::never;
    /// The initializer of floating variables for which get_variable is given none. Without a value the outer scope's, else
    /// glorot_uniform().
    any_initializer initializer = {};
};

namespace detail {

struct variables_in_scope {
    std::string prefix; // "layer1/"
    rill::reuse reuse = rill::reuse::never;
    any_initializer initializer;
    std::shared_ptr<std::map<std::string, int>>
        layers; // the number of layers without a name that were called in the scope, by label
};

std::shared_ptr<const variables_in_scope> enter_variables(const std::string& name,
                                                          const variable_scope_options& options);

/// The variable that get_variable finds, or the name of the variable that it makes.
struct asked_variable {
    std::unique_lock<std::recursive_mutex> alone; // one maker at a time; initializers may ask for variables
    endpoint found;
    std::string name;
};
/// Finds a variable. An extent of dyn matches every extent.
RILL_EXPORT asked_variable ask_for_variable(const std::string& name, const tensor_type& type,
                                            const std::source_location& where);

/// A scope in which nodes get exactly the names that they are given.
class names_as_given : scoped<std::string> {
public:
    names_as_given() : scoped(scopes().prefix, {}) {}
};

/// Returns the initializer of the innermost variable_scope that has one.
const any_initializer& initializer_in_scope();

/// The initializer unless a scope says otherwise: glorot_uniform for floating elements, zeros for others.
struct default_initializer {
    template <class T> endpoint initial_value(const dims& shape) const {
        if constexpr (is_real_floating<T>) {
            if (const auto& said = initializer_in_scope()) return said(dtype_of<T>, shape);
            return glorot_uniform().initial_value<T>(shape);
        } else {
            return zeros().initial_value<T>(shape);
        }
    }
};

} // namespace detail

template <class T> inline constexpr bool initializes<detail::default_initializer, T> = has_zero_and_one<T>;

/// A scope in which names of get_variable begin with exactly "name/". Names of other nodes do too, with a suffix if the scope is opened
/// again. It decides whether variables are shared, and their initializer.
class variable_scope : detail::scoped<std::shared_ptr<const detail::variables_in_scope>> {
public:
    explicit variable_scope(const std::string& name, const variable_scope_options& options = {})
        : scoped(detail::scopes().variables, detail::enter_variables(name, options)), names_(name) {}

private:
    name_scope names_;
};

/// Returns the variable of that name in the variable_scopes of this thread: get_variable<float, 64, 128>("kernel"). Makes it if it does
/// not exist, as `reuse` describes. The initial value may be an initializer, a number or a tensor. It is used only when the variable is
/// made. Throws already_exists or not_found, and invalid_argument if the variable exists with another dtype or shape.
template <class T, index_t... D, class I = detail::default_initializer>
    requires(!std::is_same_v<I, dims>)
variable<T, D...> get_variable(const std::string& name, const I& initializer = {}, const variable_options& options = {},
                               const std::source_location& where = std::source_location::current()) {
    constexpr const dims& shape = extents<D...>::value;
    const auto asked = detail::ask_for_variable(name, {dtype_of<T>, shape}, where);
    if (asked.found) return variable<T, D...>(detail::unchecked, any_tensor(asked.found));
    const detail::names_as_given exact; // independent of the open name_scopes
    if constexpr (shape.complete() || !variable_initializer<I>)
        return variable<T, D...>(asked.name, initializer, options, where);
    else // to make the variable, its dims must be complete
        return variable<T, D...>(asked.name, shape, initializer, options, where);
}
/// Takes dims that are known only at run time: get_variable<float, dyn, dyn>("kernel", dims{in, out}).
template <class T, index_t... D, class I = detail::default_initializer>
variable<T, D...> get_variable(const std::string& name, const dims& shape, const I& initializer = {},
                               const variable_options& options = {},
                               const std::source_location& where = std::source_location::current()) {
    detail::checked_shape(name, shape, extents<D...>::value, where);
    const auto asked = detail::ask_for_variable(name, {dtype_of<T>, shape}, where);
    if (asked.found) return variable<T, D...>(detail::unchecked, any_tensor(asked.found));
    const detail::names_as_given exact;
    return variable<T, D...>(asked.name, shape, initializer, options, where);
}
/// Takes a dtype and dims that are known only at run time: get_variable("kernel", dtype::float32, dims{in, out}).
any_tensor get_variable(const std::string& name, dtype type, const dims& shape,
                        const any_initializer& initializer = detail::default_initializer(),
                        const variable_options& options = {},
                        const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/get_variable.ipp>
#endif
