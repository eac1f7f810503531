// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/answers.hpp>

#include "catch.hpp"
#include "seeds.hpp"

namespace test_answers {

using namespace rill::detail;

TEST_CASE("answers: a request runs once, and its answer is kept until the caller has it") {
    answer_table t;
    CHECK(t.begin(1) == answer_table::state::fresh);
    CHECK(t.begin(1) == answer_table::state::running);
    CHECK(t.find(1) == nullptr);
    t.record(1, {rill::message_part(std::string("one"))});
    CHECK(t.begin(1) == answer_table::state::done);
    REQUIRE(t.find(1));
    CHECK(t.find(1)->at(0).bytes() == "one");
    t.acknowledge(1);
    CHECK(t.begin(1) == answer_table::state::over);
    CHECK(t.size() == 0);
}

TEST_CASE("answers: a request that its caller has given up runs to its end, and is forgotten") {
    answer_table t;
    t.begin(1);
    t.acknowledge_below(5);
    CHECK(t.begin(1) == answer_table::state::over);
    CHECK(t.running() == 1);
    t.record(1, {});
    CHECK(t.size() == 0);
    CHECK(t.running() == 0);
}

TEST_CASE("answers: no more than so many are kept") {
    answer_table t;
    for (std::uint64_t i = 1; i <= answer_table::most; ++i) CHECK(t.begin(i) == answer_table::state::fresh);
    CHECK(t.begin(5000) == answer_table::state::full);
}

TEST_CASE("answers: acknowledged in any order", "[random]") {
    seeds::each(50, [](std::uint64_t seed) {
        seeds::draws draws(seed);
        answer_table t;
        std::vector<std::uint64_t> open;
        std::uint64_t last = 0, below = 1;
        std::vector<char> over(400);
        for (int i = 0; i < 300; ++i) {
            if (draws(2) || open.empty()) {
                CHECK(t.begin(++last) == answer_table::state::fresh);
                t.record(last, {});
                open.push_back(last);
            } else {
                std::swap(open[draws(open.size())], open.back());
                over[open.back()] = 1;
                t.acknowledge(open.back());
                open.pop_back();
            }
            if (draws(20) == 0) {
                below = std::max<std::uint64_t>(below, 1 + draws(last + 1));
                std::erase_if(open, [&](auto n) { return n < below; });
                t.acknowledge_below(below);
            }
            CHECK(t.size() == open.size());
            const auto n = 1 + draws(last);
            CHECK((t.begin(n) == answer_table::state::over) == (n < below || over[n]));
        }
    });
}

} // namespace test_answers
