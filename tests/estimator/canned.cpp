// SPDX-License-Identifier: BSD-3-Clause
// Also category_ids, which columns are made of.
#include <rill/estimator/canned.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <memory>

#include <rill/data/dataset.hpp>
#include <rill/estimator/export_model.hpp>
#include <rill/io/checkpoint.hpp>
#include <rill/ops/control/host_call.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

namespace test_estimator_canned {

/// Points of two classes: above the line y = x, and below.
auto points(int count) {
    std::vector<float> x, y;
    std::vector<int> label;
    for (int i = 0; i < count; ++i) {
        x.push_back(static_cast<float>(i * 37 % 100) / 50 - 1);
        y.push_back(static_cast<float>(i * 61 % 100) / 50 - 1);
        label.push_back(y.back() > x.back());
    }
    return dataset::from_tensor_slices(x, y, label);
}

const std::vector<feature_column> xy{numeric_column("x"), numeric_column("y")};

TEST_CASE("canned: a classifier trains, evaluates, predicts, goes on from its directory, and is exported") {
    const io_test::temporary_directory folder;
    const auto data = points(100);
    const auto input = data.shuffle(100, 1).repeat().batch<20>();
    const classifier_options options{
        .class_names = {"below", "above"}, .model_dir = folder / "run", .optimizer = adam(0.02f)};
    {
        dnn_classifier<hidden<8>> model(xy, options);
        CHECK_THROWS_WITH(model.evaluate(data), contains("nothing has been trained in"));
        CHECK(model.train(input, {.steps = 150}) == 150);
    }
    dnn_classifier<hidden<8>> model(xy, options);
    CHECK(model.train([&] { return input; }, {.steps = 50}) == 200);
    CHECK(model.train(input, {.max_steps = 200}) == 200); // nothing is left to do
    const auto m = model.evaluate(data);
    CHECK(m.accuracy > 0.95);
    CHECK((m.loss > 0 && m.loss < 0.3));
    CHECK(m.global_step == 200);
    const auto p = model.predict(xt::xtensor<float, 2>{{0.9f, -0.9f}, {-0.9f, 0.9f}});
    REQUIRE(p.size() == 2);
    CHECK((p[0].class_name == "below" && p[1].class_id == 1 && p[1].class_name == "above"));
    CHECK(p[1].probabilities[0] + p[1].probabilities[1] == Approx(1));
    const auto two = dataset::from_tensor_slices(std::vector<float>{0.9f}, std::vector<float>{-0.9f});
    CHECK(model.predict(two).at(0).probabilities == p[0].probabilities);
    export_model(model, folder / "model.rill");
    const session served(import_graph(folder / "model.rill"));
    const any_array class_ids = served.run(fetch("class_ids:0"), feed("x:0", std::vector<float>{0.9f, -0.9f}),
                                           feed("y:0", std::vector<float>{-0.9f, 0.9f}));
    CHECK((class_ids.elements<int>()[0] == 0 && class_ids.elements<int>()[1] == 1));
    // flipped bits in the numbers of the checkpoints of step 200: the one before counts
    const auto newest = latest_checkpoint(folder / "run");
    for (const auto& c : checkpoints_in(folder / "run")) {
        if (c.step != 200) continue;
        std::fstream shard(c.path + "/shard-00000-of-00001.dat", std::ios::in | std::ios::out | std::ios::binary);
        shard.seekg(64);
        const int byte = shard.get();
        shard.seekp(64);
        shard.put(static_cast<char>(byte ^ 1));
    }
    CHECK(latest_checkpoint(folder / "run") == newest); // which does not read the numbers
    CHECK(model.evaluate(data).global_step == 150);
    CHECK(model.train(input, {.steps = 10}) == 160);
}

TEST_CASE("canned: linear models, regressors, early stopping") {
    const auto line = points(60).map([](float x, float y, int) { return std::tuple(x, y, 3 * x - y + 0.5f); });
    linear_regressor model(xy, {.optimizer = adam(0.1f)});
    const auto m = train_and_evaluate(model, line.repeat().batch<20>(), line,
                                      {.max_steps = 2000, .evaluate_steps = 100, .patience = 3});
    CHECK(m.loss < 1e-3);
    CHECK(m.root_mean_squared_error == Approx(std::sqrt(m.loss)).margin(1e-4));
    CHECK(m.global_step < 2000); // it stopped when nothing got better
    CHECK(model.predict(xt::xtensor<float, 2>{{1, 1}}).at(0).value == Approx(2.5).margin(0.1));
    dnn_regressor<hidden<8, 8>> deep(xy, {.optimizer = adam(0.02f)}); // a curve, which no line fits
    const auto curve = points(60).map([](float x, float y, int) { return std::tuple(x, y, x * x - y); });
    deep.train(curve.shuffle(60, 3).repeat().batch<20>(), {.steps = 1500});
    CHECK(deep.evaluate(curve).loss < 0.01);
    const auto at = deep.predict(xt::xtensor<float, 2>{{0.5f, 0}, {-0.5f, 0}});
    REQUIRE(at.size() == 2);
    for (const auto& each : at) CHECK(each.value == Approx(0.25).margin(0.15));
    linear_regressor flat(xy, {.optimizer = adam(0.1f)});
    flat.train(curve.repeat().batch<20>(), {.steps = 500});
    CHECK(flat.evaluate(curve).loss > 0.02);
    linear_classifier classes(xy, {.optimizer = adam(0.1f)});
    classes.train(points(100).repeat(60)); // to the end of the input
    CHECK(classes.evaluate(points(100)).accuracy > 0.9);
}

TEST_CASE("canned: columns of every kind") {
    const std::vector<std::string> colors{"red", "green", "blue", "red", "green", "grey"};
    const std::vector<std::int64_t> size{1, 2, 3, 1, 2, 3};
    const std::vector<float> age{5, 50, 40, 70, 18, 65}; // the two green ones differ by much
    const std::vector<std::string> label{"a", "b", "a", "b", "a", "b"};
    const auto data = dataset::from_tensor_slices(colors, size, age, label);
    const auto color =
        categorical_column_with_vocabulary_list("color", std::vector<std::string>{"red", "green", "blue"});
    const auto ages = bucketized_column(numeric_column("age"), {18, 65});
    const std::vector<feature_column> columns{indicator_column(color),
                                              embedding_column(color, 2),
                                              categorical_column_with_identity("size", 4),
                                              categorical_column_with_hash_bucket("size", 3),
                                              ages,
                                              numeric_column("age", {.mean = 40, .stddev = 20}),
                                              crossed_column({"color", "size"}, 16)};
    const graph_scope here{graph()};
    const auto [c, s, a, l] = data.batch<6>().make_one_shot_iterator().get_next();
    const auto layer = input_layer<>(
        {{"color", c, {}}, {"size", s, detail::numbers_of(s)}, {"age", a, detail::numbers_of(a)}}, columns);
    const session run;
    run.run(global_variables_initializer());
    const auto x = run.run(layer);
    REQUIRE(x.shape(1) == 3 + 2 + 4 + 3 + 3 + 1 + 16);
    CHECK((x(0, 0) == 1 && x(1, 1) == 1 && x(5, 0) + x(5, 1) + x(5, 2) == 0 && x(5, 3) == 0)); // grey is no color
    CHECK((x(1, 5 + 2) == 1 && x(0, 5 + 1) == 1));
    CHECK((x(0, 12) == 1 && x(4, 13) == 1 && x(1, 13) == 1 && x(5, 14) == 1)); // below 18, from 18 on, from 65 on
    CHECK(x(2, 15) == 0);
    dnn_classifier<hidden<6>> model(columns, {.class_names = {"a", "b"}, .optimizer = adam(0.05f)});
    model.train(data.repeat(200));
    CHECK(model.evaluate(data).accuracy == 1);
}

TEST_CASE("canned: a matrix stands for its columns, also those that become categories") {
    xt::xtensor<float, 2> table(std::array<std::size_t, 2>{40, 2});
    std::vector<int> label;
    for (std::size_t i = 0; i < 40; ++i) {
        table(i, 0) = static_cast<float>(i % 4);
        table(i, 1) = 1;
        label.push_back(i % 4 >= 2);
    }
    const std::vector<feature_column> columns{bucketized_column(numeric_column("x"), {1.5}),
                                              embedding_column(categorical_column_with_identity("x", 4), 2),
                                              numeric_column("y")};
    linear_classifier model(columns, {.optimizer = adam(0.1f)});
    const auto data = dataset::from_tensor_slices(table, label);
    model.train(data.batch<20>().repeat(150));
    CHECK(model.evaluate(data.batch<20>()).accuracy == 1);
    CHECK(model.predict(table).at(3).class_id == 1);
}

TEST_CASE("canned: wrong columns, labels and options are refused") {
    const auto data = points(10);
    const auto message = [&](const auto& f) {
        try {
            f();
        } catch (const error& problem) {
            return std::string(problem.what());
        }
        return std::string("none");
    };
    const auto train = [&](const std::vector<feature_column>& columns, const auto& input) {
        return message([&] { linear_classifier(columns).train(input, {.steps = 1}); });
    };
    CHECK_THAT(train({numeric_column("x")}, data), contains("2 features without names, the columns are of 1"));
    CHECK_THAT(train({}, data), contains("without names"));
    const auto labels = data.map([](float x, float y, int) { return std::tuple(x, y, 7); });
    CHECK_THAT(train(xy, labels), contains("7"));
    CHECK_THAT(message([] { categorical_column_with_vocabulary_list("c", std::vector<std::string>{"a", "a"}); }),
               contains("twice"));
    CHECK_THAT(message([] { bucketized_column(numeric_column("c"), {2, 1}); }), contains("ascend"));
    CHECK_THAT(message([] { linear_classifier(xy, {.classes = 3, .class_names = {"a"}}); }),
               contains("3 classes and 1 class names"));
    const auto named = data.map([](float x, float y, int) { return std::tuple(x, y, std::string("neither")); });
    CHECK_THAT(train(xy, named), contains("class_names must say"));
    CHECK_THAT(message([&] { linear_classifier(xy, {.class_names = {"a", "b"}}).train(named, {.steps = 1}); }),
               contains("'neither' at 0 is not one of the 2 classes"));
    CHECK_THAT(message([&] { linear_classifier(xy).train(data, {.steps = -1}); }), contains("steps is -1"));
    const auto wide = dataset::from_tensor_slices(xt::xtensor<float, 2>{{1, 2}, {3, 4}}, std::vector<int>{0, 1});
    CHECK_THAT(train({bucketized_column(numeric_column("x"), {2})}, wide), contains("of the shape [batch]"));
    const io_test::temporary_directory folder;
    const graph_scope here{graph()};
    CHECK_THAT(message([&] { input_layer<>({{"x", constant({1.f}), {}}}, {numeric_column("z")}); }),
               contains("no such feature; it has 'x'"));
}

TEST_CASE("estimator: a model function of tensors") {
    const auto fit = [](const auto& x, const auto& y, estimator_mode mode) {
        estimator_spec spec;
        const tensor value = dense<1>("line", sealed(expand_dims<1>(x)));
        spec.predictions = {{"value", value}};
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(y)>, no_label>) {
            spec.loss = tensor<float>(sealed(reduce_mean(square(value - expand_dims<1>(y)))));
            if (mode == estimator_mode::train)
                spec.train = adam(0.1f).minimize(spec.loss, {.step = get_or_create_global_step()});
            const auto [loss, update] = metrics::mean(square(value - expand_dims<1>(y)));
            spec.metrics = {{"loss", loss, update}};
        }
        return spec;
    };
    estimator model(fit);
    const auto data =
        dataset::from_tensor_slices(std::vector<float>{0, 1, 2, 3}, std::vector<float>{1, 3, 5, 7}).batch<4>();
    model.train(data.repeat(300));
    CHECK(model.evaluate(data).loss < 1e-2);
    const auto p = model.predict(dataset::from_tensor_slices(std::vector<float>{10}).batch<4>());
    CHECK(p.at(0).at("value").elements<float>()[0] == Approx(21).margin(1));
    const auto seen = std::make_shared<std::vector<float>>();
    const auto recorded = dataset::range(100)
                              .shuffle(100, 1)
                              .map([seen](std::int64_t i) {
                                  seen->push_back(static_cast<float>(i));
                                  return std::tuple(seen->back(), 2 * seen->back() + 1);
                              })
                              .batch<4>();
    for (int turn = 0; turn < 2; ++turn) model.train(recorded, {.steps = 1});
    REQUIRE(seen->size() == 8); // each call begins anew, in another order
    CHECK_FALSE(std::equal(seen->begin(), seen->begin() + 4, seen->begin() + 4));
}

TEST_CASE("estimator: a training that goes on draws other numbers, also in another process") {
    const io_test::temporary_directory folder;
    std::vector<float> drawn; // the random number of each step
    bool counts = true;
    const auto fit = [&](const auto& x, const auto&, estimator_mode) {
        estimator_spec spec;
        const variable<float> w("w", 0.f);
        const auto noise = random_uniform<float>();
        const tensor<float> seen = host_call<float>(
            [&](float v) {
                drawn.push_back(v);
                return v;
            },
            noise);
        spec.loss = tensor<float>(sealed(square(w - seen) + 0.f * reduce_sum(x)));
        const gradient_descent descent(0.1f);
        spec.train = counts ? descent.minimize(spec.loss, {.step = get_or_create_global_step()}) : descent.minimize(spec.loss);
        return spec;
    };
    const auto data = dataset::from_tensor_slices(std::vector<float>{0, 1}, std::vector<float>{1, 3}).repeat().batch<2>();
    const auto run = [&](auto& model) { return drawn.clear(), model.train(data, {.steps = 2}), drawn; };
    estimator in_memory(fit), first(fit, {.model_dir = folder / "run"});
    const auto a = run(in_memory), b = run(in_memory);
    CHECK((a.size() == 2 && b.size() == 2 && a != b));
    CHECK(run(first) == a); // the seed says so
    estimator second(fit, {.model_dir = folder / "run"});
    CHECK(run(second) == b);
    counts = false; // a model without a global step
    estimator uncounted(fit);
    CHECK(run(uncounted) == a);
    const auto c = run(uncounted);
    CHECK((c != a && run(uncounted) != c));
}

} // namespace test_estimator_canned
