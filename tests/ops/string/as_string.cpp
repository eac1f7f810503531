// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/as_string.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

namespace test_ops_string_as_string {

using text_test::texts;

/// A list of numbers as text, of a type that is known and of one that is not.
template <class T> texts as_texts(const std::vector<T>& values, const as_string_options& how = {}) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<T, dyn> x("x");
    static_assert(std::is_same_v<decltype(as_string(x)), tensor<std::string, dyn>>);
    const any_tensor any = any_placeholder("any", dtype_of<T>);
    const any_array at = op_test::make_array<T>({static_cast<index_t>(values.size())}, values);
    const texts got = text_test::list(op_test::run(s, as_string(x, how), {x}, {at}));
    CHECK(text_test::list(op_test::run(s, as_string(any, how), {any}, {at})) == got);
    return got;
}

TEST_CASE("as_string: every type") {
    CHECK(as_texts<float>({1.5f, -0.f, 1e10f}) == texts{"1.500000", "-0.000000", "10000000000.000000"});
    CHECK(as_texts<double>({1. / 3, std::numeric_limits<double>::infinity()}) == texts{"0.333333", "inf"});
    CHECK(as_texts<half>({half(0.5f)}) == texts{"0.500000"});
    CHECK(as_texts<int>({1, -20}) == texts{"1", "-20"});
    CHECK(as_texts<std::int64_t>({std::numeric_limits<std::int64_t>::min()}) == texts{"-9223372036854775808"});
    CHECK(as_texts<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()}) == texts{"18446744073709551615"});
    CHECK(as_texts<std::int8_t>({65}) == texts{"65"});
    CHECK(as_texts<std::complex<float>>({{1, -2}}) == texts{"(1.000000,-2.000000)"});
    const graph g;
    const graph_scope here(g);
    const session s(g);
    CHECK(op_test::list(s.run(as_string(constant({true, false})))) == texts{"true", "false"});
    CHECK(s.run(as_string(constant(7))) == "7");
}

TEST_CASE("as_string: digits and width, as printf") {
    const std::vector<double> x{1.5, -1234567.25, 1e-10};
    const auto printed = [&](const char* format) {
        texts all;
        for (const double v : x) {
            char text[64];
            std::snprintf(text, sizeof text, format, v);
            all.emplace_back(text);
        }
        return all;
    };
    CHECK(as_texts(x) == printed("%f"));
    CHECK(as_texts(x, {.precision = 2}) == printed("%.2f"));
    CHECK(as_texts(x, {.precision = 0}) == printed("%.0f"));
    CHECK(as_texts(x, {.scientific = true}) == printed("%e"));
    CHECK(as_texts(x, {.precision = 3, .scientific = true}) == printed("%.3e"));
    CHECK(as_texts(x, {.shortest = true}) == printed("%g"));
    CHECK(as_texts(x, {.precision = 9, .shortest = true}) == printed("%.9g"));
    CHECK(as_texts(x, {.width = 20}) == printed("%20f"));
    CHECK(as_texts(x, {.width = 20, .fill = "0"}) == printed("%020f"));
    CHECK(as_texts(x, {.width = 20, .fill = "-"}) == printed("%-20f"));
    CHECK(as_texts(x, {.width = 20, .fill = "+"}) == printed("%+20f"));
    CHECK(as_texts<int>({5, -5, 12345}, {.width = 4, .fill = "0"}) == texts{"0005", "-005", "12345"});
    CHECK(as_texts<double>({-std::numeric_limits<double>::infinity()}, {.width = 6, .fill = "0"}) == texts{"  -inf"});
}

TEST_CASE("as_string: refusals, and by name") {
    const graph g;
    const graph_scope here(g);
    const any_tensor f = any_placeholder("f", dtype::float32), i = any_placeholder("i", dtype::int32);
    CHECK_THROWS_WITH(as_string(f, {.scientific = true, .shortest = true}),
                      contains("as_string: scientific and shortest exclude one another"));
    CHECK_THROWS_WITH(as_string(i, {.precision = 2}), contains("as_string: precision, scientific and shortest"));
    CHECK_THROWS_WITH(as_string(f, {.fill = "*"}), contains("as_string: fill must be") && contains("\"*\""));
    CHECK_THROWS_WITH(as_string(f, {.width = 1001}), contains("at most 1000"));
    CHECK_THROWS_AS(as_string(any_placeholder("t", dtype::string)), invalid_argument);
    const op_ptr made = make_op(as_string_op{{.precision = 3, .fill = "0"}});
    CHECK(make_op("AsString", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("AsString")->equals(*made));
}

} // namespace test_ops_string_as_string
