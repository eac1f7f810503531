// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/trace/trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>

#include <rill/core/error.hpp>
#include <rill/core/text_file.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE int step_trace::position(const std::string& node) const {
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (entries[i].node == node) return static_cast<int>(i);
    return -1;
}

namespace detail {

/// Returns a time in microseconds, the unit of the format.
RILL_COLD std::string json_time(std::int64_t nanoseconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                  static_cast<int>(nanoseconds % 1000));
    return text;
}

RILL_COLD std::string chrome_args(const step_trace& t, const step_trace::entry& e) {
    std::string text = "\"args\":{\"op\":" + json_text(e.op) + ",\"bytes\":" + std::to_string(e.bytes);
    const auto add = [&](const char* name, std::int64_t value) {
        if (value >= 0) text += ",\"" + std::string(name) + "\":" + std::to_string(value);
    };
    if (e.inside >= 0) text += ",\"inside\":" + json_text(t.entries[static_cast<std::size_t>(e.inside)].node);
    add("iteration", e.iteration);
    add("iterations", e.iterations);
    add("lane", e.lane);
    add("stage", e.stage);
    return text + "}";
}

/// Returns the first fields of an event, without the closing brace.
RILL_COLD std::string chrome_event(const char* phase, const std::string& name, int task, int thread) {
    return "{\"ph\":\"" + std::string(phase) + "\",\"pid\":" + std::to_string(task + 1) +
           ",\"tid\":" + std::to_string(thread) + ",\"name\":" + json_text(name);
}

/// Returns the number of the edge of a Send or Receive, "_x/send_3"; empty for other nodes.
RILL_COLD std::string traced_edge(const step_trace::entry& e) {
    const bool exchanges = e.op == "Send" || e.op == "SendBundle" || e.op == "Recv" || e.op == "RecvBundle";
    return exchanges ? e.node.substr(e.node.rfind('_') + 1) : std::string();
}

/// Returns per entry the flow that begins or ends there: "3.0", the edge and the number of values that it transferred before. Empty for
/// other entries. An edge delivers its values in order. A Receive that waited has a second entry, which ends when the value arrived.
RILL_COLD std::vector<std::string> traced_flows(const std::vector<step_trace::entry>& entries) {
    struct end {
        std::string edge;
        bool sends = false;
        std::vector<std::size_t> at; // entries, by value
    };
    std::vector<end> ends;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& e = entries[i];
        const auto edge = traced_edge(e);
        if (edge.empty() || e.task.empty()) continue;
        const bool sends = e.op.starts_with("Send");
        auto here = std::find_if(ends.begin(), ends.end(),
                                 [&](const end& x) { return x.edge == edge && x.sends == sends; });
        if (here == ends.end()) here = ends.insert(ends.end(), {edge, sends, {}});
        if (e.what == step_trace::kind::ran || here->at.empty())
            here->at.push_back(i);
        else
            here->at.back() = i;
    }
    std::vector<std::string> flows(entries.size());
    for (const auto& x : ends)
        for (std::size_t n = 0; n < x.at.size(); ++n) flows[x.at[n]] = x.edge + "." + std::to_string(n);
    return flows;
}

} // namespace detail

RILL_COLD std::string step_trace::chrome_json() const {
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    std::vector<std::string> tasks;
    std::vector<int> threads; // per task
    const auto task_of = [&](const entry& e) {
        const auto at = std::find(tasks.begin(), tasks.end(), e.task);
        if (at == tasks.end()) tasks.push_back(e.task), threads.push_back(1);
        return static_cast<std::size_t>(std::find(tasks.begin(), tasks.end(), e.task) - tasks.begin());
    };
    for (const auto& e : entries) {
        auto& most = threads[task_of(e)];
        most = std::max(most, e.thread + 1);
    }
    if (tasks.empty()) tasks.emplace_back(), threads.push_back(1);
    for (std::size_t k = 0; k < tasks.size(); ++k) {
        const int task = static_cast<int>(k);
        text += (k ? ",\n" : "") + detail::chrome_event("M", "process_name", task, 0) +
                ",\"args\":{\"name\":" + detail::json_text(tasks[k].empty() ? "rill" : tasks[k]) + "}}";
        for (int t = 0; t < threads[k]; ++t)
            text += ",\n" + detail::chrome_event("M", "thread_name", task, t) + ",\"args\":{\"name\":\"" +
                    (t == 0 ? "caller" : "thread " + std::to_string(t)) + "\"}}";
    }
    const auto flows = detail::traced_flows(entries);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& e = entries[i];
        const int task = static_cast<int>(task_of(e));
        if (!flows[i].empty()) // "bp": the flow ends at the enclosing event
            text += ",\n" + detail::chrome_event(e.op.starts_with("Send") ? "s" : "f", "edge", task, e.thread) +
                    ",\"cat\":\"edge\",\"bp\":\"e\",\"id\":" + detail::json_text(flows[i]) +
                    ",\"ts\":" + detail::json_time(e.end) + "}";
        const auto args = "," + detail::chrome_args(*this, e) + "}";
        const auto from = ",\"ts\":" + detail::json_time(e.begin);
        if (e.what == kind::ran) {
            text += ",\n" + detail::chrome_event("X", e.node, task, e.thread) + ",\"cat\":\"ran\"" + from +
                    ",\"dur\":" + detail::json_time(std::max<std::int64_t>(e.end - e.begin, 0)) + args;
            continue;
        }
        const auto id = (e.what == kind::waited ? ",\"cat\":\"waited\",\"id\":" : ",\"cat\":\"lasted\",\"id\":") +
                        std::to_string(i + 1);
        text += ",\n" + detail::chrome_event("b", e.node, task, e.thread) + id + from + args;
        text += ",\n" + detail::chrome_event("e", e.node, task, e.thread) + id +
                ",\"ts\":" + detail::json_time(std::max(e.begin, e.end)) + "}";
    }
    return text + "\n]}\n";
}

RILL_COLD void step_trace::write_chrome(const std::string& path) const {
    const auto text = chrome_json();
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
    if (!file) throw not_found("write_chrome: '" + path + "' can't be opened");
    const bool whole = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
    if (std::fclose(file.release()) != 0 || !whole) throw data_loss("write_chrome: '" + path + "' can't be written");
}

}} // namespace rill::RILL_ABI
