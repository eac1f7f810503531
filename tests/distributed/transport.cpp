// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/transport.hpp>

#include "catch.hpp"

namespace test_transport {

TEST_CASE("transport: parts share their bytes") {
    const rill::message_part one(std::string("bytes"));
    const auto other = one;
    CHECK(other.bytes() == "bytes");
    CHECK(other.bytes().data() == one.bytes().data());
    CHECK(other.owner() == one.owner());
    CHECK(rill::message_part().size() == 0);
}

} // namespace test_transport
