// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/sequence_loss.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/sequence_mask.hpp>
#include <rill/session/session.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_train_sequence_loss {

TEST_CASE("sequence_loss: weighted means, of all steps and of each sequence") {
    const graph g;
    const graph_scope here(g);
    const placeholder<double, dyn, 3, 4> logits("logits");
    const placeholder<int, dyn> lengths("lengths");
    const auto targets = constant({{0, 3, 1}, {2, 2, 0}});
    const auto weights = cast<double>(sequence_mask<3>(lengths));
    const auto loss = sequence_loss(logits, targets, weights);
    const auto each = sequence_loss_by_example(logits, targets, weights);
    static_assert(std::is_same_v<std::remove_const_t<decltype(loss)>, tensor<double>>);
    const auto at = op_test::point_array<double>({-2, 2}, {2, 3, 4});
    const session s(g);
    const auto [x, whole, of_each] =
        s.run(std::tuple(logits * 1., loss, each), feed(logits, at), feed(lengths, std::vector<int>{3, 1}));
    const int classes[2][3] = {{0, 3, 1}, {2, 2, 0}};
    const std::size_t ends[] = {3, 1};
    double sum = 0;
    for (std::size_t b = 0; b < 2; ++b) {
        double own = 0;
        for (std::size_t t = 0; t < ends[b]; ++t) {
            double exps = 0;
            for (std::size_t k = 0; k < 4; ++k) exps += std::exp(x(b, t, k));
            own += std::log(exps) - x(b, t, static_cast<std::size_t>(classes[b][t]));
        }
        CHECK(of_each(b) == Approx(own / static_cast<double>(ends[b])));
        sum += own;
    }
    CHECK(whole == Approx(sum / 4));
    const auto none = s.run(each, feed(logits, at), feed(lengths, std::vector<int>{0, 1}));
    CHECK(none(0) == 0.); // no steps
    const tensor fixed = sequence_loss(logits, targets, constant({{1., 0.5, 0.}, {0., 2., 1.}}));
    op_test::gradient_check{s, {logits}, {at}}.check(fixed, 2);
}

} // namespace test_train_sequence_loss
