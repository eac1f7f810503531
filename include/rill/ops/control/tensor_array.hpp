// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/tensor_array_write.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/region/loop_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if a written value fits the elements of an array: it has their element type and compatible extents.
template <class Element, class Value> inline constexpr bool element_fits = false;
template <class T, index_t... D, index_t... V>
    requires(sizeof...(D) == sizeof...(V))
inline constexpr bool element_fits<tensor<T, D...>, tensor<T, V...>> = ((D == V || D == dyn || V == dyn) && ...);
template <class Element> inline constexpr bool element_fits<Element, any_tensor> = true;

/// An array of tensors of one shape: tensor_array<float, 3> has elements tensor<float, 3>. It is an immutable value and a tensor: write
/// returns another array. The write is in place if nothing else uses the old array, as for a loop-carried array. A new array holds
/// zeros.
template <class T, index_t... D> class tensor_array : public tensor<T, dyn, D...> {
    using base = tensor<T, dyn, D...>;
    using element_type = tensor<T, D...>;

public:
    tensor_array() = default;
    tensor_array(detail::unchecked_t, const any_tensor& t) : base(detail::unchecked, t) {}

    /// Makes an array of `size` elements.
    explicit tensor_array(index_t size, const std::source_location& where = std::source_location::current())
        : base(detail::unchecked, fill(dims{size, whole(D)...}, T(), where)) {}
    /// Makes an array whose size is a tensor of rank 0: size(x), or a number that is fed.
    template <graph_operand N>
        requires(extents_of<N>::rank == 0)
    explicit tensor_array(const N& size, const std::source_location& where = std::source_location::current())
        : base(detail::unchecked, filled(size, where)) {}
    /// Makes an array of the slices of a tensor along its first axis.
    template <typed_operand X>
        requires(extents_of<X>::rank == static_cast<int>(sizeof...(D)) + 1 && !std::is_base_of_v<tensor_array, X>)
    explicit tensor_array(const X& slices) : base(slices) {}

    /// Returns the array with `value` at index i, an int. An index out of range throws invalid_argument.
    template <class I, class V>
        requires(detail::body_value<I> && detail::body_value<V>)
    tensor_array write(const I& i, const V& value,
                       const std::source_location& where = std::source_location::current()) const {
        static_assert(element_fits<element_type, detail::handle_type<V>>,
                      "tensor_array: what is written has another element type or shape than the array's elements");
        return set(i, value, where);
    }
    /// Returns the array with slices of `values` along its first axis at several distinct indices.
    template <graph_operand I, graph_operand V>
    tensor_array scatter(const I& ids, const V& values,
                         const std::source_location& where = std::source_location::current()) const {
        return set(ids, values, where);
    }
    /// Returns the element at index i, an int. An index out of range throws invalid_argument.
    template <class I>
        requires detail::body_value<I>
    element_type read(const I& i, const std::source_location& where = std::source_location::current()) const {
        return element_type(rows(as_operand(i), where));
    }
    /// Returns the elements at several indices, along a new first axis.
    template <graph_operand I>
    auto gather(const I& ids, const std::source_location& where = std::source_location::current()) const {
        return rows(ids, where);
    }
    /// Returns all elements along a new first axis: the array itself, as a tensor.
    const tensor<T, dyn, D...>& stack() const { return *this; }
    /// Returns an array of the slices of a tensor.
    template <typed_operand X> tensor_array unstack(const X& slices) const { return tensor_array(slices); }
    /// Returns the number of elements.
    tensor<int> size(const std::source_location& where = std::source_location::current()) const {
        return tensor<int>(rill::gather<0>(shape(stack(), where), constant(0), where));
    }

private:
    template <class I> auto rows(const I& ids, const std::source_location& where) const {
        check_places(ids, where);
        const graph_scope here(this->graph());
        const name_scope scope("tensor_array"); // run errors name the node "tensor_array/gather"
        return rill::gather<0>(stack(), ids, where);
    }
    /// Throws if the array can't be indexed by the ids; errors contain the array's name.
    template <class I> void check_places(const I& ids, const std::source_location& where) const {
        if (detail::is_null(stack()) || detail::is_null(ids)) detail::refuse_null("tensor_array", where);
        if constexpr (untyped_operand<I>)
            if (const auto type = detail::operand_type(ids); type.type != dtype::int32 && type.type != dtype::int64)
                throw invalid_argument("tensor_array: places are " + to_string(type) + ", not int32 or int64" +
                                       detail::at_place(where));
    }
    static constexpr index_t whole(index_t extent) {
        static_assert(static_extents<D...>,
                      "tensor_array: the extents of an element must be known to make one of zeros; "
                      "make one of the slices of a tensor");
        return extent;
    }
    template <class N> static any_tensor filled(const N& size, const std::source_location& where) {
        if constexpr (sizeof...(D) == 0)
            return fill(expand_dims<0>(size), T(), where);
        else
            return fill(concat<0>(expand_dims<0>(cast<int>(size)), constant({static_cast<int>(whole(D))...})), T(),
                        where);
    }
    template <class X> static decltype(auto) as_operand(const X& x) {
        if constexpr (literal<X>)
            return constant(x);
        else
            return (x);
    }
    template <class I, class V> tensor_array set(const I& i, const V& value, const std::source_location& where) const {
        static_assert(are_ids<std::remove_cvref_t<decltype(as_operand(i))>>,
                      "tensor_array: places are int or std::int64_t");
        return {detail::unchecked,
                apply_node(tensor_array_write_op{}, where, stack(), as_operand(i), as_operand(value))};
    }
};

template <class T, index_t N, index_t... D> tensor_array(const tensor<T, N, D...>&) -> tensor_array<T, D...>;

// Traits of arrays as loop-carried values and as results of branches.

template <class T, index_t... D, class Next>
inline constexpr bool state_keeps_its_type<tensor_array<T, D...>, Next> =
    state_keeps_its_type<tensor<T, dyn, D...>, Next>;
template <class T, index_t... D, index_t... N>
inline constexpr bool state_keeps_its_type<tensor_array<T, D...>, tensor_array<T, N...>> =
    state_keeps_its_type<tensor<T, D...>, tensor<T, N...>>;
template <class T, index_t... D>
inline constexpr bool branches_agree<tensor_array<T, D...>, tensor_array<T, D...>> = true;

namespace detail {

template <class T, index_t... D> struct handle_for<tensor_array<T, D...>> {
    using type = tensor_array<T, D...>;
};
template <class T, index_t... D> struct joined_branches<tensor_array<T, D...>, tensor_array<T, D...>> {
    using type = tensor_array<T, D...>;
};

} // namespace detail

}} // namespace rill::RILL_ABI
