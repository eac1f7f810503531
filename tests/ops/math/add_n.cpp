// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/add_n.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_math_add_n {

TEST_CASE("add_n: one pass over all terms, whose gradient is the same for each") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    std::vector<any_tensor> xs;
    std::vector<any_array> at;
    for (int i = 0; i < 5; ++i) {
        xs.emplace_back(placeholder<double, dyn, dyn>());
        at.push_back(op_test::point_array<double>({}, {2, 3}, i));
    }
    const any_tensor y = add_n(xs);
    std::vector<double> wanted(6);
    for (const auto& a : at)
        for (std::size_t i = 0; i < 6; ++i) wanted[i] += a.elements<double>()[i];
    CHECK(op_test::difference<double>(op_test::run(s, y, xs, at), {2, 3}, wanted) == "");
    CHECK(y.node()->inputs.size() == 5); // one node
    op_test::gradient_check{s, xs, at}.check(y, 2);
}

TEST_CASE("add_n: of one tensor it is that tensor, the same one twice counts twice") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({1, 2}), y = constant({10, 20});
    CHECK(add_n({x}).end() == x.end());
    const any_array sum = s.run(add_n({x, y, x}));
    CHECK(sum.elements<int>()[1] == 24);
}

TEST_CASE("add_n: terms that broadcast") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, dyn, dyn> full;
    const placeholder<double, dyn> row;
    const placeholder<double> number;
    const std::vector<any_tensor> xs{full, row, number};
    const std::vector<any_array> at{op_test::point_array<double>({}, {2, 3}), op_test::point_array<double>({}, {3}, 1),
                                    op_test::point_array<double>({}, {}, 2)};
    const any_tensor y = add_n(xs);
    CHECK(op_test::run(s, y, xs, at).shape() == dims{2, 3});
    op_test::gradient_check{s, xs, at}.check(y, 1);
}

TEST_CASE("add_n: more terms than a fused node takes are added in rounds") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    for (const int count : {24, 25, 49, 600}) {
        std::vector<any_tensor> xs;
        for (int i = 0; i < count; ++i) xs.push_back(tensor(constant({static_cast<double>(i), 1.})));
        const any_array sum = s.run(add_n(xs));
        CHECK(sum.elements<double>()[0] == count * (count - 1) / 2);
        CHECK(sum.elements<double>()[1] == count);
    }
}

TEST_CASE("add_n: refuses nothing, and terms of two dtypes") {
    const graph_scope here{graph()};
    const tensor x = constant({1.f, 2.f});
    CHECK_THROWS_AS(add_n({}), invalid_argument);
    CHECK_THROWS_WITH(add_n({x, tensor(constant({1., 2.}))}),
                      contains("add_n: the dtypes differ") && contains("float32") && contains("float64"));
    CHECK_THROWS_WITH(add_n({x, tensor(constant({1.f, 2.f, 3.f}))}), contains("do not broadcast"));
}

} // namespace test_ops_math_add_n
