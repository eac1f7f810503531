// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/tensor.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/square.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("tensor: seals an expression into a node of its own, named by the scope or by hand") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> x("x");
    const std::size_t before = g.size();
    const auto lazy = x * 2.f + 1.f;
    CHECK(g.size() == before);
    const tensor a = lazy, b = lazy;
    static_assert(std::is_same_v<std::remove_const_t<decltype(a)>, tensor<float, dyn, 3>>);
    CHECK(g.size() == before + 2);
    CHECK(a.end() != b.end());
    CHECK(a.name() == "add:0");
    CHECK(b.name() == "add_1:0");
    const tensor named(square(x), "mine");
    CHECK(named.name() == "mine:0");
    const name_scope scope("layer1");
    const tensor inner = square(x);
    CHECK(inner.name() == "layer1/square:0");
    CHECK_THROWS_AS(tensor(square(x), "no good name!"), invalid_argument);
    CHECK(std::string(inner.node()->where.file_name()).find("tensor.cpp") != std::string::npos);
}

TEST_CASE("tensor: takes a handle with more known of its shape, and forgets") {
    placeholder<float, 2, 3> x("x");
    const tensor<float, dyn, 3> loose = x;
    CHECK(loose.end() == x.end());
    STATIC_REQUIRE((extents_widen<extents<2, 3>, extents<dyn, 3>> && extents_widen<extents<dyn>, extents<dyn>>));
    STATIC_REQUIRE((!extents_widen<extents<dyn, 3>, extents<2, 3>> && !extents_widen<extents<2>, extents<2, 1>>));
    tensor<float, dyn, 3> other = square(x);
    CHECK(other.end() != x.end());
    other = loose; // rebinds the handle
    CHECK(other.end() == x.end());
}

TEST_CASE("tensor: of a tensor of unknown type, dtype and shape are checked") {
    const graph_scope here{graph()};
    const auto x = any_placeholder("x", dtype::float32, {dyn, 3}), unknown = any_placeholder("unknown", dtype::float32);
    CHECK(tensor<float, dyn, 3>(x).end() == x.end());
    CHECK(tensor<float, 2, 3>(x).end() == x.end());
    CHECK(tensor<float, 2, 3>(unknown).end() == unknown.end());
    CHECK_THROWS_AS((tensor<float, 2, 4>(x)), invalid_argument);
    CHECK_THROWS_WITH((tensor<float, 2, 4>(x)), contains("float32 [2, 4] expected") && contains("x:0") &&
                                                    contains("float32 [?, 3]") && contains("tensor.cpp"));
    CHECK_THROWS_WITH((tensor<float, 2>(x)), contains("[2] expected"));
    CHECK_THROWS_WITH((tensor<double, dyn, 3>(x)), contains("float64"));
    CHECK_THROWS_AS((tensor<float>(any_tensor())), failed_precondition);
}

TEST_CASE("tensor: what is known of a shape is checked again when it runs") {
    const auto x = any_placeholder("x", dtype::float32);
    const tensor<float, 2> two(x);
    const session s;
    const any_tensor y = tensor(two + two);
    CHECK(op_test::run(s, y, {x}, {op_test::make_array<float>({2}, {1, 2})}).elements<float>()[1] == 4);
    CHECK(y.static_shape().known_rank() == false); // the node knows what its inputs know
}

TEST_CASE("tensor: expressions and constants become tensors of unknown type by sealing") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor y = x + 1.f;
    const any_tensor a = x * 2.f, again = x * 2.f;
    CHECK(a.end() == again.end()); // shared, as in any other use
    CHECK(a.dtype() == dtype::float32);
    CHECK(std::string(a.node()->where.file_name()).find("tensor.cpp") != std::string::npos);
    const std::vector<any_tensor> all{x * 2.f, y, constant(1)};
    CHECK(all[0].end() == a.end());
    CHECK(all[1].end() == y.end());
    CHECK(all[2].dtype() == dtype::int32);
    any_tensor later;
    later = x * 3.f;
    CHECK(later.end() != a.end());
    CHECK(tensor<float, dyn>(any_tensor(x * 2.f)).end() == a.end());
    {
        const graph_scope elsewhere{graph()};
        CHECK(any_tensor(x * 2.f).end() == a.end()); // in the operands' graph
    }
    // what is checked by types stays so
    STATIC_REQUIRE_FALSE(std::is_convertible_v<decltype(x * 2.f), tensor<float>>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_tensor, float>);
}
