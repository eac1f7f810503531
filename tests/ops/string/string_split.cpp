// SPDX-License-Identifier: BSD-3-Clause
// Also string_lower, string_upper, string_strip and substr.
#include <rill/ops/string/string_split.hpp>

#include <rill/ops/string/string_lower.hpp>
#include <rill/ops/string/string_strip.hpp>
#include <rill/ops/string/string_upper.hpp>
#include <rill/ops/string/substr.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

namespace test_ops_string_string_split {

using text_test::texts;
using numbers = std::vector<std::int64_t>;

struct pieces {
    numbers indices;
    texts values;
    numbers dense_shape;
    bool operator==(const pieces&) const = default;
};

pieces split(const texts& x, const std::string& delimiter, const string_split_options& o = {}) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<std::string, dyn> typed("typed");
    const any_tensor any = any_placeholder("any", dtype::string);
    const any_array at = text_test::array({static_cast<index_t>(x.size())}, x);
    const auto of = [&](const auto& in) {
        const auto [indices, values, shape] = string_split(in, delimiter, o);
        static_assert(std::is_same_v<decltype(values), const tensor<std::string, dyn>>);
        const std::vector<any_array> got = s.run(std::vector<any_tensor>{indices, values, shape}, feed(in, at));
        const auto i = got[0].elements<std::int64_t>(), d = got[2].elements<std::int64_t>();
        CHECK(got[0].shape() == dims{got[1].shape()[0], 2});
        return pieces{{i.begin(), i.end()}, text_test::list(got[1]), {d.begin(), d.end()}};
    };
    const pieces first = of(any_tensor(typed));
    CHECK(of(any) == first);
    return first;
}

TEST_CASE("string_split: pieces, empty ones, several delimiters, none") {
    CHECK(split({"hello world", "a b c"}, " ") ==
          pieces{{0, 0, 0, 1, 1, 0, 1, 1, 1, 2}, {"hello", "world", "a", "b", "c"}, {2, 3}});
    CHECK(split({"", "  ", " x "}, " ") == pieces{{2, 0}, {"x"}, {3, 1}});
    CHECK(split({"", " x"}, " ", {.skip_empty = false}) == pieces{{1, 0, 1, 1}, {"", "x"}, {2, 2}});
    CHECK(split({"a,b;c"}, ",;") == pieces{{0, 0, 0, 1, 0, 2}, {"a", "b", "c"}, {1, 3}});
    CHECK(split({"ab", ""}, "") == pieces{{0, 0, 0, 1}, {"a", "b"}, {2, 2}});
    CHECK(split({}, " ") == pieces{{}, {}, {0, 0}});
    CHECK_THROWS_WITH(string_split(any_placeholder("m", dtype::string, {2, 2})),
                      contains("string_split: a vector of texts is expected, not string [2, 2]"));
    CHECK_THROWS_AS(string_split(any_placeholder("n", dtype::float32, {2})), invalid_argument);
    const op_ptr made = make_op(string_split_op{",", false});
    CHECK(make_op("StringSplit", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("StringSplit")->equals(*made));
}

TEST_CASE("string_lower, string_upper, string_strip: bytes outside of ASCII stay") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<std::string, dyn> x("x");
    const any_tensor any = any_placeholder("any", dtype::string);
    const any_array at = text_test::array({4}, {" aZ9\t", "\xc3\x84z", "", " \v\f\r\n"});
    const auto check = [&](const any_tensor& result, const any_tensor& in, const texts& wanted) {
        CHECK(text_test::list(op_test::run(s, result, {in}, {at})) == wanted);
    };
    static_assert(std::is_same_v<decltype(string_lower(x)), tensor<std::string, dyn>>);
    check(string_lower(x), x, {" az9\t", "\xc3\x84z", "", " \v\f\r\n"});
    check(string_lower(any), any, {" az9\t", "\xc3\x84z", "", " \v\f\r\n"});
    check(string_upper(x), x, {" AZ9\t", "\xc3\x84Z", "", " \v\f\r\n"});
    check(string_upper(any), any, {" AZ9\t", "\xc3\x84Z", "", " \v\f\r\n"});
    check(string_strip(x), x, {"aZ9", "\xc3\x84z", "", ""});
    check(string_strip(any), any, {"aZ9", "\xc3\x84z", "", ""});
    const any_tensor n = any_placeholder("n", dtype::float32);
    CHECK_THROWS_WITH(string_lower(n), contains("string_lower: ") && contains("float32"));
    CHECK_THROWS_WITH(string_upper(n), contains("string_upper: ") && contains("float32"));
    CHECK_THROWS_WITH(string_strip(n), contains("string_strip: ") && contains("float32"));
}

TEST_CASE("substr: numbers of the host and tensors, from the end, and outside") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<std::string, dyn> x("x");
    const placeholder<int, 3> from("from");
    const any_array at = text_test::array({3}, {"abcdef", "xy", "123"}),
                    places = op_test::make_array<int>({3}, {1, 2, -3});
    static_assert(std::is_same_v<decltype(substr(x, from, 2)), tensor<std::string, 3>>);
    CHECK(text_test::list(op_test::run(s, substr(x, from, 2), {x, from}, {at, places})) == texts{"bc", "", "12"});
    CHECK(text_test::list(op_test::run(s, substr(any_tensor(x), 0, 4), {x}, {at})) == texts{"abcd", "xy", "123"});
    CHECK(s.run(substr(constant("hello"), std::vector<int>{0, -4}, std::int64_t(3)))(1) == "ell");
    CHECK_THROWS_WITH(op_test::run(s, substr(x, 3, 1), {x}, {at}),
                      contains("position 3 and length 1 at [1] are not in the text of 2 bytes"));
    CHECK_THROWS_WITH(s.run(substr(constant("hello"), 0, -1)), contains("length -1"));
    CHECK_THROWS_AS(substr(any_placeholder("n", dtype::float32), 0, 1), invalid_argument);
    CHECK_THROWS_WITH(substr(x, constant({1, 2}), constant({1, 2, 3})), contains("substr"));
}

} // namespace test_ops_string_string_split
