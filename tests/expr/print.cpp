// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/print.hpp>

#include <sstream>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/tanh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_print {
template <class X> std::string printed(const X& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}
struct sink { // a stream of the user's own: whatever takes a string
    std::string text;
    sink& operator<<(const std::string& part) {
        text += part;
        return *this;
    }
};
template <class Stream, class X>
concept takes = requires(Stream& out, const X& x) { out << x; };
} // namespace test_print

TEST_CASE("print: expressions and constants print what their types know") {
    using test_print::printed;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> x("x");
    const auto nodes = g.size();
    CHECK(printed(x * x) == "expression(Mul($0:float32,$1:float32), [?, 3])");
    CHECK(printed(tanh(2.f * x) + constant({1.f, 2.f, 3.f})) ==
          "expression(Add(Tanh(Mul(s0:float32,$0:float32)),$1:float32), [?, 3])");
    CHECK(printed(constant({{1.f, 2.f}, {3.f, 4.f}})) == "constant(float32, [2, 2])");
    CHECK(printed(constant(7)) == "constant(int32, [])");
    CHECK(printed(constant(std::vector<double>{1, 2})) == "constant(float64, [2])");
    CHECK(printed(constant("text")) == "constant(string, [])");
    CHECK(g.size() == nodes); // printing seals nothing
}

TEST_CASE("print: any stream that takes text") {
    placeholder<float> x("x");
    test_print::sink out;
    out << constant(1.f) << (x + x);
    CHECK(out.text == "constant(float32, [])expression(Add($0:float32,$1:float32), [])");
    STATIC_REQUIRE(test_print::takes<std::ostream, decltype(x + x)>);
    STATIC_REQUIRE_FALSE(test_print::takes<std::stringbuf, decltype(x + x)>);
    STATIC_REQUIRE_FALSE(test_print::takes<std::stringbuf, decltype(constant(1.f))>);
}
