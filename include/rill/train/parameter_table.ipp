// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/parameter_table.hpp>

#include <algorithm>
#include <set>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<parameter> parameters_of(const graph& g) {
    std::set<const node*> trainable, written;
    for (const auto& e : g.collection(collections::trainable_variables)) trainable.insert(e.from);
    const auto nodes = g.nodes();
    std::set<const node*> initializers;
    for (const auto* n : nodes)
        if (n->op->role() == op_role::variable) initializers.insert(g.state().initializer(n));
    for (const auto* n : nodes)
        if (!initializers.contains(n))
            for (const int i : n->op->writes())
                if (const node* v = variable_of(n->inputs[i])) written.insert(v);
    std::vector<parameter> all;
    for (const auto* n : nodes)
        if (n->op->role() == op_role::variable) {
            const auto& type = n->outputs[0];
            all.push_back({n->name, type, type.shape.complete() ? type.shape.size() : -1, trainable.contains(n),
                           written.contains(n)});
        }
    return all;
}

RILL_COLD std::string parameter_table(const graph& g) {
    const auto all = parameters_of(g);
    std::size_t widest = 4, widest_type = 4;
    for (const auto& p : all) {
        widest = std::max(widest, p.name.size());
        widest_type = std::max(widest_type, to_string(p.type).size());
    }
    const auto left = [](std::string text, std::size_t width) {
        return text.append(width - std::min(width, text.size()), ' ');
    };
    const auto right = [](const std::string& text, std::size_t width) {
        return std::string(width - std::min(width, text.size()), ' ') + text;
    };
    constexpr std::size_t number = 14;
    std::string table = left("name", widest) + "  " + left("type", widest_type) + right("elements", number) +
                        right("bytes", number) + "\n";
    std::int64_t trained = 0, others = 0, bytes = 0;
    for (const auto& p : all) {
        const std::int64_t size = p.count < 0 ? 0 : p.count * static_cast<std::int64_t>(size_of(p.type.type));
        table += left(p.name, widest) + "  " + left(to_string(p.type), widest_type) +
                 right(p.count < 0 ? "?" : std::to_string(p.count), number) + right(std::to_string(size), number) +
                 (p.is_trainable && !p.is_trained ? "  never trained"
                  : p.is_trainable                ? ""
                                                  : "  not trainable") +
                 "\n";
        (p.is_trainable ? trained : others) += std::max<std::int64_t>(p.count, 0);
        bytes += size;
    }
    return table + "trainable: " + std::to_string(trained) + " elements, others: " + std::to_string(others) +
           ", together " + std::to_string(bytes) + " bytes\n";
}

}} // namespace rill::RILL_ABI
