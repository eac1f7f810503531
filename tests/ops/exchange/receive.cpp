// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/exchange/receive.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("receive: outside a partitioned step, and with fields that no edge has, it is refused") {
    const graph_scope here{graph()};
    detail::register_exchange_ops();
    const tensor_type number{dtype::float32, dims{}};
    const any_tensor got(endpoint{detail::add_node(current_graph(), make_op(receive_op{3, number}), {}), 0});
    CHECK(got.dtype() == dtype::float32);
    CHECK_THROWS_WITH(session().run(got), contains("exchanges no values") && contains("node 'receive'"));
    CHECK_THROWS_WITH(detail::add_node(current_graph(), make_op(receive_op{-2, number}), {}), contains("edge -2"));
    CHECK_THROWS_WITH(detail::add_node(current_graph(), make_op(receive_op{0, number, -1}), {}),
                      contains("wire is -1"));
}
