// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/segment.hpp>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

#include "catch.hpp"
#include "without_emitter.hpp"

using namespace rill;

namespace test_segment {

/// Throws when it runs: one of ours, a standard exception, or a number.
enum class what { ours, foreign, number };
template <what What> struct trap_op {
    static constexpr auto name = What == what::ours ? "OurTrap" : What == what::foreign ? "ForeignTrap" : "NumberTrap";
    static constexpr auto no_gradient = "it never returns";
    shape_result shape(const dims& a) const { return {a}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args&) {
            if constexpr (What == what::ours)
                throw out_of_range("index 7 of 3");
            else if constexpr (What == what::foreign)
                throw std::length_error("too long");
            else
                throw 42;
        });
    }
    friend bool operator==(const trap_op&, const trap_op&) = default;
};

/// Adds one to the first half of a variable, then throws.
struct half_op {
    static constexpr auto name = "Half";
    static constexpr auto no_gradient = "it never returns";
    static constexpr int inputs = 1, alias = 0;
    static constexpr bool stateful = true, replaces_variables = true;
    input_list writes() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([n = r.inputs[0].shape.size()](const kernel_args& a) {
            for (index_t i = 0; i < n / 2; ++i) a.variable<T>(0)[i] = a.variable_was<T>(0)[i] + T(1);
            throw out_of_range("half way");
        });
    }
};

struct fixture {
    graph g;
    graph_scope here{g};
    tracked_allocator memory;
    detail::resource_store resources{memory};

    /// Binds what the fetches need for these values of the feeds.
    std::shared_ptr<detail::segment> bind(const std::vector<endpoint>& fetches, const std::vector<endpoint>& feeds = {},
                                          const std::vector<tensor_type>& types = {}) {
        return detail::segment::bind(sort_items(order_variable_accesses(prune(fetches, {}, feeds))), types, resources,
                                     memory);
    }
    /// One run; the first fetch's values.
    template <class T>
    std::vector<T> run(detail::segment& s, const std::vector<const void*>& feeds = {}, step_trace* trace = nullptr) {
        auto f = s.acquire();
        std::vector<T> out;
        for (std::size_t i = 0; i < feeds.size(); ++i) s.feed(*f, i, feeds[i]);
        try {
            if (trace) {
                detail::step_recorder to(*trace, environment::real());
                detail::trace_scope all{to};
                step_context context;
                context.trace = &all;
                s.run(*f, context);
            } else {
                s.run(*f, detail::no_step);
            }
            const auto* data = static_cast<const T*>(s.fetch_data(*f, 0));
            out.assign(data, data + s.fetch_type(0).shape.size());
        } catch (...) {
            s.release(std::move(f));
            throw;
        }
        s.release(std::move(f));
        return out;
    }
    /// Gives a variable of floats its first value: ones.
    std::shared_ptr<detail::variable_state> begin(const any_tensor& v) {
        const auto state = resources.variable(v.node());
        any_array ones(dtype::float32, state->type().shape);
        std::fill_n(static_cast<float*>(ones.mutable_data()), ones.size(), 1.f);
        state->begin_with(ones);
        return state;
    }
    template <what What> tensor<float> trap(const tensor<float>& x, const std::string& name) {
        require_kernel<trap_op<What>, float>();
        return tensor<float>(any_tensor(endpoint{detail::add_node(g, make_op(trap_op<What>{}), {x}, name), 0}));
    }
};

} // namespace test_segment

using test_segment_fixture = test_segment::fixture;

TEST_CASE_METHOD(test_segment_fixture,
                 "segment: a fusion group of elementwise nodes is one step, with memory for two blocks") {
    placeholder<float, dyn> x("x");
    tensor<float, dyn> last = x;
    for (int i = 0; i < 10; ++i) last = tensor<float, dyn>(last + 1.f);
    std::shared_ptr<detail::segment> s;
    for (const bool emitted : {true, false}) { // where all is one function, nothing lies between
        const auto by_nodes = emitted ? nullptr : std::make_unique<without_emitter>();
        s = bind({last}, {x}, {{dtype::float32, dims{1000}}});
        CHECK(s->steps() == 1);
        if (!emitted) CHECK(s->arena_bytes() == 3 * 4032);
        CHECK(s->arena_bytes() <= 3 * 4032);
    }
    std::vector<float> values(1000, 0.5f);
    CHECK(run<float>(*s, {values.data()}) == std::vector<float>(1000, 10.5f));
    CHECK(values == std::vector<float>(1000, 0.5f)); // what is fed is borrowed, never written
}

TEST_CASE_METHOD(test_segment_fixture, "segment: no place is taken from a value that is used later, or fetched") {
    placeholder<float, dyn> x("x");
    const tensor a(exp(x), "a"), b(a + 1.f, "b"), c(b * 2.f, "c"), d(a + c, "d");
    const auto s = bind({d, a, b}, {x}, {{dtype::float32, dims{2}}});
    const std::vector<float> zero(2);
    auto f = s->acquire();
    s->feed(*f, 0, zero.data());
    s->run(*f, detail::no_step);
    CHECK(static_cast<const float*>(s->fetch_data(*f, 0))[1] == 5.f);
    CHECK(static_cast<const float*>(s->fetch_data(*f, 1))[1] == 1.f);
    CHECK(static_cast<const float*>(s->fetch_data(*f, 2))[1] == 2.f);
    s->release(std::move(f));
}

TEST_CASE_METHOD(test_segment_fixture, "segment: what depends on constants alone is computed once, when it is bound") {
    placeholder<float, 2> x("x");
    const tensor two(constant({1.f, 1.f}) + 1.f, "two"), four(two * two, "four");
    const tensor y(x * four, "y");
    const auto s = bind({y, four}, {x}, {{dtype::float32, dims{2}}});
    step_trace trace;
    const std::vector<float> in{1, 2};
    CHECK(run<float>(*s, {in.data()}, &trace) == std::vector<float>{4, 8});
    CHECK(trace.entries.size() == 1);
    CHECK(trace.position("y") == 0);
    CHECK(run<float>(*bind({four})) == std::vector<float>{4, 4}); // nothing else to do at all
}

TEST_CASE_METHOD(test_segment_fixture, "segment: strings have memory of their own, run after run") {
    placeholder<std::string, dyn> x("x");
    const variable<std::string, 2> w("w", {"", ""});
    const auto s = bind({w.assign(tensor<std::string, 2>(any_tensor(identity(x))))}, {x}, {{dtype::string, dims{2}}});
    for (const std::size_t size : {3u, 300u, 0u}) {
        const std::vector<std::string> words{std::string(size, 'a'), "b"};
        CHECK(run<std::string>(*s, {words.data()}) == words);
    }
    const tensor folded = identity(constant({std::string("one"), std::string(100, '2')}));
    CHECK(run<std::string>(*bind({folded}))[1].size() == 100);
}

TEST_CASE_METHOD(test_segment_fixture, "segment: a frame holds a large version for as long as a step reads it") {
    constexpr index_t n = 2000;
    const variable<float, n> once("once", 0.f), twice("twice", 0.f), whole("whole", 0.f), trained("trained", 0.f),
        added("added", 0.f), fetched("fetched", 0.f);
    const variable<float, 4> small("small", 0.f);
    for (const auto& v : std::vector<any_tensor>{once, twice, whole, trained, added, fetched, small}) begin(v);
    const tensor ids = constant({1, 3}), others = constant({5, 3});
    const tensor found = gather(once, ids);
    const tensor sum = reduce_sum(found) + reduce_sum(gather(twice, ids)) + reduce_sum(gather(twice, others)) +
                       reduce_sum(whole) + reduce_sum(gather(trained, ids)) + reduce_sum(gather(small, ids));
    const tensor more = fetched.assign_add(1.f);
    const std::vector<endpoint> fetches{sum, more}, feeds;
    const std::vector<const node*> targets{trained.scatter_add(ids, found).node(), added.assign_add(1.f).node()};
    const std::vector<tensor_type> no_types;
    const auto s = detail::segment::bind(sort_items(order_variable_accesses(prune(fetches, targets, feeds))), no_types,
                                         resources, memory);
    using start = detail::bound_graph::bound_variable::start;
    const auto f = s->acquire();
    for (int k = 0; k < 2; ++k) {
        s->run(*f, {});
        CHECK(*static_cast<const float*>(s->fetch_data(*f, 0)) ==
              static_cast<float>(n) + 10.f + (k == 0 ? 0.f : 2.f)); // rows of `trained` were added to
        CHECK(static_cast<const float*>(s->fetch_data(*f, 1))[n - 1] == static_cast<float>(k) + 2.f);
        for (std::size_t i = 0; i < s->bound().variables.size(); ++i) {
            const auto& v = s->bound().variables[i];
            const auto& name = v.origin->name;
            INFO(name);
            const bool one_look_up = name == "once" || name == "trained", unread = name == "added" || name == "fetched";
            CHECK(v.reads == (one_look_up ? start::slices : unread ? start::unread : start::held));
            CHECK(v.needs_value);
            CHECK(bool(f->variables[i]) == (name == "whole" || name == "fetched" || name == "small"));
        }
    }
    s->finish(*f);
}

TEST_CASE_METHOD(test_segment_fixture, "segment: a kernel that fails half way leaves the version that somebody holds") {
    constexpr index_t n = 2000;
    require_kernel<test_segment::half_op, float>();
    const variable<float, n> v("v", 0.f);
    const auto state = begin(v);
    const auto s = bind({endpoint{detail::add_node(g, make_op(test_segment::half_op{}), {v}, "half"), 0}});
    const auto held = state->read();
    CHECK_THROWS_AS(run<float>(*s), out_of_range);
    CHECK_THROWS_WITH(run<float>(*s), contains("half way") && contains("it writes 'v'"));
    CHECK(state->read() == held);
    CHECK(std::count(static_cast<const float*>(held->data()), static_cast<const float*>(held->data()) + n, 1.f) == n);
}

TEST_CASE_METHOD(test_segment_fixture, "segment: no elements, and results without elements") {
    placeholder<float, dyn> x("x");
    const tensor y(exp(x) + 1.f);
    const tensor sum = reduce_sum(exp(x));
    const auto s = bind({y}, {x}, {{dtype::float32, dims{0}}});
    CHECK(run<float>(*s, {nullptr}).empty());
    const auto r = bind({sum}, {x}, {{dtype::float32, dims{0}}});
    CHECK(run<float>(*r, {nullptr}) == std::vector<float>{0});
}

TEST_CASE_METHOD(test_segment_fixture, "segment: frames are kept for the next run, one for each run at a time") {
    placeholder<float, dyn> x("x");
    const tensor a(exp(x));
    const tensor y = a + reduce_sum(a);
    const auto s = bind({y}, {x}, {{dtype::float32, dims{100}}});
    const auto before = memory.bytes_in_use();
    auto first = s->acquire();
    const auto frame_bytes = memory.bytes_in_use() - before;
    CHECK(frame_bytes == s->arena_bytes());
    CHECK(frame_bytes > 0);
    auto second = s->acquire();
    CHECK(second->arenas[0].data() != first->arenas[0].data());
    const auto* kept = first->arenas[0].data();
    s->release(std::move(first));
    auto third = s->acquire();
    CHECK(third->arenas[0].data() == kept);
    CHECK(memory.bytes_in_use() - before == 2 * frame_bytes);
    s->release(std::move(second));
    s->release(std::move(third));
}

TEST_CASE_METHOD(test_segment_fixture, "segment: serves its own list of shapes") {
    placeholder<float, dyn> x("x");
    const auto s = bind({tensor(exp(x))}, {x}, {{dtype::float32, dims{3}}});
    using types = std::vector<tensor_type>;
    CHECK(s->serves(types{{dtype::float32, dims{3}}}));
    CHECK_FALSE(s->serves(types{{dtype::float32, dims{4}}}));
    CHECK_FALSE(s->serves(types{{dtype::float64, dims{3}}}));
    CHECK_FALSE(s->serves(types{}));
    CHECK_FALSE(s->serves(types{{dtype::float32, dims{3}}, {dtype::float32, dims{3}}}));
}

TEST_CASE_METHOD(test_segment_fixture, "segment: an error of a step keeps its code and names op, node and place") {
    placeholder<float> x("x");
    const auto s = bind({trap<test_segment::what::ours>(x, "boom")}, {x}, {{dtype::float32, dims{}}});
    const float value = 1;
    CHECK_THROWS_AS(run<float>(*s, {&value}), out_of_range);
    CHECK_THROWS_WITH(run<float>(*s, {&value}), contains("our_trap") && contains("index 7 of 3") &&
                                                    contains("'boom'") && contains("segment.cpp:"));
    step_trace trace;
    CHECK_THROWS_AS(run<float>(*s, {&value}, &trace), out_of_range);
}

TEST_CASE_METHOD(test_segment_fixture, "segment: an exception of another kind arrives nested in internal") {
    placeholder<float> x("x");
    const auto s = bind({trap<test_segment::what::foreign>(x, "boom")}, {x}, {{dtype::float32, dims{}}});
    const float value = 1;
    bool nested = false;
    try {
        run<float>(*s, {&value});
    } catch (const internal& e) {
        CHECK_THAT(e.what(), contains("foreign_trap") && contains("too long") && contains("'boom'"));
        try {
            std::rethrow_if_nested(e);
        } catch (const std::length_error&) {
            nested = true;
        }
    }
    CHECK(nested);
    CHECK_THROWS_AS(
        run<float>(*bind({trap<test_segment::what::number>(x, "odd")}, {x}, {{dtype::float32, dims{}}}), {&value}),
        internal);
}

TEST_CASE_METHOD(test_segment_fixture, "segment: errors while constants are folded are told in the same way") {
    const tensor one = constant(1.f);
    CHECK_THROWS_AS(bind({trap<test_segment::what::ours>(one, "boom")}), out_of_range);
    CHECK_THROWS_WITH(bind({trap<test_segment::what::ours>(one, "boom")}),
                      contains("index 7 of 3") && contains("'boom_1'") && contains("segment.cpp:"));
    CHECK_THROWS_AS(bind({trap<test_segment::what::foreign>(one, "boom")}), internal);
}

TEST_CASE_METHOD(test_segment_fixture, "segment: an op without a kernel in this program is unimplemented, and named") {
    const any_tensor x = any_placeholder("x", dtype::float32);
    const auto lost =
        endpoint{detail::add_node(g, make_op(test_segment::trap_op<test_segment::what::ours>{}), {x}, "lost"), 0};
    CHECK_THROWS_AS(bind({lost}, {x}, {{dtype::qint32, dims{}}}), unimplemented);
    CHECK_THROWS_WITH(bind({lost}, {x}, {{dtype::qint32, dims{}}}),
                      contains("OurTrap") && contains("qint32") && contains("'lost'"));
}
