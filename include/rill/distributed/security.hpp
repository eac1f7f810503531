// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <rill/core/credentials.hpp>
#include <rill/distributed/zmq_transport.hpp>

namespace rill { inline namespace RILL_ABI {

/// Writes the keys of a task ("worker/0") or of a client ("alice"). Creates folder/worker0.key, which only its owner may read. Adds a line
/// to folder/cluster.pub, the list of allowed keys. Returns the path of the key file. Throws already_exists if it exists, and the error of
/// the file system for a folder that is not writable.
std::string write_keys(const std::string& name, const std::string& folder = ".");

/// Reads a key file and the list cluster.pub beside it: .security = curve("worker0.key"). `peer`: the task that a client connects to.
/// Throws not_found, permission_denied if others may read the key file, and data_loss if it is malformed.
credentials curve(const std::string& key_file, const std::string& peer = "");

namespace detail {

/// Returns the name of a task in lists of keys: "worker/0".
std::string key_name(const std::string& job, int task);

/// Returns the name of "/job:worker/replica:0/task:0" in lists of keys. Returns an empty text if the argument does not name a task.
std::string key_name_of(std::string_view task);

/// Returns false if a key's holder claims to be a task ("/job:worker/replica:0/task:0") with another key.
bool may_speak_as(const std::string& holder, std::string_view says);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/security.ipp>
#endif
