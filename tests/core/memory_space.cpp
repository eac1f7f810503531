// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/memory_space.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_memory_space {

/// Copies with every bit flipped: a byte that the wrong side reads shows.
inline void flip(const memory_space&, const void* from, void* to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(~static_cast<const unsigned char*>(from)[i]);
}
inline void copy(const memory_space&, const void* from, void* to, std::size_t n) { std::memcpy(to, from, n); }

/// Copies to the host are done when the host waits for them.
template <auto Copy> struct late {
    inline static std::function<void()> pending = {};
    static std::uint64_t begin(const memory_space& s, const void* from, void* to, std::size_t n) {
        pending = [&s, from, to, n] { Copy(s, from, to, n); };
        return 7;
    }
    static void wait(const memory_space&, std::uint64_t ticket) {
        CHECK(ticket == 7);
        std::exchange(pending, {})();
    }
};

const memory_space flipping{"flipping", &default_allocator(), &flip, &late<flip>::begin, &copy, &late<flip>::wait};
const memory_space plain{"plain", &default_allocator(), &copy, &late<copy>::begin, &copy, &late<copy>::wait};

} // namespace test_memory_space

TEST_CASE("memory_space: elements are copied by the functions of the space, between two spaces through the host") {
    using namespace test_memory_space;
    const std::vector<std::int32_t> from{1, -2, 3}, flipped{~1, ~-2, ~3};
    std::vector<std::int32_t> there(3), other(3), back(3), elsewhere(3);
    detail::copy_between(nullptr, from.data(), &flipping, there.data(), dtype::int32, 3);
    CHECK(there == flipped);
    detail::copy_between(&flipping, there.data(), &flipping, other.data(), dtype::int32, 3);
    CHECK(other == flipped);
    detail::copy_between(&flipping, other.data(), nullptr, back.data(), dtype::int32, 3);
    CHECK(back == from);
    detail::copy_between(&flipping, there.data(), &plain, elsewhere.data(), dtype::int32, 3);
    CHECK(elsewhere == from);
    detail::copy_between(&plain, elsewhere.data(), &flipping, other.data(), dtype::int32, 3);
    CHECK(other == flipped);
    CHECK_NOTHROW(detail::copy_between(nullptr, nullptr, &flipping, nullptr, dtype::int32, 0));
}

TEST_CASE("memory_space: in the host's memory strings are copied too") {
    const std::vector<std::string> texts{"a", std::string(50, 'b')};
    std::vector<std::string> copied(2);
    detail::copy_between(nullptr, texts.data(), nullptr, copied.data(), dtype::string, 2);
    CHECK(copied == texts);
}
