// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/handle.hpp>

#include <sstream>

#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_handle {
template <class X> std::string printed(const X& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}
} // namespace test_handle

TEST_CASE("handle: prints name, dtype and shape") {
    using test_handle::printed;
    const graph g;
    const graph_scope here(g);
    const name_scope layer("layer1");
    placeholder<float, dyn, 10> x("x");
    const tensor y = x + x;
    CHECK(printed(x) == "tensor(\"layer1/x:0\", float32, [?, 10])");
    CHECK(printed(y) == "tensor(\"layer1/add:0\", float32, [?, 10])");
    CHECK(printed(any_placeholder("loose", dtype::string)) == "tensor(\"layer1/loose:0\", string, unknown rank)");
    CHECK(printed(group(x, y)) == "operation(\"layer1/group\")");
    CHECK(printed(any_tensor()) == "tensor(null)");
    CHECK(printed(operation()) == "operation(null)");
}

TEST_CASE("handle: keeps its graph alive, and says what it is") {
    any_tensor x;
    {
        const graph g;
        const graph_scope here(g);
        x = placeholder<double, 3>("x");
    }
    CHECK(x.name() == "x:0");
    CHECK(x.dtype() == dtype::float64);
    CHECK(x.static_shape() == dims{3});
    CHECK(x.device() == "");
    CHECK(x.graph().size() == 1);
    any_tensor moved = std::move(x);
    CHECK(moved.name() == "x:0");
    CHECK_FALSE(x); // NOLINT: a handle that was moved from is null
    x = moved;
    CHECK(x.end() == moved.end());
    STATIC_REQUIRE(static_type<placeholder<float, dyn, 2>> == tensor_type{dtype::float32, {dyn, 2}});
}

TEST_CASE("handle: a null one is refused wherever it is used") {
    const any_tensor null;
    CHECK_FALSE(null);
    CHECK_THROWS_AS(null.name(), failed_precondition);
    CHECK_THROWS_AS(null.dtype(), failed_precondition);
    CHECK_THROWS_AS(null.graph(), failed_precondition);
    const tensor<float> typed;
    placeholder<float> x("x");
    CHECK_THROWS_AS(sealed(x + typed), failed_precondition);
    CHECK_THROWS_AS(session().run(typed), failed_precondition);
    CHECK_THROWS_AS(operation().run(), failed_precondition);
    CHECK_THROWS_AS(operation().graph(), failed_precondition);
    CHECK_THROWS_AS(operation().name(), failed_precondition);
}
