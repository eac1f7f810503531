// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/binding.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/tensor_array.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/random/random_uniform_like.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("binding: shapes become known, elementwise results take their inputs' places, constants fold") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    tensor a = exp(x);
    tensor b = a * reduce_sum(a); // another step: it needs all of a first
    tensor c = b + reduce_sum(b);
    tensor two = constant({1.f, 1.f, 1.f}) + 1.f;
    tensor d = c * two;
    detail::resource_store resources(default_allocator());
    const std::vector<endpoint> fetches{d.end()}, feeds{x.end()};
    const auto pruned = sort_items(prune(fetches, {}, feeds));
    const std::vector<tensor_type> types{{dtype::float32, dims{3}}};
    const auto bound = *detail::binder::bind(pruned, types, resources);
    CHECK(bound.steps.size() == 3);
    CHECK(bound.folded_steps.size() == 1);
    CHECK(bound.type_of(bound.graph.fetches[0]).shape == dims{3});
    const auto place = [&](const tensor<float, dyn>& t) {
        for (std::size_t i = 0; i < bound.graph.items.size(); ++i)
            if (bound.graph.items[i].origin == t.node())
                return bound.offsets[static_cast<std::size_t>(bound.value_slot[i][0])];
        return bound.npos;
    };
    CHECK(place(a) != bound.npos);
    CHECK(place(a) == place(b));
    const auto result = bound.offsets[static_cast<std::size_t>(bound.slot_of(bound.graph.fetches[0]))];
    CHECK(result == place(b));

    const std::vector<tensor_type> wrong{{dtype::float32, dims{4}}};
    CHECK_THROWS_AS(detail::binder::bind(pruned, wrong, resources), invalid_argument);
}

TEST_CASE("binding: what others need for its shape alone is not computed, and lives no longer for it") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor a(exp(x), "a"), b(exp(a), "b");
    const tensor noise = random_uniform_like(b);
    const tensor y(a + noise, "y");
    const tensor later = random_uniform_like(a);
    detail::resource_store resources(default_allocator());
    const std::vector<endpoint> fetches{y.end(), later.end()}, feeds{x.end()};
    const std::vector<tensor_type> types{{dtype::float32, dims{3}}};
    const auto bound = *detail::binder::bind(sort_items(prune(fetches, {}, feeds)), types, resources);
    std::vector<std::string> steps;
    for (const auto& s : bound.steps) steps.push_back(bound.graph.name_of(s.item));
    CHECK(steps == std::vector<std::string>{"a", "random_uniform_like", "y", "random_uniform_like_1"});
    const auto slot = [&](const tensor<float, dyn>& t) {
        for (std::size_t i = 0; i < bound.graph.items.size(); ++i)
            if (bound.graph.items[i].origin == t.node()) return bound.value_slot[i][0];
        return -1;
    };
    CHECK(bound.slots[static_cast<std::size_t>(slot(b))].first == -1);
    // y takes the memory of a, which nothing reads any more
    CHECK(bound.slots[static_cast<std::size_t>(slot(y))].in_place_of == slot(a));
    // a target runs, in one group with a
    const std::vector<const node*> targets{b.node()};
    const auto whole = *detail::binder::bind(sort_items(prune(fetches, targets, feeds)), types, resources);
    REQUIRE(whole.steps.size() == 4);
    CHECK(whole.graph.name_of(whole.steps[0].item) == "b");
}

TEST_CASE("binding: a result that memory can't hold is refused") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 1, 1> a("a");
    placeholder<float, 1, dyn, 1> b("b");
    placeholder<float, 1, 1, dyn> c("c");
    const tensor sum = a + b + c;
    const auto pruned = prune(std::vector<endpoint>{sum}, {}, std::vector<endpoint>{a, b, c});
    detail::resource_store resources(default_allocator());
    const index_t n = index_t(1) << 22;
    const std::vector<tensor_type> types{
        {dtype::float32, dims{n, 1, 1}}, {dtype::float32, dims{1, n, 1}}, {dtype::float32, dims{1, 1, n}}};
    CHECK_THROWS_AS(detail::binder::bind(pruned, types, resources), resource_exhausted);
}

TEST_CASE("binding: what reads or changes slices of a tensor is not taken to take as long as the tensor") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 8> table("table");
    placeholder<int, dyn> ids("ids");
    const tensor rows = gather(table, ids);
    const auto array = tensor_array(table).scatter(ids, rows);
    const auto microseconds = [&](index_t n) {
        detail::resource_store resources(default_allocator(), {std::make_shared<thread_pool>(2)});
        const std::vector<endpoint> fetches{array.end()}, feeds{table.end(), ids.end()};
        const std::vector<tensor_type> types{{dtype::float32, dims{n, 8}}, {dtype::int32, dims{2}}};
        return detail::binder::bind(sort_items(prune(fetches, {}, feeds)), types, resources)->microseconds;
    };
    CHECK(microseconds(10) > 0);
    CHECK(microseconds(100000) == microseconds(10));
}
