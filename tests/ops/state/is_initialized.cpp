// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/is_initialized.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/zeros.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_state_is_initialized {

TEST_CASE("is_initialized: reads no value, typed and untyped") {
    const graph g;
    const graph_scope here(g);
    variable<float, 2> v("v", {1.f, 2.f});
    variable<std::string> text("text", std::string("a"));
    variable<int, 0, 3> empty("empty", zeros<int, 0, 3>());
    const tensor<bool> known = is_initialized(v);
    const session s(g), t(g);
    const auto check = [&](const auto& x) {
        const tensor<bool> untyped = is_initialized(any_tensor(x));
        CHECK_FALSE(s.run(is_initialized(x)));
        CHECK_FALSE(s.run(untyped));
        s.run(x.initializer());
        CHECK(s.run(is_initialized(x)));
        CHECK(s.run(untyped));
    };
    check(v);
    check(text);
    check(empty); // which has no elements
    CHECK(s.run(known));
    CHECK_FALSE(t.run(known)); // each session has its own
    CHECK_THROWS_AS(t.run(std::tuple(known, v)), failed_precondition);
}

TEST_CASE("is_initialized: in one step with a write") {
    const graph g;
    const graph_scope here(g);
    variable<float> v("v", 1.f);
    const tensor<bool> before = is_initialized(v);
    const auto written = v.assign(constant(2.f));
    const auto after = [&] {
        const control_dependencies behind(written);
        return is_initialized(v);
    }();
    const session s(g);
    const auto [b, w, a] = s.run(std::tuple(before, written, after));
    CHECK_FALSE(b);
    CHECK(w == 2);
    CHECK(a);
    CHECK(s.run(before));
}

TEST_CASE("is_initialized: a write that failed left no value") {
    const graph g;
    const graph_scope here(g);
    variable<int> v("v", 0);
    placeholder<int> by("by");
    const auto write = v.assign(10 / by);
    const session s(g);
    CHECK_THROWS_AS(s.run(std::tuple(write, is_initialized(v)), feed(by, 0)), invalid_argument);
    CHECK_FALSE(s.run(is_initialized(v)));
    s.run(write, feed(by, 5));
    CHECK(s.run(is_initialized(v)));
}

TEST_CASE("is_initialized: of nothing but variables") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float> x("x");
    CHECK_THROWS_WITH(is_initialized(x), contains("is_initialized: 'x:0' is not a variable"));
    const op_ptr made = make_op("IsVariableInitialized");
    CHECK(made->equals(*make_op(is_initialized_op{})));
}

} // namespace test_ops_state_is_initialized
