// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What every reduction is checked for: axes, kept dimensions, ranks up to 4, several blocks, nothing at all, gradients. R
// names the op: `template <int... Axes> static auto run(const auto& x, auto... keep)`, and `static T of(std::vector<T>)`
// is its value for one group of elements.

#include "ops/harness.hpp"

namespace op_test {

/// Gathers the elements of each group and reduces them one group at a time.
template <class R, class T> xt::xarray<T> reduced(const xt::xarray<T>& x, std::initializer_list<int> axes, bool keep) {
    const auto rank = x.dimension();
    std::vector<char> gone(rank, axes.size() == 0);
    for (const int a : axes) gone[static_cast<std::size_t>(a < 0 ? a + static_cast<int>(rank) : a)] = 1;
    std::vector<std::size_t> shape, step(rank);
    std::size_t groups = 1;
    for (std::size_t i = rank; i-- > 0;)
        if (!gone[i]) {
            step[i] = groups;
            groups *= x.shape(i);
        }
    for (std::size_t i = 0; i < rank; ++i)
        if (!gone[i])
            shape.push_back(x.shape(i));
        else if (keep)
            shape.push_back(1);
    std::vector<std::vector<T>> members(groups);
    for (std::size_t flat = 0; flat < x.size(); ++flat) {
        std::size_t at = 0, rest = flat;
        for (std::size_t i = rank; i-- > 0;) {
            at += rest % x.shape(i) * step[i];
            rest /= x.shape(i);
        }
        members[at].push_back(x.storage()[flat]);
    }
    xt::xarray<T> out(shape);
    for (std::size_t i = 0; i < groups; ++i) out.storage()[i] = R::of(members[i]);
    return out;
}

/// One list of axes over tensors of one rank.
template <class R, class T, int Rank, int... Axes>
void check_axes(const std::vector<dims>& shapes, const node_options& o) {
    for (const dims& shape : shapes) {
        INFO("shape " << to_string(shape));
        node<T, Rank>([](const auto& x) { return R::template run<Axes...>(x); },
                      [](const xt::xarray<T>& x) { return reduced<R>(x, {Axes...}, false); }, {shape}, o);
        node<T, Rank>([](const auto& x) { return R::template run<Axes...>(x, keep_dims); },
                      [](const xt::xarray<T>& x) { return reduced<R>(x, {Axes...}, true); }, {shape}, o);
    }
}

/// Values of one dtype. Sums of many numbers are compared with sums in another order: `ulps` says how far.
template <class R, class T> void reduction_values(const range& in, double ulps) {
    const node_options o{.in = {in}, .order = 0, .ulps = ulps};
    check_axes<R, T, 1>({{1}, {17}, {5000}, {100'003}, {0}}, o);
    check_axes<R, T, 1, 0>({{3}, {2049}}, o);
    const std::vector<dims> tables{{5, 7}, {1, 9}, {9, 1}, {3, 2500}, {2500, 3}, {1030, 1030}, {0, 3}, {3, 0}};
    check_axes<R, T, 2>(tables, o);
    check_axes<R, T, 2, 0>(tables, o);
    check_axes<R, T, 2, -1>(tables, o);
    check_axes<R, T, 2, 1, 0>({{5, 7}, {40, 50}}, o);
    const std::vector<dims> cubes{{3, 4, 5}, {2, 1, 3}, {7, 300, 5}, {1200, 2, 3}, {2, 3, 1200}};
    check_axes<R, T, 3, 1>(cubes, o);
    check_axes<R, T, 3, 0, -1>(cubes, o);
    const std::vector<dims> rank4{{3, 4, 5, 2}, {2, 30, 3, 40}};
    check_axes<R, T, 4, 1, 3>(rank4, o);
    check_axes<R, T, 4, 0, 2>(rank4, o);
    check_axes<R, T, 4, -2>(rank4, o);
}

/// Types of results, for every op that removes axes.
template <class R> constexpr bool reduced_types_are_right() {
    using x = tensor<float, dyn, 3, 4>;
    const auto result = []<int... Axes, class... Keep>(std::integer_sequence<int, Axes...>, Keep... keep) {
        return std::type_identity<extents_of<decltype(R::template run<Axes...>(std::declval<const x&>(), keep...))>>();
    };
    using all = std::integer_sequence<int>;
    static_assert(std::is_same_v<typename decltype(result(all()))::type, extents<>>);
    static_assert(std::is_same_v<typename decltype(result(all(), keep_dims))::type, extents<1, 1, 1>>);
    static_assert(std::is_same_v<typename decltype(result(std::integer_sequence<int, 0, 2>()))::type, extents<3>>);
    static_assert(std::is_same_v<typename decltype(result(std::integer_sequence<int, -1>()))::type, extents<dyn, 3>>);
    static_assert(std::is_same_v<typename decltype(result(std::integer_sequence<int, 1>(), keep_dims))::type,
                                 extents<dyn, 1, 4>>);
    return true;
}

/// Gradients up to the third, of the reduction alone and of one that evaluates an expression in the same pass.
template <class R> void reduction_gradients(const node_options& o) {
    const auto check = [&]<int Rank, int... Axes>(std::integral_constant<int, Rank>,
                                                  std::integer_sequence<int, Axes...>, const dims& shape) {
        node<double, Rank>([](const auto& x) { return R::template run<Axes...>(x); },
                           [](const xt::xarray<double>& x) { return reduced<R>(x, {Axes...}, false); }, {shape}, o);
        node<double, Rank>([](const auto& x) { return R::template run<Axes...>(x * x * x, keep_dims); },
                           [](const xt::xarray<double>& x) {
                               xt::xarray<double> cube = x;
                               for (auto& v : cube.storage()) v = v * v * v;
                               return reduced<R>(cube, {Axes...}, true);
                           },
                           {shape}, o);
    };
    using one = std::integral_constant<int, 1>;
    using two = std::integral_constant<int, 2>;
    using three = std::integral_constant<int, 3>;
    check(one(), std::integer_sequence<int>(), {4});
    check(two(), std::integer_sequence<int>(), {2, 3});
    check(two(), std::integer_sequence<int, 0>(), {3, 2});
    check(two(), std::integer_sequence<int, -1>(), {3, 2});
    check(three(), std::integer_sequence<int, 0, 2>(), {2, 2, 3});
}

/// What only run time can show: tensors of unknown type.
template <class R> void reduction_refusals(const std::string& name) {
    const auto x = any_placeholder("x", dtype::float32, {2, 3});
    CHECK_THROWS_AS(R::template run<2>(x), invalid_argument);
    CHECK_THROWS_WITH(R::template run<2>(x), contains(name + ": an axis is out of range") && contains("[2, 3]"));
    CHECK_THROWS_WITH((R::template run<1, -1>(x)), contains(name + ": an axis is named twice"));
    const auto loose = any_placeholder("loose", dtype::float32);
    const session s;
    const any_tensor y = R::template run<1>(loose);
    CHECK_THROWS_WITH(run(s, y, {loose}, {point_array<float>({}, {3})}), contains(name + ": an axis is out of range"));
    CHECK(run(s, y, {loose}, {point_array<float>({}, {2, 2, 2})}).shape() == dims{2, 2});
}

} // namespace op_test
