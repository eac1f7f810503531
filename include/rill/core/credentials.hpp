// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The keys with which a task or client authenticates, and the public keys of its peers. curve("worker0.key") reads them. Without keys
/// a task listens on this machine only.
struct credentials {
    std::string name = {};                                         // "worker/0", or the name of a client
    std::string public_key = {}, secret_key = {};                  // Z85: 40 characters each
    std::vector<std::pair<std::string, std::string>> allowed = {}; // names and public keys of all that may connect
    std::string peer = {};         // clients: the task to connect to; needed if several are allowed
    bool allows_strangers = false; // `insecure`: listens on any network without keys

    bool has_keys() const noexcept { return !secret_key.empty(); }
};

/// Credentials of a task that listens on any network and lets any peer run graphs. Use them only on protected networks.
inline constexpr struct insecure_type {
    operator credentials() const {
        credentials c;
        c.allows_strangers = true;
        return c;
    }
} insecure;

/// Credentials in session_options. A pointer, since few sessions have any.
class credentials_option {
public:
    credentials_option() = default;
    credentials_option(credentials c) : held_(std::make_shared<const credentials>(std::move(c))) {}

    credentials get() const { return held_ ? *held_ : credentials(); }

private:
    std::shared_ptr<const credentials> held_;
};

}} // namespace rill::RILL_ABI
