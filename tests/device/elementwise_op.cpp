// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/elementwise_op.hpp>

#include <complex>

#include <rill/device/cpu/simd/pack.hpp>
#include <rill/device/lane.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_elementwise_op {

/// A value function, and everything that may be said.
struct rich_op {
    static constexpr auto name = "TestRich";
    static constexpr int version = 3, cost = 2, weight = 7;
    static constexpr bool divides = true;
    template <class V> RILL_FN static constexpr auto value(const V& a, const V& b) { return a * b + V(1); }
};
/// A function of single numbers alone, whose result has a type of its own.
struct plain_op {
    static constexpr auto name = "TestPlain";
    using result_type = double;
    template <class T> static constexpr double scalar(const T& x) { return static_cast<double>(x) / 2; }
};
struct choice_op {
    static constexpr auto name = "TestChoice";
    template <class C, class V> RILL_FN static constexpr auto value(const C& c, const V& a, const V& b) {
        return select(c, a, b);
    }
};

/// A value that takes ops as they are, as a program under construction does.
struct recorder {
    std::string text;
    template <class Op, class... V> static recorder traced(const V&... args) {
        std::string all = std::string(Op::name) + "(";
        ((all += args.text), ...);
        return {all + ")"};
    }
};

} // namespace test_elementwise_op

TEST_CASE("elementwise_op: what programs know of an op is what its struct says") {
    using namespace test_elementwise_op;
    STATIC_REQUIRE(info_of<rich_op>.name == "TestRich");
    STATIC_REQUIRE(info_of<rich_op>.version == 3);
    STATIC_REQUIRE(info_of<rich_op>.cost == 2);
    STATIC_REQUIRE(info_of<rich_op>.divides);
    STATIC_REQUIRE(op_weight<rich_op> == 7);
    // left out: an elementary function's cost, an operation's weight
    STATIC_REQUIRE(info_of<plain_op>.version == 1);
    STATIC_REQUIRE(info_of<plain_op>.cost == 8);
    STATIC_REQUIRE_FALSE(info_of<plain_op>.divides);
    STATIC_REQUIRE(op_weight<plain_op> == 1);
    CHECK(&info_of<rich_op> != static_cast<const void*>(&info_of<plain_op>)); // one each, compared by address
}

TEST_CASE("elementwise_op: the result has the type that the op says, else the last operand's") {
    using namespace test_elementwise_op;
    STATIC_REQUIRE(std::is_same_v<elementwise_result<rich_op, float, float>, float>);
    STATIC_REQUIRE(std::is_same_v<elementwise_result<plain_op, int>, double>);
    STATIC_REQUIRE(std::is_same_v<elementwise_result<choice_op, bool, int, int>, int>);
}

TEST_CASE("elementwise_op: computed by its value function, or lane by lane by that of single numbers") {
    using namespace test_elementwise_op;
    STATIC_REQUIRE(detail::compute<rich_op>(lane<int>(3), lane<int>(4)).v == 13);
    const auto half_of_nine = detail::compute<plain_op>(lane<int>(9));
    STATIC_REQUIRE(std::is_same_v<decltype(half_of_nine), const lane<double>>);
    CHECK(half_of_nine.v == 4.5);
    CHECK(detail::compute<choice_op>(lane<bool>(false), lane<float>(1), lane<float>(2)).v == 2);

    constexpr int lanes = lanes_for<float>;
    float in[lanes], out[lanes];
    for (int i = 0; i < lanes; ++i) in[i] = static_cast<float>(i);
    const auto x = pack<float, lanes>::load(in);
    detail::compute<rich_op>(x, x).store(out);
    for (int i = 0; i < lanes; ++i) CHECK(out[i] == in[i] * in[i] + 1);
    double halves[lanes];
    detail::compute<plain_op>(x).store(halves);
    for (int i = 0; i < lanes; ++i) CHECK(halves[i] == in[i] / 2.);
}

TEST_CASE("elementwise_op: values that build a program take the op as one instruction") {
    using namespace test_elementwise_op;
    const recorder a{"a"}, b{"b"};
    CHECK(detail::compute<rich_op>(a, detail::compute<plain_op>(b)).text == "TestRich(aTestPlain(b))");
}
