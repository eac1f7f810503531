// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <rill/core/host_array.hpp>
#include <rill/graph/graph.hpp>
#include <rill/io/file_system.hpp>
#include <rill/runtime/trace/trace.hpp>

namespace rill { inline namespace RILL_ABI {

struct event_writer_options {
    std::int64_t start_step = 0;  // of a resumed run: TensorBoard drops later events of an earlier writer
    file_system* files = nullptr; // null: the real one
};

/// A writer of an event file for TensorBoard, in a directory of its own: event_writer log("logs"); log.scalar("loss", l, step). Events are
/// buffered. They are written at 64 KiB, after two minutes, by flush() and by the destructor. Several threads may use a writer at once. The
/// writing call throws the errors of the file system.
class event_writer {
public:
    explicit event_writer(const std::string& directory, const event_writer_options& options = {});
    event_writer(event_writer&&) noexcept;
    event_writer& operator=(event_writer&&) noexcept;
    ~event_writer();

    /// Adds the result of a summary node: log.add(s.run(merged_summaries()), step).
    void add(const std::string& summary, std::int64_t step);
    void scalar(const std::string& tag, double value, std::int64_t step);
    void histogram(const std::string& tag, const any_array& values, std::int64_t step);
    /// Adds an image [h, w] or [h, w, channels], or several [n, h, w, channels]. See image_summary.
    void image(const std::string& tag, const any_array& picture, std::int64_t step);
    template <xtensor_expression X> void histogram(const std::string& tag, const X& values, std::int64_t step) {
        histogram(tag, array_of(values), step);
    }
    template <xtensor_expression X> void image(const std::string& tag, const X& picture, std::int64_t step) {
        image(tag, array_of(picture), step);
    }
    void text(const std::string& tag, const std::string& markdown, std::int64_t step);
    /// Adds the graph: names, ops, devices, edges and shapes.
    void add_graph(const graph& g);
    /// Adds the trace of a step under a tag: TensorBoard shows times and memory in the graph. If the graph was added, it also shows the
    /// devices that nodes request, and the types of their outputs.
    void add_run_metadata(const std::string& tag, const step_trace& trace, std::int64_t step);
    void add_run_metadata(const std::string& tag, const step_trace& trace, std::int64_t step, const graph& g);

    /// Marks that a run resumes at a step, and writes the mark. TensorBoard then drops the events of earlier writers from this step on.
    void start(std::int64_t step);

    /// Writes the buffered events.
    void flush();
    const std::string& path() const noexcept;

private:
    template <class X> static any_array array_of(const X& values) {
        dims shape;
        for (const auto extent : values.shape()) shape.push(static_cast<index_t>(extent));
        return detail::owned_copy(to_any_array<host_element<X>>(values, shape));
    }

    struct state;
    std::unique_ptr<state> state_;
};

namespace detail {

/// Returns a graph as TensorFlow's GraphDef.
std::string graph_def_bytes(const graph& g);
/// Returns a trace as TensorFlow's RunMetadata. `g`: the graph that ran; null: without devices and types of nodes.
std::string run_metadata_bytes(const step_trace& trace, const graph* g = nullptr);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/summary/event_writer.ipp>
#endif
