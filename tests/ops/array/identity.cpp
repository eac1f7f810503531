// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/identity.hpp>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/reduce_sum.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("identity: values and gradient") {
    const auto f = [](const auto& x) { return identity(x); };
    op_test::node<double, 2>(f, [](const auto& x) { return x; }, {{3, 4}});
    op_test::node<float, 1>(f, [](const auto& x) { return x; }, {{0}});
    op_test::node<double, 1>([](const auto& x) { return identity(x * x); },
                             [](const auto& x) { return xt::xarray<double>(x * x); }, {{3}});
}

TEST_CASE("identity: every element type") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 3> x;
    static_assert(std::is_same_v<decltype(identity(x)), tensor<float, dyn, 3>>);
    static_assert(std::is_same_v<decltype(identity(any_tensor(x))), any_tensor>);
    CHECK(s.run(identity(any_tensor(tensor(constant("text"))))).value<std::string>() == "text");
    for (int d = 1; d < dtype_count; ++d) {
        const auto type = static_cast<dtype>(d);
        if (type == dtype::string) continue;
        any_array bytes(type, dims{5});
        std::memset(bytes.mutable_data(), 0x41, 5 * size_of(type));
        const any_array same = s.run(identity(constant(bytes))); // folded: the kernel runs
        CHECK(same.type() == bytes.type());
        CHECK(std::memcmp(same.data(), bytes.data(), 5 * size_of(type)) == 0);
    }
}

TEST_CASE("identity: a node of its own, without a step") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto first = identity(x), second = identity(x);
    CHECK(first.name() == "identity:0");
    CHECK(second.name() == "identity:0"); // shared, as equal pure ops are
    CHECK([&] {
        const control_dependencies after(first);
        return identity(x).name();
    }() == "identity_1:0");
    const std::vector<float> in{1, 2};
    const auto [value, trace] = s.run_traced(first, feed(x, in));
    CHECK(value(1) == 2.f);
    CHECK(std::none_of(trace.entries.begin(), trace.entries.end(), // shares its input's memory
                       [](const auto& e) { return e.op == "Identity"; }));
}

TEST_CASE("identity: of a variable, the value at the start of the step") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    variable<float> v("v", 1.f);
    const auto before = identity(v);
    const auto set = v.assign(v * 10.f);
    s.run(global_variables_initializer());
    const auto [was, is] = s.run(std::tuple(before, set));
    CHECK(was == 1.f);
    CHECK(is == 10.f);
}

TEST_CASE("identity: names any tensor") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 2, 2> x("x");
    const tensor product(matmul(x, x), "product"), again(x, "again");
    const tensor total(reduce_sum(x), "total");
    CHECK(product.name() == "product:0");
    CHECK(total.name() == "total:0");
    CHECK(again.name() == "again:0");
    const session s(g);
    const xt::xtensor<float, 2> m{{1, 2}, {3, 4}};
    CHECK(s.run(fetch("total"), feed(x, m)).value<float>() == 10.f);
    CHECK(s.run(product, feed(again, m), feed(x, m))(0, 0) == 7.f);
    const auto [d] = gradients(total, x);
    CHECK(s.run(d, feed(x, m))(1, 1) == 1.f);
}
