// SPDX-License-Identifier: BSD-3-Clause
// Values and gradients of half, bfloat16, 8 and 16 bits, unsigned and complex numbers beside those of TensorFlow, which
// tests/tensorflow/rare_vectors.py wrote to tests/data/tensorflow_rare.txt.
#include <rill/all_types.hpp>

#include <set>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "tensorflow/described_graph.hpp"

namespace test_rare_tensorflow {

TEST_CASE("rare: values and gradients are TensorFlow's") {
    const auto all = described_graph::read_data("tensorflow_rare.txt");
    CHECK(all.graphs.size() == 1340);
    CHECK(described_graph::wrong_of(all) == "");
}

TEST_CASE("rare: graphs that differ are found, of every type") {
    for (const std::string type : {"half", "bfloat16", "int8", "int16", "uint8", "uint16", "uint32", "uint64"}) {
        INFO(type);
        const auto described = [&](const std::string& wanted) {
            std::istringstream text("graph a\nulps 2\nin " + type + " [2] 1 3\nop Square 0\nout 1 " + type + " [2] " +
                                    wanted + "\n");
            return described_graph::wrong_of(described_graph::read(text));
        };
        CHECK(described("1 9") == "");
        CHECK_THAT(described("1 10"), contains("element 1 is 9, not 10"));
        CHECK_THAT(described("nan 9"), contains("a: ")); // of whole numbers no number at all
    }
    for (const std::string type : {"complex64", "complex128"}) {
        INFO(type);
        const auto described = [&](const std::string& wanted) {
            std::istringstream text("graph a\nulps 2\nin " + type + " [2] 1,2 0,1\nop Square 0\nout 1 " + type +
                                    " [2] " + wanted + "\n");
            return described_graph::wrong_of(described_graph::read(text));
        };
        CHECK(described("-3,4 -1,0") == "");
        CHECK_THAT(described("-3,4 -1,1e-3"), contains("element 1 is (-1,0), not (-1,0.001"));
        CHECK_THAT(described("-3.001,4 -1,0"), contains("element 0 is (-3,4), not (-3.00"));
        CHECK_THAT(described("-3 -1,0"), contains("a: "));
    }
}

TEST_CASE("rare: last places are those of the type") {
    const auto described = [](const std::string& type, const std::string& x, const std::string& wanted) {
        std::istringstream text("graph a\nulps 2\nin " + type + " [1] " + x + "\nop Neg 0\nout 1 " + type + " [1] " +
                                wanted + "\n");
        return described_graph::wrong_of(described_graph::read(text)).empty();
    };
    CHECK(described("half", "1", "-1.001953125")); // two
    CHECK(!described("half", "1", "-1.0029296875"));
    CHECK(described("half", "0", "1.1920929e-07")); // two of the smallest
    CHECK(!described("half", "0", "1.7881393e-07"));
    CHECK(described("bfloat16", "1", "-1.015625"));
    CHECK(!described("bfloat16", "1", "-1.0234375"));
    CHECK(!described("half", "inf", "-65504"));
    CHECK(described("complex64", "1,1e-9", "-1,0")); // relative to the larger part
    CHECK(!described("complex64", "1,1e-6", "-1,0"));
}

} // namespace test_rare_tensorflow
