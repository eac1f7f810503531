// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/expression.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if extents From convert to extents To without a check: each extent is equal, or becomes dynamic.
template <class From, class To> inline constexpr bool extents_widen = false;
template <index_t... F, index_t... D>
    requires(sizeof...(F) == sizeof...(D))
inline constexpr bool extents_widen<extents<F...>, extents<D...>> = ((D == dyn || D == F) && ...);

namespace detail {

/// Returns an identity node with a name. Defined with the op, in ops/array/identity.hpp.
endpoint named_edge(const endpoint& e, const std::string& name, const std::source_location& where);

} // namespace detail

/// A handle to one output of a node, with static element type and extents. It is cheap to copy; assignment rebinds it.
template <class T, index_t... D> class tensor : public any_tensor, public operand<T, D...> {
public:
    tensor() = default;

    /// Seals an expression into a new node, named by the scope (or by `name`). For another tensor, takes its handle.
    template <typed_operand E>
        requires(!std::is_same_v<E, tensor> && extents_of<E>::rank == static_cast<int>(sizeof...(D)))
    tensor(const E& e, const std::string& name = {},
           const std::source_location& where = std::source_location::current())
        : any_tensor(sealed(e, name, where)) {
        static_assert(std::is_same_v<value_type_of<E>, T>, "tensor: the element types differ; convert with cast<T>()");
        static_assert(
            extents_widen<extents_of<E>, extents<D...>>,
            "tensor: the extents differ; what only run time can show is checked by tensor<T, D...>(any_tensor(x))");
    }

    /// Refuses another rank at compile time. Converted to any_tensor, the operand would be checked at run time only.
    template <unsealed_operand E>
        requires(extents_of<E>::rank != static_cast<int>(sizeof...(D)))
    explicit tensor(const E&) {
        static_assert(extents_widen<extents_of<E>, extents<D...>>, "tensor: the ranks differ");
    }

    /// Adds an identity node, which gives the same value another name.
    tensor(const tensor& t, const std::string& name,
           const std::source_location& where = std::source_location::current())
        : any_tensor(detail::named_edge(t.end(), name, where)) {}

    /// Takes a tensor of unknown type. Throws invalid_argument if its dtype or shape is incompatible.
    explicit tensor(const any_tensor& t, const std::source_location& where = std::source_location::current())
        : any_tensor(t) {
        const tensor_type wanted{dtype_of<T>, extents<D...>::value};
        if (t.dtype() != wanted.type || !rules::compatible(t.static_shape(), wanted.shape))
            throw invalid_argument("tensor: " + to_string(wanted) + " expected, '" + t.name() + "' is " +
                                   to_string(type_of(t.end())) + detail::at_place(where));
    }
    tensor(detail::unchecked_t, const any_tensor& t) : any_tensor(t) {}

    /// Computes the tensor in the default session (see session_scope).
    template <class... Feeds> auto eval(Feeds&&... feeds) const;

    /// Returns a row, an element or a block: x(1), x(-1, slice_range{2, 5}). Defined in ops/array/subscript.hpp.
    template <class... I>
        requires(sizeof...(I) > 0)
    auto operator()(const I&... at) const;

private:
    template <class E> static endpoint sealed(const E& e, const std::string& name, const std::source_location& where) {
        const endpoint made = detail::seal(e, detail::graph_of_operand(e), name, false, where);
        if constexpr (requires { e.end(); })
            if (!name.empty()) return detail::named_edge(made, name, where);
        return made;
    }
};

template <class T, index_t... D> tensor(const operand<T, D...>&) -> tensor<T, D...>;
template <class T, index_t... D> tensor(const operand<T, D...>&, const std::string&) -> tensor<T, D...>;

namespace detail {

template <class T, class X> struct tensor_with;
template <class T, index_t... D> struct tensor_with<T, extents<D...>> {
    using type = tensor<T, D...>;
};

} // namespace detail

/// The handle type for an element type and extents: tensor_of<float, extents<2, 3>>.
template <class T, class Extents> using tensor_of = typename detail::tensor_with<T, Extents>::type;

/// Seals an operand in its own graph, shared with equal expressions and without a user-given name.
template <typed_operand E> tensor_of<value_type_of<E>, extents_of<E>> sealed(const E& e) {
    return {detail::unchecked, any_tensor(detail::seal(e))};
}
inline any_tensor sealed(const any_tensor& t) { return t; }

template <unsealed_operand E>
any_tensor::any_tensor(const E& e, const std::source_location& where)
    : any_tensor(detail::seal(e, detail::graph_of_operand(e), {}, true, where)) {}

}} // namespace rill::RILL_ABI
