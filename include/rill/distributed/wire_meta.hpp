// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/core/dims.hpp>
#include <rill/core/error.hpp>
#include <rill/device/device.hpp>
#include <rill/graph/serialization/bounded_archive.hpp>
#include <rill/runtime/trace/trace.hpp>

// The second part of a message: the arguments of a method.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A value in the payload of a message: `bytes` bytes from `offset` on in payload part `part`.
struct tensor_meta {
    tensor_type type;
    std::uint32_t part = 0;
    std::uint64_t offset = 0, bytes = 0;
};
template <class Archive> void serialize(Archive& a, tensor_meta& t) { a(t.type, t.part, t.offset, t.bytes); }
inline constexpr std::size_t least_tensor_meta = 22;

/// The content of the first message of a connection, and of its answer.
struct hello_meta {
    std::string from;    // the task that connects or answers
    std::string to;      // the task that the sender expects
    std::string cluster; // digest of the cluster's description; empty: a client
    std::string data = {}; // of an answer: the address for connections that carry chunks; empty: none
};
template <class Archive> void serialize(Archive& a, hello_meta& m) { a(m.from, m.to, m.cluster, m.data); }

/// The progress of a task, which each pong reports.
struct pong_meta {
    std::uint64_t progress = 0; // counts the begins and ends of its steps, and the values sent and received
    std::string oldest = {};    // the wait of its oldest step; empty: no step runs
};
template <class Archive> void serialize(Archive& a, pong_meta& m) { a(m.progress, m.oldest); }

/// The sizes of the parts of a payload that follows in chunks.
struct sizes_meta {
    std::vector<std::uint64_t> sizes;
};
template <class Archive> void serialize(Archive& a, sizes_meta& m) {
    auto sizes = list_of<8>(m.sizes);
    a(sizes);
}

/// An offset in a payload that is sent in chunks.
struct offset_meta {
    std::uint64_t offset = 0;
};
template <class Archive> void serialize(Archive& a, offset_meta& m) { a(m.offset); }

/// An end of an edge between tasks.
struct edge_meta {
    std::uint32_t edge = 0;
    std::string peer; // the task at the other end
};
template <class Archive> void serialize(Archive& a, edge_meta& m) { a(m.edge, m.peer); }

/// The names of a run in messages: "node:0" for values.
struct run_names {
    std::vector<std::string> feeds = {}, fetches = {}, targets = {};
};
template <class Archive> void serialize(Archive& a, run_names& m) {
    auto feeds = list_of<8>(m.feeds);
    auto fetches = list_of<8>(m.fetches);
    auto targets = list_of<8>(m.targets);
    a(feeds, fetches, targets);
}

/// The number of devices of each type.
using wire_counts = std::vector<std::pair<std::string, std::int32_t>>;

/// Returns the device counts of a message. Throws invalid_argument if one is too large: each device has an entry in every placement.
inline device_counts counts_of(const wire_counts& m) {
    constexpr int most = 1024;
    for (const auto& [type, count] : m)
        if (count > most)
            throw invalid_argument("device_count: " + std::to_string(count) + " devices of type '" + type +
                                   "' are requested; a server gives a session at most " + std::to_string(most));
    return {m.begin(), m.end()};
}

/// A part of a run. Its graph is the first payload part.
struct register_meta {
    std::uint64_t run = 0; // number of the run in its session
    run_names names = {};
    std::vector<edge_meta> sends = {}, receives = {};
    std::uint32_t edges = 0; // of the whole run
    std::int32_t replica = 0;
    std::int64_t progress_timeout = 0; // nanoseconds
    // options of the session that the task needs to place the part as its master does
    wire_counts device_count = {};
    std::uint8_t allow_soft_placement = 0, raise_primitives = 1;
};
template <class Archive> void serialize(Archive& a, register_meta& m) {
    auto sends = list_of<12>(m.sends);
    auto receives = list_of<12>(m.receives);
    auto counts = list_of<12>(m.device_count);
    a(m.run, m.names, sends, receives, m.edges, m.replica, m.progress_timeout, counts, m.allow_soft_placement,
      m.raise_primitives);
}

/// A step of a registered part, with its fed values; the answer has the fetched values.
struct step_meta {
    std::uint64_t run = 0, step = 0;
    std::uint64_t over_below = 0; // all steps below this number are over
    std::uint8_t is_traced = 0;
    std::vector<tensor_meta> values = {};
    std::vector<std::uint64_t> incarnations = {}; // of the tasks that receive its values, by order of names
};
template <class Archive> void serialize(Archive& a, step_meta& m) {
    auto values = list_of<least_tensor_meta>(m.values);
    auto incarnations = list_of<8>(m.incarnations);
    a(m.run, m.step, m.over_below, m.is_traced, values, incarnations);
}

/// A run that was prepared, or that is no longer needed.
struct run_meta {
    std::uint64_t run = 0;
};
template <class Archive> void serialize(Archive& a, run_meta& m) { a(m.run); }

/// A value that crosses an edge.
struct push_meta {
    std::uint64_t run = 0, step = 0;
    std::uint32_t edge = 0;
    std::uint64_t sequence = 0; // the number of earlier values of the edge in this step
    tensor_meta value;
};
template <class Archive> void serialize(Archive& a, push_meta& m) { a(m.run, m.step, m.edge, m.sequence, m.value); }

/// A step that has failed.
struct abort_meta {
    std::uint64_t step = 0;
    std::uint32_t code = 0;
    std::string text;
};
template <class Archive> void serialize(Archive& a, abort_meta& m) { a(m.step, m.code, m.text); }

/// A list of names, or none.
struct names_meta {
    std::vector<std::string> names;
};
template <class Archive> void serialize(Archive& a, names_meta& m) {
    auto names = list_of<8>(m.names);
    a(names);
}

/// The fetched values of a part. The first payload part of a traced step is its trace.
struct values_meta {
    std::int64_t lasted = 0; // nanoseconds
    std::vector<tensor_meta> values;
};
template <class Archive> void serialize(Archive& a, values_meta& m) {
    auto values = list_of<least_tensor_meta>(m.values);
    a(m.lasted, values);
}

/// The trace of a part.
struct trace_meta {
    std::vector<step_trace::entry> entries;
};
template <class Archive> void serialize(Archive& a, step_trace::entry& e) {
    auto what = static_cast<std::uint8_t>(e.what);
    a(e.node, e.op, e.begin, e.end, what, e.thread, e.lane, e.stage, e.inside, e.iteration, e.iterations, e.bytes,
      e.task);
    if (what > static_cast<std::uint8_t>(step_trace::kind::lasted))
        throw data_loss("an unknown kind of entry in a trace");
    e.what = static_cast<step_trace::kind>(what);
}
template <class Archive> void serialize(Archive& a, trace_meta& m) {
    auto entries = list_of<81>(m.entries);
    a(entries);
}

/// The options of a session that the master needs.
struct session_meta {
    wire_counts device_count = {};
    std::uint8_t placer = 0, wire = 0, allow_soft_placement = 0, log_device_placement = 0, raise_primitives = 1;
    std::int64_t progress_timeout = 0; // nanoseconds
    std::int32_t replica = 0;
};
template <class Archive> void serialize(Archive& a, session_meta& m) {
    auto counts = list_of<12>(m.device_count);
    a(counts, m.placer, m.wire, m.allow_soft_placement, m.log_device_placement, m.raise_primitives, m.progress_timeout,
      m.replica);
}

/// A session that a master has opened.
struct opened_meta {
    std::uint64_t high = 0, low = 0; // its number
    std::int64_t lease = 0;          // nanoseconds of silence of its client, after which it is closed
};
template <class Archive> void serialize(Archive& a, opened_meta& m) { a(m.high, m.low, m.lease); }

/// A step of a prepared run, with its fed values; the answer has the fetched values.
struct run_step_meta {
    std::uint64_t run = 0;
    std::uint8_t is_traced = 0;
    std::vector<tensor_meta> values = {};
};
template <class Archive> void serialize(Archive& a, run_step_meta& m) {
    auto values = list_of<least_tensor_meta>(m.values);
    a(m.run, m.is_traced, values);
}

/// A request that tasks serve one session alone, or all again. A client names a run, which stands for its tasks.
struct fence_meta {
    std::uint64_t run = 0;
    std::uint8_t closes = 0;
};
template <class Archive> void serialize(Archive& a, fence_meta& m) { a(m.run, m.closes); }

/// The state of a resource: the names of its arrays, which are consecutive.
struct resource_meta {
    std::string task, container, name, kind;
    std::vector<std::string> parts;
};
template <class Archive> void serialize(Archive& a, resource_meta& m) {
    auto parts = list_of<8>(m.parts);
    a(m.task, m.container, m.name, m.kind, parts);
}
/// The state of resources, and all of their arrays.
struct resources_meta {
    std::vector<resource_meta> all;
    std::vector<tensor_meta> values;
};
template <class Archive> void serialize(Archive& a, resources_meta& m) {
    auto all = list_of<40>(m.all);
    auto values = list_of<least_tensor_meta>(m.values);
    a(all, values);
}

/// A device of a cluster.
struct device_meta {
    std::string name, type;
    std::uint64_t memory = 0;
};
template <class Archive> void serialize(Archive& a, device_meta& m) { a(m.name, m.type, m.memory); }
struct devices_meta {
    std::vector<device_meta> all;
};
template <class Archive> void serialize(Archive& a, devices_meta& m) {
    auto all = list_of<24>(m.all);
    a(all);
}

template <class Meta> std::string bytes_of_meta(const Meta& m) {
    bounded_output to;
    to(m);
    return std::move(to.bytes);
}

/// Decodes untrusted bytes. Throws data_loss if they are not a Meta, have more than 65536 list elements, or have bytes left
/// over.
template <class Meta> Meta meta_of(std::string_view bytes) {
    bounded_input from(bytes, std::uint64_t(1) << 16);
    Meta m;
    from(m);
    if (from.left() > 0) throw data_loss(std::to_string(from.left()) + " bytes are left over");
    return m;
}

}}} // namespace rill::RILL_ABI::detail
