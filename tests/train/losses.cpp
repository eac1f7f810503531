// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/losses.hpp>

#include <rill/session/session.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_train_losses {

const std::vector<double> labels_at{1, 0, 0, 1, 1, 0}, predictions_at{0.75, 0.25, 0.5, 0.125, 0.5, 0.875};

TEST_CASE("losses: elements, weights and reductions against plain loops") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor<double, 3, 2> t(any_tensor(constant({{1., 0.}, {0., 1.}, {1., 0.}})));
    const tensor<double, 3, 2> p(any_tensor(constant({{0.75, 0.25}, {0.5, 0.125}, {0.5, 0.875}})));
    const tensor weights = constant({{1.}, {0.}, {2.}}); // of rows
    const auto check = [&](const char* what, const auto& made, const std::function<double(double, double)>& element) {
        INFO(what);
        double sum = 0, weighted = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            const double e = element(labels_at[i], predictions_at[i]);
            sum += e;
            weighted += e * (i < 2 ? 1 : i < 4 ? 0 : 2);
        }
        const auto value = [&](const auto& y) { return s.run(y); };
        CHECK(value(made.template operator()<loss_reduction::sum_by_nonzero_weights>(loss_options{})) ==
              Approx(sum / 6));
        CHECK(value(made.template operator()<loss_reduction::sum_by_nonzero_weights>(
                  loss_options{.weights = 3, .reduction = loss_reduction::sum})) == Approx(sum * 3));
        CHECK(value(made.template operator()<loss_reduction::sum_by_nonzero_weights>(
                  loss_options{.weights = weights})) == Approx(weighted / 4));
        CHECK(value(made.template operator()<loss_reduction::sum_by_nonzero_weights>(loss_options{
                  .weights = weights, .reduction = loss_reduction::sum_over_batch_size})) == Approx(weighted / 6));
        CHECK(value(made.template operator()<loss_reduction::sum_by_nonzero_weights>(loss_options{.weights = 0})) == 0);
        const auto each = made.template operator()<loss_reduction::none>(loss_options{.weights = weights});
        static_assert(std::is_same_v<std::remove_const_t<decltype(each)>, tensor<double, 3, 2>>);
        CHECK(s.run(each)(2, 1) == Approx(2 * element(0, 0.875)));
    };
    check(
        "mean_squared_error",
        [&]<loss_reduction R>(const loss_options& o) { return losses::mean_squared_error<R>(t, p, o); },
        [](double z, double x) { return (x - z) * (x - z); });
    check(
        "absolute_difference",
        [&]<loss_reduction R>(const loss_options& o) { return losses::absolute_difference<R>(t, p, o); },
        [](double z, double x) { return std::abs(x - z); });
    check(
        "hinge_loss", [&]<loss_reduction R>(const loss_options& o) { return losses::hinge_loss<R>(t, p, o); },
        [](double z, double x) { return std::max(0., 1 - (2 * z - 1) * x); });
    check(
        "log_loss", [&]<loss_reduction R>(const loss_options& o) { return losses::log_loss<R>(t, p, 1e-7, o); },
        [](double z, double x) { return -z * std::log(x + 1e-7) - (1 - z) * std::log(1 - x + 1e-7); });
    check(
        "huber_loss", [&]<loss_reduction R>(const loss_options& o) { return losses::huber_loss<R>(t, p, 0.5, o); },
        [](double z, double x) {
            const double e = std::abs(x - z);
            return e <= 0.5 ? e * e / 2 : 0.5 * (e - 0.25);
        });
    check(
        "sigmoid_cross_entropy",
        [&]<loss_reduction R>(loss_options o) {
            o.label_smoothing = 0.2;
            return losses::sigmoid_cross_entropy<R>(t, p, o);
        },
        [](double z, double x) {
            z = z * 0.8 + 0.1;
            return -z * std::log(1 / (1 + std::exp(-x))) - (1 - z) * std::log(1 / (1 + std::exp(x)));
        });
}

TEST_CASE("losses: of rows, and their sum") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor<float, 2, 2> t(any_tensor(constant({{1.f, 0.f}, {0.f, 1.f}}))),
        x(any_tensor(constant({{2.f, 0.f}, {1.f, 0.f}})));
    const auto log_sum = [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); };
    const double first = log_sum(2, 0) - 2, second = log_sum(1, 0);
    const tensor weights = constant({1.f, 3.f});
    const auto soft = losses::softmax_cross_entropy(t, x, {.weights = weights});
    const auto sparse = losses::sparse_softmax_cross_entropy(constant({0, 1}), x);
    const auto smooth = losses::softmax_cross_entropy(t, x, {.label_smoothing = 0.5});
    const auto cosine = losses::cosine_distance<1>(t, x);
    const auto pairs = losses::mean_pairwise_squared_error(t, x);
    CHECK(s.run(soft) == Approx((first + 3 * second) / 2));
    CHECK(s.run(sparse) == Approx((first + second) / 2));
    CHECK(s.run(smooth) == Approx((log_sum(2, 0) - 0.75 * 2 + log_sum(1, 0) - 0.25) / 2));
    CHECK(s.run(cosine) == Approx((1 - 2 + 1 - 0) / 2.));
    {
        const graph_scope apart{graph()}; // its losses are not added to those of g
        const placeholder<float, 2, 2> a("a"), b("b");
        const auto distance = losses::cosine_distance(a, b, -1, {.reduction = loss_reduction::sum});
        const xt::xtensor<float, 2> labels_of{{1, 0}, {0, 1}}, predicted{{2, 0}, {1, 0}};
        CHECK(session().run(distance, feed(a, labels_of), feed(b, predicted)) == 0);
        const auto each = losses::cosine_distance<loss_reduction::none>(a, b, 1);
        CHECK(op_test::list(session().run(each, feed(a, labels_of), feed(b, predicted))) == std::vector<float>{-1, 1});
    }
    CHECK(s.run(pairs) == Approx(1 + 4)); // errors 1, 0 and 1, -1
    g.add_to_collection(collections::regularization_losses, tensor(constant(10.f)).end());
    const float all = s.run(soft) + s.run(sparse) + s.run(smooth) + s.run(cosine) + s.run(pairs);
    CHECK(s.run(losses::get_total_loss()) == Approx(all + 10));
    CHECK(s.run(losses::get_total_loss(false)) == Approx(all));
    CHECK_THROWS_WITH(losses::mean_squared_error(t, x, {.reduction = loss_reduction::none}),
                      contains("losses::mean_squared_error<loss_reduction::none>"));
    CHECK_THROWS_WITH(losses::mean_squared_error(t, x, {.weights = weights}),
                      contains("mean_squared_error: the weights must be a number, or have as many dimensions") &&
                          contains("[2]"));
    CHECK_THROWS_WITH(losses::mean_squared_error(t, x, {.weights = tensor(constant({{1.}, {2.}}))}),
                      contains("the dtype of the weights"));
}

TEST_CASE("losses: an empty batch has the loss 0, whatever the reduction") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, dyn, 3> t("t"), p("p"), weights("weights");
    const placeholder<int, dyn> ids("ids");
    const xt::xtensor<double, 2> none = xt::xtensor<double, 2>::from_shape({0, 3});
    const auto run = [&](const auto& y) {
        return s.run(y, feed(t, none), feed(p, none), feed(weights, none), feed(ids, std::vector<int>{}));
    };
    for (const auto reduction :
         {loss_reduction::sum, loss_reduction::sum_over_batch_size, loss_reduction::sum_by_nonzero_weights}) {
        const loss_options plain{.reduction = reduction}, weighted{.weights = weights, .reduction = reduction};
        for (const loss_options& o : {plain, weighted}) {
            CHECK(run(losses::mean_squared_error(t, p, o)) == 0);
            CHECK(run(losses::absolute_difference(t, p, o)) == 0);
            CHECK(run(losses::hinge_loss(t, p, o)) == 0);
            CHECK(run(losses::log_loss(t, p, 1e-7, o)) == 0);
            CHECK(run(losses::huber_loss(t, p, 1., o)) == 0);
            CHECK(run(losses::sigmoid_cross_entropy(t, p, o)) == 0);
        }
        CHECK(run(losses::softmax_cross_entropy(t, p, plain)) == 0);
        CHECK(run(losses::sparse_softmax_cross_entropy(ids, p, plain)) == 0);
        CHECK(run(losses::cosine_distance<1>(t, p, plain)) == 0);
    }
    CHECK(run(losses::mean_squared_error<loss_reduction::none>(t, p)).shape(0) == 0);
    const auto [d] = gradients(losses::mean_squared_error(t, p), p);
    CHECK(run(d).shape(0) == 0);
}

TEST_CASE("losses: mean_pairwise_squared_error adds its rows up, with their weights") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, dyn, 3> t("t"), p("p");
    const xt::xtensor<double, 2> labels{{0, 0, 0}, {1, 1, 1}}, guesses{{1, 2, 4}, {2, 1, 4}};
    const auto run = [&](const loss_options& o) {
        return s.run(losses::mean_pairwise_squared_error(t, p, o), feed(t, labels), feed(p, guesses));
    };
    const double first = (1 + 9 + 4) / 3., second = (1 + 4 + 9) / 3.; // of the errors 1, 2, 4 and 1, 0, 3
    CHECK(run({}) == Approx(first + second));
    CHECK(run({.weights = 0.5}) == Approx((first + second) / 2));
    CHECK(run({.weights = tensor(constant({2., 0.})), .reduction = loss_reduction::sum}) == Approx(2 * first));
    for (const auto other : {loss_reduction::none, loss_reduction::sum_over_batch_size})
        CHECK_THROWS_WITH(losses::mean_pairwise_squared_error(t, p, {.reduction = other}),
                          contains("mean_pairwise_squared_error: the rows are added up") && contains("losses.cpp"));
}

TEST_CASE("losses: gradients") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 3, 2> t("t"), p("p");
    const std::vector<any_array> at{op_test::make_array<double>({3, 2}, labels_at),
                                    op_test::make_array<double>({3, 2}, {0.7, 0.2, 0.4, 0.15, 0.6, 0.8})};
    const tensor weights = constant({{1.}, {0.}, {2.}});
    const op_test::gradient_check check{s, {t, p}, at};
    check.check(losses::mean_squared_error(t, p, {.weights = weights}), 2);
    check.check(losses::mean_pairwise_squared_error(t, p), 1);
    check.check(losses::log_loss(t, p), 1);
    // labels are fixed in a softmax cross entropy, and not in a sigmoid one, as in TensorFlow
    const tensor<double> soft = losses::softmax_cross_entropy(t, p, {.label_smoothing = 0.25});
    const tensor<double> plain = reduce_mean(softmax_cross_entropy(p, t));
    const tensor<double> sigmoid = losses::sigmoid_cross_entropy(t, p);
    const auto values = [&](const any_tensor& y) { return op_test::reals(op_test::run(s, y, {t, p}, at)); };
    const auto by_labels = [&](const tensor<double>& loss) { return values(gradients({loss}, {t})[0]); };
    const auto is_zero = [](double v) { return v == 0; };
    CHECK_FALSE(gradients({soft}, {t})[0]);
    CHECK_FALSE(std::ranges::any_of(by_labels(plain), is_zero));
    CHECK_FALSE(std::ranges::any_of(by_labels(sigmoid), is_zero));
    CHECK_FALSE(std::ranges::any_of(values(gradients({soft}, {p})[0]), is_zero));
}

TEST_CASE("losses: compute_weighted_loss of elements that are given") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 2, 2> elements("elements");
    const tensor weights = constant({{1., 0.}, {2., 0.}});
    const auto run = [&](const auto& y) { return s.run(y, feed(elements, {{1., 2.}, {3., 4.}})); };
    CHECK(run(losses::compute_weighted_loss(elements)) == Approx(2.5));
    CHECK(run(losses::compute_weighted_loss(elements, {.weights = 2})) == Approx(5));
    CHECK(run(losses::compute_weighted_loss(elements, {.weights = weights})) == Approx(7. / 2));
    CHECK(run(losses::compute_weighted_loss(elements, {.weights = weights, .reduction = loss_reduction::sum})) ==
          Approx(7));
    CHECK(run(losses::compute_weighted_loss(
              elements, {.weights = weights, .reduction = loss_reduction::sum_over_batch_size})) == Approx(7. / 4));
    const auto each = losses::compute_weighted_loss<loss_reduction::none>(elements, {.weights = weights});
    CHECK(op_test::list(run(each)) == std::vector<double>{1, 0, 6, 0});
    CHECK(g.collection(collections::losses).size() == 6); // each one joins the collection
    const auto [d] = gradients(losses::compute_weighted_loss(elements, {.weights = weights}), elements);
    CHECK(op_test::list(run(d)) == std::vector<double>{0.5, 0, 1, 0});
}

} // namespace test_train_losses
