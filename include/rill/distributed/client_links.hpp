// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <rill/distributed/channel.hpp>
#include <rill/runtime/options.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The channels of this process to the servers that its sessions name as targets. Sessions of one target and one key share a channel.
/// Thread-safe.
class client_links {
public:
    /// Registers a target: a server of this process, or one that a test reaches in its own way.
    void add(const std::string& target, std::shared_ptr<channel> to);
    /// Removes a target, unless it has another channel meanwhile. Sessions keep the channel.
    void remove(const std::string& target, const std::shared_ptr<channel>& to);
    /// Returns the channel to a target that uses the keys of the options. A server of this process needs no keys. Throws unavailable
    /// for a server of this process that does not exist, and invalid_argument for a scheme without a transport.
    std::shared_ptr<channel> find(const std::string& target, const session_options& options = {});

private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<channel>> known_;                        // by target
    std::map<std::pair<std::string, std::string>, std::shared_ptr<channel>> made_; // by target, and keys of both ends
};

RILL_EXPORT client_links& the_client_links();

/// Returns the identity of a client, which is not a task.
task_identity client_identity(environment& runs_in);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/client_links.ipp>
#endif
