// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/loops/region_scalars.hpp>

#include <optional>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/segment/segment.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_region_scalars {

/// What a graph of these fetches and feeds computes.
std::optional<detail::region_scalars> numbers(const std::vector<any_tensor>& fetched,
                                              const std::vector<any_tensor>& fed) {
    const std::vector<endpoint> fetches(fetched.begin(), fetched.end()), feeds(fed.begin(), fed.end());
    detail::resource_store resources(default_allocator());
    std::vector<tensor_type> types;
    for (const auto& f : feeds) types.push_back(type_of(f));
    const auto s = detail::segment::bind(sort_items(prune(fetches, {}, feeds)), types, resources, default_allocator());
    return detail::numbers_of(s->bound());
}

TEST_CASE("region_scalars: a group over feeds and constants, whatever steps it is cut into") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    placeholder<float, 1> y("y");
    const auto seven = constant(7.f);
    const tensor a(sin(x), "a"), b(reduce_sum(y * a), "b"), folded(sqrt(constant(4.f)), "folded"), c(b + folded, "c");
    const auto made = numbers({c, x, seven, tensor(reshape<1>(a))}, {x, y});
    REQUIRE(made);
    CHECK(made->group.members.size() == 3);
    REQUIRE(made->fetches.size() == 4);
    CHECK(made->fetches[0].member == 2);
    CHECK(made->fetches[1].member == -1);
    CHECK(made->inputs[static_cast<std::size_t>(made->fetches[1].index)].feed == 0);
    CHECK(made->inputs[static_cast<std::size_t>(made->fetches[2].index)].invariant.value<float>() == 7.f);
    CHECK(made->fetches[3].member == 0); // in another shape
    const auto& last = made->group.members[2].inputs;
    CHECK(made->inputs[static_cast<std::size_t>(last[1].index)].invariant.value<float>() == 2.f);
}

TEST_CASE("region_scalars: nothing of other graphs") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    placeholder<float, 3> y("y");
    placeholder<int> i("i");
    const variable<float> v("v", 1.f);
    CHECK(numbers({tensor(x + 1.f)}, {x}));
    CHECK_FALSE(numbers({tensor(reduce_sum(y * x))}, {x, y}));
    CHECK_FALSE(numbers({y}, {y}));
    CHECK_FALSE(numbers({tensor(3 / i)}, {i})); // an error names its node
    CHECK_FALSE(numbers({tensor(x + random_uniform<float>())}, {x}));
    CHECK_FALSE(numbers({tensor(v + x)}, {x}));
}

} // namespace test_runtime_region_scalars
