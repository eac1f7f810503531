// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/exchange/send.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("send: outside a partitioned step, and with fields that no edge has, it is refused") {
    const graph_scope here{graph()};
    const tensor x(constant(1.f));
    detail::register_exchange_ops();
    const operation sent(detail::add_node(current_graph(), make_op(send_op{3, 0}), {x}));
    CHECK_THROWS_WITH(session().run(sent), contains("exchanges no values") && contains("node 'send'"));
    CHECK_THROWS_WITH(detail::add_node(current_graph(), make_op(send_op{-1, 0}), {x}), contains("edge -1"));
    CHECK_THROWS_WITH(detail::add_node(current_graph(), make_op(send_op{0, 3}), {x}), contains("wire is 3"));
    CHECK_THROWS_WITH(detail::add_node(current_graph(), make_op(send_op{}), {x, x}), contains("takes one value"));
}
