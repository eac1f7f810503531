// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/string_format.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("string_format: values of any type in the place of marks") {
    const graph_scope here{graph()};
    const placeholder<float, dyn> x("x");
    const tensor<std::string> text = string_format("x = {}, {} and {}.", x, constant(true), constant("word"));
    const session s;
    CHECK(s.run(text, feed(x, std::vector<float>{1, 0.5})) == "x = {1, 0.5}, true and \"word\".");
    CHECK(s.run(string_format("{}{}", constant(1), constant({{1, 2}, {3, 4}}))) == "1{{1, 2}, {3, 4}}");
    CHECK_THROWS_WITH(string_format("{}", x, x), contains("1 marks {}, and 2 tensors"));
    CHECK_THROWS_AS(string_format("no mark", x), invalid_argument);
}
