// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/absorb.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/prune.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_passes_absorb {

subgraph absorbed(std::vector<endpoint> fetches, std::vector<endpoint> feeds) {
    auto s = absorb_producers(prune(fetches, {}, feeds));
    check(s, true);
    return s;
}
const matmul_op& product_in(const subgraph& s, int i) {
    const auto& op = *s.items[static_cast<std::size_t>(i)].op;
    REQUIRE(op.name() == "MatMul");
    return *static_cast<const matmul_op*>(op.attributes());
}

TEST_CASE("absorb: transposes go into products, and unused ones away") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 3, 2> a("a"), b("b");
    const auto y = matmul(transpose(a), transpose(transpose(b)));
    const auto s = absorbed({y}, {a, b});
    REQUIRE(s.items.size() == 3);
    CHECK(s.items[2].inputs == std::vector<subgraph::value>{{0, 0}, {1, 0}});
    CHECK(product_in(s, 2).transpose_a);
    CHECK_FALSE(product_in(s, 2).transpose_b);
    CHECK(s.items[2].origin == y.node()); // names and places stay
    CHECK(s.fetches[0].item == 2);
}

TEST_CASE("absorb: a fed or fetched transpose stays an edge") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 3, 2> a("a");
    const tensor t = transpose(a);
    const auto y = matmul(t, a);
    const auto fed = absorbed({y}, {a, t});
    REQUIRE(fed.items.size() == 3);
    CHECK(fed.items[2].inputs == std::vector<subgraph::value>{{1, 0}, {0, 0}});
    CHECK_FALSE(product_in(fed, 2).transpose_a);
    CHECK(absorbed({y, t}, {a}).items.size() == 3); // computed for the fetch, not for the product
}

TEST_CASE("absorb: a variable is read where the transpose stands") {
    const graph g;
    const graph_scope here(g);
    variable<float, 2, 2> w("w", zeros());
    const auto t = transpose(w);
    const auto before = matmul(t, t);
    const auto s = absorbed({before}, {});
    CHECK(s.items.size() == 2);
    const auto written = w.assign(w + 1.f);
    const auto after = matmul(t, written);
    const auto kept = absorbed({after}, {});
    bool transposed = false;
    for (const auto& it : kept.items) transposed = transposed || it.op->name() == "Transpose";
    CHECK(transposed);
}

} // namespace test_passes_absorb
