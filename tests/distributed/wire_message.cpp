// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/wire_message.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_wire_message {

using namespace rill::detail;

wire_message some_message() {
    wire_message m;
    m.meta = "arguments";
    m.payload.emplace_back(std::string("first"));
    m.payload.emplace_back(std::string());
    return m;
}

TEST_CASE("wire message: parts and back") {
    for (const bool checked : {false, true}) {
        const auto read = unpack_message(pack_message(some_message(), checked));
        REQUIRE(read);
        CHECK(read->meta == "arguments");
        REQUIRE(read->payload.size() == 2);
        CHECK(read->payload[0].bytes() == "first");
    }
    auto long_one = some_message();
    long_one.meta.resize(wire_header::most_arguments, 'a');
    const auto parts = pack_message(long_one, true);
    const auto read = unpack_message(parts);
    REQUIRE(read);
    CHECK(bool(read->meta == long_one.meta));
    REQUIRE(read->payload.size() == 2);
    CHECK(read->payload[0].bytes() == "first");
    long_one.meta += 'a';
    CHECK_THROWS_AS(pack_message(long_one, false), resource_exhausted);
    auto lies = some_message(); // long arguments, and short ones too
    lies.head.flags |= wire_header::has_long_meta;
    CHECK_FALSE(unpack_message(pack_message(lies, true)));
}

TEST_CASE("wire message: parts that do not fit the header are refused") {
    const auto good = pack_message(some_message(), true);
    auto bad = good;
    bad.pop_back();
    CHECK_FALSE(unpack_message(bad));
    bad = good;
    bad[1] = message_part(std::string("argumentz")); // the checksum
    CHECK_FALSE(unpack_message(bad));
    bad = good;
    bad[2] = message_part(std::string("firs"));
    CHECK_FALSE(unpack_message(bad));
    CHECK_FALSE(unpack_message({}));
}

TEST_CASE("wire message: errors keep their code and text") {
    const auto [code, text] = described(std::make_exception_ptr(not_found("no such thing")));
    CHECK(code == error_code::not_found);
    CHECK(text == "no such thing");
    CHECK_THROWS_AS(std::rethrow_exception(made_error(5, "x")), not_found);
    CHECK_THROWS_AS(std::rethrow_exception(made_error(0, "x")), unknown);
    CHECK_THROWS_AS(std::rethrow_exception(made_error(12345, "x")), unknown);
}

} // namespace test_wire_message
