// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/wire.hpp>

#include <rill/core/crc32c.hpp>

#include "catch.hpp"

using namespace rill;
using detail::wire_reader;
using detail::wire_writer;

TEST_CASE("wire: varints, texts and protobuf fields come back, what ends early is data_loss with the offset") {
    wire_writer to;
    for (const std::uint64_t v : {0ull, 127ull, 128ull, 300ull, ~0ull}) to.varint(v);
    to.text("abc");
    const std::size_t plain = to.out.size();
    to.field(1, std::uint64_t(150));
    to.field(2, "xy");
    to.field_fixed64(3, 2.5);
    to.field_fixed32(4, 0.5f);
    CHECK(to.out.substr(plain, 3) == std::string("\x08\x96\x01", 3)); // the documented example
    wire_reader from(to.out);
    for (const std::uint64_t v : {0ull, 127ull, 128ull, 300ull, ~0ull}) CHECK(from.varint() == v);
    CHECK(from.text() == "abc");
    CHECK(from.next_field().value == 150);
    CHECK(from.next_field().bytes == "xy");
    CHECK(from.next_field().number == 3);
    CHECK(from.next_field().wire_type == 5);
    CHECK(from.empty());
    CHECK_THROWS_AS(from.fixed<std::uint8_t>(), data_loss);
    CHECK_THROWS_WITH(wire_reader("\x05xy").text(), contains("at byte 1: a length of 5 where 2 bytes are left"));
    CHECK_THROWS_AS(wire_reader(std::string(11, '\xff')).varint(), data_loss);
    CHECK_THROWS_AS(wire_reader("\x0b").next_field(), data_loss); // a group
}

TEST_CASE("wire: shapes are checked without overflow, checksums are masked as published") {
    CHECK(detail::checked_count(dtype::float32, dims{2, 3}, 24) == 6);
    CHECK(detail::checked_count(dtype::float32, dims{index_t(1) << 62, 0}, 0) == 0);
    CHECK_THROWS_AS(detail::checked_count(dtype::float32, dims{2, 3}, 23), data_loss);
    CHECK_THROWS_AS(detail::checked_count(dtype::int8, dims{index_t(1) << 32, index_t(1) << 32}, 1 << 20), data_loss);
    CHECK_THROWS_AS(detail::checked_count(dtype::int8, dims{-2}, 100), data_loss);
    CHECK(detail::masked_crc(detail::crc32c("\x1a\x11"
                                            "CRC test, one two")) == 0x5794d08au);
}
