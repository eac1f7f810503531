// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/bound_region.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/control_flow/region_kernels.hpp>
#include <rill/runtime/plan/compile_graph.hpp>

#include "catch.hpp"
#include "runtime/loop_node.hpp"

using namespace rill;

TEST_CASE("bound_region: which body a value chooses") {
    const auto of = [](auto value, std::size_t bodies) {
        return detail::chosen_body(any_array(dtype_of<decltype(value)>, {}, &value, nullptr), bodies);
    };
    CHECK(of(true, 2) == 0);
    CHECK(of(false, 2) == 1);
    CHECK(of(std::int32_t(1), 3) == 1);
    CHECK(of(std::int32_t(-1), 3) == 2);
    CHECK(of(std::int64_t(1) << 40, 3) == 2);
}

TEST_CASE("bound_region: an error within says in which iteration it came") {
    const auto fails = [](const auto& problem) {
        try {
            throw problem;
        } catch (...) {
            detail::rethrow_from_iteration(12);
        }
    };
    CHECK_THROWS_AS(fails(out_of_range("no more")), out_of_range);
    CHECK_THROWS_WITH(fails(out_of_range("no more")), "in iteration 12: no more");
    CHECK_THROWS_AS(fails(std::runtime_error("another")), std::runtime_error);
}

TEST_CASE("bound_region: what changes its argument, once or again and again, may do so where that is") {
    const graph_scope here{graph()};
    // whether the part of the state is changed in place, and how many places go along
    const auto changes = [](const auto& body) {
        const auto [i, cells] = while_loop([](auto k, auto) { return k < 3; },
                                           [&](auto k, auto a) { return std::tuple(k + 1, body(a, k)); }, constant(0),
                                           tensor_array<float>(3));
        const loop_node loop{any_tensor(i)};
        detail::body_plans plans;
        const auto resources = std::make_shared<detail::resource_store>(default_allocator());
        detail::compile_bodies(plans, loop.item, {}, resources, detail::make_placement({}));
        const auto& step = (*loop.item.origin->bodies)[1];
        const std::vector<tensor_type> arguments(loop.inputs.begin(), loop.inputs.begin() + 2);
        const auto b = *detail::bound_region::bind(step, plans.at(step), arguments, loop.inputs);
        return b.updates(1) ? static_cast<int>(b.earlier_updates(1).size()) : -1;
    };
    CHECK(changes([](auto a, auto k) { return a.write(k, 1.f); }) == 0);
    CHECK(changes([](auto a, auto k) { return a.write(k, 1.f).write(0, 2.f).write(1, 3.f); }) == 2);
    CHECK(changes([](auto a, auto k) {
              const auto first = a.read(0), other = a.read(k);
              return a.write(k, first).write(0, other);
          }) == 1);
    // the old one is read after the first change
    CHECK(changes([](auto a, auto k) {
              const auto b = a.write(k, 1.f);
              return b.write(0, a.read(cast<int>(b.read(k))));
          }) == -1);
    CHECK(changes([](auto a, auto) { return a; }) == -1);
    // in branches and functions, where all of them change it, or leave it as it is
    CHECK(changes([](auto a, auto k) { return cond(k > 1, [&] { return a.write(k, 1.f); }, [&] { return a; }); }) == 0);
    CHECK(changes([](auto a, auto k) {
              return cond(
                         k > 1, [&] { return a.write(k, 1.f).write(0, 2.f); }, [&] { return a.write(0, a.read(1)); })
                  .write(1, 3.f);
          }) == 1);
    CHECK(changes([](auto a, auto k) {
              return cond(k > 1, [&] { return a.write(k, 1.f); }, [&] { return tensor_array<float>(3); });
          }) == -1);
}
