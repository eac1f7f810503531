// SPDX-License-Identifier: BSD-3-Clause
#include <rill/summary/event_writer.hpp>

#include <rill/io/summary_messages.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/io/wire.hpp>
#include <rill/ops/array/placeholder.hpp>
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
    const auto bytes = detail::graph_def_bytes(g);
    std::map<std::string, std::vector<std::string>> nodes; // name -> inputs, device
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
    }
    CHECK(nodes.size() == g.size());
    REQUIRE(nodes.contains(y.node()->name));
    CHECK(nodes[y.node()->name].front() == "in/x");
    CHECK(nodes[y.node()->name].back() == "/device:cpu:0");
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
