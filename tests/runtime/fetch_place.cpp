// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/fetch_place.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/session/local_session_core.hpp>

#include <array>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("fetch place: large values that the step computes go there, if the place takes them") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn> x("x");
    const tensor y = x + 1.f;
    detail::local_session_core core(g, {});
    const auto prepared = core.find_run({{y.end(), x.end()}, {}, {x.end()}});
    const auto make = [](void* array, const tensor_type& type) -> void* {
        auto& to = *static_cast<std::vector<float>*>(array);
        to.assign(static_cast<std::size_t>(type.shape.size()), -1.f);
        return to.data();
    };
    const auto decline = [](void*, const tensor_type&) -> void* { return nullptr; };
    for (const std::size_t n : {10u, 5000u}) {
        const std::vector<float> fed(n, 2.f);
        const std::array<any_array, 1> feeds{any_array(dtype::float32, {static_cast<index_t>(n)}, fed.data(), nullptr)};
        std::vector<float> of_y, of_x;
        {
            const std::array<detail::fetch_place, 2> places{{{&of_y, make}, {&of_x, make}}};
            const auto result = prepared->run(feeds, places);
            const bool large = n == 5000;
            CHECK(result.placed(0) == large);
            CHECK_FALSE(result.placed(1)); // what is fed is the caller's already
            CHECK(of_x.empty());
            CHECK(static_cast<const float*>(result.data(0))[n - 1] == 3.f);
            if (large) CHECK(result.data(0) == of_y.data());
        }
        const std::array<detail::fetch_place, 2> declining{{{nullptr, decline}, {}}};
        const auto again = prepared->run(feeds, declining);
        CHECK_FALSE(again.placed(0));
        CHECK(static_cast<const float*>(again.data(0))[n - 1] == 3.f);
    }
}
