// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/any_array.hpp>

#include <cstring>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("any_array: dtype, shape and elements") {
    any_array a(dtype::int32, dims{2, 3});
    auto* to = static_cast<std::int32_t*>(a.mutable_data());
    std::iota(to, to + 6, 10);
    CHECK(a.dtype() == dtype::int32);
    CHECK(a.shape() == dims{2, 3});
    CHECK(a.size() == 6);
    CHECK_FALSE(a.empty());
    CHECK(a.elements<std::int32_t>()[5] == 15);
    CHECK(any_array().empty());
}

TEST_CASE("any_array: another element type, or another count than one, is refused with both") {
    const any_array a(dtype::float32, dims{2});
    CHECK_THROWS_AS(a.elements<double>(), invalid_argument);
    CHECK_THROWS_WITH(a.elements<double>(), contains("float64") && contains("float32"));
    CHECK_THROWS_WITH(a.value<float>(), contains("[2]"));
    CHECK_THROWS_AS(any_array().elements<float>(), invalid_argument);
    any_array one(dtype::boolean, dims{1, 1});
    *static_cast<bool*>(one.mutable_data()) = true;
    CHECK(one.value<bool>());
}

TEST_CASE("any_array: copies share, the last one gives the memory back, strings included") {
    tracked_allocator memory;
    {
        any_array a(dtype::string, dims{3}, memory);
        CHECK(a.elements<std::string>()[2].empty());
        static_cast<std::string*>(a.mutable_data())[1] = std::string(100, 'x'); // longer than fits in place
        const any_array b = a;
        CHECK(b.data() == a.data());
        a = any_array();
        CHECK(b.elements<std::string>()[1].size() == 100);
        CHECK(memory.bytes_in_use() == 3 * sizeof(std::string));
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("any_array: memory of somebody else's is borrowed, or kept alive by its owner") {
    const std::vector<float> mine{1, 2, 3};
    const any_array borrowed(dtype::float32, dims{3}, mine.data(), nullptr);
    CHECK(borrowed.data() == mine.data());
    std::weak_ptr<const std::vector<float>> watch;
    {
        auto owner = std::make_shared<const std::vector<float>>(mine);
        watch = owner;
        const void* data = owner->data();
        const any_array held(dtype::float32, dims{3}, data, std::move(owner));
        const any_array copy = held;
        CHECK(copy.elements<float>()[2] == 3.f);
        CHECK_FALSE(watch.expired());
    }
    CHECK(watch.expired());
}

TEST_CASE("any_array: who owns the elements") {
    any_array a(dtype::float32, dims{3});
    CHECK(a.is_sole());
    CHECK(a.memory() == &default_allocator());
    {
        const any_array b = a;
        CHECK_FALSE((a.is_sole() || b.is_sole()));
    }
    CHECK(a.is_sole());
    const any_array borrowed(dtype::float32, dims{3}, a.data(), nullptr);
    CHECK_FALSE(borrowed.is_sole());
    CHECK(borrowed.memory() == nullptr);
    const any_array moved = std::move(a);
    CHECK(moved.is_sole());
}

TEST_CASE("any_array: no elements") {
    const any_array none(dtype::string, dims{0, 4});
    CHECK(none.size() == 0);
    CHECK(none.elements<std::string>().empty());
    CHECK_THROWS_AS(none.value<std::string>(), invalid_argument);
    CHECK(rill::detail::owned_copy(any_array()).empty()); // nor a type
}

TEST_CASE("any_array: shapes that are unknown or too large are refused") {
    CHECK_THROWS_AS(any_array(dtype::float32, dims{dyn, 2}), invalid_argument);
    CHECK_THROWS_AS(any_array(dtype::float32, dims::unknown()), invalid_argument);
    CHECK_THROWS_AS(any_array(dtype::float32, dims{2, -3}), invalid_argument);
    CHECK_THROWS_AS(any_array(dtype::float32, dims{index_t(1) << 40, index_t(1) << 40}), resource_exhausted);
    CHECK(tensor_type{dtype::float32, dims{index_t(1) << 40, 0, index_t(1) << 40}}.countable());
    CHECK(tensor_type{dtype::float32, dims{3, 0}}.countable());
}

TEST_CASE("any_array: one in another memory says so, is not read by the host, and is copied by its space") {
    static constexpr auto flip = [](const memory_space&, const void* from, void* to, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i)
            static_cast<unsigned char*>(to)[i] =
                static_cast<unsigned char>(~static_cast<const unsigned char*>(from)[i]);
    };
    static constexpr auto same = [](const memory_space&, const void* from, void* to, std::size_t n) {
        std::memcpy(to, from, n);
    };
    static constexpr auto flip_to_host = [](const memory_space& s, const void* from, void* to, std::size_t n) {
        flip(s, from, to, n);
        return std::uint64_t{7};
    };
    static std::uint64_t waited = 0;
    static constexpr auto wait = [](const memory_space&, std::uint64_t ticket) { waited = ticket; };
    tracked_allocator blocks;
    const memory_space space{"shelf:0", &blocks, flip, flip_to_host, same, wait};
    const std::vector<std::int32_t> mine{1, 2};
    const any_array here(dtype::int32, dims{2}, mine.data(), nullptr);
    CHECK(here.space() == nullptr);
    {
        const any_array there = detail::copied_to(here, &space);
        CHECK(there.space() == &space);
        CHECK(there.memory() == &blocks);
        CHECK(*static_cast<const std::int32_t*>(there.data()) == ~1);
        CHECK_THROWS_AS(there.elements<std::int32_t>(), failed_precondition);
        CHECK_THROWS_WITH(there.elements<std::int32_t>(), contains("'shelf:0'"));
        CHECK_THROWS_AS(any_array(dtype::int32, dims{}, there.data(), nullptr, &space).value<std::int32_t>(),
                        failed_precondition);
        const any_array again = detail::kept_copy(there);
        CHECK(again.space() == &space);
        CHECK(again.data() != there.data());
        const any_array back = detail::owned_copy(again);
        CHECK(back.space() == nullptr);
        CHECK(waited == 7);
        CHECK(back.elements<std::int32_t>()[1] == 2);
        CHECK(any_array(there).space() == &space); // a copy shares the elements
    }
    CHECK(blocks.bytes_in_use() == 0);
    CHECK(detail::copied_to(any_array(), &space).empty());
    CHECK_THROWS_AS(any_array(dtype::int32, dims{dyn}, space), invalid_argument);
}
