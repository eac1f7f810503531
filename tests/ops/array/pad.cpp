// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/pad.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_pad {

template <class X, padding... P> using padded = decltype(pad<P...>(std::declval<const X&>()));
static_assert(std::is_same_v<padded<tensor<float, 2, dyn>, padding{1, 2}, padding{0, 1}>, tensor<float, 5, dyn>>);
static_assert(paddings_fit<extents<2>, padding{}> && !paddings_fit<extents<2>, padding{-1, 0}> &&
              !paddings_fit<extents<2>, padding{}, padding{}>);

template <class X> X surrounded(const X& x, double value) { // by {1, 2}, {0, 1}
    X y(std::vector<std::size_t>{x.shape(0) + 3, x.shape(1) + 1}, static_cast<typename X::value_type>(value));
    for (std::size_t i = 0; i < x.shape(0); ++i)
        for (std::size_t j = 0; j < x.shape(1); ++j) y(i + 1, j) = x(i, j);
    return y;
}

TEST_CASE("pad: values and gradients, to second order") {
    op_test::node<double, 2>([](const auto& x) { return pad<padding{1, 2}, padding{0, 1}>(x); },
                             [](const auto& x) { return surrounded(x, 0); }, {{2, 3}});
    op_test::node<double, 2>([](const auto& x) { return pad<padding{1, 2}, padding{0, 1}>(x * x, 7); },
                             [](const auto& x) { return surrounded(xt::xarray<double>(x * x), 7); }, {{2, 3}});
    op_test::node<int, 2>([](const auto& x) { return pad<padding{1, 2}, padding{0, 1}>(x, -1); },
                          [](const auto& x) { return surrounded(x, -1); }, {{0, 3}});
    op_test::node<float, 2>([](const auto& x) { return pad<padding{}, padding{}>(x); }, [](const auto& x) { return x; },
                            {{2, 3}});
}

TEST_CASE("pad: mirrored") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({1, 2, 3, 4});
    CHECK(op_test::difference<int>(s.run(pad(c, {{2, 3}}, pad_mode::reflect)), {9}, {3, 2, 1, 2, 3, 4, 3, 2, 1}) == "");
    CHECK(op_test::difference<int>(s.run(pad(c, {{2, 4}}, pad_mode::symmetric)), {10},
                                   {2, 1, 1, 2, 3, 4, 4, 3, 2, 1}) == "");
    CHECK(op_test::difference<int>(s.run(pad(c, {{1, 0}}, pad_mode::constant)), {5}, {0, 1, 2, 3, 4}) == "");
    const tensor m = constant({{1, 2}, {3, 4}});
    CHECK(op_test::difference<int>(s.run(pad(m, {{1, 0}, {0, 1}}, pad_mode::reflect)), {3, 3},
                                   {3, 4, 3, 1, 2, 1, 3, 4, 3}) == "");
    CHECK_THROWS_WITH(pad(c, {{4, 0}}, pad_mode::reflect), contains("pad: there are not that many elements to mirror"));
    CHECK_THROWS_WITH(pad(c, {{0, 0}, {0, 0}}, pad_mode::reflect), contains("pad: two numbers are expected"));
    placeholder<double, dyn> x("x");
    CHECK_THROWS_WITH(s.run(pad(x, {{4, 0}}, pad_mode::reflect), feed(x, std::vector<double>{1, 2})),
                      contains("the slice reaches beyond the tensor")); // nothing is made up
    CHECK_THROWS_AS(s.run(pad(x, {{0, 3}}, pad_mode::symmetric), feed(x, std::vector<double>{1, 2})), invalid_argument);
    op_test::gradient_check{s, {x}, {op_test::point_array<double>({-1, 1}, {4})}}.check(
        pad(x * x, {{2, 3}}, pad_mode::reflect), 2);
}

TEST_CASE("pad: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({1.f, 2.f});
    CHECK(op_test::difference<float>(s.run(pad(c, {{1, 1}}, 5)), {4}, {5, 1, 2, 5}) == "");
    CHECK_THROWS_WITH(pad(c, {{1, 1}, {0, 0}}),
                      contains("pad: two numbers are expected for each axis") && contains("[2]"));
    CHECK_THROWS_WITH(pad(c, {{-1, 0}}), contains("pad: a number of elements is negative"));
    CHECK_THROWS_WITH(pad(constant({1, 2}), {{1, 1}}, 1.5), contains("pad: 1.5") && contains("is not a valid int32"));
    CHECK_THROWS_WITH(pad(constant({1, 2}), {{1, 1}}, 1e20), contains("is not a valid int32"));
    CHECK_THROWS_AS(pad(constant({true}), {{1, 1}}, 2), invalid_argument);
    CHECK(s.run(pad(constant({1, 2}), {{1, 0}}, -2147483648.))(0) == std::numeric_limits<int>::min());
    const op_ptr made = make_op(pad_op{{1}, {2}, 3});
    CHECK(make_op("PadV2", 1, bytes_of_fields(*made))->equals(*made));
}

TEST_CASE("pad: with whole numbers that no double is") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto around = [&]<class T>(T number) {
        const tensor c(constant(xt::xtensor<T, 1>{T(1)}));
        return s.run(pad<padding{1, 0}>(c, number))(0);
    };
    using limits = std::numeric_limits<std::int64_t>;
    for (const std::int64_t n : {limits::max(), limits::min(), limits::max() - 1, limits::min() + 1,
                                 (std::int64_t(1) << 53) + 1, -(std::int64_t(1) << 60) - 3, std::int64_t(-1)})
        CHECK(around(n) == n);
    for (const std::uint64_t n : {~std::uint64_t(0), (std::uint64_t(1) << 63) + 1, std::uint64_t(7)})
        CHECK(around(n) == n);
    const tensor c(constant(xt::xtensor<std::int64_t, 1>{1}));
    CHECK_THROWS_WITH(pad(c, {{1, 0}}, std::uint64_t(1) << 63), contains("is not a valid int64"));
    CHECK_THROWS_WITH(pad(c, {{1, 0}}, (std::uint64_t(1) << 63) + 4097), contains("is not a valid int64"));
    CHECK(s.run(pad(constant({1, 2}), {{1, 0}}, 3.))(0) == 3);
    const op_ptr made = make_op(pad_op{{1}, {2}, limits::max()});
    CHECK(make_op("PadV2", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op(pad_op{{1}, {2}, limits::max() - 1})->equals(*made));
}

} // namespace test_ops_array_pad
