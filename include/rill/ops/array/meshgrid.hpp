// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/stack.hpp>

namespace rill { inline namespace RILL_ABI {

/// The tag that makes vector i of a mesh run along axis i.
struct matrix_indexing_t {};
inline constexpr matrix_indexing_t matrix_indexing{};

namespace detail {

/// Returns the axis that vector i of a mesh runs along. By default, as for points in a plane, x runs along axis 1 and y
/// along axis 0.
constexpr int axis_of_mesh(bool matrix, int i, int count) { return matrix || count < 2 || i > 1 ? i : 1 - i; }

template <bool Matrix, class... X> auto mesh(const std::source_location& where, const X&... x) {
    constexpr int count = static_cast<int>(sizeof...(X));
    static_assert(count > 0 && count <= max_rank, "meshgrid: 1 to 8 vectors are expected");
    static_assert(((untyped_operand<X> || extents_of<X>::rank == 1) && ...),
                  "meshgrid: tensors of rank 1 are expected");
    (require_rank("meshgrid", x, 1, where), ...);
    const std::tuple all(sealed(x)...);
    const auto shape_of_all = std::apply(
        [&](const auto&... v) {
            const std::array<any_tensor, sizeof...(X)> sizes{any_tensor(rill::size(v))...};
            auto in_order = sizes;
            for (int i = 0; i < count; ++i)
                in_order[static_cast<std::size_t>(axis_of_mesh(Matrix, i, count))] = sizes[static_cast<std::size_t>(i)];
            return tensor<std::int32_t, count>(unchecked, any_tensor(stack(in_order)));
        },
        all);
    constexpr auto rule = [](const auto&...) {
        const std::array<index_t, sizeof...(X)> extents{(typed_operand<X> ? extents_of<X>::value[0] : dyn)...};
        constexpr int axes = static_cast<int>(sizeof...(X));
        dims r = rules::of_rank(axes);
        for (int i = 0; i < axes; ++i) r[axis_of_mesh(Matrix, i, axes)] = extents[static_cast<std::size_t>(i)];
        return shape_result{r};
    };
    const auto one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        const auto& v = std::get<I>(all);
        using V = std::remove_cvref_t<decltype(v)>;
        dims line = rules::of_rank(count);
        for (int i = 0; i < count; ++i) line[i] = 1;
        line[axis_of_mesh(Matrix, static_cast<int>(I), count)] = dyn;
        constexpr auto ranked = [](const dims&) {
            return shape_result{rules::of_rank(static_cast<int>(sizeof...(X)))};
        };
        const auto stretched =
            broadcast_to(typed_result<void, V>(ranked, reshape(v, line, where)), shape_of_all, where);
        return typed_result<void, V>(rule, any_tensor(stretched));
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple(one(std::integral_constant<std::size_t, I>{})...);
    }(std::index_sequence_for<X...>{});
}

} // namespace detail

/// Returns the coordinates of a grid's points: auto [xs, ys] = meshgrid(x, y). Vectors [n] and [m] give two tensors [m, n]. More vectors
/// give more axes. Gradient: g, summed over the other axes.
template <graph_operand... X> auto meshgrid(const X&... x) {
    return detail::mesh<false>(std::source_location{}, x...); // a default source location can't follow the pack
}
/// Returns the coordinates as [n, m], so that vector i runs along axis i: meshgrid(matrix_indexing, x, y).
template <graph_operand... X> auto meshgrid(matrix_indexing_t, const X&... x) {
    return detail::mesh<true>(std::source_location{}, x...);
}

}} // namespace rill::RILL_ABI
