// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/update_op.hpp>

#include <memory>
#include <span>
#include <vector>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/resources/variable_state.hpp>
#include <rill/session/local_session_core.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/momentum.hpp>

#include "catch.hpp"
#include "counting_allocator.hpp"

using namespace rill;

namespace test_update_op {

using adam_update = update_op<adam_rule>;
using descent_update = update_op<gradient_descent_rule>;

/// Runs a kernel on a frame that has the inputs in slots 0, 2, 4, … and, behind each, the place of its new value: its own, or one of
/// `apart`.
template <class Op>
void run(const Op& op, const std::vector<tensor_type>& in, const std::vector<void*>& given, thread_pool* pool = nullptr,
         const std::vector<void*>& apart = {}) {
    const auto out = op.outputs(in);
    kernel_request request{in, out};
    request.on.pool = pool;
    const kernel k =
        in[0].type == dtype::float32 ? op.template bind<cpu, float>(request) : op.template bind<cpu, double>(request);
    std::vector<std::int32_t> inputs(in.size());
    std::vector<void*> slots;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = static_cast<std::int32_t>(2 * i);
        slots.push_back(given[i]);
        slots.push_back(i < apart.size() ? apart[i] : given[i]);
    }
    const std::int32_t outputs[] = {1};
    const step_context step;
    std::vector<double> scratch(request.scratch_bytes / sizeof(double));
    k({slots.data(), inputs.data(), outputs, {.pool = pool, .scratch = scratch.data()}, &step});
}

constexpr index_t many = 3000; // a large variable: 12 kB

struct training {
    std::vector<float> value;
    int blocks; // large blocks made after the first step
    bool on_host;
};

/// Trains a large variable by given gradients. `held`: a reader holds each version while the next one is made.
template <class Optimizer> training train(const Optimizer& by, bool held) {
    counting_allocator memory(many * sizeof(float));
    const graph g;
    const graph_scope here(g);
    const variable<float, many> w("w", constant_initializer(1.));
    const placeholder<float, many> slope("slope");
    const operation step = by.minimize(reduce_sum(w * slope)), begin = global_variables_initializer();
    const auto core = detail::make_local_session_core(g, {.memory = &memory});
    core->find_run({{}, {begin.node()}, {}})->run({});
    const auto steps = core->find_run({{}, {step.node()}, {slope}});
    any_array slopes(dtype::float32, dims{many});
    auto* const x = static_cast<float*>(slopes.mutable_data());
    std::shared_ptr<detail::element_block> reader;
    int before = 0;
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < many; ++i) x[i] = static_cast<float>((i * 7 + k * 13) % 101) * 0.01f - 0.5f;
        if (k == 1) before = memory.blocks();
        if (k > 0 && held) reader = core->shared(w.node())->read();
        steps->run(std::span(&slopes, 1));
    }
    const int blocks = memory.blocks() - before;
    const auto fetch = core->find_run({{w}, {}, {}});
    const auto now = fetch->run({});
    const auto* const data = static_cast<const float*>(now.data(0));
    return {{data, data + many}, blocks, !core->device().space};
}

} // namespace test_update_op

TEST_CASE("update_op: a reader that holds the variable changes no bit of the training, and costs one block") {
    const auto check = [](const auto& optimizer) {
        const auto alone = test_update_op::train(optimizer, false), held = test_update_op::train(optimizer, true);
        CHECK(alone.value == held.value);
        CHECK_FALSE(alone.value == std::vector<float>(alone.value.size(), 1.f));
        CHECK(alone.blocks == 0);
        CHECK(held.blocks == (held.on_host ? 1 : 0)); // else it is in the device's memory
    };
    check(gradient_descent(0.1));
    check(momentum({.learning_rate = 0.1, .momentum = 0.9}));
    check(adam(0.01));
}

TEST_CASE("update_op: the first step of Adam, by hand") {
    const tensor_type vector{dtype::float64, dims{3}}, number{dtype::float64, dims{}};
    const std::vector<tensor_type> in{vector, vector, vector, number, number, number, vector};
    std::vector<double> x{1, 2, 3}, m(3, 0), v(3, 0), g{0.5, -1, 2};
    double p1 = 0.9, p2 = 0.99, rate = 0.1;
    const test_update_op::adam_update op{{.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-3}};
    test_update_op::run(op, in, {x.data(), m.data(), v.data(), &p1, &p2, &rate, g.data()});
    for (std::size_t i = 0; i < 3; ++i) {
        const double first = static_cast<double>(i) + 1, me = 0.1 * g[i], ve = 0.01 * g[i] * g[i];
        CHECK(m[i] == Approx(me));
        CHECK(v[i] == Approx(ve));
        CHECK(x[i] == Approx(first - 0.1 * std::sqrt(1 - 0.99) / (1 - 0.9) * me / (std::sqrt(ve) + 1e-3)));
    }
}

TEST_CASE("update_op: new values apart from the old ones are those in their place") {
    const tensor_type vector{dtype::float64, dims{5}}, number{dtype::float64, dims{}};
    const std::vector<tensor_type> in{vector, vector, vector, number, number, number, vector};
    std::vector<double> x{1, 2, 3, 4, 5}, m{.1, .2, .3, .4, .5}, v{.5, .4, .3, .2, .1}, g{0.5, -1, 2, 3, -4};
    double p1 = 0.9, p2 = 0.99, rate = 0.1;
    const auto old_x = x, old_m = m, old_v = v;
    std::vector<double> new_x(5), new_m(5), new_v(5);
    const test_update_op::adam_update op{{.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-3}};
    const std::vector<void*> given{x.data(), m.data(), v.data(), &p1, &p2, &rate, g.data()};
    test_update_op::run(op, in, given, nullptr, {new_x.data(), new_m.data(), new_v.data()});
    CHECK(x == old_x);
    CHECK(m == old_m);
    CHECK(v == old_v);
    test_update_op::run(op, in, given);
    CHECK(x == new_x);
    CHECK(m == new_m);
    CHECK(v == new_v);
    CHECK_FALSE(x == old_x);
}

TEST_CASE("update_op: one step of gradient descent, by hand, with help and without") {
    for (const index_t n : {index_t(20), update_shared_from + 3}) {
        const tensor_type vector{dtype::float32, dims{n}};
        const std::vector<tensor_type> in{vector, {dtype::float32, dims{}}, vector};
        std::vector<float> v(static_cast<std::size_t>(n), 1.f), g(v.size(), 4.f);
        float rate = 0.25f;
        thread_pool pool(1);
        test_update_op::run(test_update_op::descent_update{}, in, {v.data(), &rate, g.data()}, &pool);
        CHECK(v == std::vector<float>(v.size(), 0.f));
    }
}

TEST_CASE("update_op: what it writes, that the host reads nothing, where the gradient is") {
    using test_update_op::adam_update, test_update_op::descent_update;
    CHECK(adam_update{}.writes() == input_list{0, 1, 2});
    CHECK(adam_update::gradient_at == 6);
    CHECK(descent_update{}.writes() == input_list{0});
    CHECK(descent_update::gradient_at == 2);
    const op_ptr o = make_op(adam_update{{.beta1 = 0.5}});
    CHECK(o->name() == "ApplyAdam");
    CHECK(o->alias() == 0);
    CHECK(o->stateful());
    CHECK(o->replaces_variables());
    CHECK(o->host_inputs().empty());
    CHECK_FALSE(o->equals(*make_op(adam_update{}))); // the rule's fields are the op's
    CHECK(o->equals(*make_op(adam_update{{.beta1 = 0.5}})));
}

TEST_CASE("update_op: slots and gradient are of the variable's type, numbers of its dtype and of rank 0") {
    const test_update_op::adam_update op;
    const tensor_type vector{dtype::float64, dims{3}}, number{dtype::float64, dims{}};
    const std::vector<tensor_type> good{vector, vector, vector, number, number, number, vector};
    CHECK(op.outputs(good) == std::vector{vector});
    const auto refused = [&](std::size_t at, const tensor_type& type, const std::string& what) {
        auto wrong = good;
        wrong[at] = type;
        INFO(at);
        CHECK_THROWS_AS(op.outputs(wrong), invalid_argument);
        CHECK_THROWS_WITH(op.outputs(wrong),
                          contains(what) && contains("input " + std::to_string(at)) && contains(to_string(type)));
    };
    refused(6, {dtype::float64, dims{4}}, "its gradient");
    refused(6, {dtype::float32, dims{3}}, "its gradient");
    refused(1, {dtype::float64, dims{4}}, "its slot");
    refused(2, {dtype::float32, dims{3}}, "its slot");
    refused(3, {dtype::float32, dims{}}, "number");
    refused(5, {dtype::float64, dims{1}}, "number");
    const std::vector<tensor_type> few(good.begin(), good.end() - 1);
    CHECK_THROWS_WITH(make_op(op)->outputs({few}), contains("takes 7 inputs, not 6"));
    auto open = good; // what is not known yet may fit
    open[6].shape = dims::unknown();
    CHECK_NOTHROW(op.outputs(open));
}
