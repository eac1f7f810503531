// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/string_to_number.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

TEST_CASE("string_to_number: typed and untyped") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<std::string, dyn> x("x");
    static_assert(std::is_same_v<decltype(string_to_number(x)), tensor<float, dyn>>);
    static_assert(std::is_same_v<decltype(string_to_number<std::int64_t>(x)), tensor<std::int64_t, dyn>>);
    const any_tensor any = any_placeholder("any", dtype::string);
    const any_array at = text_test::array({3}, {"-1", " +2\n", "30"}), real = text_test::array({2}, {"1e-3", "-0.5"});
    CHECK(op_test::difference<float>(op_test::run(s, string_to_number(x), {x}, {real}), {2}, {1e-3f, -0.5f}) == "");
    CHECK(op_test::difference<double>(op_test::run(s, string_to_number<double>(any), {any}, {real}), {2},
                                      {1e-3, -0.5}) == "");
    CHECK(op_test::difference<int>(op_test::run(s, string_to_number<int>(any), {any}, {at}), {3}, {-1, 2, 30}) == "");
    CHECK(op_test::difference<std::int64_t>(op_test::run(s, string_to_number<std::int64_t>(x), {x}, {at}), {3},
                                            {-1, 2, 30}) == "");
}

TEST_CASE("string_to_number: what is not a number is named") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<std::string, 2> x("x");
    const auto message = [&](const any_tensor& y, const std::string& text) {
        try {
            op_test::run(s, y, {x}, {text_test::array({2}, {"1", text})});
        } catch (const invalid_argument& problem) {
            return std::string(problem.what());
        }
        return std::string();
    };
    CHECK_THAT(message(string_to_number(x), "one"), contains("string_to_number: 'one' at [1] is not a valid float32"));
    CHECK_THAT(message(string_to_number<int>(x), "1.5"), contains("'1.5' at [1] is not a valid int32"));
    CHECK_THAT(message(string_to_number<int>(x), "2147483648"), contains("is not a valid int32"));
    CHECK_THAT(message(string_to_number<double>(x), ""), contains("'' at [1] is not a valid float64"));
    CHECK_THROWS_WITH(string_to_number(any_placeholder("n", dtype::float32)),
                      contains("string_to_number: the elements must be string, not float32"));
}

TEST_CASE("string_to_number: made by name, its field read back") {
    const graph g;
    const graph_scope here(g);
    const op_ptr made = make_op(string_to_number_op{dtype::int64});
    CHECK(make_op("StringToNumber", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("StringToNumber")->equals(*made));
    const op_ptr wrong = make_op(string_to_number_op{dtype::complex64});
    CHECK_THROWS_WITH(detail::add_node(g, wrong, {any_placeholder("x", dtype::string)}),
                      contains("string_to_number: the result must be float32, float64, int32 or int64, not complex64"));
}
