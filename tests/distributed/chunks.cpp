// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/chunks.hpp>

#include <rill/core/error.hpp>

#include "catch.hpp"
#include "seeds.hpp"

namespace test_chunks {

using namespace rill::detail;
using rill::message_part;

TEST_CASE("chunks: payloads arrive whole, whatever is lost on the way", "[random]") {
    seeds::each(20, [](std::uint64_t seed) {
        seeds::draws draws(seed);
        chunk_sender from;
        std::vector<std::vector<message_part>> sent;
        std::vector<chunk_receiver> to;
        for (std::uint64_t i = 0; i < 3; ++i) {
            std::vector<std::uint64_t> sizes;
            sent.emplace_back();
            for (auto parts = 1 + draws(4); parts > 0; --parts) {
                std::string bytes(draws(2) ? draws(3'000'000) : draws(20), 'x');
                for (std::size_t k = 0; k < bytes.size(); k += 101) bytes[k] = static_cast<char>(draws(256));
                sizes.push_back(bytes.size());
                sent.back().emplace_back(std::move(bytes));
            }
            from.add(i, sent.back());
            to.emplace_back(sizes);
        }
        const auto pull = [&](std::uint64_t i, bool again) {
            from.on_pull(i, to[i].received(), 1 + draws(5'000'000), again);
        };
        for (std::uint64_t i = 0; i < 3; ++i) pull(i, false);
        for (int left = 10000; left > 0; --left) {
            const auto c = from.next();
            if (!c) {
                bool over = true;
                for (std::uint64_t i = 0; i < 3; ++i)
                    if (!to[i].is_complete()) over = false, pull(i, true);
                if (over) break;
                continue;
            }
            CHECK(c->bytes.size() <= chunk_bytes);
            if (draws(10) == 0) continue; // lost
            if (to[c->request].take(c->offset, c->bytes.bytes()) && draws(10)) pull(c->request, false);
            if (draws(50) == 0) from.forget_sent();
        }
        for (std::uint64_t i = 0; i < 3; ++i) {
            REQUIRE(to[i].is_complete());
            const auto got = to[i].parts();
            REQUIRE(got.size() == sent[i].size());
            for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k].bytes() == sent[i][k].bytes());
        }
    });
}

TEST_CASE("chunks: short payloads go first, and no more than a window is under way") {
    chunk_sender from;
    from.add(1, {message_part(std::string(9'000'000, 'a'))});
    from.add(2, {message_part(std::string(2'000'000, 'b'))});
    CHECK_FALSE(from.next()); // nobody has asked
    from.on_pull(1, 0, 9'000'000, false);
    from.on_pull(2, 0, 9'000'000, false);
    std::vector<std::uint64_t> order;
    while (const auto c = from.next()) order.push_back(c->request);
    CHECK(order == std::vector<std::uint64_t>{2, 2, 1, 1, 1});
    from.erase_below(2);
    from.erase(2);
    CHECK_FALSE(from.next());
}

TEST_CASE("chunks: a chunk of another place and a size that can't be are refused") {
    chunk_receiver to({3, 0, 2});
    CHECK_FALSE(to.take(1, "x"));
    CHECK_FALSE(to.take(0, "123456"));
    CHECK(to.take(0, "1234"));
    CHECK_FALSE(to.take(0, "1234"));
    CHECK(to.take(4, "5"));
    CHECK(to.is_complete());
    const auto parts = to.parts();
    CHECK((parts[0].bytes() == "123" && parts[1].size() == 0 && parts[2].bytes() == "45"));
    CHECK_THROWS_AS(chunk_receiver({~std::uint64_t(0)}), rill::data_loss);
}

} // namespace test_chunks
