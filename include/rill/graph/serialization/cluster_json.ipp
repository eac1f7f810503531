// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/config.hpp>

#if RILL_KERNELS_HAVE_JSON // else rill::kernels is built without it
#include <rill/graph/serialization/cluster_json.hpp>

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::string to_json(const cluster_spec& cluster) {
    auto out = nlohmann::ordered_json::object();
    for (const auto& j : cluster.jobs()) out[j.name] = j.tasks;
    return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

RILL_COLD cluster_spec cluster_from_json(std::string_view text) {
    nlohmann::ordered_json in;
    try {
        in = nlohmann::ordered_json::parse(text.begin(), text.end());
    } catch (const nlohmann::ordered_json::parse_error& e) {
        throw invalid_argument(std::string("cluster_from_json: ") + e.what());
    }
    if (!in.is_object())
        throw invalid_argument("cluster_from_json: an object with a list of addresses for each job is expected");
    std::vector<cluster_spec::job> jobs;
    for (const auto& [name, tasks] : in.items()) {
        auto& j = jobs.emplace_back();
        j.name = name;
        if (!tasks.is_array())
            throw invalid_argument("cluster_from_json: the job '" + name + "' is not a list of addresses");
        for (const auto& address : tasks) {
            if (!address.is_string())
                throw invalid_argument("cluster_from_json: an address of the job '" + name + "' is not a text");
            j.tasks.push_back(address.get<std::string>());
        }
    }
    return cluster_spec(std::move(jobs));
}

}} // namespace rill::RILL_ABI
#endif
