// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/platform.hpp>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "catch.hpp"

TEST_CASE("platform: at least one processor, and not more than there are") {
    const int usable = rill::detail::usable_processors();
    CHECK(usable >= 1);
    if (const auto all = std::thread::hardware_concurrency()) CHECK(usable <= static_cast<int>(all));
}

TEST_CASE("platform: large pages are a wish that touches nothing") {
    std::vector<char> bytes(20 << 20, 'x');
    rill::detail::prefer_large_pages(bytes.data(), bytes.size());
    rill::detail::prefer_large_pages(bytes.data() + 1, bytes.size() - 1);
    rill::detail::prefer_large_pages(bytes.data(), 100);
    rill::detail::prefer_large_pages(nullptr, 0);
    CHECK(std::count(bytes.begin(), bytes.end(), 'x') == std::ssize(bytes));
}

TEST_CASE("platform: libraries that are not there, and functions that are") {
    CHECK_FALSE(rill::detail::load_library("librill_no_such_library.so.1"));
#if defined(__linux__)
    void* c = rill::detail::load_library("libc.so.6");
    REQUIRE(c);
    CHECK(rill::detail::library_function(c, "strlen"));
    CHECK_FALSE(rill::detail::library_function(c, "rill_no_such_function"));
#endif
}

TEST_CASE("platform: the logarithm of gamma, with the sign left alone") {
    CHECK(rill::detail::log_gamma(5.) == Approx(std::log(24.)));
    CHECK(rill::detail::log_gamma(0.5f) == Approx(std::log(std::sqrt(3.14159265f))));
    CHECK(rill::detail::log_gamma(-0.5) == Approx(std::log(2 * std::sqrt(3.141592653589793))));
    CHECK(std::isinf(rill::detail::log_gamma(-2.)));
    CHECK(std::isnan(rill::detail::log_gamma(std::nan(""))));
}
