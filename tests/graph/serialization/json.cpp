// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/serialization/json.hpp>

#include <limits>

#include <nlohmann/json.hpp>

#include <rill/all_kernels.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("json: a graph with all that it holds") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(5);
    placeholder<float, dyn, 2> x("x");
    const name_scope scope("layer");
    variable<float, 2> w("w", zeros());
    const device_scope there("/cpu:0");
    const tensor y = tanh(x * w) + 0.5f;
    const auto loss = reduce_mean(y);
    const auto done = group(operation(loss.node()));
    g.add_to_collection("mine", y.end());
    const auto j = nlohmann::json::parse(to_json(g));
    CHECK(j["seed"] == 5);
    CHECK(j["nodes"].size() == g.size());
    CHECK(j["nodes"][0]["name"] == "x");
    CHECK(j["nodes"][0]["op"] == "Placeholder");
    CHECK(j["nodes"][0]["outputs"][0] == "float32 [?, 2]");
    const auto node = [&](const std::string& name) {
        for (const auto& n : j["nodes"])
            if (n["name"] == name) return n;
        FAIL("no node " << name);
        return j["nodes"][0];
    };
    const auto add = node(y.node()->name);
    CHECK(add["inputs"] == nlohmann::json{"x:0", "layer/w:0"});
    CHECK(add["device"] == "/device:cpu:0");
    CHECK(add["signature"] == "Add(Tanh(Mul($0:float32,$1:float32)),s0:float32)");
    CHECK(add["fields"]["spec"]["scalars"] == nlohmann::json{0.5});
    CHECK(add["fields"]["spec"]["kind"] == "forward");
    CHECK(node(loss.node()->name)["fields"]["spec"]["results"][0]["how"] == "Mean");
    CHECK(node(done.name())["after"] == nlohmann::json{loss.node()->name});
    CHECK(j["collections"]["mine"] == nlohmann::json{y.name()});
    CHECK(j["collections"]["trainable_variables"] == nlohmann::json{"layer/w:0"});
    CHECK(j["initializers"]["layer/w"] == "layer/w/initialize");
}

TEST_CASE("json: what it has no numbers or letters for") {
    const graph g;
    const graph_scope here(g);
    const any_tensor number = constant(to_any_array<double>(std::vector<double>{
                         std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), 0.5})),
                     text = sealed(constant(std::string("\xff\x01\"quoted\""))),
                     many = constant(to_any_array<int>(std::vector<int>(100, 7)));
    const auto j = nlohmann::json::parse(to_json(g));
    const auto values = [&](int i) { return j["nodes"][static_cast<std::size_t>(i)]["fields"]["value"]["values"]; };
    CHECK(values(0) == nlohmann::json{"nan", "-inf", 0.5});
    CHECK(values(1)[0].get<std::string>().find("\"quoted\"") != std::string::npos);
    CHECK(values(2).size() == 17);
    CHECK(values(2)[16] == "...");
}
