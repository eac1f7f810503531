// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/zlib.hpp>

#include <rill/core/error.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("zlib: streams of stored or compressed blocks, a stream that claims too much is refused") {
    CHECK(detail::crc32("123456789") == 0xcbf43926u);
    if (!detail::has_zlib()) return;
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "ab" + std::to_string(i % 7);
    const std::string stream = detail::zlib_stream(text);
    CHECK(stream.size() < text.size());
    const auto raw = std::string_view(stream).substr(2, stream.size() - 6);
    CHECK(detail::inflated(raw, text.size()) == text);
    CHECK_THROWS_AS(detail::inflated(raw, text.size() - 1), data_loss);
    CHECK_THROWS_AS(detail::inflated(raw, text.size() + 1), data_loss);
    CHECK_THROWS_AS(detail::inflated(raw, std::uint64_t(1) << 31), data_loss);
    CHECK_THROWS_AS(detail::inflated(raw.substr(0, raw.size() / 2), text.size()), data_loss);
}
