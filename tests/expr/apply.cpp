// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/apply.hpp>

#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>

#include "ops/harness.hpp"

using namespace rill;
using op_test::list;

TEST_CASE("apply: which literals go with which dtypes") {
    using c64 = std::complex<float>;
    STATIC_REQUIRE((literal_fits<float, double> && literal_fits<float, int> && literal_fits<c64, double> &&
                    literal_fits<c64, int>));
    STATIC_REQUIRE((literal_fits<int, int> && literal_fits<std::uint8_t, long> && literal_fits<half, float>));
    STATIC_REQUIRE((literal_fits<bool, bool> && !literal_fits<bool, int> && !literal_fits<int, bool> &&
                    !literal_fits<float, bool>));
    STATIC_REQUIRE((!literal_fits<int, float> && !literal_fits<std::string, int> && !literal_fits<float, c64> &&
                    literal_fits<c64, c64>));
    STATIC_REQUIRE((dtypes_agree<float, float> && !dtypes_agree<float, double> && dtypes_agree<float, unknown_dtype>));
    STATIC_REQUIRE((dtypes_agree<float, number<int>> && !dtypes_agree<int, number<float>> &&
                    dtypes_agree<number<int>, unknown_dtype>));
}

TEST_CASE("apply: literals take the tensors' dtype") {
    const session s;
    placeholder<std::uint8_t, dyn> b("b");
    placeholder<std::complex<float>, dyn> c("c");
    placeholder<float, dyn> f("f");
    CHECK(list(s.run(b + 200, feed(b, std::vector<std::uint8_t>{7, 60}))) == std::vector<std::uint8_t>{207, 4});
    CHECK_THROWS_AS(b + 300, invalid_argument);
    CHECK_THROWS_WITH(b + 300, contains("add: the literal 300 does not fit uint8"));
    CHECK_THROWS_WITH(-1 - b, contains("sub: the literal -1 does not fit uint8"));
    using z = std::complex<float>;
    CHECK(list(s.run(c * 2 + 1.5, feed(c, std::vector<z>{z(1, 2)}))) == std::vector<z>{z(3.5f, 4)});
    CHECK(list(s.run(c * std::complex<double>(0, 1), feed(c, std::vector<z>{z(1, 2)}))) == std::vector<z>{z(-2, 1)});
    CHECK(list(s.run(f * 2 + 0.1, feed(f, std::vector<float>{1}))) == std::vector<float>{2.1f});
    CHECK(list(s.run(equal(f, 1), feed(f, std::vector<float>{1, 2})))[0]);
    static_assert(std::is_same_v<value_type_of<decltype(f * 2.0)>, float>, "a double literal does not widen");
}

TEMPLATE_TEST_CASE("apply: numbers of 16 bits go with tensors of their type", "", half, bfloat16) {
    using H = TestType;
    STATIC_REQUIRE((literal_fits<H, H> && !literal_fits<float, H> && !literal_fits<std::complex<float>, H> &&
                    !literal_fits<int, H>));
    STATIC_REQUIRE((!literal_fits<half, bfloat16> && !literal_fits<bfloat16, half> && dtypes_agree<H, number<H>>));
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<H, dyn> x("x");
    const std::vector<H> at{H(1.f), H(-4.f)};
    STATIC_REQUIRE(std::is_same_v<value_type_of<decltype(x * H(0.5f))>, H>);
    CHECK(list(s.run(H(2.f) - x * H(0.5f), feed(x, at))) == std::vector<H>{H(1.5f), H(4.f)});
    const any_tensor any = x;
    CHECK(op_test::run(s, any * H(0.5f), {x}, {op_test::make_array<H>({2}, at)}).template elements<H>()[1] == -2.f);
    const any_tensor other = placeholder<float>("f");
    CHECK_THROWS_WITH(other * H(0.5f), contains("does not go with float32"));
}

TEST_CASE("apply: tensors of unknown type, alone, with numbers and with typed ones") {
    const session s;
    const auto x = any_placeholder("x", dtype::float32);
    placeholder<float, dyn> y("y");
    const std::vector<any_array> at{op_test::make_array<float>({2, 1}, {1, 2}),
                                    op_test::make_array<float>({2}, {3, 4})};
    const auto run = [&](const any_tensor& t) {
        const auto value = op_test::run(s, t, {x, y}, at);
        const auto all = value.elements<float>();
        return std::vector<float>(all.begin(), all.end());
    };
    const any_tensor sum = x + y;
    CHECK(sum.dtype() == dtype::float32);
    CHECK_FALSE(sum.static_shape().known_rank());
    CHECK(run(sum) == std::vector<float>{4, 5, 5, 6});
    CHECK(run(2.0 * x - 1) == std::vector<float>{1, 3});
    CHECK(run(x * (y + 1.f)) == std::vector<float>{4, 5, 8, 10});
    CHECK(run(x - constant(1.f)) == std::vector<float>{0, 1});
    CHECK(any_tensor(equal(x, y)).dtype() == dtype::boolean);
    CHECK(any_tensor(cast<int>(x)).dtype() == dtype::int32);
    const auto big = any_placeholder("big", dtype::int64);
    const std::int64_t odd = (std::int64_t(1) << 60) + 1; // not exact as a double
    const any_tensor moved = big + odd;
    CHECK(op_test::run(s, moved, {big}, {op_test::make_array<std::int64_t>({}, {1})}).value<std::int64_t>() == odd + 1);
}

TEST_CASE("apply: refusals of tensors of unknown type") {
    const graph_scope here{graph()};
    const auto f = any_placeholder("f", dtype::float32, {2}), d = any_placeholder("d", dtype::float64, {2}),
               i = any_placeholder("i", dtype::int32, {3}), u = any_placeholder("u", dtype::uint8),
               r = any_placeholder("r", dtype::uint16), t = any_placeholder("t", dtype::string);
    placeholder<double, 2> typed("typed");
    CHECK_THROWS_AS(f + d, invalid_argument);
    CHECK_THROWS_WITH(f + d,
                      contains("add: the dtypes differ") && contains("f:0 float32 [2]") && contains("d:0 float64 [2]"));
    CHECK_THROWS_WITH(f * typed, contains("mul: the dtypes differ") && contains("typed:0"));
    CHECK_THROWS_WITH(i + i * i - any_placeholder("four", dtype::int32, {4}),
                      contains("sub: the shapes do not broadcast") && contains("[3]") && contains("[4]"));
    CHECK_THROWS_WITH(i + 0.5, contains("add: the literal 0.5") && contains("int32"));
    CHECK_THROWS_WITH(u + 256, contains("add: the literal 256 does not fit uint8"));
    CHECK_THROWS_WITH(f + std::complex<float>(0, 1), contains("add: the literal (0.0") && contains("float32"));
    CHECK_THROWS_WITH(tanh(i), contains("tanh: it does not take int32"));
    CHECK_THROWS_WITH(t + t, contains("add: it does not take string"));
    CHECK_THROWS_AS(f + any_tensor(), failed_precondition);
    CHECK_THROWS_AS(any_tensor() + 1, failed_precondition);
    // no kernel was asked for by a typed function: said when it is to run
    const any_tensor rare = r - r;
    const session s;
    const std::vector<any_array> at{op_test::point_array<std::uint16_t>({}, {2})};
    if (load_rare_kernels()) return; // in builds that have them
    CHECK_THROWS_AS(op_test::run(s, rare, {r}, at), unimplemented);
    CHECK_THROWS_WITH(op_test::run(s, rare, {r}, at),
                      contains("Sub") && contains("uint16") && contains("all_kernels.hpp"));
}

TEST_CASE("apply: operators can't ask where they are: their nodes are made where the first operand was") {
    const graph_scope here{graph()};
    const auto f = any_placeholder("f", dtype::float32, {2});
    placeholder<float, 2> x("x");
    const auto line = f.node()->where.line();
    const any_tensor sum = f + 1.f;
    CHECK(sum.node()->where.line() == line);
    CHECK(place_of(*sum.node()) == "node 'add', made at apply.cpp:" + std::to_string(line));
    const any_tensor fetched(detail::seal(x * x)); // as a session does with an expression
    CHECK(fetched.node()->where.line() == line + 1);
    const tensor named = x * x;
    CHECK(named.node()->where.line() == line + 8);
    CHECK(to_string(std::source_location()) == "an unknown place");
}
