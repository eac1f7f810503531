// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/summary/write_dot.hpp>

#include <map>
#include <memory>

#include <rill/io/file_system.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A name scope, its inner scopes, and the lines of its nodes.
struct dot_scope {
    std::map<std::string, dot_scope> inner;
    std::string nodes;

    void write(std::string& to, const std::string& path, int depth) const {
        const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
        to += nodes;
        for (const auto& [name, scope] : inner) {
            const std::string full = path.empty() ? name : path + "/" + name;
            to += indent + "subgraph \"cluster_" + full + "\" {\n" + indent + "  label=\"" + name + "\";\n";
            scope.write(to, full, depth + 1);
            to += indent + "}\n";
        }
    }
};

inline std::string dot_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

} // namespace detail

RILL_COLD std::string to_dot(const graph& g) {
    detail::dot_scope all;
    std::string edges;
    for (const auto* n : g.nodes()) {
        auto* in = &all;
        std::string_view rest = n->name;
        for (std::size_t slash; (slash = rest.find('/')) != std::string_view::npos; rest.remove_prefix(slash + 1))
            in = &in->inner[std::string(rest.substr(0, slash))];
        // The line break of a label is a backslash and an n, which must not be escaped.
        std::string label = detail::dot_text(rest);
        label.pop_back();
        label += "\\n" + std::string(n->op->kernel_name()) + (n->device.empty() ? "" : "\\n" + n->device) + "\"";
        in->nodes += "  " + detail::dot_text(n->name) + " [label=" + label + "];\n";
        for (const auto& e : n->inputs)
            edges += "  " + detail::dot_text(e.from->name) + " -> " + detail::dot_text(n->name) +
                     " [label=" + detail::dot_text(to_string(type_of(e))) + "];\n";
        for (const auto* c : n->control_inputs)
            edges += "  " + detail::dot_text(c->name) + " -> " + detail::dot_text(n->name) + " [style=dashed];\n";
    }
    std::string text = "digraph {\n  node [shape=box];\n";
    all.write(text, {}, 1);
    return text + edges + "}\n";
}

RILL_COLD void write_dot(const graph& g, const std::string& path) {
    const auto to = file_system::real().create(path);
    to->append(to_dot(g));
    to->close();
}

}} // namespace rill::RILL_ABI
