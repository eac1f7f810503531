// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/sampled_losses.hpp>

#include <cmath>
#include <map>
#include <set>

#include <rill/core/array_text.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/nn/compute_accidental_hits.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_sampled_losses {

double log_uniform(double k, double n) { return std::log((k + 2) / (k + 1)) / std::log(n + 1); }

TEST_CASE("candidate samplers: frequencies and expected counts") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(7);
    const auto labels = constant({{std::int64_t{0}}, {std::int64_t{3}}});
    const std::vector<double> weights{4, 0, 1, 9};
    struct row {
        const char* name;
        candidate_samples<tensor<std::int64_t, 4000>, tensor<double, 2, 1>, tensor<double, 4000>> samples;
        std::vector<double> p;
    };
    std::vector<double> zipf;
    for (int k = 0; k < 4; ++k) zipf.push_back(log_uniform(k, 4));
    const session s(g);
    for (const auto& [name, all, p] : std::vector<row>{
             {"uniform",
              uniform_candidate_sampler<4000, double>(labels, {.range_max = 4, .unique = false}),
              {.25, .25, .25, .25}},
             {"log uniform", log_uniform_candidate_sampler<4000, double>(labels, {.range_max = 4, .unique = false}),
              zipf},
             {"unigram",
              fixed_unigram_candidate_sampler<4000, double>(labels, weights, {.unique = false, .distortion = 0.5}),
              {2. / 6, 0, 1. / 6, 3. / 6}}}) {
        INFO(name);
        const auto [ids, of_true, of_sampled] =
            s.run(std::tuple(all.sampled, all.true_expected_count, all.sampled_expected_count));
        std::map<std::int64_t, int> seen;
        for (std::size_t i = 0; i < 4000; ++i) {
            ++seen[ids(i)];
            CHECK(of_sampled(i) == Approx(4000 * p[static_cast<std::size_t>(ids(i))]));
        }
        for (std::size_t k = 0; k < 4; ++k) // five standard deviations
            CHECK(std::abs(seen[static_cast<std::int64_t>(k)] - 4000 * p[k]) <=
                  5 * std::sqrt(4000 * p[k] * (1 - p[k])));
        CHECK(of_true(0, 0) == Approx(4000 * p[0]));
        CHECK(of_true(1, 0) == Approx(4000 * p[3]));
        CHECK(op_test::list(s.run(all.sampled)) != op_test::list(ids)); // each run draws anew
    }
}

TEST_CASE("candidate samplers: unique classes, and what can't be drawn") {
    const graph g;
    const graph_scope here(g);
    const auto labels = constant({0, 5});
    const auto all = log_uniform_candidate_sampler(labels, 6, {.range_max = 6, .seed = 3});
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(all.sampled)>, tensor<std::int64_t, dyn>>);
    const session s(g);
    const auto [ids, of_true] = s.run(std::tuple(all.sampled, all.true_expected_count));
    CHECK(std::set<std::int64_t>(ids.begin(), ids.end()).size() == 6);
    CHECK(of_true(0) <= 1); // of a class that comes once at most
    CHECK(of_true(0) > of_true(1));
    CHECK_THROWS_WITH(uniform_candidate_sampler<7>(labels, {.range_max = 6}), contains("7 different classes of 6"));
    CHECK_THROWS_WITH(uniform_candidate_sampler<7>(labels, {}), contains("range_max is 0"));
    CHECK_THROWS_WITH(fixed_unigram_candidate_sampler<1>(labels, {1, -1}), contains("the weight -1.0"));
    const auto few = fixed_unigram_candidate_sampler<2>(labels, {0, 1, 0});
    CHECK_THROWS_WITH(s.run(few.sampled), contains("of 1 classes with a weight, 2 can't be drawn"));
    const auto tiny = fixed_unigram_candidate_sampler<2>(labels, {1, 1e-300}); // no draw ever finds the second
    CHECK_THROWS_WITH(s.run(tiny.sampled), contains("of 1 classes with a weight, 2 can't be drawn"));
    const op_ptr made = make_op(candidate_sampler_op{3, 9, 1, false, 5});
    CHECK(make_op("CandidateSampler", 1, bytes_of_fields(*made))->equals(*made));
}

TEST_CASE("compute_accidental_hits: rows and places, none at all") {
    const graph_scope here{graph()};
    const session s;
    const placeholder<int, dyn, 2> labels("labels");
    const auto [rows, places, weights] = compute_accidental_hits(labels, constant({5, 2, 7, 2}));
    const auto run = [&](const xt::xtensor<int, 2>& at) {
        return s.run(std::tuple(rows, places, weights), feed(labels, at));
    };
    const auto [r, p, w] = run({{2, 9}, {8, 1}, {7, 5}});
    CHECK(to_string(r) == "{0, 0, 2, 2}");
    CHECK(to_string(p) == "{1, 3, 2, 0}");
    CHECK(w(0) == std::numeric_limits<float>::lowest());
    CHECK(std::get<0>(run({{0, 1}})).size() == 0);
    CHECK(std::get<0>(run(xt::xtensor<int, 2>({0, 2}))).size() == 0);
}

/// The losses of a plain loop: logits less the logarithms of expected counts, hits left out.
struct plain_losses {
    double nce = 0, softmax = 0;

    plain_losses(const xt::xtensor<double, 2>& w, const xt::xtensor<double, 1>& b, const xt::xtensor<double, 2>& x,
                 const xt::xtensor<std::int64_t, 2>& labels, const xt::xtensor<std::int64_t, 1>& sampled,
                 const xt::xtensor<double, 2>& of_true, const xt::xtensor<double, 1>& of_sampled, std::size_t row,
                 bool remove) {
        const auto logit = [&](std::int64_t k, double expected) {
            double sum = b(static_cast<std::size_t>(k)) - std::log(expected);
            for (std::size_t i = 0; i < x.shape(1); ++i) sum += x(row, i) * w(static_cast<std::size_t>(k), i);
            return sum;
        };
        const auto n = static_cast<double>(labels.shape(1));
        const auto entropy = [](double z, double label) {
            return std::max(z, 0.) - z * label + std::log1p(std::exp(-std::abs(z)));
        };
        double exps = 0, mean = 0;
        std::set<std::int64_t> own;
        for (std::size_t j = 0; j < labels.shape(1); ++j) {
            const double z = logit(labels(row, j), of_true(row, j));
            nce += entropy(z, 1 / n);
            exps += std::exp(z);
            mean += z / n;
            own.insert(labels(row, j));
        }
        for (std::size_t k = 0; k < sampled.size(); ++k) {
            if (remove && own.contains(sampled(k))) continue;
            const double z = logit(sampled(k), of_sampled(k));
            nce += entropy(z, 0);
            exps += std::exp(z);
        }
        softmax = std::log(exps) - mean;
    }
};

TEST_CASE("nce_loss, sampled_softmax_loss: values beside a plain loop, gradients by differences") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(4);
    const placeholder<double, 6, 3> w("w");
    const placeholder<double, 6> b("b");
    const placeholder<double, 2, 3> x("x");
    const auto labels = constant({{std::int64_t{1}, std::int64_t{4}}, {std::int64_t{0}, std::int64_t{2}}});
    // samples that each run is given, with hits among them
    const auto sampled = constant({std::int64_t{4}, std::int64_t{5}, std::int64_t{0}});
    const auto of_true = constant({{0.5, 0.25}, {0.9, 0.1}});
    const auto of_sampled = constant({0.25, 0.2, 0.9});
    const candidate_samples samples{tensor(sampled), tensor(of_true), tensor(of_sampled)};
    const session s(g);
    const auto at_w = op_test::point_array<double>({-1, 1}, {6, 3}),
               at_b = op_test::point_array<double>({-1, 1}, {6}, 1),
               at_x = op_test::point_array<double>({-2, 2}, {2, 3}, 2);
    const auto [host_w, host_b, host_x] =
        s.run(std::tuple(w * 1., b * 1., x * 1.), feed(w, at_w), feed(b, at_b), feed(x, at_x));
    const auto [host_labels, host_sampled, host_true, host_expected] =
        s.run(std::tuple(tensor(labels), tensor(sampled), tensor(of_true), tensor(of_sampled)));
    for (const bool remove : {false, true}) {
        const auto nce = nce_loss(w, b, labels, x, samples, {.remove_accidental_hits = remove});
        const auto softmax = sampled_softmax_loss(w, b, labels, x, samples, {.remove_accidental_hits = remove});
        static_assert(std::is_same_v<std::remove_const_t<decltype(nce)>, tensor<double, 2>>);
        const auto [a, c] = s.run(std::tuple(nce, softmax), feed(w, at_w), feed(b, at_b), feed(x, at_x));
        for (std::size_t row = 0; row < 2; ++row) {
            const plain_losses wanted(host_w, host_b, host_x, host_labels, host_sampled, host_true, host_expected, row,
                                      remove);
            CHECK(a(row) == Approx(wanted.nce));
            CHECK(c(row) == Approx(wanted.softmax));
        }
        const op_test::gradient_check by{s, {w, b, x}, {at_w, at_b, at_x}, 1e-6};
        by.check(nce, 2, "nce_loss");
        by.check(softmax, 2, "sampled_softmax_loss");
    }
}

TEST_CASE("nce_loss, sampled_softmax_loss: train rows by drawn classes, refuse labels outside") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(4);
    const variable<float, 8, 4> w("w", ones());
    const variable<float, 8> b("b", zeros());
    const placeholder<int, dyn> labels("labels");
    const placeholder<float, dyn, 4> x("x");
    const auto loss = reduce_mean(nce_loss<3>(w, b, labels, x)) + reduce_mean(sampled_softmax_loss<3>(w, b, labels, x));
    const auto train = gradient_descent(0.1f).minimize(loss);
    const session s(g);
    s.run(global_variables_initializer());
    const xt::xtensor<float, 2> at({2, 4}, 1.f);
    s.run(train, feed(labels, std::vector<int>{7, 7}), feed(x, at));
    const auto after = s.run(w);
    CHECK(after(7, 0) != 1.f);
    int changed = 0;
    for (std::size_t k = 0; k < 8; ++k) changed += after(k, 0) != 1.f;
    CHECK(changed <= 7); // three samples each, and the label
    CHECK_THROWS_WITH(s.run(loss, feed(labels, std::vector<int>{8, 0}), feed(x, at)), contains("id 8"));
    const placeholder<float, dyn, 4> open("open");
    CHECK_THROWS_WITH(nce_loss<3>(open, b, labels, x), contains("nce_loss: the number of classes must be known"));
}

} // namespace test_ops_nn_sampled_losses
