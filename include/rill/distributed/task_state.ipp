// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/task_state.hpp>

#include <utility>

#include <rill/distributed/tensor_frame.hpp>
#include <rill/distributed/wire_meta.hpp>
#include <rill/resources/variable_state.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::vector<task_resource> resources_of_task(const std::string& task, const container_set& containers) {
    std::vector<task_resource> all;
    for (auto& e : containers.entries()) {
        if (e.kind == variable_state::kind) continue;
        if (e.what) e.waiting = e.what->saved_parts();
        if (e.waiting.empty()) continue;
        all.push_back({task, {std::move(e.container), std::move(e.name), std::move(e.kind), false, std::move(e.waiting)}});
    }
    return all;
}

RILL_COLD std::string encode_resources(std::span<const task_resource> all, std::vector<message_part>& payload) {
    resources_meta m;
    std::vector<any_array> values;
    for (const auto& r : all) {
        m.all.push_back({r.task, r.what.container, r.what.name, r.what.kind, {}});
        for (const auto& p : r.what.parts) {
            m.all.back().parts.push_back(p.name);
            values.push_back(p.value);
        }
    }
    m.values = encode_tensors(values, payload);
    return bytes_of_meta(m);
}

RILL_COLD std::vector<task_resource> decode_resources(std::string_view meta, std::span<const message_part> payload) {
    auto m = meta_of<resources_meta>(meta);
    auto values = decode_tensors(m.values, payload);
    std::vector<task_resource> all;
    std::size_t at = 0;
    for (auto& r : m.all) {
        all.push_back({std::move(r.task), {std::move(r.container), std::move(r.name), std::move(r.kind), false, {}}});
        for (auto& name : r.parts) {
            if (at == values.size()) throw data_loss("the state of a resource lacks an array");
            all.back().what.parts.push_back({std::move(name), std::move(values[at++])});
        }
    }
    if (at != values.size()) throw data_loss("an array belongs to no resource");
    return all;
}

}}} // namespace rill::RILL_ABI::detail
