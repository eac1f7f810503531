// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// size: one class with all operations of a variable

#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/assign_sub.hpp>
#include <rill/ops/state/count_up_to.hpp>
#include <rill/ops/state/scatter_add.hpp>
#include <rill/ops/state/scatter_div.hpp>
#include <rill/ops/state/scatter_max.hpp>
#include <rill/ops/state/scatter_min.hpp>
#include <rill/ops/state/scatter_mul.hpp>
#include <rill/ops/state/scatter_nd_add.hpp>
#include <rill/ops/state/scatter_nd_sub.hpp>
#include <rill/ops/state/scatter_nd_update.hpp>
#include <rill/ops/state/scatter_sub.hpp>
#include <rill/ops/state/scatter_update.hpp>
#include <rill/ops/state/variables.hpp>

namespace rill { inline namespace RILL_ABI {

/// A value that persists across runs. Each session has its own, unless it is in a container of the process.
struct variable_op {
    static constexpr auto name = "VariableV2", label = "variable";
    static constexpr int inputs = 0;
    using domain_type = domains::every;
    static constexpr auto no_gradient = ""; // the op has no inputs
    static constexpr auto role = op_role::variable;
    static constexpr bool stateful = true;
    static constexpr int version = 2; // version 1 had neither a place nor updates in place
    tensor_type type;
    resource_name place = {};
    bool in_place_updates = false;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type.type);
        visit("shape", op.type.shape);
        visit("container", op.place.container);
        visit("shared_name", op.place.shared_name);
        visit("in_place_updates", op.in_place_updates);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
};

/// The ways in which writes treat readers. Versioned: a reader sees one whole version. If a reader still holds the last version, a write of
/// every element goes to a second block. A write of rows then copies the value first. A `gather` that is its step's only use of the
/// variable holds no version. In place: writes neither copy nor wait. A reader may then see part of a write. Of two simultaneous writes of
/// one element, one may be lost. Training that needs no order allows both.
enum class variable_updates { versioned, in_place };

struct variable_options {
    bool trainable = true; // optimizers change it
    bool local = false;    // belongs to this process: neither saved nor shared
    /// The collections of the graph that contain the variable, besides trainable_variables. A local variable is in local_variables.
    /// global_variables_initializer does not initialize a variable that is in no collection.
    std::vector<std::string> collections = {rill::collections::variables};
    std::string shared_name = {}; // sessions of this process share the value under this name
    variable_updates updates = variable_updates::versioned;
};

/// An initializer: it builds the node of a variable's first value, for the variable's element type and shape.
template <class I>
concept variable_initializer = requires(const I& i, const dims& shape) {
    { i.template initial_value<float>(shape) } -> std::convertible_to<endpoint>;
};

/// Host arrays that a variable may be set to.
template <class X>
concept host_data = xtensor_expression<X> || flat_range<X> || std::is_same_v<X, any_array>;
/// A value that can be written to a variable.
template <class X>
concept writable = graph_operand<X> || literal<X> || host_data<X>;

/// True if the extents of a value fit those of a variable.
template <class Variable, class Value>
inline constexpr bool assignable = rules::compatible(static_dims<Variable>, static_dims<Value>);

/// False for every type. It makes the static_assert about a missing first value depend on the variable's type.
template <class Variable> inline constexpr bool starts_without_value = false;

namespace detail {

/// Returns the name. Throws if a variable's value does not have the variable's shape.
const std::string& checked_shape(const std::string& name, const dims& given, const dims& wanted,
                                 const std::source_location& where = {});

/// Throws if an array does not have a variable's dtype and shape.
void check_array(const std::string& variable, const tensor_type& given, const tensor_type& wanted,
                 const std::source_location& where);

/// Returns a host value as an owned array for a variable of that name and shape. Flat data takes the shape; a number fills it.
template <class T, class X>
any_array host_value_for_variable(const std::string& name, const X& value, const dims& shape,
                                  const std::source_location& where) {
    if constexpr (literal<X>) {
        return filled_array<T>(shape, literal_value<T>(value, "variable"), where);
    } else {
        const any_array given = [&] {
            try {
                return owned_copy(to_any_array<T>(value, shape));
            } catch (const invalid_argument& problem) {
                throw invalid_argument("variable '" + name + "': " + problem.what() + at_place(where));
            }
        }();
        check_array(name, given.type(), {dtype_of<T>, shape}, where);
        return given;
    }
}

/// Adds the node of a variable and puts it into the collections. Its initializer's nodes are named below it.
endpoint add_variable(const tensor_type& type, const std::string& name, const variable_options& options,
                      const std::source_location& where);

void set_initial_value(const endpoint& variable, const endpoint& value, const std::source_location& where);

/// A scope in which nodes are named below a node: "w/initialize".
class node_scope : scoped<std::string> {
public:
    explicit node_scope(const endpoint& e) : scoped(scopes().prefix, e.from->name + "/") {}
};

/// A scope for the nodes of a variable's first value. They are named below the variable and placed on its device. They take no control
/// inputs from outer scopes.
class initial_value_scope {
public:
    explicit initial_value_scope(const endpoint& variable);

private:
    node_scope below_;
    region_scope outside_;
    colocate_with beside_;
};

} // namespace detail

/// True if the type has all extents. Otherwise the constructor takes dims.
template <class Variable> inline constexpr bool has_known_extents = Variable::extents_type::value.complete();

/// A value that persists across runs: variable<float, 64, 128> w("w", glorot_uniform()). As a tensor, it is its value at the start of a
/// step. Control dependencies or an assign's output change that. An extent known only at run time is `dyn` in the type and given by dims:
/// variable<float, dyn, dyn> w("w", dims{in, out}, glorot_uniform()).
template <class T, index_t... D> class variable : public tensor<T, D...> {
public:
    static constexpr int rank = static_cast<int>(sizeof...(D));

    /// Creates a variable. The first value is nested braces, a number that fills the variable, a tensor of the shape, or an initializer.
    variable(const std::string& name, const nested_list<T, rank>& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, list_to_any_array<T, rank>(value), options, where, 0) {}
    template <class I>
        requires(variable_initializer<I> || graph_operand<I>)
    variable(const std::string& name, const I& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, shape_for(value), value, options, where) {}
    /// Creates a variable with a first value from the host: an xtensor expression, flat data, or a number.
    template <class I>
        requires(host_data<I> || (literal<I> && (rank > 0 || !std::is_same_v<I, T>)))
    variable(const std::string& name, const I& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, open_shape_for<I>(), value, options, where) {}

    /// Creates a variable with dims known only at run time. The first value is an initializer or a tensor.
    template <class I>
        requires(variable_initializer<I> || graph_operand<I>)
    variable(const std::string& name, const dims& shape, const I& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, shape, options, where, 0) {
        if constexpr (variable_initializer<I>) {
            const graph_scope here(this->graph());
            const detail::initial_value_scope first(*this);
            detail::set_initial_value(*this, value.template initial_value<T>(this->static_shape()), where);
        } else if constexpr (typed_operand<I>) {
            static_assert(same_dtype<value_type_of<I>, T>,
                          "variable: the initial value's dtype differs; convert with cast<T>()");
            static_assert(assignable<extents<D...>, extents_of<I>>, "variable: the initial value's shape differs");
            initialize(value, where);
        } else {
            initialize(tensor<T, D...>(value, where), where);
        }
    }
    template <class I>
        requires(host_data<I> || literal<I>)
    variable(const std::string& name, const dims& shape, const I& value, const variable_options& options = {},
             const std::source_location& where = std::source_location::current())
        : variable(name, host_value_of(name, value, shape, where), options, where, 0) {}
    /// Overload for nested braces. A template, so that braces are never the dims: they may be options.
    template <std::same_as<dims> Shape>
        requires(rank > 0)
    variable(const std::string& name, const Shape& shape, const nested_list<T, rank>& value,
             const variable_options& options = {}, const std::source_location& where = std::source_location::current())
        : variable(name, host_value_of(name, list_to_any_array<T, rank>(value), shape, where), options, where, 0) {}

    /// Makes a handle of an existing variable.
    variable(detail::unchecked_t, const any_tensor& v) : tensor<T, D...>(detail::unchecked, v) {}

    /// Rejects a variable without a first value, at compile time.
    template <class Name>
        requires std::is_convertible_v<const Name&, std::string>
    explicit variable(const Name&) {
        static_assert(
            starts_without_value<variable>,
            "variable: give it a first value: variable<T, D...> v(\"v\", zeros()), or ones(), glorot_uniform(), "
            "a tensor, a number, {1.f, 2.f}");
    }

    /// Writes a value of the variable's dtype and shape. The value is a tensor, an expression, a host array, nested braces, or a number
    /// that fills the variable. The result is the variable after the write.
    template <writable E>
    tensor<T, D...> assign(const E& value, const std::source_location& where = std::source_location::current()) const {
        return write<assign_op>(value, where);
    }
    tensor<T, D...> assign(const nested_list<T, rank>& list,
                           std::source_location at = std::source_location::current()) const {
        return write<assign_op>(list_to_any_array<T, rank>(list), at);
    }
    template <writable E>
    tensor<T, D...> assign_add(const E& value,
                               const std::source_location& where = std::source_location::current()) const {
        return write<assign_add_op>(value, where);
    }
    tensor<T, D...> assign_add(const nested_list<T, rank>& list,
                               std::source_location at = std::source_location::current()) const {
        return write<assign_add_op>(list_to_any_array<T, rank>(list), at);
    }
    template <writable E>
    tensor<T, D...> assign_sub(const E& value,
                               const std::source_location& where = std::source_location::current()) const {
        return write<assign_sub_op>(value, where);
    }
    tensor<T, D...> assign_sub(const nested_list<T, rank>& list,
                               std::source_location at = std::source_location::current()) const {
        return write<assign_sub_op>(list_to_any_array<T, rank>(list), at);
    }

    /// Increments the variable and returns its value before. Fails with out_of_range at the limit.
    tensor<T> count_up_to(std::int64_t limit,
                          const std::source_location& where = std::source_location::current()) const {
        return rill::count_up_to(*this, limit, where);
    }

    /// Writes slices along the first axis: v.scatter_add(ids, rows) adds rows[k] to slice ids[k] for each k in turn. No other slices are
    /// read or written. An id out of range is invalid_argument, and nothing is written.
    template <ids_argument Ids = std::vector<int>, graph_operand Updates>
    tensor<T, D...> scatter_add(const Ids& ids, const Updates& updates,
                                const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_add_op>(ids, updates, where);
    }
    template <ids_argument Ids = std::vector<int>, graph_operand Updates>
    tensor<T, D...> scatter_sub(const Ids& ids, const Updates& updates,
                                const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_sub_op>(ids, updates, where);
    }
    /// Replaces slices. If an id occurs twice, the last slice stays.
    template <ids_argument Ids = std::vector<int>, graph_operand Updates>
    tensor<T, D...> scatter_update(const Ids& ids, const Updates& updates,
                                   const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_update_op>(ids, updates, where);
    }

    /// Multiplies the slices that ids select. Further members divide them, or take the minimum or maximum.
    template <ids_argument Ids = std::vector<int>, graph_operand Updates>
    tensor<T, D...> scatter_mul(const Ids& ids, const Updates& updates,
                                const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_mul_op>(ids, updates, where);
    }
    template <ids_argument Ids = std::vector<int>, graph_operand Updates>
    tensor<T, D...> scatter_div(const Ids& ids, const Updates& updates,
                                const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_div_op>(ids, updates, where);
    }
    template <ids_argument Ids = std::vector<int>, graph_operand Updates>
    tensor<T, D...> scatter_min(const Ids& ids, const Updates& updates,
                                const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_min_op>(ids, updates, where);
    }
    template <ids_argument Ids = std::vector<int>, graph_operand Updates>
    tensor<T, D...> scatter_max(const Ids& ids, const Updates& updates,
                                const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_max_op>(ids, updates, where);
    }
    /// Writes slices selected by rows of indices along the first axes: v.scatter_nd_add(ids, updates). The ids are [.., r]; the updates
    /// have the shape of gather_nd(v, ids).
    template <ids_argument Ids = braced_rows, graph_operand Updates>
    tensor<T, D...> scatter_nd_add(const Ids& ids, const Updates& updates,
                                   const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_nd_add_op>(ids, updates, where);
    }
    template <ids_argument Ids = braced_rows, graph_operand Updates>
    tensor<T, D...> scatter_nd_sub(const Ids& ids, const Updates& updates,
                                   const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_nd_sub_op>(ids, updates, where);
    }
    template <ids_argument Ids = braced_rows, graph_operand Updates>
    tensor<T, D...> scatter_nd_update(const Ids& ids, const Updates& updates,
                                      const std::source_location& where = std::source_location::current()) const {
        return scatter<scatter_nd_update_op>(ids, updates, where);
    }

    /// Returns the operation that gives the variable its first value.
    operation initializer() const { return operation(this->graph().state().initializer(this->node())); }

private:
    // the last parameter distinguishes these from the public constructors; all checks precede the first change of the graph
    variable(const std::string& name, any_array host, const variable_options& options,
             const std::source_location& where, int)
        : variable(name, host.shape(), options, where, 0) {
        initialize(constant_value<T, D...>(std::move(host), where), where);
    }
    variable(const std::string& name, const dims& shape, const variable_options& options,
             const std::source_location& where, int)
        : tensor<T, D...>(detail::unchecked,
                          detail::add_variable({dtype_of<T>, shape},
                                               detail::checked_shape(name, shape, extents<D...>::value, where), options,
                                               where)) {
        require_kernel<assign_op, void>();
    }

    /// Returns the shape of a variable with this first value: that of the type, or of the value if the type has unknown extents.
    template <class I> static dims shape_for(const I& value) {
        if constexpr (has_known_extents<variable> || variable_initializer<I>)
            return open_shape_for<I>();
        else
            return type_of(detail::seal(value)).shape;
    }
    template <class I> static const dims& open_shape_for() {
        static_assert(has_known_extents<variable> || host_data<I>,
                      "variable: its type leaves an extent open, so give the dims too: variable<T, dyn> v(\"v\", "
                      "dims{n}, zeros())");
        return extents<D...>::value;
    }
    template <class I>
    static any_array host_value_of(const std::string& name, const I& value, const dims& shape,
                                   const std::source_location& where) {
        if constexpr (literal<I>)
            static_assert(literal_fits<T, I>, "variable: the number does not fit the variable's dtype");
        else if constexpr (!std::is_same_v<I, any_array>)
            static_assert(same_dtype<host_element<I>, T>, "variable: the initial value's dtype differs");
        return detail::host_value_for_variable<T>(name, value, shape, where);
    }

    template <class E> void initialize(const E& value, const std::source_location& where) {
        const graph_scope here(this->graph());
        const detail::initial_value_scope first(*this);
        detail::set_initial_value(*this, detail::seal(value, this->graph()), where);
    }

    template <class Op, class Ids, class Updates>
    tensor<T, D...> scatter(const Ids& ids, const Updates& updates, const std::source_location& where) const {
        static_assert(are_ids<Ids>, "scatter: the ids must be int or std::int64_t");
        const auto& at = detail::ids_operand(ids, where);
        using I = std::remove_cvref_t<decltype(at)>;
        if constexpr (typed_operand<Updates>)
            static_assert(same_dtype<value_type_of<Updates>, T>, "scatter: the dtypes differ; convert with cast<T>()");
        static_assert(op_takes<Op, T>, "scatter: the op does not take the variable's element type");
        if constexpr (typed_operand<I> && typed_operand<Updates>)
            static_assert(Op::template fits<extents<D...>, extents_of<I>, extents_of<Updates>>,
                          "scatter: the updates don't fit the variable and the ids");
        return {detail::unchecked, any_tensor(apply_node(Op{}, where, tensor<T, D...>(*this), at, updates))};
    }

    template <class Op, class E> tensor<T, D...> write(const E& value, const std::source_location& where) const {
        if constexpr (literal<E>) {
            static_assert(literal_fits<T, E>, "assign: the literal does not fit the variable's dtype");
            return write_array<Op>(detail::filled_array<T>(this->static_shape(), literal_value<T>(value, "assign")),
                                   where);
        } else if constexpr (host_data<E>) {
            return write_array<Op>(host_value_of(this->node()->name, value, this->static_shape(), where), where);
        } else if constexpr (untyped_operand<E>) {
            return write<Op>(tensor<T, D...>(value, where), where);
        } else {
            static_assert(same_dtype<value_type_of<E>, T>, "assign: the dtypes differ; convert with cast<T>()");
            static_assert(assignable<extents<D...>, extents_of<E>>,
                          "assign: the value's shape differs from the variable's");
            require_kernel<Op, void>();
            return {detail::unchecked, any_tensor(add_write<Op>(value, where))};
        }
    }
    template <class Op> tensor<T, D...> write_array(any_array value, const std::source_location& where) const {
        return write<Op>(constant_value<T, D...>(std::move(value), where), where);
    }
    /// Adds a write. An expression is computed into the variable. A tensor is copied, or joined with the variable.
    template <class Op, class E> endpoint add_write(const E& value, const std::source_location& where) const {
        const graph g = this->graph();
        detail::write_program made;
        if constexpr (detail::is_expression<E>) // integer division may fail, so it runs before anything is written
            if (divides_integers(*program_of<typename detail::strip<E>::type>().body))
                return add_write<Op>(tensor<T, D...>(value, {}, where), where);
        if constexpr (requires { typename Op::joins; })
            made = joined<Op>(value, g);
        else if constexpr (detail::is_expression<E>)
            made = written(value, g);
        else
            made.inputs = {this->end(), detail::seal(value, g)};
        return {detail::add_node(g, make_op(Op{{std::move(made.spec)}}), std::move(made.inputs), {}, false, where), 0};
    }
    template <class E> detail::write_program written(const E& value, const graph& g, bool joins = false) const {
        using S = typename detail::strip<E>::type;
        detail::require_structure<S>();
        detail::sealing s(g);
        detail::gather_leaves(value, s);
        return detail::value_of_write(this->end(), program_of<S>(), s, joins);
    }
    template <class Op, class E> detail::write_program joined(const E& value, const graph& g) const {
        if constexpr (detail::is_expression<E>) {
            return written(detail::make_expression<typename Op::joins>(tensor<T, D...>(*this), value), g, true);
        } else {
            detail::require_fused();
            require_primitive<typename Op::joins, T, T>();
            return detail::joined_write(info_of<typename Op::joins>, this->end(), detail::seal(value, g));
        }
    }
};

/// Deduces the type from the first value, a tensor: variable v("v", x * 2.f).
template <class T, index_t... D>
variable(const std::string&, const operand<T, D...>&, const variable_options& = {}) -> variable<T, D...>;

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> variable_op::outputs(std::span<const tensor_type>) const { return {type}; }

namespace detail {

RILL_INLINE const std::string& checked_shape(const std::string& name, const dims& given, const dims& wanted,
                                             const std::source_location& where) {
    if (!rules::compatible(given, wanted))
        throw invalid_argument("variable '" + name + "': the value has the shape " + to_string(given) + ", not " +
                               to_string(wanted) + at_place(where));
    if (!given.complete())
        throw invalid_argument("variable '" + name + "': every extent must be known, the shape is " + to_string(given) +
                               at_place(where));
    return name;
}

RILL_INLINE void check_array(const std::string& variable, const tensor_type& given, const tensor_type& wanted,
                             const std::source_location& where) {
    checked_shape(variable, given.shape, wanted.shape, where);
    if (given.type != wanted.type)
        throw invalid_argument("variable '" + variable + "': the value is " + to_string(given) + ", not " +
                               to_string(wanted) + at_place(where));
}

RILL_INLINE endpoint add_variable(const tensor_type& type, const std::string& name, const variable_options& options,
                                  const std::source_location& where) {
    checked_shape(name, type.shape, type.shape, where);
    const graph g = current_graph();
    ensure_registered<variable_op>();
    const region_scope outside(nullptr); // variables take neither control inputs nor a region from the surrounding scope
    const endpoint e{
        add_node(g,
                 make_op(variable_op{
                     type, {scopes().container, options.shared_name}, options.updates == variable_updates::in_place}),
                 {}, name, false, where),
        0};
    for (const auto& c : options.collections)
        g.add_to_collection(options.local && c == collections::variables ? collections::local_variables : c, e);
    if (options.trainable && !options.local) g.add_to_collection(collections::trainable_variables, e);
    return e;
}

RILL_INLINE initial_value_scope::initial_value_scope(const endpoint& variable)
    : below_(variable), outside_(nullptr), beside_(any_tensor(variable)) {}

RILL_INLINE void set_initial_value(const endpoint& variable, const endpoint& value, const std::source_location& where) {
    const region_scope outside(nullptr); // a variable made in a body does not belong to the body
    const graph g(*variable.from->owner);
    const node* assign = add_node(g, make_op(assign_op{}), {variable, value}, "initialize", false, where);
    g.state().set_initializer(variable.from, assign);
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
