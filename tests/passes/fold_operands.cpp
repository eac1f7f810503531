// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/fold_operands.hpp>

#include <rill/core/algorithm.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/linalg/matmul_row.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_passes_fold_operands {

subgraph absorbed(std::vector<endpoint> fetches, std::vector<endpoint> feeds) {
    placement where({{"cpu", 2}}, cpu_device(), false);
    auto s = fold_producers(place(prune(fetches, {}, feeds), where));
    check(s, true);
    return s;
}
const matmul_op& product_in(const subgraph& s, int i) {
    const auto& op = *s.items[static_cast<std::size_t>(i)].op;
    REQUIRE(op.name() == "MatMul");
    return *static_cast<const matmul_op*>(op.attributes());
}

TEST_CASE("fold_operands: transposes go into products, and unused ones away") {
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

TEST_CASE("fold_operands: a fed or fetched transpose stays an edge") {
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

TEST_CASE("fold_operands: a variable is read where the transpose stands") {
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

/// Names of the ops that are left, feeds left out.
std::vector<std::string> ops_of(const subgraph& s) {
    std::vector<std::string> names;
    for (const auto& it : s.items)
        if (it.op && it.feed < 0) names.emplace_back(it.op->name());
    return names;
}

TEST_CASE("fold_operands: a product adds the bias that alone reads it, and takes the relu") {
    using names = std::vector<std::string>;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 2> x("x");
    placeholder<float, 2, 3> w("w");
    placeholder<float, 3> b("b");
    placeholder<float, 1, 3> flat("flat");
    placeholder<float> one("one");
    const std::vector<endpoint> fed{x, w, b, flat, one};
    const tensor product = matmul(x, w), sum = product + b, rectified = relu(b + product);
    const auto with = absorbed({sum}, fed);
    CHECK(ops_of(with) == names{"MatMulRow"});
    const auto& it = with.items.back();
    CHECK(it.origin == sum.node());
    CHECK(it.inputs == std::vector<subgraph::value>{{0, 0}, {1, 0}, {2, 0}});
    CHECK_FALSE(static_cast<const matmul_row_op*>(it.op->attributes())->rectified);
    const auto bent = absorbed({rectified}, fed);
    CHECK(ops_of(bent) == names{"MatMulRow"});
    CHECK(static_cast<const matmul_row_op*>(bent.items.back().op->attributes())->rectified);

    CHECK(ops_of(absorbed({sum, product}, fed)).size() == 2);   // fetched
    CHECK(ops_of(absorbed({sum, rectified}, fed)).size() == 3); // read by two
    CHECK(ops_of(absorbed({sum}, {x, w, b, product})).size() == 1);
    for (const any_tensor& other : {any_tensor(product + flat), any_tensor(product + one), any_tensor(product * b),
                                    any_tensor(relu(product)), any_tensor(reduce_sum(product + b)),
                                    any_tensor(reduce_max<0>(relu(product + b))), any_tensor(product + b + b)})
        CHECK(ops_of(absorbed({other}, fed)).front() == "MatMul");
    {
        const control_dependencies after(one);
        const tensor late = matmul(x, w);
        const tensor y = late + b;
        CHECK(ops_of(absorbed({y}, fed)).front() == "MatMul");
    }
    const tensor here_now = matmul(x, w);
    {
        const device_scope there("/cpu:0"); // where it would be anyway
        CHECK(ops_of(absorbed({sealed(here_now + b)}, fed)).front() == "MatMulRow");
    }
    const device_scope there("/cpu:1");
    CHECK(ops_of(absorbed({sealed(here_now + b)}, fed)).front() == "MatMul"); // on another device
}

TEST_CASE("fold_operands: a variable by another name is read as itself, unless that was asked for later") {
    using names = std::vector<std::string>;
    const graph g;
    const graph_scope here(g);
    variable<float, 2, 2> w("w", zeros());
    placeholder<float, 2, 2> x("x");
    const tensor named = identity(identity(w));
    CHECK(ops_of(absorbed({sealed(matmul(named, named))}, {})) == names{"VariableV2", "MatMul"});
    CHECK(detail::contains(ops_of(absorbed({sealed(matmul(named, named)), named}, {})),
                           std::string("Identity"))); // fetched
    CHECK(detail::contains(ops_of(absorbed({sealed(matmul(tensor(identity(x)), w))}, {x})), std::string("Identity")));
    const auto written = w.assign(w + 1.f);
    CHECK(detail::contains(ops_of(absorbed({sealed(matmul(named, written))}, {})), std::string("Identity")));
    const control_dependencies after(written);
    const tensor later = identity(w);
    CHECK(detail::contains(ops_of(absorbed({sealed(matmul(later, later))}, {})), std::string("Identity")));
}

TEST_CASE("fold_operands: a transpose, or a variable's identity, on another device stays") {
    using names = std::vector<std::string>;
    const graph g;
    const graph_scope here(g);
    placeholder<float, 3, 2> a("a");
    const variable<float, 2, 2> w("w", zeros());
    const auto on = [](const std::string& device, const auto& make) {
        const device_scope there(device);
        return tensor(make());
    };
    const auto flip = [&] { return transpose(a); };
    CHECK(ops_of(absorbed({sealed(matmul(on("/cpu:0", flip), a))}, {a})) == names{"MatMul"});
    CHECK(ops_of(absorbed({sealed(matmul(on("/cpu:1", flip), a))}, {a})) == names{"Transpose", "MatMul"});
    const auto name = [&] { return identity(w); };
    const tensor there = on("/cpu:1", name), same = on("/cpu:0", name);
    CHECK_FALSE(detail::contains(ops_of(absorbed({sealed(matmul(same, same))}, {})), std::string("Identity")));
    CHECK(detail::contains(ops_of(absorbed({sealed(matmul(there, there))}, {})), std::string("Identity")));
}

TEST_CASE("fold_operands: a variable is read where the product stands") {
    const graph g;
    const graph_scope here(g);
    variable<float, 2, 2> w("w", zeros());
    variable<float, 2> b("b", zeros());
    const tensor product = matmul(w, w);
    const auto now = absorbed({sealed(product + b)}, {});
    CHECK(ops_of(now).back() == "MatMulRow");
    const auto written = w.assign(w + 1.f);
    const control_dependencies after(written);
    const auto later = absorbed({sealed(product + b)}, {});
    CHECK(detail::contains(ops_of(later), std::string("MatMul")));
}

} // namespace test_passes_fold_operands
