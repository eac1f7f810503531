// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/expr/apply.hpp>
#include <rill/expr/tensor.hpp>
#include <rill/runtime/fetch_place.hpp>

// Fetches that write into the caller's arrays.

namespace rill { inline namespace RILL_ABI {

namespace detail {

[[noreturn]] void refuse_room(const dims& shape, const std::string& has);

/// Returns the elements of the caller's array, resized to `shape` if needed and possible. Throws invalid_argument if the value does not
/// fit.
template <class T> T* room_in(T& number, const dims& shape) {
    if (shape.rank != 0) refuse_room(shape, "a number");
    return &number;
}
template <class T> T* room_in(std::span<T>& all, const dims& shape) {
    if (static_cast<index_t>(all.size()) != shape.size())
        refuse_room(shape, "a span of " + std::to_string(all.size()) + " elements");
    return all.data();
}
template <class T, class A> T* room_in(std::vector<T, A>& all, const dims& shape) {
    all.resize(static_cast<std::size_t>(shape.size()));
    return all.data();
}
template <class A> bool* room_in(std::vector<bool, A>&, const dims&); // refused: std::vector<bool> stores bits
template <class A>
    requires requires(A& a) {
        a.dimension();
        a.storage();
    }
auto* room_in(A& array, const dims& shape) {
    std::vector<std::size_t>::size_type rank = array.dimension();
    bool same = static_cast<int>(rank) == shape.rank;
    for (std::size_t i = 0; same && i < rank; ++i)
        same = static_cast<index_t>(array.shape(i)) == shape[static_cast<int>(i)];
    if (same) return array.data();
    auto wanted = array.shape(); // the array's shape type: a std::array if the rank is fixed
    if constexpr (!requires { wanted[0] = 0; }) {
        dims fixed;
        for (const auto n : wanted) fixed.push(static_cast<index_t>(n));
        refuse_room(shape, "an array whose shape is always " + to_string(fixed));
    } else {
        if constexpr (requires { wanted.resize(rank); })
            wanted.resize(static_cast<std::size_t>(shape.rank));
        else if (wanted.size() != static_cast<std::size_t>(shape.rank))
            refuse_room(shape, "an array of rank " + std::to_string(rank));
        for (int i = 0; i < shape.rank; ++i)
            wanted[static_cast<std::size_t>(i)] = static_cast<typename decltype(wanted)::value_type>(shape[i]);
        array.resize(wanted);
    }
    return array.data();
}

template <class A> inline constexpr bool has_its_elements = true;
template <class A> inline constexpr bool has_its_elements<std::vector<bool, A>> = false;

template <class A> inline constexpr bool is_row_major = true;
template <class A>
    requires requires { A::static_layout; }
inline constexpr bool is_row_major<A> = A::static_layout == xt::layout_type::row_major;

} // namespace detail

/// A fetch whose value goes into the caller's array.
template <graph_operand X, class A> struct into_fetch {
    X what;
    A* array;
};

/// True if the array has the tensor's element type.
template <class Array, class Tensor> inline constexpr bool is_room_for = true;
template <class Array, typed_operand X>
inline constexpr bool is_room_for<Array, X> = std::is_same_v<host_element<Array>, value_type_of<X>>;

/// Fetches into an existing array: s.run(into(y, array), …). The array is a dense row-major xtensor (dynamic or fixed), a flat std::vector
/// or std::span, or a number for rank 0. Nothing is allocated if the size fits already. The same run must not be fed with the array. If the
/// run fails, the elements are unspecified.
template <graph_operand X, class A> into_fetch<X, A> into(const X& what, A& array) {
    static_assert(is_room_for<A, X>, "into: the array's element type differs from the tensor's");
    static_assert(detail::has_its_elements<A>, "into: a std::vector<bool> holds bits; take an xtensor of bool");
    static_assert(detail::is_row_major<A>, "into: the array must be row-major");
    return {what, &array};
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/session/into.ipp>
#endif
