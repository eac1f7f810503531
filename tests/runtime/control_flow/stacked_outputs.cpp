// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/stacked_outputs.hpp>

#include <algorithm>
#include <cstring>

#include "catch.hpp"

using namespace rill;

TEST_CASE("stacked_outputs: one by one, or room for many of which some are kept") {
    detail::stacked_outputs h({dtype::float32, dims{2}}, default_allocator());
    for (const float x : {1.f, 2.f}) {
        std::fill_n(static_cast<float*>(h.next()), 2, x);
        CHECK(*static_cast<float*>(h.keep()) == x);
    }
    std::fill_n(static_cast<float*>(h.next(40)), 80, 3.f);
    h.keep(30);
    std::fill_n(static_cast<float*>(h.next()), 2, 4.f);
    h.keep();
    const auto all = std::move(h).take();
    REQUIRE((all.shape() == dims{33, 2}));
    const auto values = all.elements<float>();
    CHECK(values[1] == 1.f);
    CHECK(values[2] == 2.f);
    CHECK(values[4] == 3.f);
    CHECK(values[63] == 3.f);
    CHECK(values[64] == 4.f);
}

TEST_CASE("stacked_outputs: of nothing it is empty") {
    detail::stacked_outputs h({dtype::int32, dims{}}, default_allocator());
    CHECK((std::move(h).take().shape() == dims{0}));
}
