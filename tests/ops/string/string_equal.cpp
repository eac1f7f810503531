// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/string_equal.hpp>

#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/not_equal.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

namespace test_ops_string_string_equal {

using flags = std::vector<bool>;

TEST_CASE("string_equal: what equal and not_equal are of text") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<std::string, dyn, 2> a("a");
    placeholder<std::string, 2> b("b");
    static_assert(std::is_same_v<decltype(equal(a, b)), tensor<bool, dyn, 2>>);
    const any_tensor x = any_placeholder("x", dtype::string), y = any_placeholder("y", dtype::string, {2});
    const any_array table = text_test::array({3, 2}, {"a", "b", "a", "", "b", "b"}),
                    row = text_test::array({2}, {"a", "b"});
    const auto check = [&](const any_tensor& result, const any_tensor& p, const any_tensor& q, bool equal) {
        const auto got = op_test::run(s, result, {p, q}, {table, row});
        const flags wanted{true, true, true, false, false, true};
        for (std::size_t i = 0; i < 6; ++i) CHECK(got.elements<bool>()[i] == (wanted[i] == equal));
        CHECK(got.shape() == dims{3, 2});
    };
    check(equal(a, b), a, b, true);
    check(sealed(not_equal(a, b)), a, b, false);
    check(equal(x, y), x, y, true);
    check(not_equal(x, y), x, y, false);
    check(equal(x, b), x, b, true);
    check(not_equal(a, y), a, y, false);
    CHECK(s.run(equal(constant("text"), constant("text"))));
    CHECK(s.run(not_equal(constant("text"), constant("texts"))));
}

TEST_CASE("string_equal: refusals, and by name") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::string, {2}), y = any_placeholder("y", dtype::string, {3}),
                     n = any_placeholder("n", dtype::float32, {2});
    CHECK_THROWS_WITH(equal(x, y), contains("string_equal: the shapes do not broadcast") && contains("[3]"));
    CHECK_THROWS_WITH(equal(x, n), contains("equal") && contains("float32"));
    CHECK_THROWS_WITH(detail::add_node(g, make_op("StringEqual"), {n, n}),
                      contains("string_equal: what is compared must be string, not float32"));
    CHECK(make_op("StringEqual")->equals(*make_op(string_equal_op{})));
}

} // namespace test_ops_string_string_equal
