// SPDX-License-Identifier: BSD-3-Clause
// Segments: sorted and unsorted ids, sparse ones, and counts by segments. Also index_count and segment_gather, which the sorted forms use.
#include <rill/ops/math/segment.hpp>

#include <rill/ops/math/bincount.hpp>
#include <rill/ops/math/bucketize.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_math_segment {

template <class X, class I>
using summed = decltype(unsorted_segment_sum<5>(std::declval<const X&>(), std::declval<const I&>()));
static_assert(std::is_same_v<summed<tensor<float, dyn, 3>, tensor<int, dyn>>, tensor<float, 5, 3>>);
static_assert(std::is_same_v<summed<tensor<float, 2, 4, 3>, tensor<std::int64_t, 2, 4>>, tensor<float, 5, 3>>);
static_assert(std::is_same_v<summed<any_tensor, tensor<int, 4>>, any_tensor>);
static_assert(!ids_of_segments<extents<4, 3>, extents<5>> && !ids_of_segments<extents<4>, extents<4, 3>>);

const std::vector<int> sorted{0, 0, 2, 2, 2}, any{3, 0, -1, 3, 1};

/// Rows of segments in plain C++: `join` starts from the first slice of a segment, `end` gets its sum and size.
template <class Join, class End>
auto reference(const std::vector<int>& ids, std::size_t segments, double empty, Join join, End end) {
    return [=](const auto& x) {
        using A = std::decay_t<decltype(x)>;
        using T = typename A::value_type;
        A y(std::vector<std::size_t>{segments, x.shape(1)});
        for (std::size_t s = 0; s < segments; ++s)
            for (std::size_t i = 0; i < x.shape(1); ++i) {
                T all{};
                int n = 0;
                for (std::size_t k = 0; k < ids.size(); ++k)
                    if (ids[k] == static_cast<int>(s)) all = n++ == 0 ? x(k, i) : static_cast<T>(join(all, x(k, i)));
                y(s, i) = n == 0 ? static_cast<T>(empty) : static_cast<T>(end(all, n));
            }
        return y;
    };
}
const auto plus = [](auto a, auto b) { return a + b; };
const auto times = [](auto a, auto b) { return a * b; };
const auto larger = [](auto a, auto b) { return std::max(a, b); };
const auto smaller = [](auto a, auto b) { return std::min(a, b); };
const auto as_is = [](auto a, int) { return a; };
const auto over_size = [](auto a, int n) { return a / n; };
const auto over_root = [](auto a, int n) { return a / std::sqrt(static_cast<double>(n)); };

TEST_CASE("segment: values, and gradients to second order") {
    const auto check = [](const auto& unsorted, const auto& in_order, const auto& join, const auto& end, double none,
                          double none_sorted, int order = 2) {
        op_test::node<double, 2>(unsorted, reference(any, 5, none, join, end), {{5, 3}},
                                 {.in = {{0.5, 3}}, .order = order});
        op_test::node<double, 2>(in_order, reference(sorted, 3, none_sorted, join, end), {{5, 1}}, {.in = {{0.5, 3}}});
    };
    using lowest = std::numeric_limits<double>;
    const auto ids = [] { return constant(any); };
    const auto by = [] { return constant(sorted); };
    check([&](const auto& x) { return unsorted_segment_sum<5>(x, ids()); },
          [&](const auto& x) { return segment_sum(x, by()); }, plus, as_is, 0, 0);
    check([&](const auto& x) { return unsorted_segment_prod<5>(x, ids()); },
          [&](const auto& x) { return segment_prod(x, by()); }, times, as_is, 1, 1);
    check([&](const auto& x) { return unsorted_segment_max<5>(x, ids()); },
          [&](const auto& x) { return segment_max(x, by()); }, larger, as_is, lowest::lowest(), 0,
          0); // sums of such numbers have no differences
    check([&](const auto& x) { return unsorted_segment_min<5>(x, ids()); },
          [&](const auto& x) { return segment_min(x, by()); }, smaller, as_is, lowest::max(), 0, 0);
    check([&](const auto& x) { return unsorted_segment_mean<5>(x, ids()); },
          [&](const auto& x) { return segment_mean(x, by()); }, plus, over_size, 0, 0);
    check([&](const auto& x) { return unsorted_segment_sqrt_n<5>(x, ids()); },
          [&](const auto& x) { return segment_sqrt_n(x, by()); }, plus, over_root, 0, 0);
    op_test::node<int, 2>([&](const auto& x) { return unsorted_segment_sum(x, ids(), 5); },
                          reference(any, 5, 0, plus, as_is), {{5, 40}});
    op_test::node<double, 2>([&](const auto& x) { return unsorted_segment_sum<5>(x * x, ids()); },
                             [](const auto& x) { return reference(any, 5, 0, plus, as_is)(xt::xarray<double>(x * x)); },
                             {{5, 2}});
}

TEST_CASE("segment: products with zeros, equal extremes, ids of two axes, a count that a run decides") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    using doubles = std::vector<double>;
    const tensor x = constant({0., 2., 0., 3., 5.});
    const tensor ids = constant({0, 0, 1, 1, 1});
    const auto [dp] = gradients(unsorted_segment_prod<2>(x, ids), x);
    CHECK(op_test::list(s.run(dp)) == doubles{2, 0, 15, 0, 0});
    const tensor z = constant({0., 0., 3.});
    const auto [dz] = gradients(unsorted_segment_prod<1>(z, constant({0, 0, 0})), z);
    CHECK(op_test::list(s.run(dz)) == doubles{0, 0, 0});
    const tensor e = constant({4., 4., 1., 7.});
    const auto [de] = gradients(segment_max(e, constant({0, 0, 0, 2})), e);
    CHECK(op_test::list(s.run(de)) == doubles{.5, .5, 0, 1});
    const tensor table = constant({{1.f, 2.f}, {3.f, 4.f}});
    CHECK(op_test::list(s.run(unsorted_segment_sum<2>(table, constant({{1, 0}, {-1, 1}})))) ==
          std::vector<float>{2, 5});
    placeholder<int> count("count");
    const auto y = unsorted_segment_sum(table, constant({1, 1}), count);
    static_assert(std::is_same_v<decltype(y), const tensor<float, dyn, 2>>);
    CHECK(op_test::list(s.run(y, feed(count, 3))) == std::vector<float>{0, 0, 4, 6, 0, 0});
    const any_tensor loose = any_placeholder("loose", dtype::float32);
    const any_tensor means = unsorted_segment_mean(any_tensor(reshape(loose, dims{dyn, 2})), constant({1, 1}), 2);
    CHECK(op_test::difference<float>(s.run(means, feed("loose:0", std::vector<float>{1, 2, 3, 6})), {2, 2},
                                     {0, 0, 2, 4}) == "");
}

TEST_CASE("segment: products with none, one, two and three zeros, to second order") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 3> x("x");
    const placeholder<double, 2, 3, 2> wide("wide");
    const tensor alone = segment_prod(x, constant({0, 0, 0}));
    const tensor apart = unsorted_segment_prod<3>(x, constant({2, 0, 2}));
    const tensor pairs = unsorted_segment_prod<3>(wide, constant({{1, -1, 0}, {1, 1, 0}}));
    for (const std::vector<double>& at :
         {std::vector{0., 2., 5.}, {0., 0., 3.}, {3., 0., 0.}, {0., 0., 0.}, {1.5, -2., 3.}}) {
        INFO(at[0] << ", " << at[1] << ", " << at[2]);
        const auto point = op_test::make_array<double>({3}, at);
        op_test::gradient_check{s, {x}, {point}, 1e-6}.check(alone, 2, "one segment");
        op_test::gradient_check{s, {x}, {point}, 1e-6}.check(apart, 2, "two segments");
    }
    const auto points = op_test::make_array<double>({2, 3, 2}, {0., 2., 7., 7., 0., 0., 5., 0., 3., 0., 0., 2.});
    op_test::gradient_check{s, {wide}, {points}, 1e-6}.check(pairs, 2, "ids of two axes");
    // the Hessian of x y z is z, y, x beside a diagonal of 0
    const auto [d] = gradients(alone, x);
    const auto [row] = gradients(gather(d, 0), x);
    CHECK(op_test::list(s.run(row, feed(x, {0., 2., 5.}))) == std::vector<double>{0, 5, 2});
}

TEST_CASE("segment: what overflows in one segment leaves the gradients of others alone") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({1e30f, 1e30f, 1e30f, 2.f, 3.f, std::numeric_limits<float>::infinity()});
    const auto [d] = gradients(unsorted_segment_prod<2>(x, constant({0, 0, 0, 1, 1, -1})), x);
    const auto slopes = op_test::list(s.run(d));
    CHECK(std::isinf(slopes[0]));
    CHECK(std::vector<float>(slopes.begin() + 3, slopes.end()) == std::vector<float>{3, 2, 0});
}

TEST_CASE("segment_places: rows of slices, both ways, without those of negative ids") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto places = [&](bool reverse) {
        const any_tensor first =
            apply_node(segment_places_op{reverse}, std::source_location::current(), constant({2, 0, -1, 2, 0, 7}));
        std::vector<std::vector<int>> all;
        for (int i = 0; i < 3; ++i) {
            const any_array result = s.run(any_tensor(endpoint{first.node(), i}));
            const auto elements = result.elements<int>();
            all.emplace_back(elements.begin(), elements.end());
        }
        CHECK(s.run(any_tensor(endpoint{first.node(), 3})).shape() == dims{7});
        return all;
    };
    using rows = std::vector<std::vector<int>>;
    CHECK(places(false) == rows{{3, 1, -1, 4, 2, 5}, {3, 1, -1, -1, -1, -1}, {-1, -1, -1, 4, 2, 0}});
    CHECK(places(true) == rows{{3, 5, -1, 2, 4, 1}, {-1, -1, -1, 2, 4, -1}, {3, 0, -1, -1, -1, 1}});
    CHECK_THROWS_WITH(apply_node(segment_places_op{}, std::source_location::current(), any_tensor(constant({1.f}))),
                      contains("segment_places: it does not take float32"));
}

TEST_CASE("segment: sparse segments choose rows first") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    const tensor places = constant({2, 0, 2}), ids = constant({0, 0, 1});
    using floats = std::vector<float>;
    CHECK(op_test::list(s.run(sparse_segment_sum(x, places, ids))) == floats{6, 8, 5, 6});
    CHECK(op_test::list(s.run(sparse_segment_mean(x, places, ids))) == floats{3, 4, 5, 6});
    CHECK(op_test::list(s.run(sparse_segment_sqrt_n(x, places, constant({0, 1, 1})))) ==
          floats{5, 6, 6 / std::sqrt(2.f), 8 / std::sqrt(2.f)});
    CHECK(op_test::list(s.run(sparse_segment_sum(x, places, ids, 3))) == floats{6, 8, 5, 6, 0, 0});
    const auto [d] = gradients(sparse_segment_mean(x, places, ids), x);
    CHECK(op_test::list(s.run(d)) == floats{.5f, .5f, 0, 0, 1.5f, 1.5f});
}

TEST_CASE("segment: ids of the host") {
    const graph g, other;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    using floats = std::vector<float>;
    CHECK(op_test::list(s.run(unsorted_segment_sum(x, {1, 0, 1}, 2))) == floats{3, 4, 6, 8});
    CHECK(op_test::list(s.run(unsorted_segment_sum<2>(x, {1, 0, 1}))) == floats{3, 4, 6, 8});
    CHECK(op_test::list(s.run(unsorted_segment_prod(x, {1, 0, 1}, 2))) == floats{3, 4, 5, 12});
    CHECK(op_test::list(s.run(unsorted_segment_max(x, std::array{1, 0, 1}, 2))) == floats{3, 4, 5, 6});
    CHECK(op_test::list(s.run(unsorted_segment_min<2>(x, {1, 0, 1}))) == floats{3, 4, 1, 2});
    CHECK(op_test::list(s.run(tensor(unsorted_segment_mean(x, {1, 0, 1}, 2)))) == floats{3, 4, 3, 4});
    CHECK(op_test::list(s.run(segment_sum(x, {0, 1, 1}))) == floats{1, 2, 8, 10});
    CHECK(op_test::list(s.run(segment_prod(x, {0, 1, 1}))) == floats{1, 2, 15, 24});
    CHECK(op_test::list(s.run(segment_max(x, {0, 1, 1}))) == floats{1, 2, 5, 6});
    CHECK(op_test::list(s.run(segment_min(x, {0, 1, 1}))) == floats{1, 2, 3, 4});
    CHECK(op_test::list(s.run(tensor(segment_mean(x, {0, 1, 1})))) == floats{1, 2, 4, 5});
    CHECK(op_test::list(s.run(sparse_segment_sum(x, {2, 0}, {0, 0}))) == floats{6, 8});
    CHECK(op_test::list(s.run(tensor(sparse_segment_mean(x, {2, 0}, {0, 0}, 1)))) == floats{3, 4});
    CHECK(op_test::difference<float>(s.run(any_tensor(segment_sum(any_tensor(x), {0, 1, 1}))), {2, 2}, {1, 2, 8, 10}) ==
          "");
    const graph_scope there(other); // the ids join the graph of x
    CHECK(op_test::list(s.run(segment_sum(x, {0, 1, 1}))) == floats{1, 2, 8, 10});
}

TEST_CASE("segment: gradients of sparse segments, to second order") {
    const std::vector<int> places{2, 0, 2, 3}, ids{0, 0, 1, 1};
    const auto plain = [&](const auto& end) {
        return [=](const xt::xarray<double>& x) {
            xt::xarray<double> y(std::vector<std::size_t>{2, x.shape(1)});
            for (std::size_t s = 0; s < 2; ++s)
                for (std::size_t i = 0; i < x.shape(1); ++i) {
                    double sum = 0;
                    for (std::size_t k = 0; k < ids.size(); ++k)
                        if (ids[k] == static_cast<int>(s)) {
                            const double v = x(static_cast<std::size_t>(places[k]), i);
                            sum += v * v;
                        }
                    y(s, i) = end(sum, 2);
                }
            return y;
        };
    };
    // of squares, whose second derivatives are not 0
    const auto at = [&] { return constant(places); };
    const auto by = [&] { return constant(ids); };
    op_test::node<double, 2>([&](const auto& x) { return sealed(sparse_segment_sum(tensor(x * x), at(), by())); },
                             plain(as_is), {{4, 3}});
    op_test::node<double, 2>([&](const auto& x) { return sealed(sparse_segment_mean(tensor(x * x), at(), by())); },
                             plain(over_size), {{4, 3}});
    op_test::node<double, 2>([&](const auto& x) { return sealed(sparse_segment_sqrt_n(tensor(x * x), at(), by())); },
                             plain(over_root), {{4, 3}});
    op_test::node<double, 2>([&](const auto& x) { return sealed(sparse_segment_mean(tensor(x * x), at(), by(), 2)); },
                             plain(over_size), {{4, 3}});
}

TEST_CASE("index_count: the largest index of all") {
    const graph_scope here{graph()};
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const session s;
    CHECK(s.run(index_count(constant({std::int64_t{3}, most}))) == most);
    CHECK(s.run(index_count(constant({std::int64_t{3}, most}), {.most = 5})) == 5);
}

TEST_CASE("segment: no slices, and bad ids") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 2> x("x");
    placeholder<int, dyn> ids("ids");
    placeholder<std::int64_t> count("count");
    const auto in_order = segment_sum(x, ids);
    const auto loose = unsorted_segment_sum(x, ids, count);
    const auto run = [&](const auto& y, std::vector<int> by, std::int64_t n = 0) {
        const auto rows = xt::xtensor<float, 2>(xt::ones<float>({by.size(), std::size_t(2)}));
        return s.run(y, feed(x, rows), feed(ids, by), feed(count, n)).size();
    };
    CHECK(run(in_order, {}) == 0);
    CHECK(run(loose, {}, 3) == 6);
    CHECK(run(loose, {-1, -1}, 0) == 0);
    CHECK_THROWS_WITH(run(in_order, {0, 2, 1}),
                      contains("id 1 at [2] is less than the one before it, 2: sorted ids are expected") &&
                          contains("segment.cpp"));
    CHECK_THROWS_WITH(run(in_order, {-1, 0}), contains("id -1 at [0] is negative"));
    CHECK_THROWS_WITH(run(loose, {0, 3}, 3), contains("unsorted_segment_sum: segment id 3 at [1] is outside [0, 3)"));
    CHECK_THROWS_WITH(run(loose, {0}, -1), contains("the number of segments is negative: -1"));
    CHECK_THROWS_WITH(unsorted_segment_sum(x, ids, -2), contains("the number of segments is negative: -2"));
    CHECK_THROWS_WITH(s.run(in_order, feed(x, xt::xtensor<float, 2>({3, 2}, 1.f)), feed(ids, std::vector<int>{0})),
                      contains("the ids must have the extents of the tensor's first axes"));
    CHECK_THROWS_WITH(unsorted_segment_sum(any_tensor(x), any_tensor(x), 3),
                      contains("the segment ids must be int32 or int64"));
}

TEST_CASE("bincount, histogram_fixed_width, unique_with_counts, bucketize: counts") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    using ints = std::vector<int>;
    const tensor x = constant({1, 3, 1, 0});
    CHECK(op_test::list(s.run(bincount(x))) == ints{1, 2, 0, 1});
    CHECK(op_test::list(s.run(bincount(x, {.minlength = 6}))) == ints{1, 2, 0, 1, 0, 0});
    CHECK(op_test::list(s.run(bincount(x, {.maxlength = 2}))) == ints{1, 2});
    const tensor weights = constant({.5f, 1.f, .25f, 4.f});
    const auto y = bincount(x, weights);
    CHECK(op_test::list(s.run(y)) == std::vector<float>{4, .75f, 0, 1});
    const auto [d] = gradients(y * y, weights);
    CHECK(op_test::list(s.run(d)) == std::vector<float>{1.5f, 2, 1.5f, 8});
    placeholder<int, dyn> fed("fed");
    const auto counted = bincount(fed);
    CHECK(s.run(counted, feed(fed, ints{})).size() == 0);
    CHECK_THROWS_WITH(s.run(counted, feed(fed, ints{2, -5})), contains("id -5 at [1] is negative"));
    const tensor reals = constant({-1.f, 0.f, .9f, 2.5f, 9.f});
    CHECK(op_test::list(s.run(histogram_fixed_width<5>(reals, 0.f, 5.f))) == ints{3, 0, 1, 0, 1});
    CHECK(op_test::list(s.run(histogram_fixed_width(reals, 0.f, 5.f, 5))) == ints{3, 0, 1, 0, 1});
    CHECK(op_test::list(s.run(histogram_fixed_width<5>(any_tensor(reals), 0, 5))) == ints{3, 0, 1, 0, 1});
    CHECK(op_test::list(s.run(histogram_fixed_width(any_tensor(reals), 0.f, 5.f, 5))) == ints{3, 0, 1, 0, 1});
    CHECK_THROWS_WITH(histogram_fixed_width(any_tensor(x), 0, 5, 5), contains("histogram_fixed_width"));
    CHECK_THROWS_WITH(histogram_fixed_width(reals, 0.f, 5.f, 0), contains("the number of parts is 0, not 1 or more"));
    CHECK_THROWS_WITH((histogram_fixed_width<5>(reals, 1.f, 1.f)), contains("the range is empty or reversed"));
    const auto [values, numbers, counts] = unique_with_counts(constant({7, 5, 7, 7}));
    CHECK(op_test::list(s.run(values)) == ints{7, 5});
    CHECK(op_test::list(s.run(counts)) == ints{3, 1});
    CHECK(op_test::list(s.run(numbers)) == ints{0, 1, 0, 0});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(op_test::list(s.run(bucketize(constant({-5.f, 0.f, 99.f, 100.f, nan}), {0.f, 10.f, 100.f}))) ==
          ints{0, 1, 2, 3, 3});
    CHECK(op_test::list(s.run(bucketize(constant({2, 3}), {2.5f}))) == ints{0, 1});
    CHECK(op_test::list(s.run(bucketize(constant({2, 3}), {}))) == ints{0, 0});
    CHECK_THROWS_WITH(bucketize(x, {2.f, 1.f}), contains("bucketize: the boundaries must not fall"));
}

} // namespace test_ops_math_segment
