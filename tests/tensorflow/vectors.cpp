// SPDX-License-Identifier: BSD-3-Clause
// Values and gradients of ops beside those of TensorFlow, which vectors.py wrote to tests/data/tensorflow.txt; and
// random graphs, which random_graphs.py writes (make check-tensorflow).
#include <cstdlib>
#include <fstream>

#include <rill/ops/catalogue.hpp>
#include <rill/train/catalogue.hpp>

#include "catch.hpp"
#include "tensorflow/named_functions.hpp"

using namespace rill;

namespace test_tensorflow {

/// Every op of docs/ops.md.
inline std::set<std::string> catalogue_names() {
    std::set<std::string> all;
    catalogue::each([&]<class Op>(std::type_identity<Op>) { all.insert(Op::name); });
    optimizer_rules::each([&]<class Rule>(std::type_identity<Rule>) {
        all.insert(std::string(update_op<Rule>::name));
        if constexpr (requires { Rule::by_rows; }) all.insert(std::string(update_rows_op<Rule>::name));
    });
    return all;
}

TEST_CASE("tensorflow: values and gradients of every op are TensorFlow's") {
    const auto all = described_graph::read_data("tensorflow.txt");
    CHECK(all.graphs.size() > 300);
    CHECK(described_graph::wrong_of(all) == "");
}

TEST_CASE("tensorflow: values and gradients of functions that are made of ops are TensorFlow's") {
    const auto all = described_graph::read_data("tensorflow_functions.txt");
    CHECK(all.graphs.size() > 100);
    CHECK(described_graph::wrong_of(all, described_graph::composed_functions()) == "");
    std::set<std::string_view> called;
    for (const auto& d : all.graphs)
        for (const auto& line : d.lines)
            if (line.starts_with("call ")) called.insert(std::string_view(line).substr(5, line.find(' ', 5) - 5));
    for (const auto& [name, function] : described_graph::composed_functions()) {
        INFO(name);
        CHECK(called.contains(name));
    }
}

TEST_CASE("tensorflow: every op of the catalogue is compared, or it is said why not") {
    const auto all = described_graph::read_data("tensorflow.txt");
    std::set<std::string> without;
    for (const auto& line : all.others.at("without")) {
        const auto colon = line.find(": ");
        REQUIRE(colon != std::string::npos);
        without.insert(line.substr(0, colon));
        CHECK(line.size() > colon + 10);
    }
    const auto names = catalogue_names();
    for (const auto& name : names) {
        INFO(name);
        CHECK(all.ops.contains(name) != without.contains(name));
    }
    for (const auto& name : without) {
        INFO(name);
        CHECK(names.contains(name));
    }
}

TEST_CASE("tensorflow: graphs that differ are found") {
    std::istringstream text(
        "graph a\nin float32 [2] 1 2\nop Square 0\nout 1 float32 [2] 1 4\ngy 1 float32 [2] 1 1\ndx 0 float32 "
        "[2] 2 5\ngraph b\nin float32 [2] 1 nan\nop Neg 0\nout 1 float32 [2] -1 nan\ngraph c\nin float32 [1] "
        "1\nop Floor 0\nout 1 float64 [1] 1\n");
    const auto wrong = described_graph::wrong_of(described_graph::read(text));
    CHECK_THAT(wrong, contains("a: the gradient of value 0: element 1 is 4, not 5"));
    CHECK_THAT(wrong, contains("c: value 1: float32 [1], not float64 [1]"));
    CHECK_THAT(wrong, contains("2 of 3 graphs"));
}

TEST_CASE("tensorflow: random graphs", "[.]") {
    const char* const path = std::getenv("RILL_TENSORFLOW_GRAPHS");
    REQUIRE(path);
    std::ifstream file(path);
    REQUIRE(file.is_open());
    const auto all = described_graph::read(file);
    WARN(all.graphs.size() << " graphs");
    CHECK(described_graph::wrong_of(all) == "");
}

} // namespace test_tensorflow
