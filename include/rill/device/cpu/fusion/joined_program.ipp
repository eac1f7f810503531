// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fusion/joined_program.hpp>

#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/device/cpu/fusion/fused_stages.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD program join_members(const fusion_group& group, std::size_t results, program_nodes* nodes) {
    const auto leaves = fused_stages::leaves_of(group);
    program all;
    for (const auto& member : group.members)
        all.scalars.insert(all.scalars.end(), member.spec->body->scalars.begin(), member.spec->body->scalars.end());
    all.leaves.resize(leaves.size());
    all.results.resize(results);
    std::vector<std::vector<int>> made; // per member and result
    int scalars = static_cast<int>(leaves.size());
    for (const auto& member : group.members) {
        const auto& spec = *member.spec;
        const auto& body = *spec.body;
        std::vector<int> value;
        for (std::size_t k = 0; k < spec.leaves.size(); ++k) {
            const auto& l = spec.leaves[k];
            const auto from = member.inputs[l.input];
            if (from.member >= 0) {
                value.push_back(made[static_cast<std::size_t>(from.member)][static_cast<std::size_t>(from.index)]);
                continue;
            }
            const auto found = detail::find(leaves, fused_stages::leaf{from.index, l.view});
            value.push_back(static_cast<int>(found - leaves.begin()));
            if (found != leaves.end()) all.leaves[static_cast<std::size_t>(value.back())] = body.leaves[k];
        }
        for (std::size_t k = 0; k < body.scalars.size(); ++k) value.push_back(scalars++);
        if (nodes) nodes->begins.push_back(static_cast<int>(all.code.size()));
        for (auto i : body.code) {
            for (int& a : i.args) a = value[static_cast<std::size_t>(a)];
            value.push_back(all.first_instruction() + static_cast<int>(all.code.size()));
            all.code.push_back(std::move(i));
        }
        auto& own = made.emplace_back();
        for (std::size_t r = 0; r < spec.results.size(); ++r) {
            own.push_back(value[static_cast<std::size_t>(body.results[r])]);
            if (nodes) nodes->gives.push_back(own.back());
            if (member.results[r] >= 0) all.results[static_cast<std::size_t>(member.results[r])] = own.back();
        }
    }
    return all;
}

}}} // namespace rill::RILL_ABI::detail
