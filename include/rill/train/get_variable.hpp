// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rill/train/any_variable.hpp>

// Variables by name: made by the first who asks, shared with those who ask again.

namespace rill { inline namespace RILL_ABI {

/// What get_variable does where a variable of that name is there, or is not.
enum class reuse {
    never,    // it makes a new one; one that is there is an error
    always,   // it gives the one that is there; none is an error
    automatic // it gives the one that is there, or makes it
};

struct variable_scope_options {
    /// Inside a scope that says `always` or `automatic`, `never` means what that scope says.
    rill::reuse reuse = rill::reuse::never;
    /// Of floating variables that get_variable is given no other for; glorot_uniform() if no scope says one.
    any_initializer initializer = {};
};

namespace detail {

struct variables_in_scope {
    std::string prefix; // "layer1/"
    rill::reuse reuse = rill::reuse::never;
    any_initializer initializer;
    // counts the layers that were called without a name in the scope, by their labels
    std::shared_ptr<std::map<std::string, int>> layers;
};

std::shared_ptr<const variables_in_scope> enter_variables(const std::string& name,
                                                          const variable_scope_options& options);

/// The variable that get_variable finds, or the name of the one that it is to make.
struct asked_variable {
    std::unique_lock<std::recursive_mutex> alone; // nobody makes it meanwhile; an initializer may ask for others
    endpoint found;
    std::string name;
};
/// Extents that are dyn go with any.
RILL_EXPORT asked_variable ask_for_variable(const std::string& name, const tensor_type& type,
                                            const std::source_location& where);

/// Names are taken as they are.
class names_as_given : scoped<std::string> {
public:
    names_as_given() : scoped(scopes().prefix, {}) {}
};

/// The scopes' initializer.
const any_initializer& initializer_in_scope();

/// glorot_uniform for floating elements, zeros for others, unless a scope says otherwise.
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

/// Names of get_variable begin with "name/" in this scope, exactly; those of other nodes too, with a suffix where it is opened
/// again. Says whether variables are shared, and how they begin.
class variable_scope : detail::scoped<std::shared_ptr<const detail::variables_in_scope>> {
public:
    explicit variable_scope(const std::string& name, const variable_scope_options& options = {})
        : scoped(detail::scopes().variables, detail::enter_variables(name, options)), names_(name) {}

private:
    name_scope names_;
};

/// get_variable<float, 64, 128>("kernel"): the variable of that name in the variable_scopes of this thread, made if it is not
/// there; reuse says more. The first value may be an initializer, a number or a tensor; it is looked at when the variable is made. Throws
/// already_exists or not_found, and invalid_argument if it is there with another dtype or shape.
template <class T, index_t... D, class I = detail::default_initializer>
    requires(!std::is_same_v<I, dims>)
variable<T, D...> get_variable(const std::string& name, const I& initializer = {}, const variable_options& options = {},
                               const std::source_location& where = std::source_location::current()) {
    constexpr const dims& shape = extents<D...>::value;
    const auto asked = detail::ask_for_variable(name, {dtype_of<T>, shape}, where);
    if (asked.found) return variable<T, D...>(detail::unchecked, any_tensor(asked.found));
    const detail::names_as_given exact; // whatever name_scopes are open
    if constexpr (shape.complete() || !variable_initializer<I>)
        return variable<T, D...>(asked.name, initializer, options, where);
    else // whoever makes it says more
        return variable<T, D...>(asked.name, shape, initializer, options, where);
}
/// Of dims that only run time knows: get_variable<float, dyn, dyn>("kernel", dims{in, out}).
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
/// Of a dtype and dims that only run time knows: get_variable("kernel", dtype::float32, dims{in, out}).
any_tensor get_variable(const std::string& name, dtype type, const dims& shape,
                        const any_initializer& initializer = detail::default_initializer(),
                        const variable_options& options = {},
                        const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/get_variable.ipp>
#endif
