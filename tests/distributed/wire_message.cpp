// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/wire_message.hpp>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

namespace {

wire_message some_message() {
    wire_message m;
    m.meta = "arguments";
    m.payload.emplace_back(std::string("first"));
    m.payload.emplace_back(std::string());
    return m;
}

} // namespace

TEST_CASE("wire message: parts and back") {
    for (const bool checked : {false, true}) {
        const auto read = unpack(pack(some_message(), checked));
        REQUIRE(read);
        CHECK(read->meta == "arguments");
        REQUIRE(read->payload.size() == 2);
        CHECK(read->payload[0].bytes() == "first");
    }
    auto long_one = some_message();
    long_one.meta.resize(wire_header::most_meta + 1);
    CHECK_THROWS_AS(pack(long_one, false), resource_exhausted);
}

TEST_CASE("wire message: parts that do not fit the header are refused") {
    const auto good = pack(some_message(), true);
    auto bad = good;
    bad.pop_back();
    CHECK_FALSE(unpack(bad));
    bad = good;
    bad[1] = message_part(std::string("argumentz")); // the checksum
    CHECK_FALSE(unpack(bad));
    bad = good;
    bad[2] = message_part(std::string("firs"));
    CHECK_FALSE(unpack(bad));
    CHECK_FALSE(unpack({}));
}

TEST_CASE("wire message: errors keep their code and text") {
    const auto [code, text] = described(std::make_exception_ptr(not_found("no such thing")));
    CHECK(code == error_code::not_found);
    CHECK(text == "no such thing");
    CHECK_THROWS_AS(std::rethrow_exception(made_error(5, "x")), not_found);
    CHECK_THROWS_AS(std::rethrow_exception(made_error(0, "x")), unknown);
    CHECK_THROWS_AS(std::rethrow_exception(made_error(12345, "x")), unknown);
}
