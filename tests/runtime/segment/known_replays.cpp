// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/known_replays.hpp>

#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_known_replays {

/// Captures that write a letter when they start.
class letters {
public:
    detail::known_replays known;
    std::string started;
    int captures = 0;

    /// Runs the work at an address, by a replay if there is one.
    void run(char letter) {
        known.addresses = {&places_[static_cast<std::size_t>(letter - 'a')]};
        const auto* const start = known.find([&] {
            ++captures;
            return std::function<void()>([this, letter] { started += letter; });
        });
        if (start)
            (*start)();
        else
            started += '-';
    }
    void run(const std::string& all) {
        for (const char letter : all) run(letter);
    }

private:
    int places_[26] = {};
};

TEST_CASE("known_replays: work is captured the second time that its addresses come, and replayed from then on") {
    letters all;
    all.run("aaaa");
    CHECK(all.started == "-aaa");
    CHECK(all.captures == 1);
    all.run("babbab");
    CHECK(all.started == "-aaa"
                         "-abbab");
    CHECK(all.captures == 2);
}

TEST_CASE("known_replays: the four latest sets of addresses are kept") {
    letters all;
    all.run("aabbccddabcd");
    CHECK(all.started == "-a-b-c-dabcd");
    all.run("eeabcda"); // the fifth takes the place of the oldest, and each later one that of the next
    CHECK(all.started == "-a-b-c-dabcd"
                         "-e----a");
    CHECK(all.captures == 6);
}

TEST_CASE("known_replays: captures that are never replayed end") {
    letters all;
    for (int i = 0; i < 100; ++i) {
        const char letter = static_cast<char>('a' + i % 6);
        all.run(std::string(2, letter));
    }
    CHECK(all.captures == 17);
    CHECK(all.known.is_refused());
    CHECK(all.started.ends_with("--------"));

    letters others; // each is replayed once
    for (int i = 0; i < 100; ++i) others.run(std::string(3, static_cast<char>('a' + i % 6)));
    CHECK(others.captures == 100);
}

TEST_CASE("known_replays: after a refused capture nothing is captured") {
    detail::known_replays known;
    int asked = 0, place = 0;
    for (int i = 0; i < 5; ++i) {
        known.addresses = {&place};
        CHECK_FALSE(known.find([&] {
            ++asked;
            return std::function<void()>();
        }));
        CHECK(known.is_refused() == (i > 0));
    }
    CHECK(asked == 1);
}

} // namespace test_known_replays
