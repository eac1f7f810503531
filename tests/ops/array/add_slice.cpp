// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/add_slice.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_add_slice {

any_tensor with_slice(const add_slice_op& op, const std::vector<any_tensor>& inputs) {
    require_kernel<add_slice_op, double>();
    return endpoint{
        detail::add_node(inputs[0].graph(), make_op(op), std::vector<endpoint>(inputs.begin(), inputs.end())), 0};
}

TEST_CASE("add_slice: adds a block where ranges or a tensor say, and leaves the tensor as it was if it is needed") {
    const graph_scope here{graph()};
    const session s;
    placeholder<double, dyn, dyn> to("to"), block("block");
    const std::vector<any_tensor> xs{to, block};
    const std::vector<any_array> at{op_test::make_array<double>({2, 3}, {1, 2, 3, 4, 5, 6}),
                                    op_test::make_array<double>({2, 2}, {10, 20, 30, 40})};
    const any_tensor by_ranges = with_slice({{{0, 2}, {2, slice_range::all, -2}}}, {to, block});
    CHECK(op_test::difference<double>(op_test::run(s, by_ranges, xs, at), {2, 3}, {21, 2, 13, 44, 5, 36}) == "");
    const any_tensor by_tensor = with_slice({}, {to, block, tensor(constant({0, 1}))});
    CHECK(op_test::difference<double>(op_test::run(s, by_tensor, xs, at), {2, 3}, {1, 12, 23, 4, 35, 46}) == "");
    const tensor<double, dyn, dyn> twice = to * 2.;
    const auto [changed, whole] =
        s.run(std::tuple(tensor<double, dyn, dyn>(with_slice({{{1, 2}, {0, 1}}}, {twice, block})), twice),
              feed(to, {{1., 1.}, {1., 1.}}), feed(block, {{5.}}));
    CHECK(changed(1, 0) == 7.);
    CHECK(whole(1, 0) == 2.);
}

TEST_CASE("add_slice: gradient, to second order") {
    const graph_scope here{graph()};
    const session s;
    placeholder<double, dyn> to("to"), block("block");
    const std::vector<any_tensor> xs{to, block};
    const std::vector<any_array> at{op_test::make_array<double>({4}, {1, 2, 3, 4}),
                                    op_test::make_array<double>({2}, {5, 6})};
    op_test::gradient_check{s, xs, at}.check(with_slice({{{3, slice_range::all, -2}}}, {to, block}), 2);
    op_test::gradient_check{s, xs, at}.check(with_slice({}, {to, block, tensor(constant({1}))}), 2);
}

TEST_CASE("add_slice: refuses what does not fit, and a block beyond the tensor") {
    const graph_scope here{graph()};
    const session s;
    const tensor to = constant({1., 2., 3.});
    const tensor two = constant({1., 2.});
    CHECK_THROWS_AS(with_slice({{{0, 1}}}, {to, two}), invalid_argument);
    CHECK_THROWS_AS(with_slice({{{0, 2}}}, {to, tensor(constant({1.f, 2.f}))}), invalid_argument);
    CHECK_THROWS_AS(with_slice({}, {to, two, two}), invalid_argument);
    CHECK_THROWS_WITH(s.run(with_slice({}, {to, two, tensor(constant({2}))})), contains("reaches beyond the tensor"));
}

TEST_CASE("add_slice: made by name, its fields read back") {
    const op_ptr made = make_op(add_slice_op{{{0, 2}}});
    CHECK(make_op("AddSlice", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("AddSlice")->equals(*made));
}

} // namespace test_ops_array_add_slice
