// SPDX-License-Identifier: BSD-3-Clause
// A program that brings nothing but the catalogue: what is in it works by name.
#include <rill/all_kernels.hpp>
#include <rill/graph/op/field_bytes.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ops/reads.hpp"

using namespace rill;

namespace test_ops_catalogue {

/// The names in the catalogue and of the optimizers: those of node ops, and of elementwise ones.
struct name_lists {
    std::set<std::string> nodes, elementwise;

    name_lists() {
        catalogue::each([&]<class Op>(std::type_identity<Op>) {
            (detail::node_op_struct<Op> ? nodes : elementwise).insert(Op::name);
        });
        optimizer_rules::each([&]<class Rule>(std::type_identity<Rule>) {
            nodes.insert(update_op<Rule>::name);
            if constexpr (requires { Rule::by_rows; }) nodes.insert(update_rows_op<Rule>::name);
        });
    }
};

/// One elementwise op over one tuple of dtypes, as data: templates end here, so that the test stays quick to compile.
struct elementwise_case {
    const elementwise_info* op;
    std::vector<dtype> operands;
    dtype result;
    /// Writes the value at element i, on single numbers.
    void (*value)(const std::vector<any_array>& at, std::size_t i, void* to);
};

template <class Op, class... A> void value_at(const std::vector<any_array>& at, std::size_t i, void* to) {
    const auto made = [&]<std::size_t... K>(std::index_sequence<K...>) {
        return detail::compute<Op>(lane<A>(static_cast<const A*>(at[K].data())[i])...);
    }(std::index_sequence_for<A...>{});
    std::memcpy(to, &made.v, sizeof made.v);
}

template <class Op, class... A> elementwise_case case_of() {
    return {&info_of<Op>, {dtype_of<A>...}, dtype_of<elementwise_result<Op, A...>>, &value_at<Op, A...>};
}

template <class Op, class T> elementwise_case case_for() {
    constexpr int operands = detail::operands_of<Op, T>();
    if constexpr (requires { typename Op::template operands<T>; })
        return []<class... A>(std::tuple<A...>*) {
            return case_of<Op, A...>();
        }(static_cast<typename Op::template operands<T>*>(nullptr));
    else if constexpr (operands == 1)
        return case_of<Op, T>();
    else if constexpr (operands == 2)
        return case_of<Op, T, T>();
    else
        return case_of<Op, T, T, T>();
}

/// Every elementwise op in every dtype that it takes and rill::kernels holds.
inline std::vector<elementwise_case> all_cases() {
    std::vector<elementwise_case> all;
    catalogue::each([&]<class Op>(std::type_identity<Op>) {
        if constexpr (!detail::node_op_struct<Op>)
            types::common::each([&]<class T>(std::type_identity<T>) {
                if constexpr (detail::is_compiled<Op, T>) all.push_back(case_for<Op, T>());
            });
    });
    return all;
}

inline constexpr index_t count = 37; // more than a register, and a tail

inline any_array sample_operand(dtype type, int salt) {
    any_array a(type, dims{count});
    for (index_t i = 0; i < count; ++i) {
        const double x = 0.25 * static_cast<double>((i * 7 + salt * 11) % 41 - 20); // zeros, ones, both signs
        const auto at = static_cast<std::size_t>(i);
        switch (type) {
        case dtype::float32: static_cast<float*>(a.mutable_data())[at] = static_cast<float>(x); break;
        case dtype::float64: static_cast<double*>(a.mutable_data())[at] = x; break;
        case dtype::int32: static_cast<std::int32_t*>(a.mutable_data())[at] = static_cast<std::int32_t>(x); break;
        case dtype::int64: static_cast<std::int64_t*>(a.mutable_data())[at] = static_cast<std::int64_t>(x); break;
        case dtype::boolean: static_cast<bool*>(a.mutable_data())[at] = (i + salt) % 3 == 0; break;
        default: FAIL("no operand of " << to_string(type));
        }
    }
    return a;
}

inline any_array rows_of_three(const std::vector<float>& values) {
    any_array a(dtype::float32, dims{static_cast<index_t>(values.size()) / 3, 3});
    std::copy(values.begin(), values.end(), static_cast<float*>(a.mutable_data()));
    return a;
}

template <class T> bool close(T got, T wanted) {
    if (std::isnan(wanted)) return std::isnan(got);
    return got == wanted || std::abs(got - wanted) <= 4 * std::numeric_limits<T>::epsilon() * std::abs(wanted);
}

inline bool same_element(dtype type, const void* got, const void* wanted) {
    if (type == dtype::float32) return close(*static_cast<const float*>(got), *static_cast<const float*>(wanted));
    if (type == dtype::float64) return close(*static_cast<const double*>(got), *static_cast<const double*>(wanted));
    return std::memcmp(got, wanted, size_of(type)) == 0;
}

/// The op as the one instruction of a fused node that somebody else made.
inline endpoint one_instruction(const elementwise_case& c, const endpoint_list& inputs) {
    tracer t(c.operands, {});
    std::vector<int> args;
    for (std::size_t i = 0; i < c.operands.size(); ++i) args.push_back(t.leaf(static_cast<int>(i)));
    program p = *t.finish({t.emit(*c.op, c.result, args)});
    p.key = instruction_key(p, p.code[0]);
    return detail::add_program(current_graph(), std::make_shared<const program>(std::move(p)), {}, inputs);
}

/// Arrays of a few dtypes and shapes, which many ops take together. Their whole numbers are valid ids and places.
inline std::vector<any_array> sample_inputs() {
    std::vector<any_array> all;
    const auto add = [&](dtype type, const dims& shape, const auto& element) {
        auto& a = all.emplace_back(type, shape);
        std::fill_n(static_cast<std::decay_t<decltype(element)>*>(a.mutable_data()), a.size(), element);
    };
    for (const dims& shape : {dims{2, 3}, dims{3, 2}, dims{3}, dims{2}, dims{}}) add(dtype::float32, shape, 0.5f);
    add(dtype::int32, {2}, 0);
    add(dtype::int32, {2}, 1);
    add(dtype::int32, {}, 1);
    add(dtype::boolean, {2, 3}, true);
    add(dtype::complex64, {2, 3}, std::complex<float>(1, 2));
    return all;
}

/// A kernel that reads both inputs, or one of them, whatever the op states.
template <bool Both, int... Stated> struct stating_op {
    static constexpr auto name = Both ? (sizeof...(Stated) ? "TestDenies" : "TestReadsBoth")
                                      : (sizeof...(Stated) ? "TestReadsOne" : "TestForgets");
    using domain_type = domains::real_floating;
    static constexpr auto no_gradient = "it is a test's";
    shape_result shape(const dims& a, const dims&) const { return {a}; }
    static input_list shape_only_inputs() { return {Stated...}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([n = r.inputs[0].shape.size(), type = r.inputs[0].type](const kernel_args& a) {
            D::copy(type, a.in<void>(0), a.out<void>(0), n);
            if (Both) D::copy(type, a.in<void>(1), a.out<void>(0), n);
        });
    }
};

template <class Op> std::string misread_of_two() {
    require_kernel<Op, float>();
    const auto all = sample_inputs();
    return op_test::misread(*make_op(Op{}), {all[0], all[0]});
}

} // namespace test_ops_catalogue

TEST_CASE("catalogue: every op is known by name, as what it is") {
    const test_ops_catalogue::name_lists names;
    CHECK(names.nodes.size() > 30);
    CHECK(names.elementwise.size() > 40);
    for (const auto& name : names.nodes) {
        INFO(name);
        const auto* e = find_op(name);
        REQUIRE(e);
        REQUIRE(e->make);
        CHECK(e->elementwise == nullptr);
        const op_ptr made = make_op(name);
        CHECK(made->kernel_name() == name);
        CHECK(made->struct_name() == e->struct_name);
        CHECK(made->version() == e->version);
        CHECK((made->no_gradient_reason() == nullptr) == (e->no_gradient == nullptr));
    }
    for (const auto* e : known_ops()) {
        if (!names.elementwise.contains(std::string(e->name))) continue;
        INFO(e->name);
        REQUIRE(e->elementwise);
        CHECK(e->make == nullptr);
        CHECK(e->elementwise->name == e->name);
        CHECK(e->elementwise->version == e->version);
        CHECK(e->operands >= 1);
        CHECK(e->operands <= 3);
        CHECK_THROWS_AS(make_op(e->name), not_found); // it is an instruction, not a node
    }
    for (const auto& name : names.elementwise) {
        INFO(name);
        CHECK((find_op(name) || find_op(name, dtype::boolean) || find_op(name, dtype::float32)));
    }
}

TEST_CASE("catalogue: every node op, written and read, is the same op") {
    for (const auto& name : test_ops_catalogue::name_lists().nodes) {
        INFO(name);
        const op_ptr made = make_op(name);
        const auto bytes = bytes_of_fields(*made);
        const op_ptr back = make_op(name, made->version(), bytes);
        CHECK(back->equals(*made));
        CHECK(made->equals(*back));
        CHECK(back->hash() == made->hash());
        CHECK(bytes_of_fields(*back) == bytes);
        CHECK_FALSE(std::string(made->name()).empty());
        CHECK_FALSE(made->label().empty());
    }
}

TEST_CASE("catalogue: a fused node without a program, or with too few inputs, is refused") {
    const std::vector<tensor_type> none, one{{dtype::float32, dims{2}}};
    for (const auto* name : {"Fused", "Max", "Min"}) {
        INFO(name);
        CHECK_THROWS_AS(make_op(name)->outputs({one}), invalid_argument);
    }
    fused_spec spec;
    tracer t({dtype::float32}, {});
    spec.body = t.finish({t.emit<neg_op>({t.leaf(0)})});
    spec.leaves = {{0, {}}};
    spec.results.resize(1);
    const fused_op good{spec};
    CHECK(good.outputs(one) == one);
    CHECK_THROWS_AS(good.outputs(none), invalid_argument);
    spec.leaves = {{1, {}}};
    CHECK_THROWS_AS(fused_op{spec}.outputs(one), invalid_argument);
    spec.leaves = {{0, {}}};
    spec.results[0].like = 1;
    CHECK_THROWS_AS(fused_op{spec}.outputs(one), invalid_argument);
}

TEST_CASE("catalogue: the ops of a model's nodes, written and read, are the same and compute the same") {
    const graph g;
    const graph_scope here(g);
    session s(g);
    const placeholder<float, dyn, 3> x("x");
    const variable<float, 3, 2> w("w", {{1.f, 2.f}, {-3.f, 4.f}, {0.5f, 1.f}});
    const auto h = tanh(matmul(x, w) * 2.f + 1.f);
    const tensor loss = reduce_mean(square(select(h > 0.f, h, h * 0.1f))) + reduce_max(h);
    const operation train = adam(0.1f).minimize(loss);
    const auto [dw] = gradients(loss, w);
    const auto [dw2] = gradients(reduce_sum(dw), w);
    for (const node* n : g.nodes()) {
        INFO(n->name << " (" << n->op->name() << ")");
        const op_ptr back = make_op(n->op->kernel_name(), n->op->version(), bytes_of_fields(*n->op));
        CHECK(back->equals(*n->op));
        CHECK(back->name() == n->op->name());
        CHECK(back->hash() == n->op->hash());
    }
    // a graph of the same nodes whose ops were read
    const graph copy;
    std::map<const node*, const node*> twin;
    for (const node* n : g.nodes()) {
        endpoint_list inputs;
        for (const auto& e : n->inputs) inputs.push_back({twin.at(e.from), e.port});
        const auto back = make_op(n->op->kernel_name(), n->op->version(), bytes_of_fields(*n->op));
        const graph_scope there(copy);
        twin[n] = detail::add_node(copy, back, inputs, n->name);
    }
    session t(copy);
    const std::vector<float> values{0.1f, -0.2f, 0.3f, 0.4f, 0.5f, -0.6f};
    s.run(global_variables_initializer());
    t.run(operation(twin.at(g.state().initializer(w.node()))));
    const auto of = [&](const any_tensor& y) { return any_tensor(endpoint{twin.at(y.node()), y.end().port}); };
    const any_array at = test_ops_catalogue::rows_of_three(values);
    for (const any_tensor& y : {any_tensor(loss), any_tensor(dw), any_tensor(dw2)}) {
        const any_array wanted = s.run(y, std::vector<feed_value>{{x, {}, at}});
        const any_array got = t.run(of(y), std::vector<feed_value>{{of(x), {}, at}});
        REQUIRE(got.type() == wanted.type());
        for (std::size_t i = 0; i < wanted.elements<float>().size(); ++i)
            CHECK(got.elements<float>()[i] == Approx(wanted.elements<float>()[i]));
    }
    (void)train;
}

TEST_CASE("catalogue: every elementwise op runs in every dtype that it says it takes") {
    using namespace test_ops_catalogue;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto cases = all_cases();
    CHECK(cases.size() > 130);
    for (const auto& c : cases) {
        INFO(c.op->name << " of " << to_string(c.operands.back()));
        endpoint_list inputs;
        std::vector<feed_value> feeds;
        std::vector<any_array> at;
        for (std::size_t i = 0; i < c.operands.size(); ++i) {
            const auto x = any_placeholder("x", c.operands[i], {count});
            inputs.push_back(x);
            at.push_back(sample_operand(c.operands[i], static_cast<int>(i)));
            feeds.push_back({x, {}, at.back()});
        }
        const any_tensor y = one_instruction(c, inputs);
        std::vector<std::byte> wanted(static_cast<std::size_t>(count) * size_of(c.result));
        for (std::size_t i = 0; i < count; ++i) c.value(at, i, wanted.data() + i * size_of(c.result));
        if (std::exchange(detail::sticky_errors(), 0u)) { // an integer division by zero: reported, also here
            CHECK_THROWS_AS(s.run(y, feeds), invalid_argument);
            continue;
        }
        const any_array got = s.run(y, feeds);
        REQUIRE(got.type() == tensor_type{c.result, dims{count}});
        std::size_t wrong = 0;
        while (wrong < count &&
               same_element(c.result, static_cast<const std::byte*>(got.data()) + wrong * size_of(c.result),
                            wanted.data() + wrong * size_of(c.result)))
            ++wrong;
        CHECK(wrong == count); // the first element that differs
    }
}

TEST_CASE("catalogue: inputs of any number and type are a node or an error that names the op") {
    const graph g;
    const graph_scope in(g);
    const std::vector<std::vector<endpoint>> kinds = {
        {any_placeholder("f", dtype::float32), any_placeholder("m", dtype::float32, {2, 3})},
        {any_placeholder("i", dtype::int32, {4})},
        {any_placeholder("s", dtype::string, {})},
        {any_placeholder("b", dtype::boolean, {2, 3}), any_placeholder("c", dtype::complex64, {3})},
    };
    int nodes = 0, refused = 0;
    for (const auto& name : test_ops_catalogue::name_lists().nodes)
        for (const auto& kind : kinds)
            for (std::size_t count = 0; count < 6; ++count) {
                endpoint_list inputs;
                for (std::size_t i = 0; i < count; ++i) inputs.push_back(kind[i % kind.size()]);
                try {
                    detail::add_node(g, make_op(name), std::move(inputs), "", false, std::source_location::current());
                    ++nodes;
                } catch (const invalid_argument& problem) {
                    const std::string label = make_op(name)->label();
                    INFO(name << " of " << count << ": " << problem.what());
                    CHECK(std::string(problem.what()).find(label) != std::string::npos);
                    ++refused;
                }
            }
    CHECK(nodes > 20);
    CHECK(refused > 200);
}

#if defined(__linux__)
TEST_CASE("catalogue: kernels leave alone the inputs that their ops read for their shape only, and read the others") {
    using namespace test_ops_catalogue;
    CHECK(misread_of_two<stating_op<true>>() == "");
    CHECK(misread_of_two<stating_op<false, 1>>() == "");
    CHECK_THAT((misread_of_two<stating_op<true, 1>>()), contains("input 1 is read, and"));
    CHECK_THAT(misread_of_two<stating_op<false>>(), contains("input 1 is not read, and"));

    const auto samples = sample_inputs();
    std::set<std::string> stating;
    int run = 0;
    const auto try_inputs = [&](const op& o, const std::vector<any_array>& inputs) {
        std::vector<tensor_type> types;
        for (const auto& a : inputs) types.push_back(a.type());
        try {
            (void)o.outputs({types});
        } catch (const error&) {
            return;
        }
        ++run;
        CHECK(op_test::misread(o, inputs) == "");
        if (!o.shape_only_inputs(inputs.size()).empty()) stating.insert(std::string(o.name()));
    };
    for (const auto& name : name_lists().nodes) {
        const op_ptr made = make_op(name);
        if (made->regions() || made->flow()) continue;
        for (const auto& a : samples) {
            try_inputs(*made, {a});
            for (const auto& b : samples) {
                try_inputs(*made, {a, b});
                for (const auto& c : samples) try_inputs(*made, {a, b, c});
            }
        }
    }
    CHECK(run > 500);
    for (const auto* name : {"BiasFor", "ConcatGrad", "GatherGrad", "MaskOver", "RandomUniformLike", "Rank",
                             "ReshapeLike", "Shape", "Size", "SliceGrad", "StridedSliceGrad", "TileGrad"}) {
        INFO(name);
        CHECK(stating.contains(name));
    }
}
#endif

TEST_CASE("catalogue: a first value can't be computed from the place that it is written to") {
    const graph g;
    const graph_scope in(g);
    variable<float> v("v", constant(1.f));
    const auto bytes = bytes_of_fields(*v.assign_add(2.f).node()->op);
    const op_ptr forged = make_op("Assign", 1, bytes);
    CHECK_THROWS_WITH(
        detail::add_node(g, forged, {v, tensor(constant(1.f))}, "", false, std::source_location::current()),
        contains("assign") && contains("place that it is written to"));
}
