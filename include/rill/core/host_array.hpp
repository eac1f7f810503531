// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Includes only the parts of xtensor that a dense container needs (for both header layouts: before and since 0.26).
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include <initializer_list>
#include <iterator>
#include <memory>
#include <span> // and with it, in every standard library, the concepts of ranges: <ranges> has views, which take long to compile
#include <string>
#include <type_traits>
#include <utility>

#include <rill/core/any_array.hpp>
#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI {

/// A dense row-major host array of static rank. A fetch returns one.
template <class T, int Rank> using host_array = xt::xtensor<T, static_cast<std::size_t>(Rank)>;

namespace detail {

template <class T, int Rank> struct host_value_of {
    using type = host_array<T, Rank>;
};
template <class T> struct host_value_of<T, 0> {
    using type = T;
};

template <class T, int Rank> struct nested_list_of {
    using type = std::initializer_list<typename nested_list_of<T, Rank - 1>::type>;
};
template <class T> struct nested_list_of<T, 0> {
    using type = T;
};

} // namespace detail

/// The host type of a value of element type T and this rank: T itself for rank 0, else host_array.
template <class T, int Rank> using host_value = typename detail::host_value_of<T, Rank>::type;

/// A braced list nested `Rank` deep.
template <class T, int Rank> using nested_list = typename detail::nested_list_of<T, Rank>::type;

/// An xtensor expression of any kind.
template <class X>
concept xtensor_expression = xt::is_xexpression<std::remove_cvref_t<X>>::value;

/// Flat data: std::vector, std::span, std::array, but neither text nor an xtensor container.
template <class X>
concept flat_range = std::ranges::sized_range<X> && std::ranges::input_range<X> && !xtensor_expression<X> &&
                     !std::is_convertible_v<X, std::string>;

namespace detail {

template <class X> struct host_element_of {
    using type = std::remove_cvref_t<X>;
};
template <class X>
    requires xtensor_expression<X>
struct host_element_of<X> {
    using type = typename std::remove_cvref_t<X>::value_type;
};
template <class X>
    requires flat_range<X>
struct host_element_of<X> {
    using type = std::ranges::range_value_t<X>;
};
template <class X>
    requires(std::is_convertible_v<X, std::string> && !xtensor_expression<X>)
struct host_element_of<X> {
    using type = std::string;
};

} // namespace detail

/// The element type of a host value: a container's elements, std::string for text, a number's own type.
template <class X> using host_element = typename detail::host_element_of<X>::type;

namespace detail {

/// Elements in memory: containers, adaptors and views of them. The storage of a view may have gaps.
template <class X>
concept strided_xtensor = xtensor_expression<X> && requires(const std::remove_cvref_t<X>& x) {
    { x.data() } -> std::convertible_to<const void*>;
    x.data_offset();
    x.strides();
};

/// Returns true if the elements are in row-major order without gaps.
template <class X> bool row_major_dense(const X& x) {
    std::ptrdiff_t step = 1;
    for (std::size_t i = x.dimension(); i-- > 0;) {
        const auto extent = static_cast<std::ptrdiff_t>(x.shape()[i]);
        if (extent != 1 && static_cast<std::ptrdiff_t>(x.strides()[i]) != step) return false;
        step *= extent;
    }
    return true;
}

template <class T, class X> any_array copy_range(const X& begin, const dims& shape) {
    any_array out(dtype_of<T>, shape);
    auto at = begin;
    auto* to = static_cast<T*>(out.mutable_data());
    for (index_t i = 0; i < out.size(); ++i, ++at) to[i] = static_cast<T>(*at);
    return out;
}

template <class X> dims dims_of(const X& shape) {
    if (shape.size() > static_cast<std::size_t>(max_rank))
        throw invalid_argument("host value: " + std::to_string(shape.size()) + " dimensions, at most 8 are supported");
    dims d;
    for (const auto e : shape) d.push(static_cast<index_t>(e));
    return d;
}

/// Converts an xtensor expression to an any_array. Borrows from a dense lvalue, takes ownership of a dense temporary,
/// evaluates other expressions.
template <class T, class X> any_array from_xtensor(X&& x) {
    using bare = std::remove_cvref_t<X>;
    const dims shape = dims_of(x.shape());
    if constexpr (strided_xtensor<X> && std::is_same_v<typename bare::value_type, T>) {
        if (row_major_dense(x)) {
            if constexpr (std::is_lvalue_reference_v<X>) {
                return any_array(dtype_of<T>, shape, x.data() + x.data_offset(), nullptr);
            } else {
                auto owner = detail::make_shared<const bare>(std::forward<X>(x));
                const void* data = owner->data() + owner->data_offset();
                return any_array(dtype_of<T>, shape, data, std::move(owner));
            }
        }
    }
    return copy_range<T>(x.template begin<xt::layout_type::row_major>(), shape);
}

/// Returns a scalar array. It is allocated on its own instead of in an aligned block.
any_array single_element(dtype type, const void* value);

/// Returns the shape of flat data from the target shape `wanted`. One extent may be dyn and is inferred.
dims shape_of_flat(index_t count, const dims& wanted);

template <class T, class X> any_array from_range(X&& x, const dims& wanted) {
    const dims shape = shape_of_flat(static_cast<index_t>(std::ranges::size(x)), wanted);
    if constexpr (std::ranges::contiguous_range<X> && std::is_same_v<std::ranges::range_value_t<X>, T>) {
        if constexpr (std::is_lvalue_reference_v<X> || std::ranges::borrowed_range<X>) {
            return any_array(dtype_of<T>, shape, std::ranges::data(x), nullptr);
        } else {
            auto owner = std::make_shared<const std::remove_cvref_t<X>>(std::forward<X>(x));
            const void* data = std::ranges::data(*owner);
            return any_array(dtype_of<T>, shape, data, std::move(owner));
        }
    } else {
        return copy_range<T>(std::ranges::begin(x), shape);
    }
}

template <class T, int Rank> void shape_of_list(const nested_list<T, Rank>& list, dims& shape) {
    if constexpr (Rank > 0) {
        shape.push(static_cast<index_t>(list.size()));
        if (list.size() > 0)
            shape_of_list<T, Rank - 1>(*list.begin(), shape);
        else
            for (int i = 1; i < Rank; ++i) shape.push(0);
    }
}

template <class T, int Rank> T* fill_from_list(const nested_list<T, Rank>& list, const dims& shape, T* out) {
    if constexpr (Rank == 0) {
        *out = list;
        return out + 1;
    } else {
        if (static_cast<index_t>(list.size()) != shape[shape.rank - Rank])
            throw invalid_argument("host value: the nested braces are ragged, " + to_string(shape) + " expected");
        for (const auto& part : list) out = fill_from_list<T, Rank - 1>(part, shape, out);
        return out;
    }
}

} // namespace detail

/// Converts a host value of element type T to an any_array. Borrows from lvalues if the layout permits. `wanted` is the
/// shape of the target tensor, which gives flat data its shape.
template <element T, class X> any_array to_any_array(X&& x, const dims& wanted = dims::unknown()) {
    using bare = std::remove_cvref_t<X>;
    if constexpr (std::is_same_v<bare, any_array>) {
        return std::forward<X>(x);
    } else if constexpr (xtensor_expression<X>) {
        return detail::from_xtensor<T>(std::forward<X>(x));
    } else if constexpr (flat_range<X>) {
        return detail::from_range<T>(std::forward<X>(x), wanted);
    } else {
        const T value(static_cast<T>(x));
        return detail::single_element(dtype_of<T>, &value);
    }
}

template <element T, int Rank> any_array list_to_any_array(const nested_list<T, Rank>& list) {
    dims shape;
    detail::shape_of_list<T, Rank>(list, shape);
    any_array out(dtype_of<T>, shape);
    detail::fill_from_list<T, Rank>(list, shape, static_cast<T*>(out.mutable_data()));
    return out;
}

/// Returns an uninitialised array of a complete shape.
template <element T, int Rank> host_array<T, Rank> make_host_array(const dims& shape) {
    typename host_array<T, Rank>::shape_type extent;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Rank); ++i)
        extent[i] = static_cast<std::size_t>(shape.extent[i]);
    return host_array<T, Rank>(extent);
}

/// Copies row-major elements into a host value of static rank.
template <element T, int Rank> host_value<T, Rank> to_host_value(const dims& shape, const void* data) {
    const auto* from = static_cast<const T*>(data);
    if constexpr (Rank == 0) {
        return *from;
    } else {
        auto out = make_host_array<T, Rank>(shape);
        std::copy_n(from, shape.size(), out.storage().begin());
        return out;
    }
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/host_array.ipp>
#endif
