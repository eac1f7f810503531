// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/exchange/receive_bundle.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("receive bundle: outside a partitioned step, and with fields that no edge has, it is refused") {
    const graph_scope here{graph()};
    detail::register_exchange_ops();
    const tensor_type number{dtype::float32, dims{}}, open{dtype::float32, dims{dyn}};
    const auto add = [](receive_bundle_op op) { return detail::add_node(current_graph(), make_op(std::move(op)), {}); };
    const auto* got = add({3, {number, number}});
    CHECK(got->outputs.size() == 2);
    CHECK_THROWS_WITH(session().run(any_tensor(endpoint{got, 1})),
                      contains("exchanges no values") && contains("node 'receive_bundle'"));
    CHECK_THROWS_WITH(add({-2, {number}}), contains("edge -2"));
    CHECK_THROWS_WITH(add({0, {number}, -1}), contains("wire is -1"));
    CHECK_THROWS_WITH(add({0, {number, open}}), contains("no fixed size"));
}
