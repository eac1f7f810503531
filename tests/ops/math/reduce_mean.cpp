// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_mean.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_mean {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_mean<Axes...>(x, keep...); }
    template <class T> static T of(const std::vector<T>& v) {
        using wide = std::conditional_t<is_integral<T>, T, long double>;
        const auto sum = std::accumulate(v.begin(), v.end(), wide(0));
        if constexpr (is_integral<T>)
            return v.empty() ? T(0) : sum / static_cast<T>(v.size());
        else
            return static_cast<T>(sum / static_cast<wide>(v.size()));
    }
};
} // namespace test_reduce_mean

TEST_CASE("reduce_mean: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_mean::op>());
    op_test::reduction_values<test_reduce_mean::op, float>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_mean::op, double>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_mean::op, int>({}, 0);
}
TEST_CASE("reduce_mean: gradient") {
    op_test::reduction_gradients<test_reduce_mean::op>({.in = {{-2, 2}}, .order = 3});
}
TEST_CASE("reduce_mean: refusals") { op_test::reduction_refusals<test_reduce_mean::op>("reduce_mean"); }

TEST_CASE("reduce_mean: the mean of equal values is exact") {
    placeholder<float, dyn> x("x");
    const session s;
    CHECK(s.run(reduce_mean(x), feed(x, std::vector<float>(3001, 0.1f))) == Approx(0.1f).epsilon(1e-6));
    CHECK(s.run(reduce_mean(x), feed(x, std::vector<float>(3, 7.f))) == 7.f);
}

namespace test_reduce_mean {

/// The mean over all elements, and over the rows of a table of two equal columns.
template <class T> T mean_of(const std::vector<T>& values) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<T, dyn> x("x");
    placeholder<T, dyn, 2> table("table");
    xt::xtensor<T, 2> twice({values.size(), 2});
    for (std::size_t i = 0; i < values.size(); ++i) twice(i, 0) = twice(i, 1) = values[i];
    const T mean = s.run(reduce_mean(x), feed(x, values));
    const xt::xtensor<T, 1> columns = s.run(reduce_mean<0>(table), feed(table, twice));
    CHECK((mean == columns(0) && mean == columns(1)));
    return mean;
}

} // namespace test_reduce_mean

TEMPLATE_TEST_CASE("reduce_mean: of equal values it is that value, for every count", "", float, double, half, bfloat16,
                   std::complex<float>, std::complex<double>, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                   std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    using T = TestType;
    const T one(1.f), hundred(100.f);
    int wrong = 0;
    for (const std::size_t n : {1u,  2u,  3u,   7u,   41u,  47u,  49u,  55u,  61u,   82u,   83u,  93u,
                                97u, 98u, 103u, 107u, 110u, 161u, 200u, 256u, 1000u, 1025u, 4099u}) {
        wrong += !(test_reduce_mean::mean_of(std::vector<T>(n, one)) == one);
        wrong += !(test_reduce_mean::mean_of(std::vector<T>(n, hundred)) == hundred);
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("reduce_mean: of integers the sum does not wrap, and dividing goes towards zero", "", std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
    using T = TestType;
    using test_reduce_mean::mean_of;
    constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    CHECK(mean_of<T>({most, most}) == most);
    CHECK(mean_of(std::vector<T>(5000, most)) == most);
    CHECK(mean_of(std::vector<T>(5000, least)) == least);
    CHECK(mean_of<T>({most, static_cast<T>(most - 2), most}) == most - 1);
    CHECK(mean_of<T>({most, static_cast<T>(most - 1)}) == most - 1);
    CHECK(mean_of<T>({}) == 0);
    if constexpr (std::is_signed_v<T>) {
        CHECK(mean_of<T>({least, least, 0}) == least / 3 * 2 + least % 3 * 2 / 3);
        CHECK(mean_of<T>({-1, -2}) == -1);
        CHECK(mean_of<T>({-1, 0}) == 0);
        CHECK(mean_of<T>({most, least}) == 0);
    }
}

TEST_CASE("reduce_mean: of all bytes") {
    std::vector<std::uint8_t> bytes(256);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t(0));
    CHECK(test_reduce_mean::mean_of(bytes) == 127);
    CHECK(test_reduce_mean::mean_of(std::vector<std::int32_t>(3, 1'000'000'000)) == 1'000'000'000);
}

TEST_CASE("reduce_mean: of 16-bit floats, also where their sum is no such float") {
    using test_reduce_mean::mean_of;
    CHECK(mean_of(std::vector<half>(70'000, half(3.f))) == half(3.f)); // 210,000 is more than a half holds
    CHECK(mean_of(std::vector<bfloat16>(70'000, bfloat16(3.f))) == bfloat16(3.f));
    const graph g;
    const graph_scope here(g);
    placeholder<half, dyn, dyn> x("x");
    const auto rows = session(g).run(reduce_mean<1>(x), feed(x, xt::xtensor<half, 2>({2, 0})));
    CHECK((std::isnan(static_cast<float>(rows(0))) && std::isnan(static_cast<float>(rows(1))))); // of nothing
}

TEST_CASE("reduce_mean: its gradient divides by the count") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto [dx] = gradients(reduce_mean(x * 49.f), x);
    CHECK(s.run(dx, feed(x, std::vector<float>(49, 2.f)))(48) == 1.f);
    placeholder<half, dyn> h("h");
    const auto [dh] = gradients(reduce_mean(h), h);
    CHECK(s.run(dh, feed(h, std::vector<half>(49, half(2.f))))(0) == half(1.f / 49.f));
}

TEST_CASE("reduce_mean: of many integers on any number of threads") {
    const graph g;
    const graph_scope here(g);
    placeholder<std::int64_t, dyn, dyn> x("x");
    const auto all = reduce_mean(x);
    const auto columns = reduce_mean<0>(x), rows = reduce_mean<1>(x);
    xt::xtensor<std::int64_t, 2> v({900, 700});
    for (std::size_t i = 0; i < v.size(); ++i)
        v.storage()[i] = std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(i % 7);
    for (const int threads : {1, 4}) {
        const session s(g, {.intra_op_threads = threads});
        const auto [a, c, r] = s.run(std::tuple(all, columns, rows), feed(x, v));
        CHECK(a == std::numeric_limits<std::int64_t>::max() - 3);
        CHECK(r(5) == std::numeric_limits<std::int64_t>::max() - 3);
        CHECK(c(3) == std::numeric_limits<std::int64_t>::max() - 3);
    }
}
