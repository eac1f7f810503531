// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/assign_sub.hpp>

namespace rill::inline RILL_ABI {

/// A value that outlives runs: each session has its own.
struct variable_op {
    static constexpr auto name = "VariableV2", label = "variable";
    static constexpr auto no_gradient = ""; // nothing comes in
    static constexpr auto role = op_role::variable;
    static constexpr bool stateful = true;
    tensor_type type;

    template <class V> void attributes(V& v) const {
        v("dtype", type.type);
        v("shape", type.shape);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    friend bool operator==(const variable_op&, const variable_op&) = default;
};

struct variable_options {
    bool trainable = true; // optimizers change it
    bool local = false;    // belongs to this process: not saved, not shared
};

/// Builds the node of a variable's first value, for the variable's element type and shape.
template <class I>
concept variable_initializer = requires(const I& i, const dims& shape) {
    { i.template initial_value<float>(shape) } -> std::convertible_to<endpoint>;
};

/// The extents of a value fit a variable's.
template <class Variable, class Value>
inline constexpr bool assignable = rules::compatible(Variable::value, Value::value);

namespace detail {

/// Adds the node of a variable and puts it into the collections. Its initializer's nodes are named below it.
/// The name; throws if a variable's first value does not have its shape.
const std::string& checked_shape(const std::string& name, const any_array& value, const dims& wanted);
endpoint add_variable(const tensor_type& type, const std::string& name, const variable_options& options,
                      const std::source_location& where);

void set_initial_value(const endpoint& variable, const endpoint& value, const std::source_location& where);

/// Nodes that belong to a node are named below it: "w/initialize".
class node_scope : scoped<std::string> {
public:
    explicit node_scope(const endpoint& e) : scoped(scopes().prefix, e.from->name + "/") {}
};

} // namespace detail

/// A value that outlives runs: variable<float, 64, 128> w("w", glorot_uniform()). As a tensor, it is its value at the
/// start of a step (unless control dependencies or an assign's output say otherwise).
template <class T, index_t... D> class variable : public tensor<T, D...> {
public:
    static constexpr int rank = static_cast<int>(sizeof...(D));
    static_assert(extents<D...>::value.complete(), "variable: every extent must be known");

    /// The first value: a number (or nested braces), any tensor or constant of the shape, or an initializer.
    variable(const std::string& name, const nested_list<T, rank>& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, list_to_any_array<T, rank>(value), options, where, 0) {}
    template <class I>
        requires(variable_initializer<I> || typed_operand<I>)
    variable(const std::string& name, const I& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, options, where) {
        if constexpr (variable_initializer<I>) {
            const graph_scope here(this->graph());
            const detail::node_scope below(*this);
            const control_dependencies none;
            detail::set_initial_value(*this, value.template initial_value<T>(extents<D...>::value), where);
        } else if constexpr (typed_operand<I>) {
            static_assert(same_dtype<value_type_of<I>, T>,
                          "variable: the initial value's dtype differs; convert with cast<T>()");
            static_assert(assignable<extents<D...>, extents_of<I>>, "variable: the initial value's shape differs");
            initialize(value, where);
        }
    }
    /// Its first value from the host: an xtensor expression, flat data, or a number of another type that fits.
    template <class I>
        requires(!variable_initializer<I> && !typed_operand<I> &&
                 ((literal<I> && !std::is_same_v<I, T>) || xtensor_expression<I> || flat_range<I>))
    variable(const std::string& name, const I& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, host_value_of(value), options, where, 0) {}

    /// Writes a value of the variable's dtype and shape; the result is the variable after the write.
    template <class E>
        requires(typed_operand<E> || literal<E>)
    tensor<T, D...> assign(const E& value, const std::source_location& where = std::source_location::current()) const {
        return write(assign_op{}, value, where);
    }
    template <class E>
        requires(typed_operand<E> || literal<E>)
    tensor<T, D...> assign_add(const E& value,
                               const std::source_location& where = std::source_location::current()) const {
        return write(assign_add_op{}, value, where);
    }
    template <class E>
        requires(typed_operand<E> || literal<E>)
    tensor<T, D...> assign_sub(const E& value,
                               const std::source_location& where = std::source_location::current()) const {
        return write(assign_sub_op{}, value, where);
    }

    /// Gives the variable its first value.
    operation initializer() const { return operation(this->graph().state().initializer(this->node())); }

private:
    /// Checked before anything is added to the graph.
    variable(const std::string& name, any_array host, const variable_options& options,
             const std::source_location& where, int)
        : variable(detail::checked_shape(name, host, extents<D...>::value), options, where) {
        initialize(constant_value<T, D...>(std::move(host)), where);
    }
    template <class I> static any_array host_value_of(const I& value) {
        if constexpr (literal<I>) {
            static_assert(rank == 0 && literal_fits<T, I>,
                          "variable: a number initialises a variable of rank 0 whose dtype it fits");
            return to_any_array<T>(literal_value<T>(value, "variable"));
        } else {
            static_assert(same_dtype<host_element<I>, T>, "variable: the initial value's dtype differs");
            return detail::owned_copy(to_any_array<T>(value, extents<D...>::value));
        }
    }

    variable(const std::string& name, const variable_options& options, const std::source_location& where)
        : tensor<T, D...>(detail::unchecked,
                          detail::add_variable({dtype_of<T>, extents<D...>::value}, name, options, where)) {
        require_kernel<assign_op, T>();
    }

    template <class E> void initialize(const E& value, const std::source_location& where) {
        const graph_scope here(this->graph());
        const detail::node_scope below(*this);
        const control_dependencies none;
        detail::set_initial_value(*this, detail::seal(value, this->graph()), where);
    }

    template <class Op, class E>
    tensor<T, D...> write(const Op& op, const E& value, const std::source_location& where) const {
        if constexpr (literal<E>) {
            static_assert(literal_fits<T, E>, "assign: the literal does not fit the variable's dtype");
            return write(op, filled<D...>(literal_value<T>(value, "assign")), where);
        } else {
            static_assert(same_dtype<value_type_of<E>, T>, "assign: the dtypes differ; convert with cast<T>()");
            static_assert(assignable<extents<D...>, extents_of<E>>,
                          "assign: the value's shape differs from the variable's");
            require_kernel<Op, T>();
            return {detail::unchecked,
                    endpoint{detail::add_node(this->graph(), make_op(op),
                                              {this->end(), detail::seal(value, this->graph())}, {}, false, where),
                             0}};
        }
    }
    template <index_t... E> static constant_value<T, E...> filled(const T& value) {
        any_array a(dtype_of<T>, extents<E...>::value);
        std::fill_n(static_cast<T*>(a.mutable_data()), a.size(), value);
        return constant_value<T, E...>(std::move(a));
    }
};

namespace detail {

operation initializers_of(const std::string& collection, const std::string& name, const std::source_location& where);

} // namespace detail

/// An operation that gives every variable of the current graph its first value: those made so far.
operation global_variables_initializer(const std::source_location& where = std::source_location::current());
operation local_variables_initializer(const std::source_location& where = std::source_location::current());

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/state/variable.ipp>
#endif
