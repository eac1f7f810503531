// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/input/parse_example.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_input_parse_example {

const example_features first{
    {"x", {.floats = {1, 2}}}, {"label", {.numbers = {-3}}}, {"words", {.texts = {"a", "bc"}}}};
const example_features second{{"x", {.floats = {3, 4}}}, {"words", {.texts = {"d"}}}};

TEST_CASE("parse_example: features of fixed and of any length, one Example or a batch") {
    const graph_scope here{graph()};
    placeholder<std::string, dyn> bytes("bytes");
    placeholder<std::string> one("one");
    const auto [x, label, indices, words, shape] =
        parse_example(bytes, fixed_len_feature<float, 2>("x"), fixed_len_feature<std::int64_t>("label", 7),
                      var_len_feature<std::string>("words"));
    const auto [x1, i1, w1, s1] =
        parse_example(one, fixed_len_feature<float, 2>("x"), var_len_feature<std::string>("words"));
    const session s;
    const std::vector<std::string> two{example_bytes(first), example_bytes(second)};
    const auto [xv, lv, iv, wv, sv] = s.run(std::tuple(x, label, indices, words, shape), feed(bytes, two));
    CHECK((xv.shape(0) == 2 && xv(1, 0) == 3 && lv(0) == -3 && lv(1) == 7));
    CHECK((wv.size() == 3 && wv(2) == "d" && iv(1, 0) == 0 && iv(1, 1) == 1 && iv(2, 0) == 1 && sv(0) == 2 &&
           sv(1) == 2));
    const auto [x1v, w1v] = s.run(std::tuple(x1, w1), feed(one, two[0]));
    CHECK((x1v(1) == 2 && w1v(1) == "bc"));
}

TEST_CASE("parse_example: numbers that are not packed are read, damage and wrong features are refused") {
    // tf.train.Example(features={"n": Int64List([5, 300])}), each value a field of its own
    const std::string unpacked("\x0a\x10\x0a\x0e\x0a\x01n\x12\x09\x1a\x07\x08\x05\x08\xac\x02\x08\x01", 18);
    CHECK(parse_example_bytes(unpacked).at("n").numbers == std::vector<std::int64_t>{5, 300, 1});
    const auto whole = example_bytes(first);
    CHECK(parse_example_bytes(whole).at("words").texts == first.at("words").texts);
    for (std::size_t cut = 1; cut < whole.size(); ++cut)
        CHECK_THROWS_AS(parse_example_bytes(whole.substr(0, cut)), data_loss);
    std::size_t read = 0, refused = 0;
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) { // each flipped bit gives another Example, or an error
        auto flipped = whole;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
        try {
            parse_example_bytes(flipped);
            ++read;
        } catch (const data_loss&) {
            ++refused;
        }
    }
    CHECK((read > 0 && refused > 0));
    const graph_scope here{graph()};
    placeholder<std::string, dyn> bytes("bytes");
    const session s;
    const auto run = [&](const auto& feature) {
        const auto parsed = std::get<0>(parse_example(bytes, feature));
        s.run(parsed, feed(bytes, std::vector<std::string>{whole}));
    };
    CHECK_THROWS_WITH(run(fixed_len_feature<float, 3>("x")), contains("the feature 'x' has 2 values, 3 expected"));
    CHECK_THROWS_WITH(run(fixed_len_feature<float>("none")), contains("the feature 'none' has 0 values, 1 expected"));
    CHECK_THROWS_WITH(run(fixed_len_feature<std::int64_t, 2>("x")),
                      contains("Example 0: the feature 'x' is not of int64"));
    // an Example whose feature "n" has a list that is longer than its bytes
    const std::string damaged("\x0a\x0b\x0a\x09\x0a\x01n\x12\x04\x1a\x7f\x0a\x01", 13);
    const auto n = std::get<0>(parse_example(bytes, fixed_len_feature<std::int64_t>("n", 0)));
    CHECK_THROWS_WITH(s.run(n, feed(bytes, std::vector<std::string>{whole, damaged})),
                      contains("Example 1: feature 'n': at byte 2: a length of 127 where 2 bytes are left"));
}

TEST_CASE("example_bytes: a feature has one kind, and an empty one counts as missing") {
    CHECK_THROWS_WITH(example_bytes({{"x", {.texts = {"a"}, .numbers = {1}}}}),
                      contains("'x'") && contains("several kinds"));
    const auto bytes = example_bytes({{"x", {}}});
    CHECK(bytes == std::string("\x0a\x07\x0a\x05\x0a\x01x\x12\0", 9));
    const graph_scope here{graph()};
    const session s;
    CHECK(s.run(std::get<0>(parse_example(constant(bytes), fixed_len_feature<float>("x", 7.f)))) == 7);
}

} // namespace test_ops_input_parse_example
