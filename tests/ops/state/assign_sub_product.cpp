// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/assign_sub_product.hpp>

#include <cstring>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_state_assign_sub_product {

std::vector<tensor_type> outputs(const assign_sub_product_op& op, std::vector<tensor_type> in) {
    return op.outputs(in);
}

TEST_CASE("assign_sub_product: shapes") {
    const auto type = [](dims shape, dtype t = dtype::float32) { return tensor_type{t, shape}; };
    const auto rate = type({});
    const auto made = outputs({true, false}, {type({2, 3}), rate, type({dyn, 2}), type({dyn, 3})});
    REQUIRE(made.size() == 1);
    CHECK(made[0].shape == dims{2, 3});
    CHECK_THROWS_WITH(outputs({}, {type({2, 3}), rate, type({2, 4}), type({4, 5})}),
                      contains("the variable is [2, 3], the product [2, 5]"));
    CHECK_THROWS_WITH(outputs({}, {type({2, 3}), type({1}), type({2, 4}), type({4, 3})}),
                      contains("the rate is a number"));
    CHECK_THROWS_AS(outputs({}, {type({2, 3}), rate, type({2, 4}), type({5, 3})}), invalid_argument);
    CHECK_THROWS_WITH(outputs({}, {type({2, 3}), type({}, dtype::float64), type({2, 4}), type({4, 3})}),
                      contains("the dtypes differ"));
}

/// Two steps by a gradient that is a product: the same bits whether it is fetched too, and so a node of its own, or not.
template <class T, index_t M, index_t N> void compare(index_t k, bool turned) {
    const graph g;
    const graph_scope here(g);
    const any_tensor x = any_placeholder("x", dtype_of<T>, turned ? dims{M, dyn} : dims{dyn, M});
    const any_tensor up = any_placeholder("up", dtype_of<T>, {dyn, N});
    const placeholder<T> rate("rate");
    const variable<T, M, N> w("w", op_test::points<T>({}, M * N, 3));
    const any_tensor gradient = matmul(turned ? x : any_tensor(transpose(x)), up);
    const operation train = gradient_descent(rate).apply_gradients({{gradient, w}});
    const std::vector<feed_value> feeds{feed(x, op_test::point_array<T>({}, turned ? dims{M, k} : dims{k, M}, 1)),
                                        feed(up, op_test::point_array<T>({}, {k, N}, 2)), feed(rate, T(0.37f))};
    INFO(k << ", " << M << " x " << N << ", turned " << turned);
    for (const int threads : {1, 3}) {
        const session_options options{.intra_op_threads = threads};
        const session apart(g, options), with(g, options);
        for (const session* s : {&apart, &with}) s->run(global_variables_initializer());
        const auto before = op_test::reals(with.run(any_tensor(w)));
        std::vector<double> product;
        for (int step = 0; step < 2; ++step) {
            const auto [dw] = apart.run(std::tuple(gradient, train), feeds);
            product = op_test::reals(dw);
            with.run(train, feeds);
        }
        const auto wanted = op_test::reals(apart.run(any_tensor(w))), got = op_test::reals(with.run(any_tensor(w)));
        CHECK(got == wanted);
        for (std::size_t i = 0; i < got.size(); ++i)
            REQUIRE(got[i] == Approx(before[i] - 2 * 0.37 * product[i]).epsilon(1e-3).margin(1e-3));
    }
}

TEST_CASE("assign_sub_product: gradient descent where the product ends, bit for bit what two steps give") {
    for (const bool turned : {false, true}) {
        compare<float, 4, 10>(32, turned);
        compare<float, 10, 3>(7, turned);
        compare<float, 1, 5>(3, turned);
        compare<float, 5, 1>(3, turned);
        compare<float, 6, 2>(0, turned);
        compare<float, 70, 300>(1100, turned); // several blocks of k
        compare<double, 70, 300>(1100, turned);
        compare<float, 300, 512>(100, turned); // shared between threads
        compare<double, 9, 33>(5, turned);
    }
}

} // namespace test_ops_state_assign_sub_product
