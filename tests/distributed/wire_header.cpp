// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/wire_header.hpp>

#include <string>

#include "catch.hpp"
#include "seeds.hpp"

namespace test_wire_header {

using namespace rill::detail;

wire_header some_header() {
    wire_header h;
    h.type = wire_type::request;
    h.flags = wire_header::is_retry;
    h.session = {0x0102030405060708u, 0x1112131415161718u};
    h.sender = 0x2122232425262728u;
    h.receiver = 3;
    h.request = 4;
    h.ack_below = 5;
    h.sent_at = 6;
    h.time_left = 7;
    h.method = 8;
    h.credit = 9;
    h.meta_bytes = 10;
    h.parts = 11;
    h.payload_bytes = 12;
    h.checksum = 13;
    return h;
}

std::string bytes_of(const wire_header& h) {
    const auto bytes = encode(h);
    return {bytes.data(), bytes.size()};
}

TEST_CASE("wire header: 96 little-endian bytes at fixed places") {
    const auto bytes = bytes_of(some_header());
    CHECK(bytes.substr(0, 4) == "LLRW");
    CHECK(bytes.substr(4, 4) == std::string("\x01\x00\x07\x02", 4));
    CHECK(bytes.substr(8, 16) == "\x08\x07\x06\x05\x04\x03\x02\x01\x18\x17\x16\x15\x14\x13\x12\x11");
    CHECK(bytes.substr(24, 8) == "\x28\x27\x26\x25\x24\x23\x22\x21");
    CHECK(bytes[60] == 7);  // time left
    CHECK(bytes[76] == 11); // parts
    const auto read = decode_header(bytes);
    REQUIRE(read);
    CHECK(bytes_of(*read) == bytes);
}

TEST_CASE("wire header: damaged and foreign bytes are refused", "[random]") {
    const auto good = bytes_of(some_header());
    CHECK_FALSE(decode_header(good.substr(1)));
    CHECK_FALSE(decode_header(good + "x"));
    seeds::each(100, [&](std::uint64_t seed) {
        seeds::draws draws(seed);
        auto bad = good;
        bad[draws(bad.size())] ^= static_cast<char>(1 + draws(255));
        CHECK_FALSE(decode_header(bad));
    });
    const auto refused = [](auto change) {
        auto h = some_header();
        change(h);
        return !decode_header(bytes_of(h));
    };
    CHECK(refused([](wire_header& h) { h.type = static_cast<wire_type>(200); }));
    CHECK(refused([](wire_header& h) { h.time_left = 0; }));
    CHECK(refused([](wire_header& h) { h.meta_bytes = wire_header::most_meta + 1; }));
    CHECK(refused([](wire_header& h) { h.parts = wire_header::most_parts + 1; }));
    CHECK_FALSE(refused([](wire_header& h) { h.flags = 0xf0; })); // unknown flags
}

} // namespace test_wire_header
