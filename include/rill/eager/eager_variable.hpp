// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <rill/core/shared.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

class variable_state;

/// The name and value of an eager variable. It belongs to no session; private graphs share it.
class eager_state {
public:
    /// Creates the state. Throws invalid_argument if the initial value does not have the shape.
    eager_state(const std::string& name, const any_array& first, const dims& shape);

    const std::string& name() const noexcept { return name_; }
    const std::shared_ptr<variable_state>& state() const noexcept { return state_; }

    /// Returns the current version; later writes do not change it.
    any_array read() const;
    void write(const any_array& value);

private:
    std::string name_;
    std::shared_ptr<variable_state> state_;
};

} // namespace detail

/// A variable without a session: eager_variable<float, 3> w("w", zeros()), or with extents known at run time, eager_variable<float, dyn>
/// w("w", dims{n}, zeros()). A function of value_and_grad takes it as an argument; an eager_optimizer updates it. Copies refer to the same
/// variable. Several threads may use it at once.
template <class T, index_t... D> class eager_variable {
public:
    using tensor_type = tensor<T, D...>;
    static constexpr int rank = static_cast<int>(sizeof...(D));
    using extents_type = extents<D...>;

    /// Creates a variable with an initial value: nested braces, a host value, a number for all elements, or an initializer. A host value
    /// determines the extents that the type leaves open.
    eager_variable(const std::string& name, const nested_list<T, rank>& value)
        : state_(made(name, list_to_any_array<T, rank>(value))) {}
    template <class X>
        requires(variable_initializer<X> || feeds_as<X, T>)
    eager_variable(const std::string& name, const X& value)
        : state_(made(name, first_value(name, value, shape_for<X>()))) {}
    /// Creates a variable of dims that are known only at run time. Throws invalid_argument if they contradict the type.
    template <class X>
        requires(variable_initializer<X> || feeds_as<X, T>)
    eager_variable(const std::string& name, const dims& shape, const X& value)
        : state_(made(name, first_value(detail::checked_shape(name, shape, extents_type::value), value, shape))) {}

    /// Rejects a variable without an initial value, with a compile error that lists the choices.
    template <class Name>
        requires std::is_convertible_v<const Name&, std::string>
    explicit eager_variable(const Name&) {
        static_assert(starts_without_value<eager_variable>,
                      "eager_variable: give it a first value: eager_variable<T, D...> w(\"w\", zeros()), or ones(), "
                      "glorot_uniform(), an array, a number, {1.f, 2.f}");
    }

    const std::string& name() const noexcept { return state_->name(); }

    /// Returns a copy of the value: T for rank 0, else xt::xtensor<T, rank>.
    host_value<T, rank> value() const {
        const any_array now = array();
        return to_host_value<T, rank>(now.shape(), now.data());
    }
    /// Returns the current value without a copy.
    any_array array() const { return state_->read(); }

    template <class X>
        requires feeds_as<X, T>
    void assign(const X& value) const {
        state_->write(first_value(name(), value, array().shape()));
    }
    void assign(const nested_list<T, rank>& value) const { state_->write(list_to_any_array<T, rank>(value)); }

    const detail::eager_state& state() const noexcept { return *state_; }

private:
    static std::shared_ptr<detail::eager_state> made(const std::string& name, const any_array& first) {
        return detail::make_shared<detail::eager_state>(name, first, extents_type::value);
    }
    template <class X> static const dims& shape_for() {
        static_assert(has_known_extents<eager_variable> || (!variable_initializer<X> && !literal<X>),
                      "eager_variable: its type leaves an extent open, so give the dims too: "
                      "eager_variable<T, dyn> w(\"w\", dims{n}, zeros())");
        return extents_type::value;
    }
    template <class X> static any_array first_value(const std::string& name, const X& value, const dims& shape) {
        if constexpr (variable_initializer<X>) {
            const graph home;
            const graph_scope here(home);
            const name_scope below(name); // the node's name seeds a random initializer
            return session(home).run(any_tensor(value.template initial_value<T>(shape)));
        } else if constexpr (literal<X>) {
            return detail::filled_array<T>(shape, literal_value<T>(value, "eager_variable"));
        } else {
            return to_any_array<T>(value, shape);
        }
    }

    std::shared_ptr<detail::eager_state> state_;
};

namespace detail {

template <class X> inline constexpr bool is_eager_variable = false;
template <class T, index_t... D> inline constexpr bool is_eager_variable<eager_variable<T, D...>> = true;

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/eager/eager_variable.ipp>
#endif
