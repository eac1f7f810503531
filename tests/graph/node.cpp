// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/node.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("node: how its outputs and its place are called") {
    node n;
    n.name = "layer/split";
    n.outputs = {{dtype::float32, dims{2}}, {dtype::int32, dims{}}};
    n.where = std::source_location::current();
    const endpoint second{&n, 1};
    CHECK(name_of(second) == "layer/split:1");
    CHECK(type_of(second) == tensor_type{dtype::int32, dims{}});
    CHECK(place_of(n) == "node 'layer/split', made at node.cpp:" + std::to_string(n.where.line()));
    const auto said = error_at(n, "split", "too long");
    CHECK(said == "split: too long (" + place_of(n) + ")");
    CHECK(error_at(n, "call", said) == said); // once
    CHECK(bool(second));
    CHECK_FALSE(bool(endpoint()));
    CHECK_FALSE(second == endpoint{&n, 0});
}

TEST_CASE("node: the device that a colocated node requests is that of the last node in the row") {
    node alone, beside, behind;
    alone.device = "/cpu:1";
    beside.device = "/cpu:2";
    beside.colocated = &alone;
    behind.colocated = &beside;
    CHECK(requested_device(alone) == "/cpu:1");
    CHECK(requested_device(beside) == "/cpu:1");
    CHECK(requested_device(behind) == "/cpu:1");
    CHECK(requested_device(node()).empty());
}

TEST_CASE("node: what a gradient rule sees") {
    node in, n;
    n.inputs = {{&in, 2}};
    const std::vector<endpoint> gradients{{}, {&in, 1}};
    const std::vector<char> wanted{1};
    const gradient_ops ops;
    const gradient_request r{n, gradients, wanted, ops};
    CHECK(r.input(0) == endpoint{&in, 2});
    CHECK(r.output(1) == endpoint{&n, 1});
    CHECK_FALSE(bool(r.gradient()));
    CHECK(r.gradient(1) == endpoint{&in, 1});
}
