// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/string_length.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

TEST_CASE("string_length: bytes, typed and untyped") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<std::string, dyn> x("x");
    static_assert(std::is_same_v<decltype(string_length(x)), tensor<int, dyn>>);
    const any_tensor any = any_placeholder("any", dtype::string);
    const any_array at = text_test::array({4}, {"", "a", "\xc3\xa4", std::string("a\0b", 3)});
    CHECK(op_test::difference<int>(op_test::run(s, string_length(x), {x}, {at}), {4}, {0, 1, 2, 3}) == "");
    CHECK(op_test::difference<int>(op_test::run(s, string_length(any), {any}, {at}), {4}, {0, 1, 2, 3}) == "");
    CHECK(s.run(string_length(constant("four"))) == 4);
    CHECK_THROWS_WITH(string_length(any_placeholder("n", dtype::float32)),
                      contains("string_length: the elements must be string, not float32"));
    CHECK(make_op("StringLength")->equals(*make_op(string_length_op{})));
}
