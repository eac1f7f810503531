// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/replica_gradients_state.hpp>

#include <rill/ops/sync/replica_gradients_put.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_resources_replica_gradients_state {

using detail::replica_gradients_state;

replica_gradients_state::gradients of(std::int64_t step, std::int64_t id, const float& value) {
    return {step, id, any_array(dtype::float32, dims{}, &value, nullptr)};
}

std::vector<float> values(const std::vector<replica_gradients_state::gradients>& all) {
    std::vector<float> v;
    for (const auto& g : all) v.push_back(g.values.value<float>());
    return v;
}

TEST_CASE("replica_gradients_state: in the order that is asked for, without stale and unwanted ones") {
    replica_gradients_state kept("w", {.type = {dtype::float32, dims{}}});
    const auto add = detail::add_elements<float>;
    const float one = 1, two = 2, three = 3;
    kept.put(of(0, 7, three), add);
    kept.put(of(0, 5, one), add);
    kept.put(of(0, 6, two), add);
    kept.put(of(0, 7, two), add); // in place of its first
    const std::vector<std::int64_t> ids{5, 7};
    CHECK(values(kept.take(0, ids)) == std::vector<float>{1, 2});
    kept.put(of(0, 5, one), add); // stale
    kept.put(of(1, 7, three), add);
    CHECK_THROWS_WITH(kept.take(1, ids), contains("'w'") && contains("round 1"));
    kept.put(of(1, 5, two), add);
    CHECK(values(kept.take(1, ids)) == std::vector<float>{2, 3});
    CHECK_THROWS_AS(kept.take(1, ids), aborted);
}

TEST_CASE("replica_gradients_state: rounds of a task that was started again begin with 0") {
    replica_gradients_state kept("w", {.type = {dtype::float32, dims{}}});
    const auto add = detail::add_elements<float>;
    const float one = 1, two = 2;
    const std::vector<std::int64_t> ids{5};
    kept.put(of(100'000, 5, one), add);
    CHECK(values(kept.take(100'000, ids)) == std::vector<float>{1});
    const auto first = std::int64_t(9) << 40; // round 0 of another life
    kept.put(of(first, 5, two), add);
    CHECK(values(kept.take(first, ids)) == std::vector<float>{2});
    kept.put(of(first, 5, two), add); // stale
    CHECK_THROWS_WITH(kept.take(first, ids), contains("round 0"));
}

TEST_CASE("replica_gradients_state: one sum, in order of arrival") {
    replica_gradients_state kept("w", {.type = {dtype::float32, dims{}}, .adds_at_arrival = true});
    const float one = 1, two = 2;
    kept.put(of(3, 7, one), detail::add_elements<float>);
    kept.put(of(3, 5, two), detail::add_elements<float>);
    const auto all = kept.take(3, {});
    CHECK(values(all) == std::vector<float>{3});
    CHECK(all[0].count == 2);
    CHECK_THROWS_AS(kept.take(4, {}), aborted);
}

TEST_CASE("replica_gradients_state: gradients of another type are refused") {
    replica_gradients_state kept("w", {.type = {dtype::float64, dims{}}});
    const float one = 1;
    CHECK_THROWS_WITH(kept.put(of(0, 0, one), nullptr), contains("'w'") && contains("float64") && contains("float32"));
    replica_gradients_state rows("t", {.type = {dtype::float32, dims{4}}, .ids = dtype::int32});
    CHECK_THROWS_WITH(rows.put(of(0, 0, one), nullptr), contains("by rows"));
    CHECK(rows.described() == "replica_gradients of float32 [4], rows");
}

} // namespace test_resources_replica_gradients_state
