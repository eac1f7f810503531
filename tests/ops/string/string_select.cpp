// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/string_select.hpp>

#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/select.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

namespace test_ops_string_string_select {

using text_test::texts;

TEST_CASE("string_select: what select is of text") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 3> x("x");
    const auto words = constant({"a", "b", "c"});
    const auto chosen = select(x > 0.f, words, constant("none"));
    static_assert(std::is_same_v<std::remove_const_t<decltype(chosen)>, tensor<std::string, 3>>);
    const xt::xtensor<float, 1> at{1, -1, 2};
    CHECK(op_test::list(s.run(chosen, feed(x, at))) == texts{"a", "none", "c"});
    const any_tensor any = any_placeholder("any", dtype::string), flag = any_placeholder("flag", dtype::boolean);
    const any_array table = text_test::array({2, 1}, {"p", "q"}), no = op_test::make_array<bool>({}, {false});
    CHECK(text_test::list(op_test::run(s, select(flag, words, any), {flag, any}, {no, table})) ==
          texts{"p", "p", "p", "q", "q", "q"});
    CHECK(text_test::list(s.run(select(any_tensor(sealed(x > 0.f)), any, any), feed(x, at), feed(any, table))) ==
          texts{"p", "p", "p", "q", "q", "q"});
}

TEST_CASE("string_select: refusals, and by name") {
    const graph g;
    const graph_scope here(g);
    const any_tensor x = any_placeholder("x", dtype::string, {2}), y = any_placeholder("y", dtype::string, {3}),
                     c = any_placeholder("c", dtype::boolean, {2}), n = any_placeholder("n", dtype::float32, {2});
    CHECK_THROWS_WITH(select(c, x, y), contains("string_select: the shapes do not broadcast") && contains("[3]"));
    CHECK_THROWS_WITH(select(n, x, x), contains("string_select: the condition must be bool, not float32"));
    CHECK_THROWS_WITH(select(c, x, n), contains("select: the dtypes differ"));
    CHECK_THROWS_WITH(detail::add_node(g, make_op("StringSelect"), {c, n, n}),
                      contains("string_select: what is chosen from must be string"));
    CHECK(make_op("StringSelect")->equals(*make_op(string_select_op{})));
}

} // namespace test_ops_string_string_select
