// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/input/decode_csv.hpp>

#include <complex>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/input/decode_raw.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_input_decode_csv {

TEST_CASE("decode_csv: columns by type, defaults of empty fields, quotes") {
    const graph_scope here{graph()};
    placeholder<std::string, dyn> lines("lines");
    const auto [a, b, c, d] = decode_csv<float, int, std::string, std::int64_t>(lines, {0.5f, 7, "none", required});
    static_assert(std::is_same_v<decltype(c), const tensor<std::string, dyn>>);
    const session s;
    const auto [av, bv, cv, dv] =
        s.run(std::tuple(a, b, c, d),
              feed(lines, std::vector<std::string>{"1.5,2,\"x,\"\"y\"\"\nz\",4", " , ,\t,-9000000000\r\n"}));
    CHECK((av(0) == 1.5f && av(1) == 0.5f && bv(0) == 2 && bv(1) == 7 && dv(0) == 4 && dv(1) == -9000000000));
    CHECK((cv(0) == "x,\"y\"\nz" && cv(1) == "none"));
    const auto one = decode_csv<double>(constant("2;5"), {0.}, {.delimiter = '|'});
    CHECK_THROWS_WITH(s.run(one), contains("'2;5'") && contains("column 1: '2;5' is not a valid float64"));
    const auto [p, q] = decode_csv<int, int>(constant("2;5"), {0, 0}, {.delimiter = ';'});
    CHECK(s.run(std::tuple(p, q)) == std::tuple(2, 5));
}

TEST_CASE("decode_csv: bad records name the record and the column") {
    const graph_scope here{graph()};
    placeholder<std::string, dyn> lines("lines");
    const auto [a, b] = decode_csv<int, float>(lines, {required, 0.f});
    const session s;
    const struct {
        std::string line, message;
    } rows[] = {
        {"1", "1 fields, 2 expected"},
        {"1,2,3", "3 fields, 2 expected"},
        {"", "1 fields, 2 expected"},
        {",1", "column 1 is empty, and required"},
        {"x,1", "column 1: 'x' is not a valid int32"},
        {"99999999999,1", "column 1: '99999999999' is not a valid int32"},
        {"1,\"2", "column 2: the quotes of the field are not closed"},
        {"1,\"2\"3", "column 2: a delimiter is expected behind the closing quote"},
        {"1,2\"", "column 2: a quote is expected only around the field"},
        {std::string("1,\0", 3), "a NUL byte is not text"},
        {"1,2\n3,4", "column 2: a line end is expected only within quotes"},
    };
    for (const auto& row : rows)
        CHECK_THROWS_WITH(s.run(b, feed(lines, std::vector<std::string>{"1,2", row.line})),
                          contains("record 1 ") && contains(row.message) && contains("decode_csv"));
}

TEST_CASE("decode_csv: with the keys of a reader, errors name file and line") {
    const graph_scope here{graph()};
    placeholder<std::string, dyn> lines("lines"), keys("keys");
    const auto a = decode_csv<int>(lines, {0}, {.key = keys});
    const session s;
    const std::vector<std::string> names{"a.csv:7", "b.csv:2"};
    CHECK(s.run(a, feed(lines, std::vector<std::string>{"1", "2"}), feed(keys, names))(1) == 2);
    CHECK_THROWS_WITH(s.run(a, feed(lines, std::vector<std::string>{"1", "x"}), feed(keys, names)),
                      contains("b.csv:2: column 1: 'x' is not a valid int32"));
    CHECK_THROWS_WITH(decode_csv<int>(lines, {0}, {.key = placeholder<std::string, 2, 3>("other")}),
                      contains("their keys string [2, 3]"));
    CHECK_THROWS_WITH(decode_csv<int>(lines, {0}, {.key = placeholder<int, dyn>("numbers")}), contains("the keys"));
}

TEST_CASE("decode_raw: numbers of either byte order") {
    const graph_scope here{graph()};
    placeholder<std::string, dyn> bytes("bytes");
    const auto little = decode_raw<std::int16_t>(bytes), big = decode_raw<std::int16_t>(bytes, false);
    const session s;
    const std::vector<std::string> two{std::string("\1\0\2\0", 4), std::string("\0\1\0\3", 4)};
    const auto l = s.run(little, feed(bytes, two)), b = s.run(big, feed(bytes, two));
    CHECK((l.shape(0) == 2 && l.shape(1) == 2 && l(0, 0) == 1 && l(0, 1) == 2 && b(1, 0) == 1 && b(1, 1) == 3));
    CHECK_THROWS_WITH(s.run(little, feed(bytes, std::vector<std::string>{"abc"})),
                      contains("3 bytes are not a whole number of int16"));
    CHECK_THROWS_WITH(s.run(little, feed(bytes, std::vector<std::string>{"ab", "abcd"})), contains("2 and 4 bytes"));
    const auto truths = s.run(decode_raw<bool>(bytes), feed(bytes, std::vector<std::string>{std::string("\0\2\1", 3)}));
    CHECK((!truths(0, 0) && truths(0, 1) == true && truths(0, 2)));
    const std::string one_and_two("\x3f\x80\0\0\x40\0\0\0", 8); // float32, big-endian
    const auto z =
        s.run(decode_raw<std::complex<float>>(bytes, false), feed(bytes, std::vector<std::string>{one_and_two}));
    CHECK(z(0, 0) == std::complex<float>(1, 2)); // real and imaginary part stay in their order
}

} // namespace test_ops_input_decode_csv
