// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/serialization/dot.hpp>

#include <array>
#include <cstddef>
#include <fstream>
#include <ostream>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/text_file.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

class dot_writer {
public:
    dot_writer(const graph& g, std::ostream& to) : g_(g), nodes_(g.nodes()), to_(to) {}

    void write() {
        to_ << "digraph {\n  node [shape=box, style=filled];\n";
        write_region(nullptr, "  ");
        for (const auto* n : nodes_) {
            for (const auto& e : n->inputs)
                to_ << "  n" << e.from->id << " -> n" << n->id << " [label=" << json_text(to_string(type_of(e)))
                    << "];\n";
            for (const auto* c : n->control_inputs) to_ << "  n" << c->id << " -> n" << n->id << " [style=dashed];\n";
            if (const auto back = g_.state().back_edge(n))
                to_ << "  n" << back.from->id << " -> n" << n->id << " [constraint=false];\n";
        }
        to_ << "}\n";
    }

private:
    void write_region(const region* r, const std::string& indent) {
        for (const auto* n : nodes_) {
            if (n->inside != r) continue;
            to_ << indent << 'n' << n->id << " [label=" << json_text(n->name + " (" + std::string(n->op->name()) + ')')
                << ", fillcolor=" << colour(n->device) << ", tooltip=" << json_text(n->device) << "];\n";
        }
        for (const auto* inner : g_.state().regions()) {
            if (inner->parent != r) continue;
            to_ << indent << "subgraph cluster_" << inner->id << " {\n"
                << indent << "  label=" << json_text(inner->name) << ";\n";
            write_region(inner, indent + "  ");
            to_ << indent << "}\n";
        }
    }

    const char* colour(const std::string& device) {
        static constexpr std::array names{"lightblue", "palegreen", "khaki", "lightpink", "plum", "lightsalmon"};
        if (device.empty()) return "white";
        const auto at = colours_.try_emplace(device, colours_.size()).at;
        return names[at->second % names.size()];
    }

    const graph& g_;
    const std::vector<const node*> nodes_;
    std::ostream& to_;
    hash_map<std::string, std::size_t> colours_; // by device
};

} // namespace detail

RILL_COLD void write_dot(const graph& g, std::ostream& to) { detail::dot_writer(g, to).write(); }

RILL_COLD void write_dot(const graph& g, const std::string& path) {
    std::ofstream file(path);
    write_dot(g, file);
    file.flush();
    if (!file) throw unavailable("write_dot: '" + path + "' can't be written");
}

}} // namespace rill::RILL_ABI
