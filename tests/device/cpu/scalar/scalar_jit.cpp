// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/scalar/scalar_jit.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <rill/device/cpu/jit/jit_program.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>
#include <rill/device/cpu/scalar/scalar_code.hpp>
#include <rill/device/cpu/scalar/scalar_kernel.hpp>
#include <rill/rill.hpp>

#include "catch.hpp"
#include "without_emitter.hpp"

using namespace rill;

namespace test_device_cpu_scalar_jit {

/// As in programs that link rill::kernels, for tests that do not.
struct with_emitter {
    without_emitter as_it_was;
    with_emitter() { detail::register_emitter(&detail::the_emitter); }
};

bool has_code() {
    tracer t({dtype::float32}, {});
    const auto p = t.finish({t.emit(info_of<mul_op>, dtype::float32, {t.leaf(0), t.leaf(0)})});
    detail::register_vector_op<mul_op, float, float>();
    return detail::is_emitted(*p, p->code[0]);
}

/// Ops for the interpreter and as machine code, also where the headers are all there is.
template <class Op, class... T> void require_kernels() {
    require_primitive<Op, T...>();
    detail::register_vector_op<Op, T...>();
}
void compile_used_ops() {
    require_kernels<add_op, float, float>(), require_kernels<sub_op, float, float>(),
        require_kernels<mul_op, float, float>();
    require_kernels<tanh_op, float>(), require_kernels<sin_op, float>(), require_kernels<cos_op, float>(),
        require_kernels<exp_op, float>();
    require_kernels<maximum_op, float, float>(), require_kernels<less_op, float, float>();
    require_kernels<logical_not_op, bool>(), require_kernels<select_op, bool, float, float>();
}

/// One node of a group over one element, inputs of the group first.
struct nodes {
    graph g;
    graph_scope here{g};
    std::vector<any_tensor> held;
    fusion_group group;

    /// A node that computes `program` of group inputs or earlier nodes.
    void add(const program_ptr& p, std::vector<fusion_group::source> from, int result = -1) {
        endpoint_list inputs;
        for (const auto d : p->leaves) {
            held.push_back(any_placeholder("x", d, dims{}));
            inputs.push_back(held.back());
        }
        held.push_back(any_tensor(detail::add_program(g, p, {}, inputs)));
        group.members.push_back({held.back().node()->op->fused(), {}, {result}});
        for (const auto& f : from) group.members.back().inputs.push_back(f);
    }
};

/// Its numbers, given those of the inputs.
template <class R, class T = float>
std::vector<R> run(const fusion_group& group, std::vector<T> in, std::size_t results) {
    std::vector<tensor_type> types(in.size(), {dtype_of<T>, dims{}}), out(results, {dtype_of<R>, dims{}});
    kernel_request request{types, out};
    const kernel k = detail::scalar_kernel(group, request);
    std::vector<void*> slots;
    std::vector<R> values(results);
    std::unique_ptr<bool[]> truths(new bool[results]());
    for (auto& x : in) slots.push_back(&x);
    for (std::size_t r = 0; r < results; ++r) {
        if constexpr (std::is_same_v<R, bool>)
            slots.push_back(&truths[r]);
        else
            slots.push_back(&values[r]);
    }
    std::vector<std::byte> scratch(request.scratch_bytes + 64);
    const execution_context on{.scratch =
                                   scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64};
    std::vector<std::int32_t> at;
    for (std::size_t i = 0; i < slots.size(); ++i) at.push_back(static_cast<std::int32_t>(i));
    k({slots.data(), at.data(), at.data() + in.size(), on, nullptr});
    if constexpr (std::is_same_v<R, bool>)
        for (std::size_t r = 0; r < results; ++r) values[r] = truths[r];
    return values;
}

program_ptr step_program() { // sin(x) * y + x
    tracer t({dtype::float32, dtype::float32}, {});
    const int sine = t.emit(info_of<sin_op>, dtype::float32, {t.leaf(0)});
    const int product = t.emit(info_of<mul_op>, dtype::float32, {sine, t.leaf(1)});
    return t.finish({t.emit(info_of<add_op>, dtype::float32, {product, t.leaf(0)})});
}

TEST_CASE("scalar_jit: nodes over numbers become one call, long lines of equal ones few functions") {
    compile_used_ops();
    if (!has_code()) return;
    const with_emitter made;
    nodes n;
    const int count = 1000;
    for (int k = 0; k < count; ++k)
        n.add(step_program(), {k == 0 ? fusion_group::source{-1, 0} : fusion_group::source{k - 1, 0}, {-1, 1}},
              k == count - 1 ? 0 : -1);
    const auto code = detail::make_scalar_code(n.group, 1);
    CHECK(code.calls.size() < 20);
    std::set<block_function> functions;
    for (const auto& c : code.calls) functions.insert(c.run);
    CHECK(functions.size() <= 3); // the first, the last, and what is between
    fusion_group few{{n.group.members[0]}};
    few.members[0].results = {0};
    CHECK(detail::make_scalar_code(few, 1).calls.size() == 3); // not worth it
}

TEMPLATE_TEST_CASE("scalar_jit: doubles and integers are joined as floats are", "", double, std::int32_t,
                   std::int64_t) {
    using T = TestType;
    compile_used_ops();
    require_kernels<add_op, T, T>(), require_kernels<mul_op, T, T>(), require_kernels<less_op, T, T>();
    require_kernels<select_op, bool, T, T>();
    if (!has_code()) return;
    const with_emitter made;
    tracer t({dtype_of<T>, dtype_of<T>}, {}), c({dtype_of<T>, dtype_of<T>}, {});
    const auto step =
        t.finish({t.emit(info_of<add_op>, dtype_of<T>,
                         {t.emit(info_of<mul_op>, dtype_of<T>, {t.leaf(0), t.leaf(1)}), t.leaf(0)})}); // x * y + x
    const auto least =
        c.finish({c.emit(info_of<select_op>, dtype_of<T>,
                         {c.emit(info_of<less_op>, dtype::boolean, {c.leaf(0), c.leaf(1)}), c.leaf(0), c.leaf(1)})});
    nodes n;
    for (int k = 0; k < 8; ++k)
        n.add(step, {k == 0 ? fusion_group::source{-1, 0} : fusion_group::source{k - 1, 0}, {-1, 1}});
    n.add(least, {{7, 0}, {6, 0}}, 0);
    CHECK(detail::make_scalar_code(n.group, 1).calls.size() == 1);
    CHECK(run<T>(n.group, std::vector<T>{T(5), T(2)}, 1)[0] == T(5 * 2187)); // 5 * 3^7
    CHECK(run<T>(n.group, std::vector<T>{T(-5), T(2)}, 1)[0] == T(-5 * 6561));
}

TEST_CASE("scalar_jit: of numbers of two sizes, those with most of the work are joined") {
    compile_used_ops();
    require_kernels<add_op, std::int64_t, std::int64_t>();
    if (!has_code()) return;
    const with_emitter made;
    tracer t({dtype::int64, dtype::int64}, {});
    const auto count = t.finish({t.emit(info_of<add_op>, dtype::int64, {t.leaf(0), t.leaf(1)})});
    nodes n;
    for (int k = 0; k < 6; ++k) {
        const int before = 2 * k - 2;
        n.add(step_program(), {k == 0 ? fusion_group::source{-1, 0} : fusion_group::source{before, 0}, {-1, 1}},
              k == 5 ? 0 : -1);
        n.add(count, {k == 0 ? fusion_group::source{-1, 2} : fusion_group::source{before + 1, 0}, {-1, 3}},
              k == 5 ? 1 : -1);
    }
    CHECK(detail::make_scalar_code(n.group, 2).calls.size() == 7); // six sums of integers, and a group
}

TEST_CASE("scalar_jit: truth values are computed where they are read, and given where they are results") {
    compile_used_ops();
    if (!has_code()) return;
    const auto compare = [] {
        tracer t({dtype::float32, dtype::float32}, {});
        return t.finish({t.emit(info_of<less_op>, dtype::boolean, {t.leaf(0), t.leaf(1)})});
    }();
    const auto negated = [] {
        tracer t({dtype::boolean}, {});
        return t.finish({t.emit(info_of<logical_not_op>, dtype::boolean, {t.leaf(0)})});
    }();
    const auto choose = [] {
        tracer t({dtype::boolean, dtype::float32, dtype::float32}, {});
        return t.finish({t.emit(info_of<select_op>, dtype::float32, {t.leaf(0), t.leaf(1), t.leaf(2)})});
    }();
    for (const bool fetched : {false, true}) {
        nodes n;
        for (int k = 0; k < 6; ++k)
            n.add(step_program(), {k == 0 ? fusion_group::source{-1, 0} : fusion_group::source{k - 1, 0}, {-1, 1}});
        n.add(compare, {{5, 0}, {-1, 0}});
        n.add(negated, {{6, 0}}, fetched ? 0 : -1);
        n.add(choose, {{7, 0}, {5, 0}, {-1, 0}});
        n.add(step_program(), {{8, 0}, {5, 0}}, fetched ? -1 : 0);
        const auto all = [&](float x, float y) {
            if (fetched) return std::vector<float>{static_cast<float>(run<bool>(n.group, {x, y}, 1)[0])};
            return run<float>(n.group, {x, y}, 1);
        };
        for (const float y : {0.3f, -0.3f}) {
            std::vector<float> plain, joined;
            {
                const without_emitter by_calls;
                plain = all(0.7f, y);
            }
            const with_emitter made;
            joined = all(0.7f, y);
            CHECK(joined[0] == Approx(plain[0]).epsilon(1e-5));
            const auto code = detail::make_scalar_code(n.group, 1);
            if (!fetched) CHECK(code.calls.size() == 1);
        }
    }
}

TEST_CASE("scalar_jit: what has no code goes before the numbers that it does not read, and behind those that it does") {
    compile_used_ops();
    if (!has_code()) return;
    require_primitive<atan_op, float>();
    const with_emitter made;
    tracer t({dtype::float32}, {});
    const auto arctangent = t.finish_op(t.emit(info_of<atan_op>, dtype::float32, {t.leaf(0)}));
    nodes n;
    for (int k = 0; k < 4; ++k)
        n.add(step_program(), {k == 0 ? fusion_group::source{-1, 0} : fusion_group::source{k - 1, 0}, {-1, 1}});
    n.add(arctangent, {{-1, 1}}); // of what is fed
    n.add(step_program(), {{3, 0}, {4, 0}});
    n.add(arctangent, {{5, 0}}); // of what was computed
    n.add(step_program(), {{6, 0}, {5, 0}}, 0);
    const auto code = detail::make_scalar_code(n.group, 1);
    CHECK(code.calls.size() == 4); // an arctangent, a group, an arctangent, a group
    float x = 0.7f;
    const float y = 0.3f;
    for (int k = 0; k < 4; ++k) x = std::sin(x) * y + x;
    const float z = std::sin(x) * std::atan(y) + x, u = std::atan(z);
    CHECK(run<float>(n.group, {0.7f, 0.3f}, 1)[0] == Approx(std::sin(u) * z + u).epsilon(1e-4));
}

TEST_CASE("scalar_jit: a choice alone between calls without code reads a truth value that has a place") {
    compile_used_ops();
    if (!has_code()) return;
    require_primitive<atan_op, float>();
    const auto of = [](std::vector<dtype> leaves, const elementwise_info& op, dtype result) {
        std::vector<int> args;
        tracer t(leaves, {});
        for (std::size_t i = 0; i < leaves.size(); ++i) args.push_back(t.leaf(static_cast<int>(i)));
        return t.finish_op(t.emit(op, result, args));
    };
    const auto arctangent = of({dtype::float32}, info_of<atan_op>, dtype::float32);
    const auto less = of({dtype::float32, dtype::float32}, info_of<less_op>, dtype::boolean);
    const auto negated = of({dtype::boolean}, info_of<logical_not_op>, dtype::boolean);
    const auto choose = of({dtype::boolean, dtype::float32, dtype::float32}, info_of<select_op>, dtype::float32);
    nodes n;
    const int steps = 6;
    for (int k = 0; k < steps; ++k)
        n.add(step_program(), {k == 0 ? fusion_group::source{-1, 0} : fusion_group::source{k - 1, 0}, {-1, 1}});
    n.add(arctangent, {{steps - 1, 0}});
    n.add(less, {{-1, 1}, {steps, 0}});
    n.add(negated, {{steps + 1, 0}});
    n.add(choose, {{steps + 2, 0}, {steps, 0}, {-1, 1}}); // alone: an arctangent before it, and one behind
    n.add(arctangent, {{steps + 3, 0}});
    n.add(choose, {{steps + 1, 0}, {steps + 4, 0}, {-1, 0}});
    n.add(arctangent, {{steps + 5, 0}}, 0);
    for (const float y : {0.3f, -0.3f}) {
        float x = 0.7f;
        for (int k = 0; k < steps; ++k) x = std::sin(x) * y + x;
        const float t = std::atan(x), chosen = std::atan(y < t ? y : t);
        const float wanted = std::atan(y < t ? chosen : 0.7f);
        {
            const without_emitter by_calls;
            CHECK(run<float>(n.group, {0.7f, y}, 1)[0] == Approx(wanted).epsilon(1e-4));
        }
        const with_emitter made;
        CHECK(run<float>(n.group, {0.7f, y}, 1)[0] == Approx(wanted).epsilon(1e-4));
    }
}

TEST_CASE("scalar_jit: long lines of truth values, each read twice") {
    compile_used_ops();
    require_kernels<logical_and_op, bool, bool>();
    if (!has_code()) return;
    const auto of = [](std::vector<dtype> leaves, const elementwise_info& op, dtype result) {
        std::vector<int> args;
        tracer t(leaves, {});
        for (std::size_t i = 0; i < leaves.size(); ++i) args.push_back(t.leaf(static_cast<int>(i)));
        return t.finish({t.emit(op, result, args)});
    };
    const auto both = of({dtype::boolean, dtype::boolean}, info_of<logical_and_op>, dtype::boolean);
    const with_emitter made;
    nodes n;
    n.add(of({dtype::float32, dtype::float32}, info_of<less_op>, dtype::boolean), {{-1, 0}, {-1, 1}});
    const int count = 20'000;
    for (int k = 0; k < count; ++k) n.add(both, {{k, 0}, {k, 0}});
    n.add(of({dtype::boolean, dtype::float32, dtype::float32}, info_of<select_op>, dtype::float32),
          {{count, 0}, {-1, 0}, {-1, 1}});
    for (int k = 1; k <= 10; ++k) n.add(step_program(), {{count + k, 0}, {-1, 1}}, k == 10 ? 0 : -1);
    for (const float y : {0.25f, 0.75f}) {
        float x = std::min(0.5f, y);
        for (int k = 0; k < 10; ++k) x = std::sin(x) * y + x;
        CHECK(run<float>(n.group, {0.5f, y}, 1)[0] == Approx(x).epsilon(1e-5));
    }
}

TEST_CASE("scalar_jit: sines of numbers out of reach of their code, and of none") {
    compile_used_ops();
    if (!has_code()) return;
    const with_emitter made;
    const auto sum = [] { // sin(x) + cos(x) + y
        tracer t({dtype::float32, dtype::float32}, {});
        const int a = t.emit(info_of<sin_op>, dtype::float32, {t.leaf(0)});
        const int b = t.emit(info_of<cos_op>, dtype::float32, {t.leaf(0)});
        const int both = t.emit(info_of<add_op>, dtype::float32, {a, b});
        return t.finish({t.emit(info_of<add_op>, dtype::float32, {both, t.leaf(1)})});
    }();
    nodes n;
    for (int k = 0; k < 30; ++k)
        n.add(sum, {{-1, k % 3}, k == 0 ? fusion_group::source{-1, 3} : fusion_group::source{k - 1, 0}},
              k == 29 ? 0 : -1);
    for (const float x : {1e10f, -3e4f, 8192.f, 8193.f, 3e38f}) {
        double expected = 0.25;
        for (const float v : {x, 0.5f, -x}) expected += 10 * (std::sin(double{v}) + std::cos(double{v}));
        CHECK(run<float>(n.group, {x, 0.5f, -x, 0.25f}, 1)[0] == Approx(expected).margin(1e-4));
    }
    for (const float x : {INFINITY, -INFINITY, NAN}) CHECK(std::isnan(run<float>(n.group, {x, 0.5f, 1.f, 0.f}, 1)[0]));
}

TEST_CASE("scalar_jit: random numbers, as without machine code") {
    compile_used_ops();
    if (!has_code()) return;
    std::mt19937 random(11);
    const auto below = [&](std::size_t most) { return static_cast<int>(random() % most); };
    for (int round = 0; round < 60; ++round) {
        nodes n;
        const int inputs = 3, count = 20 + below(400);
        std::vector<fusion_group::source> numbers, truths;
        for (int k = 0; k < inputs; ++k) numbers.push_back({-1, k});
        int results = 0;
        for (int k = 0; k < count; ++k) {
            const auto number = [&] {
                return numbers[numbers.size() - 1 -
                               static_cast<std::size_t>(below(std::min<std::size_t>(numbers.size(), 12)))];
            };
            const int what = below(7);
            if (what == 5) {
                tracer t({dtype::float32, dtype::float32}, {});
                n.add(t.finish_op(t.emit(info_of<less_op>, dtype::boolean, {t.leaf(0), t.leaf(1)})),
                      {number(), number()});
                truths.push_back({k, 0});
                continue;
            }
            // all values stay between -2 and 2, so that errors stay small
            tracer t({dtype::float32, dtype::float32}, {});
            const int a = t.leaf(0), b = t.leaf(1);
            const auto op = [&](const elementwise_info& info, std::vector<int> args) {
                return t.emit(info, dtype::float32, std::move(args));
            };
            if (what == 6 && !truths.empty()) {
                tracer u({dtype::boolean, dtype::float32, dtype::float32}, {});
                n.add(u.finish_op(u.emit(info_of<select_op>, dtype::float32, {u.leaf(0), u.leaf(1), u.leaf(2)})),
                      {truths.back(), number(), number()});
            } else {
                const int made = what == 0   ? op(info_of<tanh_op>, {op(info_of<add_op>, {a, b})})
                                 : what == 1 ? op(info_of<sin_op>, {op(info_of<mul_op>, {a, b})})
                                 : what == 2 ? op(info_of<cos_op>, {op(info_of<sub_op>, {a, b})})
                                 : what == 3
                                     ? op(info_of<maximum_op>, {a, b})
                                     : op(info_of<tanh_op>, {op(info_of<mul_op>, {op(info_of<exp_op>, {a}), b})});
                n.add(t.finish({made}), {number(), number()});
            }
            numbers.push_back({k, 0});
            if (below(8) == 0) n.group.members.back().results = {results++};
        }
        if (results == 0) continue;
        const std::vector<float> in{0.3f, -0.8f, 1.1f};
        std::vector<float> plain;
        {
            const without_emitter by_calls;
            plain = run<float>(n.group, in, static_cast<std::size_t>(results));
        }
        const with_emitter made;
        const auto joined = run<float>(n.group, in, static_cast<std::size_t>(results));
        INFO("round " << round);
        // a comparison of what is nearly equal may come out otherwise: rare, but everything after it is another
        std::size_t far = 0;
        for (std::size_t r = 0; r < plain.size(); ++r) far += !(std::abs(plain[r] - joined[r]) < 1e-3f);
        CHECK(far == 0);
    }
}

TEST_CASE("scalar_jit: where no code can be made, all stays") {
    compile_used_ops();
    if (!has_code()) return;
    static constexpr code_emitter none{
        nullptr, &detail::is_emitted,
        [](const program&, const program_nodes&, const operand_forms&) -> block_function { return nullptr; },
        [](const scalar_loop&) { return loop_code(); }};
    const without_emitter as_it_was;
    detail::register_emitter(&none);
    nodes n;
    for (int k = 0; k < 8; ++k)
        n.add(step_program(), {k == 0 ? fusion_group::source{-1, 0} : fusion_group::source{k - 1, 0}, {-1, 1}},
              k == 7 ? 0 : -1);
    CHECK(detail::make_scalar_code(n.group, 1).calls.size() == 24); // each instruction
    float x = 0.7f;
    for (int k = 0; k < 8; ++k) x = std::sin(x) * 0.3f + x;
    CHECK(run<float>(n.group, {0.7f, 0.3f}, 1)[0] == Approx(x).epsilon(1e-5));
}

} // namespace test_device_cpu_scalar_jit
