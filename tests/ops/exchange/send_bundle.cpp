// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/exchange/send_bundle.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("send bundle: outside a partitioned step, and with fields that no edge has, it is refused") {
    const graph_scope here{graph()};
    detail::register_exchange_ops();
    const tensor x(constant(1.f));
    const operation sent(detail::add_node(current_graph(), make_op(send_bundle_op{3, 0}), {x, x}));
    CHECK_THROWS_WITH(session().run(sent), contains("exchanges no values") && contains("node 'send_bundle'"));
    CHECK_THROWS_WITH(detail::add_node(current_graph(), make_op(send_bundle_op{-1, 0}), {x}), contains("edge -1"));
    CHECK_THROWS_WITH(detail::add_node(current_graph(), make_op(send_bundle_op{0, 3}), {x}), contains("wire is 3"));
}
