// SPDX-License-Identifier: BSD-3-Clause
#include <rill/summary/event_writer.hpp>

#include <rill/io/summary_messages.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/io/wire.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/summary/scalar_summary.hpp>
#include <rill/session/session.hpp>
#include <rill/summary/merged_summaries.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;
using detail::wire_reader;

namespace test_event_writer {

/// The numbers of the fields that events have, apart from time and step.
std::vector<int> kinds(const std::string& file) {
    std::vector<int> all;
    for (const auto event : detail::tf_records(file))
        for (wire_reader from(event); !from.empty();)
            if (const auto f = from.next_field(); f.number > 2) all.push_back(f.number);
    return all;
}

/// Returns the bytes of an attribute of a NodeDef; empty if the node lacks it.
std::string attribute_of(std::string_view node_def, std::string_view wanted) {
    for (wire_reader node(node_def); !node.empty();) {
        const auto n = node.next_field();
        if (n.number != 5) continue;
        wire_reader entry(n.bytes);
        const auto name = entry.next_field(), value = entry.next_field();
        if (name.number == 1 && name.bytes == wanted && value.number == 2) return std::string(value.bytes);
    }
    return {};
}

/// Returns the shapes of an AttrValue with a list of them.
std::vector<std::vector<std::int64_t>> shapes_in(std::string_view attribute) {
    std::vector<std::vector<std::int64_t>> all;
    for (wire_reader value(attribute); !value.empty();) {
        const auto list = value.next_field();
        if (list.number != 1) continue;
        for (wire_reader shapes(list.bytes); !shapes.empty();) {
            const auto shape = shapes.next_field();
            if (shape.number != 7) continue;
            auto& extents = all.emplace_back();
            for (wire_reader axes(shape.bytes); !axes.empty();)
                if (const auto axis = axes.next_field(); axis.number == 2)
                    extents.push_back(static_cast<std::int64_t>(wire_reader(axis.bytes).next_field().value));
        }
    }
    return all;
}

} // namespace test_event_writer

TEST_CASE("event_writer: events of all kinds, after the version and the start of a run that goes on") {
    io_test::model_files files;
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn> x("in/x");
    const tensor<float, dyn> y = x + 1.f;
    std::string path;
    {
        event_writer log("logs/a", {.start_step = 5, .files = &files});
        path = log.path();
        CHECK(path.substr(0, 27) == "logs/a/events.out.tfevents.");
        log.add_graph(g);
        log.scalar("loss", 0.5, 6);
        log.histogram("w", xt::xtensor<float, 1>{1, 2}, 6);
        log.image("i", xt::xtensor<float, 2>{{1, 2}}, 6);
        log.text("t", "*hi*", 6);
        log.add_run_metadata("step", step_trace{{{.node = "add", .op = "Add", .begin = 1000, .end = 5000}}}, 6);
        CHECK(test_event_writer::kinds(files.contents(path)).size() == 2); // the others are in memory
        log.flush();
        CHECK(test_event_writer::kinds(files.contents(path)) == std::vector<int>{3, 7, 4, 5, 5, 5, 5, 8});
        log.scalar("loss", 0.25, 7);
    }
    CHECK(test_event_writer::kinds(files.contents(path)).size() == 9);
    const event_writer other("logs/a", {.files = &files});
    CHECK(other.path() != path);
}

TEST_CASE("event_writer: a run that goes on from a step, told later") {
    io_test::model_files files;
    event_writer log("logs", {.files = &files});
    log.scalar("loss", 0.5, 1);
    log.start(7);
    const auto& bytes = files.contents(log.path()); // it is written at once
    CHECK(test_event_writer::kinds(bytes) == std::vector<int>{3, 5, 7});
    wire_reader last(detail::tf_records(bytes).back());
    std::int64_t step = 0;
    while (!last.empty())
        if (const auto f = last.next_field(); f.number == 2) step = static_cast<std::int64_t>(f.value);
    CHECK(step == 7);
}

TEST_CASE("event_writer: run metadata tell devices and the types of outputs") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 3> x("x");
    const tensor<float, dyn, 3> y = [&] {
        const device_scope second("/device:cpu:1");
        return tensor<float, dyn, 3>(x + 1.f);
    }();
    const step_trace trace{
        {{.node = "x", .op = "Placeholder", .begin = 0, .end = 1000},
         {.node = y.node()->name, .op = "Add", .begin = 1000, .end = 5000, .bytes = 24},
         {.node = "elsewhere", .op = "Mul", .begin = 1000, .end = 5000, .task = "/job:ps/replica:0/task:1"}}};
    const auto fields_of = [](std::string_view bytes, int number) {
        std::vector<std::string> all;
        for (wire_reader from(bytes); !from.empty();)
            if (const auto f = from.next_field(); f.number == number) all.emplace_back(f.bytes);
        return all;
    };
    const auto devices = fields_of(fields_of(detail::run_metadata_bytes(trace, &g), 1).at(0), 1);
    REQUIRE(devices.size() == 3);
    CHECK(fields_of(devices[0], 1).at(0) == "/job:localhost/replica:0/task:0/device:CPU:0");
    CHECK(fields_of(devices[1], 1).at(0) == "/job:localhost/replica:0/task:0/device:CPU:1");
    CHECK(fields_of(devices[2], 1).at(0) == "/job:ps/replica:0/task:1/device:CPU:0");
    const auto node = fields_of(devices[1], 2).at(0);
    const auto output = fields_of(fields_of(node, 7).at(0), 3).at(0);
    CHECK(output.substr(0, 2) == std::string("\x08\x01", 2));    // float32
    CHECK(fields_of(fields_of(output, 2).at(0), 2).size() == 2); // two axes
    const auto plain = fields_of(fields_of(detail::run_metadata_bytes(trace), 1).at(0), 1);
    CHECK(plain.size() == 2); // without the graph: by task
    CHECK(fields_of(fields_of(plain[0], 2).at(1), 7).empty());
}

TEST_CASE("event_writer: a graph has names, edges, devices and shapes") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 4> x("in/x");
    tensor<float, dyn, 4> y;
    {
        const device_scope on("/cpu:0");
        const control_dependencies after(operation(x.node()));
        y = x + 1.f;
    }
    const placeholder<float> one("one");
    const operation nothing = group(operation(x.node()), operation(one.node()));
    const auto bytes = detail::graph_def_bytes(g);
    std::map<std::string, std::vector<std::string>> nodes; // name -> inputs, device
    std::map<std::string, std::vector<std::vector<std::int64_t>>> shapes;
    for (wire_reader from(bytes); !from.empty();) {
        const auto f = from.next_field();
        if (f.number != 1) continue;
        std::string name;
        std::vector<std::string> rest;
        for (wire_reader node(f.bytes); !node.empty();) {
            const auto n = node.next_field();
            if (n.number == 1) name = n.bytes;
            if (n.number == 3 || n.number == 4) rest.emplace_back(n.bytes);
        }
        nodes[name] = rest;
        shapes[name] = test_event_writer::shapes_in(test_event_writer::attribute_of(f.bytes, "_output_shapes"));
    }
    CHECK(nodes.size() == g.size());
    REQUIRE(nodes.contains(y.node()->name));
    CHECK(nodes[y.node()->name].front() == "in/x");
    CHECK(nodes[y.node()->name].back() == "/device:cpu:0");
    const std::vector<std::vector<std::int64_t>> rows{{-1, 4}}, scalar{{}}, none;
    CHECK(shapes["in/x"] == rows); // -1: an extent that is known in a step
    CHECK(shapes[y.node()->name] == rows);
    CHECK(shapes["one"] == scalar);
    CHECK(shapes[nothing.node()->name] == none);
}

TEST_CASE("event_writer: an error of the file system is thrown, and the writer goes on") {
    io_test::model_files files;
    event_writer log("logs", {.files = &files});
    log.scalar("a", 1, 1);
    files.fail(1, 28); // ENOSPC
    CHECK_THROWS_AS(log.flush(), resource_exhausted);
    log.scalar("a", 2, 2);
    log.flush();
}
