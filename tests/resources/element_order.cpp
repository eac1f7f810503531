// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/element_order.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_element_order {

std::vector<std::int32_t> all_of(detail::element_order& o) {
    std::vector<std::int32_t> all;
    while (o.size() > 0) all.push_back(o.take());
    return all;
}

TEST_CASE("element_order: first in, first out, and what is put back leaves again first") {
    const auto o = detail::first_in_first_out();
    for (int i = 0; i < 4; ++i) o->put(i, 0);
    const auto a = o->take(), b = o->take();
    o->put_back(b, 0);
    o->put_back(a, 0);
    CHECK(o->take_last() == 3);
    CHECK(all_of(*o) == std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("element_order: several at once are as many one by one") {
    for (const auto& made : {detail::first_in_first_out(), detail::in_random_order(3), detail::by_priority()}) {
        std::vector<std::int32_t> all(20), taken{-1};
        std::iota(all.begin(), all.end(), 0);
        made->put_all(all);
        made->take_many(0, taken);
        made->take_many(15, taken);
        CHECK(made->size() == 5);
        for (const auto slot : all_of(*made)) taken.push_back(slot);
        CHECK(taken.front() == -1);
        std::sort(taken.begin(), taken.end());
        CHECK(std::equal(taken.begin() + 1, taken.end(), all.begin(), all.end()));
    }
    const auto one = detail::in_random_order(5), other = detail::in_random_order(5);
    for (int i = 0; i < 9; ++i) one->put(i, 0);
    other->put_all(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
    std::vector<std::int32_t> taken;
    other->take_many(9, taken);
    CHECK(all_of(*one) == taken);
}

TEST_CASE("element_order: random order holds all, depends on the seed alone, and is not the order of coming") {
    const auto drawn = [](std::uint64_t seed) {
        const auto o = detail::in_random_order(seed);
        for (int i = 0; i < 50; ++i) o->put(i, 0);
        return all_of(*o);
    };
    auto one = drawn(7);
    CHECK(one == drawn(7));
    CHECK(one != drawn(8));
    CHECK(!std::is_sorted(one.begin(), one.end()));
    std::sort(one.begin(), one.end());
    for (int i = 0; i < 50; ++i) CHECK(one[static_cast<std::size_t>(i)] == i);
    // each place is as likely as the others
    std::vector<int> first(4, 0);
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        const auto o = detail::in_random_order(seed);
        for (int i = 0; i < 4; ++i) o->put(i, 0);
        ++first[static_cast<std::size_t>(o->take())];
    }
    for (const int n : first) CHECK((n > 850 && n < 1150));
}

TEST_CASE("element_order: the smallest number first, of equal ones the first that came") {
    const auto o = detail::by_priority();
    o->put(0, 5);
    o->put(1, -3);
    o->put(2, 5);
    o->put(3, 0);
    const auto first = o->take();
    CHECK(first == 1);
    o->put(4, -3);
    o->put_back(first, -3);
    CHECK(o->take_last() == 2);
    CHECK(all_of(*o) == std::vector<std::int32_t>{1, 4, 3, 0});
}

} // namespace test_ops_queue_element_order
