// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/snapshot.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("snapshot: the value of its turn, whatever is written later in the step") {
    const graph_scope here{graph()};
    const variable<float, 2> v("v", {1.f, 2.f});
    const any_tensor before = apply_node(snapshot_op{}, std::source_location{}, any_tensor(v));
    const tensor written(v.assign_add(constant({10.f, 20.f})));
    const session s;
    s.run(global_variables_initializer());
    const auto [was, is] = s.run(std::tuple(before, any_tensor(written)));
    CHECK(was.elements<float>()[1] == 2.f);
    CHECK(is.elements<float>()[1] == 22.f);
}
