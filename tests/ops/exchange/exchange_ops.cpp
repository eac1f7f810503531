// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/exchange/exchange_ops.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("exchange ops: passes make them without knowing them") {
    detail::register_exchange_ops();
    const auto& ops = *detail::registered_exchange_ops.load();
    CHECK(ops.send(2, wire_format::as_is)->equals(*make_op(send_op{2, 0})));
    const tensor_type type{dtype::float64, dims{2}};
    const auto receive = ops.receive(2, type, wire_format::upper16, true);
    CHECK(receive->equals(*make_op(receive_op{2, type, 2, true})));
    CHECK(receive->ordering() == step_ordering::reads);
    CHECK(ops.receive(2, type, wire_format::as_is, false)->ordering() == step_ordering::none);
    CHECK(ops.snapshot()->alias() < 0);
    CHECK(ops.placeholder(type)->role() == op_role::placeholder);
    CHECK(ops.constant(any_array(dtype::float32, dims{2}))->constant());
    CHECK(ops.shape()->follows_from_types());
    CHECK(!ops.stand_in(type)->stateful());
}
