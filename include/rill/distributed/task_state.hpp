// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/resource.hpp>
#include <rill/distributed/transport.hpp>
#include <rill/resources/container_set.hpp>

// The wire form of the state of queues, tables and random counters.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The state of a resource, and its task.
struct task_resource {
    std::string task;
    saved_resource what;
};

/// Returns the state of all resources of a task except variables.
std::vector<task_resource> resources_of_task(const std::string& task, const container_set& containers);

/// Appends arrays to the payload of a message, and returns its arguments.
std::string encode_resources(std::span<const task_resource> all, std::vector<message_part>& payload);
/// Decodes an untrusted message. Throws data_loss if it lacks arrays that it names.
std::vector<task_resource> decode_resources(std::string_view meta, std::span<const message_part> payload);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/task_state.ipp>
#endif
