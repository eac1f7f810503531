// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/embedding_lookup.hpp>

#include <rill/core/array_text.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/initializers.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("embedding_lookup: rows by ids of a tensor, and of the host") {
    const graph_scope here{graph()};
    const tensor table = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    const session s;
    const auto rows = embedding_lookup(table, constant({{2, 0}}));
    static_assert(std::is_same_v<std::remove_const_t<decltype(rows)>, tensor<float, 1, 2, 2>>);
    CHECK(to_string(s.run(rows)) == "{{{5, 6}, {1, 2}}}");
    CHECK(to_string(s.run(embedding_lookup(table, {1, 1}))) == "{{3, 4}, {3, 4}}");
    CHECK(to_string(s.run(embedding_lookup(table, 2))) == "{5, 6}");
}

TEST_CASE("embedding_lookup: several tables, by mod and div") {
    const graph_scope here{graph()};
    const session s;
    const placeholder<int, dyn, dyn> ids("ids");
    const std::vector<tensor<float, dyn, 1>> one_after_another{constant({{0.f}, {1.f}, {2.f}}),
                                                               constant({{3.f}, {4.f}}), constant({{5.f}, {6.f}})};
    const std::vector<tensor<float, dyn, 1>> in_turn{constant({{0.f}, {3.f}, {6.f}}), constant({{1.f}, {4.f}}),
                                                     constant({{2.f}, {5.f}})};
    const auto by_mod = embedding_lookup(in_turn, ids);
    const auto by_div = embedding_lookup(one_after_another, ids, {.strategy = partition_strategy::div});
    static_assert(std::is_same_v<std::remove_const_t<decltype(by_mod)>, tensor<float, dyn, dyn, 1>>);
    for (const auto& y : {by_mod, by_div}) {
        CHECK(to_string(s.run(y, feed(ids, xt::xtensor<int, 2>{{6, 0, 3}, {5, 1, 6}}))) ==
              "{{{6}, {0}, {3}}, {{5}, {1}, {6}}}");
        CHECK(s.run(y, feed(ids, xt::xtensor<int, 2>({0, 2}))).size() == 0);
        for (const int outside : {-1, 7, 9})
            CHECK_THROWS_AS(s.run(y, feed(ids, xt::xtensor<int, 2>{{0, outside}})), invalid_argument);
    }
    CHECK(to_string(s.run(embedding_lookup(in_turn, {6, 0}))) == "{{6}, {0}}");
    CHECK_THROWS_WITH(embedding_lookup(std::vector<tensor<float, dyn, 1>>(), ids), contains("no tables were given"));
    const std::vector<tensor<float, dyn, dyn>> uneven{constant({{0.f}}), constant({{0.f, 1.f}})};
    CHECK_THROWS_WITH(embedding_lookup(uneven, ids), contains("one width"));
}

TEST_CASE("embedding_lookup: gradients of several tables and of bounded rows") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 2, 3> a("a"), b("b");
    const auto ids = constant({{3, 0, 3}});
    const auto at_a = op_test::point_array<double>({-2, 2}, {2, 3}),
               at_b = op_test::point_array<double>({-2, 2}, {2, 3}, 1);
    const auto y = embedding_lookup(std::vector<tensor<double, 2, 3>>{a, b}, ids, {.max_norm = 1.5});
    op_test::gradient_check{s, {a, b}, {at_a, at_b}, 1e-6}.check(y, 2, "several tables");
    const tensor table = constant({{3., 4.}, {0.3, 0.4}, {0., 0.}});
    const auto bounded = s.run(embedding_lookup(table, {0, 1, 2}, {.max_norm = 1}));
    CHECK(op_test::difference<double>(bounded, {3, 2}, {0.6, 0.8, 0.3, 0.4, 0, 0}) == "");
    const tensor deep = constant({{{3., 0.}, {0., 4.}}}); // rows of two axes
    CHECK(op_test::difference<double>(s.run(embedding_lookup(deep, {0}, {.max_norm = 1})), {1, 2, 2}, {.6, 0, 0, .8}) ==
          "");
    // squares that leave the range of numbers, in half and in float
    const tensor halves = cast<half>(constant({{200.f, 200.f, 200.f}, {60000.f, 0.f, 0.f}}));
    CHECK(op_test::far_apart(op_test::reals(s.run(any_tensor(sealed(cast<double>(embedding_lookup(halves, {0, 1}, {.max_norm = 1})))))),
                             {std::sqrt(1. / 3), std::sqrt(1. / 3), std::sqrt(1. / 3), 1, 0, 0}, 1e-3) == "");
    const placeholder<float, 1, 3> huge("huge");
    const auto unit = embedding_lookup(huge, {0}, {.max_norm = 1});
    const auto [slope] = gradients(unit, huge);
    const auto [value, step] = s.run(std::tuple(unit, slope), feed(huge, {{1e20f, 1.f, 1.f}}));
    CHECK(value(0, 0) == Approx(1));
    CHECK(step(0, 1) == Approx(1e-20));
    // a table is trained in the rows that were looked up
    const variable<float, 2, 1> u("u", ones()), v("v", ones());
    const auto loss = reduce_sum(embedding_lookup(std::vector<tensor<float, 2, 1>>{u, v}, constant({1})));
    const auto train = adam({.learning_rate = 0.5, .lazy = true}).minimize(loss);
    s.run(global_variables_initializer());
    s.run(train);
    CHECK(to_string(s.run(u)) == "{{1}, {1}}");
    const auto moved = s.run(v);
    CHECK(moved(0, 0) == Approx(0.5));
    CHECK(moved(1, 0) == 1.f);
}
