// SPDX-License-Identifier: BSD-3-Clause
// Exchanges between threads, each with a graph and a session of its own.
#include <rill/ops/collective/all_reduce.hpp>

#include <array>
#include <string>
#include <vector>

#include <rill/ops/collective/all_gather.hpp>
#include <rill/ops/collective/broadcast_from.hpp>
#include <rill/train/all_reduce_gradients.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"
#include "ops/harness.hpp"
#include "train/replicas.hpp"

using namespace rill;
using namespace replica_test;

namespace test_all_reduce {

collective_group group_of(const std::string& name, int rank) {
    return collective_group({.name = "test_all_reduce/" + name, .ranks = replicas, .rank = rank});
}

TEST_CASE("all_reduce: sums, lists and one rank's values, by types and without") {
    std::array<std::vector<bool>, replicas> right; // what each thread finds: the checks are for one thread
    in_threads(replicas, [&](int rank) {
        const auto check = [&](bool holds) { right[static_cast<std::size_t>(rank)].push_back(holds); };
        const graph g;
        const graph_scope here(g);
        const auto group = group_of("values", rank);
        const placeholder<float, 2> x("x");
        const placeholder<int, dyn> some("some");
        const placeholder<double> number("number");
        const tensor<float, 2> sum = all_reduce(x, group);
        const tensor<int, dyn> all = all_gather(some, group);
        const tensor<double, dyn> numbers = all_gather(number, group);
        const tensor<float, 2> second = broadcast_from(x, group, 1);
        const any_tensor untyped = all_reduce(any_tensor(number), group);
        const session s;
        const auto k = static_cast<float>(rank);
        for (int i = 0; i < 3; ++i) {
            const auto n = static_cast<float>(i);
            const auto [sv, av, nv, bv, uv] =
                s.run(std::tuple(sum, all, numbers, second, untyped), feed(x, xt::xtensor<float, 1>{k + n, 2 * k}),
                      feed(some, std::vector<int>(static_cast<std::size_t>(rank + i), rank)), feed(number, 0.5 * rank));
            check(op_test::list(sv) == std::vector{3 + 3 * n, 6.f});
            std::vector<int> expected;
            for (int r = 0; r < replicas; ++r) expected.insert(expected.end(), static_cast<std::size_t>(r + i), r);
            check(op_test::list(av) == expected);
            check(op_test::list(nv) == std::vector{0., 0.5, 1.});
            check(op_test::list(bv) == std::vector{1 + n, 2.f});
            check(uv.value<double>() == 1.5);
        }
    });
    for (const auto& all : right) CHECK(all == std::vector<bool>(15, true));
}

TEST_CASE("all_reduce: replicas that train by the means of their gradients keep equal variables") {
    const auto wanted = alone(gradient_descent(0.05f));
    std::array<weights, replicas> found;
    in_threads(replicas, [&](int rank) {
        const graph g;
        const graph_scope here(g);
        const model m;
        const placeholder<float, dyn> x("x");
        const placeholder<int, dyn> ids("ids");
        const gradient_descent by(0.05f);
        const auto pairs = by.compute_gradients(m.loss(x, ids));
        const operation train = by.apply_gradients(all_reduce_gradients(pairs, group_of("training", rank)));
        const session s;
        s.run(global_variables_initializer());
        for (int i = 0; i < steps; ++i)
            s.run(train, feed(x, inputs(rank, i)), feed(ids, words(rank, i)), {.timeout = long_enough});
        found[static_cast<std::size_t>(rank)] = values_of(s, m);
    });
    CHECK(found[1] == found[0]);
    CHECK(found[2] == found[0]);
    CHECK(xt::allclose(std::get<0>(found[0]), std::get<0>(wanted), 1e-5));
    CHECK(xt::allclose(std::get<1>(found[0]), std::get<1>(wanted), 1e-5));
    CHECK(std::abs(std::get<2>(found[0]) - std::get<2>(wanted)) < 1e-5f);
}

TEST_CASE("all_reduce_gradients: small gradients of one type cross together") {
    const graph g;
    const graph_scope here(g);
    const collective_group one({.name = "test_all_reduce/bundles"});
    const variable<float, 2, 3> a("a", 1.f);
    const variable<double> d("d", 2.0);
    const variable<float> unused("unused", 0.f), b("b", 3.f);
    const variable<float, (1 << 20)> large("large", 1.f);
    const variable<float, 4, 2> table("table", 1.f);
    const auto loss = reduce_sum(a * 2.f) + b * 5.f + reduce_sum(large * 0.5f) +
                      reduce_sum(gather(table, constant(std::vector<int>{1, 3}))) * 7.f;
    auto pairs = gradient_descent(1.f).compute_gradients(loss, {a, unused, b, large, table});
    const auto at_d = gradient_descent(1.0).compute_gradients(square(d), {d});
    pairs.insert(pairs.begin() + 1, at_d.begin(), at_d.end());
    const auto bundles = detail::gradient_bundles(pairs);
    std::vector<std::string> names;
    for (const auto& k : bundles) names.push_back(detail::name_of_bundle(pairs, k));
    CHECK(names == std::vector<std::string>{"gradients of 'a' and 1 more", "gradient of 'd'", "gradient of 'large'",
                                            "gradient of 'table'"});
    const auto means = all_reduce_gradients(pairs, one);
    REQUIRE(means.size() == 5);
    for (std::size_t i = 0; i < means.size(); ++i) CHECK(means[i].variable.node()->name != "unused");
    const session s;
    s.run(global_variables_initializer());
    CHECK(op_test::list(s.run(tensor<float, 2, 3>(means[0].gradient))) == std::vector<float>(6, 2.f));
    CHECK(s.run(tensor<double>(means[1].gradient)) == 4.0);
    CHECK(s.run(tensor<float>(means[2].gradient)) == 5.f);
    CHECK(s.run(tensor<float, (1 << 20)>(means[3].gradient))(17) == 0.5f);
    CHECK(detail::is_rows(means[4].gradient.end()));
}

TEST_CASE("all_reduce: what can't be is refused") {
    CHECK_THROWS_WITH(collective_group({.ranks = 2, .rank = 2}), contains("the rank is 2") && contains("there are 2") &&
                                                                     contains("all_reduce.cpp"));
    CHECK_THROWS_AS(collective_group({.ranks = 0}), invalid_argument);
    CHECK_THROWS_WITH(collective_group({.ranks = 2, .tasks = {"/job:worker/task:0"}}),
                      contains("1 tasks are named, and there are 2 ranks"));
    CHECK_THROWS_WITH(collective_group({.ranks = 2, .engine = "mpi"}), contains("the job tells the ranks"));
    CHECK_THROWS_WITH(collective_group({.engine = "no_such_engine"}),
                      contains("librill_no_such_engine.so") && contains("docs/clusters.md"));
    const graph g;
    const graph_scope here(g);
    const collective_group one({.name = "test_all_reduce/one"});
    const placeholder<float, dyn> x("x");
    CHECK_THROWS_WITH(broadcast_from(x, one, 1), contains("broadcast_from: the rank is 1"));
    const session s;
    const xt::xtensor<float, 1> two{1.f, 2.f};
    CHECK(op_test::list(s.run(all_reduce(x, one), feed(x, two))) == std::vector{1.f, 2.f}); // one rank waits for nobody
    for (const char* name : {all_reduce_op::name, all_gather_op::name}) CHECK(find_op(name));
    broadcast_from_op root;
    root.root = 3;
    root.tensor = "w";
    CHECK(make_op("CollectiveBroadcast", 1, bytes_of_fields(*make_op(root)))->equals(*make_op(root)));
    collective_op made;
    made.ranks = 4;
    made.engine = "mpi";
    CHECK(make_op("Collective", 1, bytes_of_fields(*make_op(made)))->equals(*make_op(made)));
}

} // namespace test_all_reduce
