// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/summary/event_writer.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include <rill/core/device_name.hpp>
#include <rill/core/log.hpp>
#include <rill/core/platform.hpp>
#include <rill/expr/fused_op.hpp>
#include <rill/io/summary_messages.hpp>
#include <rill/io/tensor_bundle.hpp>
#include <rill/io/tensor_message.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

inline void add_attribute(wire_writer& node, std::string_view name, const wire_writer& value) {
    wire_writer entry;
    entry.field(1, name);
    entry.field(2, value.out);
    node.field(5, entry.out);
}

RILL_COLD std::string graph_def_bytes(const graph& g) {
    wire_writer graph_def;
    for (const auto* n : g.nodes()) {
        wire_writer to;
        to.field(1, n->name);
        to.field(2, n->op->fused() ? std::string_view(fused_op::name) : n->op->name());
        for (const auto& e : n->inputs)
            to.field(3, e.port == 0 ? e.from->name : e.from->name + ":" + std::to_string(e.port));
        for (const auto* c : n->control_inputs) to.field(3, "^" + c->name);
        to.field(4, n->device);
        if (!n->outputs.empty()) {
            wire_writer type, list, shapes;
            type.field(6, static_cast<std::uint64_t>(tensorflow_type(n->outputs[0].type)));
            add_attribute(to, "dtype", type);
            for (const auto& t : n->outputs) list.field(7, shape_bytes(t.shape));
            shapes.field(1, list.out);
            add_attribute(to, "_output_shapes", shapes);
        }
        if (n->op->fused()) {
            wire_writer signature;
            signature.field(2, n->op->name());
            add_attribute(to, "signature", signature);
        }
        graph_def.field(1, to.out);
    }
    wire_writer versions;
    constexpr std::uint64_t producer = 27;
    versions.field(1, producer);
    graph_def.field(4, versions.out);
    return std::move(graph_def.out);
}

/// Returns the name of the device of an entry: its task and the device that its node requests, by default the first
/// CPU.
inline std::string traced_device(const step_trace::entry& e, const node* n) {
    device_name found{"localhost", 0, 0, "cpu", 0};
    if (n) found = merge(found, parse_device(requested_device(*n)));
    if (!e.task.empty()) found = merge(found, parse_device(e.task));
    return logged_name(found);
}

/// Adds the type of each output of a node to a NodeExecStats.
inline void add_outputs(wire_writer& stats, const node& n) {
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
        const auto& type = n.outputs[i];
        wire_writer described, output;
        described.field(1, static_cast<std::uint64_t>(tensorflow_type(type.type)));
        described.field(2, shape_bytes(type.shape));
        if (type.shape.complete()) {
            wire_writer allocation;
            allocation.field(1, static_cast<std::uint64_t>(type.bytes()));
            described.field(4, allocation.out);
        }
        output.field(1, static_cast<std::uint64_t>(i));
        output.field(3, described.out);
        stats.field(7, output.out);
    }
}

RILL_COLD std::string run_metadata_bytes(const step_trace& trace, const graph* g) {
    std::map<std::string, wire_writer> devices;
    for (const auto& e : trace.entries) {
        const node* const n = g ? g->state().find(e.node) : nullptr;
        wire_writer node;
        const auto lasted = static_cast<std::uint64_t>(e.end - e.begin), begin = static_cast<std::uint64_t>(e.begin);
        node.field(1, e.node);
        node.field(2, begin / 1000);
        node.field(3, std::uint64_t(0));
        node.field(4, lasted / 1000);
        node.field(5, lasted / 1000);
        if (e.bytes > 0) {
            wire_writer memory;
            memory.field(1, std::string_view("cpu"));
            memory.field(2, static_cast<std::uint64_t>(e.bytes));
            node.field(6, memory.out);
        }
        if (n) add_outputs(node, *n);
        node.field(8, e.op);
        node.field(10, static_cast<std::uint64_t>(e.thread));
        node.field(13, begin);
        node.field(15, lasted);
        node.field(16, lasted);
        devices[traced_device(e, n)].field(2, node.out);
    }
    wire_writer steps, metadata;
    for (const auto& [name, nodes] : devices) {
        wire_writer device;
        device.field(1, name);
        device.raw(nodes.out);
        steps.field(1, device.out);
    }
    metadata.field(1, steps.out);
    return std::move(metadata.out);
}

} // namespace detail

struct event_writer::state {
    static double now() {
        return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    }

    state(const std::string& directory, const event_writer_options& options) {
        auto& files = options.files ? *options.files : file_system::real();
        detail::make_directories(files, directory);
        const double time = now();
        char name[80]; // the number at the end is random: two writers never share a file
        std::snprintf(name, sizeof name, "events.out.tfevents.%010lld.rill.%08llx", static_cast<long long>(time),
                      static_cast<unsigned long long>(detail::random_bits() & 0xffffffffu));
        path = detail::joined_path(directory, name);
        file = files.create(path);
        kept = detail::tf_record(detail::event_bytes(time, 0, detail::event_file_version, "brain.Event:2"));
        if (options.start_step != 0) start(options.start_step);
        flush();
    }

    void start(std::int64_t step) {
        detail::wire_writer log;
        constexpr std::uint64_t start = 1; // of SessionLog's statuses
        log.field(1, start);
        kept += detail::tf_record(detail::event_bytes(now(), step, detail::event_session_log, log.out));
    }

    void flush() {
        flushed = std::chrono::steady_clock::now();
        if (kept.empty()) return;
        const std::string bytes =
            std::exchange(kept, {}); // dropped on an error: a later call must not repeat half of it
        file->append(bytes);
    }
    void add(std::int64_t step, int field, std::string_view value) {
        constexpr std::size_t most = 64 << 10;
        const std::lock_guard lock(mutex);
        kept += detail::tf_record(detail::event_bytes(now(), step, field, value));
        if (kept.size() >= most || std::chrono::steady_clock::now() - flushed > std::chrono::minutes(2)) flush();
    }

    void add_metadata(const std::string& tag, std::string_view bytes, std::int64_t step) {
        detail::wire_writer tagged;
        tagged.field(1, tag);
        tagged.field(2, bytes);
        add(step, detail::event_run_metadata, tagged.out);
    }

    std::mutex mutex;
    std::string path, kept;
    std::unique_ptr<output_file> file;
    std::chrono::steady_clock::time_point flushed;
};

RILL_COLD event_writer::event_writer(const std::string& directory, const event_writer_options& options)
    : state_(std::make_unique<state>(directory, options)) {}
RILL_COLD event_writer::event_writer(event_writer&&) noexcept = default;
RILL_COLD event_writer& event_writer::operator=(event_writer&&) noexcept = default;

RILL_COLD event_writer::~event_writer() {
    if (!state_) return;
    try {
        flush();
        state_->file->close();
    } catch (const error& problem) {
        log_message(log_level::error, "event_writer: " + std::string(problem.what()));
    }
}

RILL_INLINE void event_writer::add(const std::string& summary, std::int64_t step) {
    state_->add(step, detail::event_summary, summary);
}
RILL_INLINE void event_writer::scalar(const std::string& tag, double value, std::int64_t step) {
    add(detail::scalar_summary_bytes(tag, value), step);
}
RILL_COLD void event_writer::histogram(const std::string& tag, const any_array& values, std::int64_t step) {
    add(detail::histogram_summary_bytes(tag, values), step);
}
RILL_COLD void event_writer::image(const std::string& tag, const any_array& picture, std::int64_t step) {
    add(detail::image_summary_bytes(tag, picture, std::int64_t(1) << 30), step);
}
RILL_COLD void event_writer::text(const std::string& tag, const std::string& markdown, std::int64_t step) {
    any_array one(dtype::string, dims{});
    *static_cast<std::string*>(one.mutable_data()) = markdown;
    add(detail::text_summary_bytes(tag, one), step);
}
RILL_COLD void event_writer::add_graph(const graph& g) {
    state_->add(0, detail::event_graph, detail::graph_def_bytes(g));
}

RILL_COLD void event_writer::add_run_metadata(const std::string& tag, const step_trace& trace, std::int64_t step) {
    state_->add_metadata(tag, detail::run_metadata_bytes(trace), step);
}
RILL_COLD void event_writer::add_run_metadata(const std::string& tag, const step_trace& trace, std::int64_t step,
                                              const graph& g) {
    state_->add_metadata(tag, detail::run_metadata_bytes(trace, &g), step);
}

RILL_COLD void event_writer::start(std::int64_t step) {
    const std::lock_guard lock(state_->mutex);
    state_->start(step);
    state_->flush();
}

RILL_COLD void event_writer::flush() {
    const std::lock_guard lock(state_->mutex);
    state_->flush();
}

RILL_COLD const std::string& event_writer::path() const noexcept { return state_->path; }

}} // namespace rill::RILL_ABI
