// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/exchange/stand_in.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("stand in: the shape of its type, or of its input") {
    const graph_scope here{graph()};
    detail::register_exchange_ops();
    const tensor_type whole{dtype::float32, dims{2, 3}}, open{dtype::float32, dims{dyn, 3}};
    const auto add = [](const tensor_type& type, endpoint_list inputs) {
        return any_tensor(
            endpoint{detail::add_node(current_graph(), make_op(stand_in_op{type}), std::move(inputs)), 0});
    };
    const session s;
    CHECK(s.run(zeros_like(add(whole, {}))).shape() == dims{2, 3});
    const placeholder<std::int64_t, 2> shape("shape");
    CHECK(s.run(zeros_like(add(open, {shape})), feed(shape, {4, 3})).shape() == dims{4, 3});
    CHECK_THROWS_WITH(add(open, {}), contains("is open"));
    CHECK_THROWS_WITH(add(open, {shape, shape}), contains("not 2 inputs"));
}
