// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/net_address.hpp>

#include <charconv>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline bool is_port(std::string_view text) {
    int n = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    return problem == std::errc() && end == text.data() + text.size() && n >= 0 && n <= 65535;
}

RILL_COLD net_address parse_address(std::string_view text) {
    const auto scheme = text.substr(0, text.find("://"));
    const bool has_scheme = scheme.size() < text.size();
    const auto rest = has_scheme ? text.substr(scheme.size() + 3) : text;
    if (has_scheme && scheme == "local") return {net_address::network::process, std::string(rest), {}};
    if (has_scheme && scheme == "ipc" && !rest.empty()) return {net_address::network::ipc, std::string(rest), {}};
    const auto colon = rest.rfind(':');
    const bool has_port = colon != std::string_view::npos && colon > 0 && is_port(rest.substr(colon + 1));
    if (has_port && (!has_scheme || scheme == "tcp" || scheme == "zmq"))
        return {net_address::network::tcp, std::string(rest.substr(0, colon)), std::string(rest.substr(colon + 1))};
    if (has_scheme)
        throw invalid_argument("'" + std::string(text) +
                               "' is not an address; accepted are host:port, tcp://host:port, ipc://path");
    return {net_address::network::process, std::string(text), {}};
}

RILL_COLD std::string net_address::target() const {
    switch (reached_by) {
    case network::tcp: return "tcp://" + host + ":" + port;
    case network::ipc: return "ipc://" + host;
    case network::process: break;
    }
    return "local://" + host;
}

RILL_COLD bool net_address::is_loopback() const {
    const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos; // not "127.example.org"
    return reached_by != network::tcp || host == "localhost" || host == "[::1]" ||
           (is_number && host.starts_with("127."));
}

}}} // namespace rill::RILL_ABI::detail
