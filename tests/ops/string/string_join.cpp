// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/string_join.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

namespace test_ops_string_string_join {

using text_test::texts;

TEST_CASE("string_join: element by element, typed and untyped") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<std::string, dyn, 2> a("a");
    placeholder<std::string, 2> b("b");
    static_assert(std::is_same_v<decltype(string_join(b, a, constant("x"))), tensor<std::string, dyn, 2>>);
    const any_tensor x = any_placeholder("x", dtype::string), y = any_placeholder("y", dtype::string);
    const any_array table = text_test::array({2, 2}, {"a", "b", "c", ""}), row = text_test::array({2}, {"0", "1"});
    const auto check = [&](const any_tensor& joined, const any_tensor& p, const any_tensor& q, const texts& wanted) {
        const any_array got = op_test::run(s, joined, {p, q}, {table, row});
        CHECK(got.shape() == dims{2, 2});
        CHECK(text_test::list(got) == wanted);
    };
    const texts plain{"a0", "b1", "c0", "1"}, separated{"a/0", "b/1", "c/0", "/1"};
    check(string_join(a, b), a, b, plain);
    check(string_join("/", a, b), a, b, separated);
    check(string_join(x, y), x, y, plain);
    check(string_join("/", a, y), a, y, separated);
    check(string_join({x, y}), x, y, plain);
    check(string_join({x, y}, "/"), x, y, separated);
    check(string_join("-", b, constant("x"), a), a, b, {"0-x-a", "1-x-b", "0-x-c", "1-x-"});
    CHECK(s.run(string_join(constant("alone"))) == "alone");
    CHECK(s.run(string_join(std::string(", "), constant("a"), constant("b"))) == "a, b");
}

TEST_CASE("string_join: refusals, and by name") {
    const graph g;
    const graph_scope here(g);
    const any_tensor x = any_placeholder("x", dtype::string, {2}), y = any_placeholder("y", dtype::string, {3}),
                     n = any_placeholder("n", dtype::float32, {2});
    CHECK_THROWS_WITH(string_join(x, y), contains("string_join: the shapes do not broadcast") && contains("[3]"));
    CHECK_THROWS_WITH(string_join(x, n), contains("string_join: what is joined must be string, not float32"));
    CHECK_THROWS_WITH(string_join(std::vector<any_tensor>()), contains("string_join: no tensors were given"));
    const op_ptr made = make_op(string_join_op{"/"});
    CHECK(make_op("StringJoin", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("StringJoin")->equals(*made));
}

} // namespace test_ops_string_string_join
