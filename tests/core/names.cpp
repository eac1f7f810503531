// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/names.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("names: an op's name in snake_case") {
    using detail::snake_case;
    CHECK(snake_case("ReduceSum") == "reduce_sum");
    CHECK(snake_case("MatMul") == "mat_mul");
    CHECK(snake_case("Add") == "add");
    CHECK(snake_case("FIFOQueue") == "fifo_queue");
    CHECK(snake_case("DecodeCSV") == "decode_csv");
    CHECK(snake_case("VariableV2") == "variable_v2");
    CHECK(snake_case("Conv2D") == "conv2_d");
    CHECK(snake_case("Log1p") == "log1p");
    CHECK(snake_case("already_snake") == "already_snake");
    CHECK(snake_case("Mixed_Case") == "mixed_case");
    CHECK(snake_case("") == "");
}

TEST_CASE("names: valid names") {
    for (const auto* good : {"x", "layer1/w", "_hidden", ".dot", "a-b", "0", "Adam_1", "a>b"})
        CHECK(detail::valid_name(good));
    for (const auto* bad : {"", "-x", "/x", "a b", "x:0", "ä", "a\n", "^x"}) CHECK_FALSE(detail::valid_name(bad));
}

TEST_CASE("names: edit distance") {
    using detail::edit_distance;
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("flaw", "lawn") == 2);
    CHECK(edit_distance("same", "same") == 0);
    CHECK(edit_distance("ab", "ba") == 2); // no transpositions
}

TEST_CASE("names: the nearest ones, best first") {
    const std::vector<std::string> names{"accuracy", "loss", "loss_1", "logits", "layer1/bias", "los"};
    CHECK(detail::nearest_names("lss", names) == std::vector<std::string>{"los", "loss"});
    CHECK(detail::nearest_names("y", {"a", "b", "x"}).empty()); // nothing in common
    CHECK(detail::nearest_names("xx", {"a", "x", "y"}) == std::vector<std::string>{"x"});
    const auto found = detail::nearest_names("lossy", names);
    REQUIRE(found.size() == 3);
    CHECK(found[0] == "loss");
    CHECK(detail::nearest_names("lossy", names, 1).size() == 1);
    CHECK(detail::nearest_names("entirely_different_thing", names).empty());
    CHECK(detail::nearest_names("x", {}).empty());
}
