// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/net_address.hpp>

#include <rill/core/error.hpp>

#include "catch.hpp"

using rill::detail::parse_address;

namespace test_net_address {

TEST_CASE("net address: the forms, and one spelling of each") {
    const std::pair<const char*, const char*> rows[] = {{"127.0.0.1:2222", "tcp://127.0.0.1:2222"},
                                                        {"tcp://a.example:1", "tcp://a.example:1"},
                                                        {"zmq://a.example:65535", "tcp://a.example:65535"},
                                                        {"[::1]:0", "tcp://[::1]:0"},
                                                        {"ipc:///tmp/x", "ipc:///tmp/x"},
                                                        {"cluster0/ps/0", "local://cluster0/ps/0"},
                                                        {"local://a:2222", "local://a:2222"},
                                                        {"a:65536", "local://a:65536"},
                                                        {":1", "local://:1"}};
    for (const auto& [text, target] : rows) {
        CHECK(parse_address(text).target() == target);
        CHECK(parse_address(target).target() == target);
    }
    for (const auto* bad : {"tcp://a", "tcp://:1", "ftp://a:1", "ipc://", "zmq://a:b"})
        CHECK_THROWS_AS(parse_address(bad), rill::invalid_argument);
}

TEST_CASE("net address: what only this machine reaches") {
    for (const auto* near : {"localhost:1", "127.0.0.2:1", "[::1]:1", "ipc://x", "name"})
        CHECK(parse_address(near).is_loopback());
    for (const auto* far : {"0.0.0.0:1", "10.0.0.1:1", "*:1", "a.example:1", "[::]:1", "127.example:1"})
        CHECK_FALSE(parse_address(far).is_loopback());
}

} // namespace test_net_address
