// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/element_slots.hpp>

#include <numeric>

#include <rill/core/host_array.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_element_slots {

const std::vector<tensor_type> small{{dtype::float32, {2}}, {dtype::int64, {}}};

std::vector<any_array> element(float x, std::int64_t n) {
    return {detail::owned_copy(to_any_array<float>(std::vector<float>{x, -x}, dims{2})), to_any_array<std::int64_t>(n)};
}

TEST_CASE("element_slots: what goes in comes out, and slots are used again") {
    detail::element_slots slots(small, default_allocator());
    for (int round = 0; round < 3; ++round) {
        std::vector<std::int32_t> used;
        for (int i = 0; i < 40; ++i) used.push_back(slots.put(element(static_cast<float>(i), i)));
        for (int i = 39; i >= 0; --i) {
            const auto got = slots.take(used[static_cast<std::size_t>(i)]);
            CHECK(got[0].elements<float>()[1] == static_cast<float>(-i));
            CHECK(got[1].value<std::int64_t>() == i);
        }
        CHECK(*std::max_element(used.begin(), used.end()) < 40);
    }
}

TEST_CASE("element_slots: slices of batches, and batches of slots in any order") {
    detail::element_slots slots(small, default_allocator());
    std::vector<float> x(20);
    std::iota(x.begin(), x.end(), 0.f);
    std::vector<std::int64_t> n(10);
    std::iota(n.begin(), n.end(), 0);
    const std::vector<any_array> batch{to_any_array<float>(x, dims{10, 2}), to_any_array<std::int64_t>(n, dims{10})};
    std::vector<std::int32_t> used(10), gaps{0, 1, 2, 3, 4};
    slots.put(batch, 0, gaps);
    slots.drop(std::vector<std::int32_t>{3, 1, 2}); // so that the next don't all follow one another
    slots.put(batch, 0, std::span(used).first(4));
    slots.put(batch, 4, std::span(used).subspan(4));
    CHECK(slots.take(gaps[4])[1].value<std::int64_t>() == 4);
    const std::vector<std::int32_t> some{used[3], used[4], used[5], used[9], used[0]};
    const auto got = slots.stacked(some, false);
    CHECK(got[0].shape() == dims{5, 2});
    CHECK(got[0].elements<float>()[2] == 8.f);
    CHECK(got[1].elements<std::int64_t>()[3] == 9);
    CHECK(got[1].elements<std::int64_t>()[4] == 0);
    CHECK(slots.take(used[4])[1].value<std::int64_t>() == 4); // they stay
    CHECK(slots.stacked({}, false)[0].shape() == dims{0, 2});
}

TEST_CASE("element_slots: arrays of several shapes are filled up with zeros, or refused") {
    const std::vector<tensor_type> types{{dtype::float32, {dyn, 2, dyn}}, {dtype::string, {dyn}}};
    detail::element_slots slots(types, default_allocator());
    const auto put = [&](index_t a, index_t b, const std::vector<std::string>& words) {
        std::vector<float> x(static_cast<std::size_t>(a * 2 * b));
        std::iota(x.begin(), x.end(), 1.f);
        return slots.put(
            std::vector<any_array>{to_any_array<float>(x, dims{a, 2, b}),
                                   to_any_array<std::string>(words, dims{static_cast<index_t>(words.size())})});
    };
    const std::vector<std::int32_t> all{put(1, 3, {"a"}), put(2, 1, {"b", "c"}), put(0, 0, {})};
    CHECK_THROWS_WITH(slots.stacked(all, false), contains("[1, 2, 3]") && contains("[2, 2, 1]"));
    const auto got = slots.stacked(all, true);
    CHECK(got[0].shape() == dims{3, 2, 2, 3});
    const auto x = got[0].elements<float>();
    CHECK(std::vector<float>(x.begin(), x.begin() + 12) == std::vector<float>{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0});
    CHECK(std::vector<float>(x.begin() + 12, x.begin() + 24) == std::vector<float>{1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0});
    CHECK(std::accumulate(x.begin() + 24, x.end(), 0.f) == 0.f);
    const auto words = got[1].elements<std::string>();
    CHECK(std::vector<std::string>(words.begin(), words.end()) == std::vector<std::string>{"a", "", "b", "c", "", ""});
}

TEST_CASE("element_slots: what is nobody else's is taken over") {
    const std::vector<tensor_type> large{{dtype::float32, {3000}}};
    detail::element_slots slots(large, default_allocator());
    CHECK(&slots.memory() == &default_allocator());
    any_array a(dtype::float32, dims{3000});
    const void* const lies = a.data();
    std::vector<any_array> element;
    element.push_back(std::move(a));
    auto got = slots.take(slots.put(std::move(element)));
    CHECK(got[0].data() == lies);
    const any_array shared = got[0];
    CHECK(slots.take(slots.put(std::move(got)))[0].data() != lies);
}

TEST_CASE("element_slots: a capacity is 1 or more, or -1") {
    CHECK_NOTHROW(detail::check_capacity(1));
    CHECK_NOTHROW(detail::check_capacity(-1));
    CHECK_THROWS_WITH(detail::check_capacity(0), contains("the capacity is 0"));
    CHECK_THROWS_AS(detail::check_capacity(-2), invalid_argument);
}

} // namespace test_ops_queue_element_slots
