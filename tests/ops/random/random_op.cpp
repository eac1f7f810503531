// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_op.hpp>

#include "catch.hpp"

using namespace rill;

static_assert(random_extents_known<2, 3> && random_extents_known<> && !random_extents_known<2, dyn>);

TEST_CASE("random_op: a kernel takes the next stream in each run") {
    const auto counter = std::make_shared<detail::random_counter>("drawn");
    counter->set_drawn(5);
    kernel_request request{{}, {}};
    request.seed = 11;
    request.find_resource = [&](const auto&...) { return counter; };
    const auto draw = [](const random_stream& s, std::uint64_t* to) {
        to[0] = s.seed;
        to[1] = s.run;
    };
    const auto first = detail::random_kernel<std::uint64_t>(request, draw),
               second = detail::random_kernel<std::uint64_t>(request, draw);
    std::uint64_t out[2];
    void* slots[] = {out};
    const std::int32_t zero = 0;
    first({slots, &zero, &zero, &zero, nullptr});
    CHECK(out[0] == 11);
    CHECK(out[1] == 5);
    second({slots, &zero, &zero, &zero, nullptr}); // bound to other shapes, say: it goes on where the first one was
    CHECK(out[1] == 6);
    first({slots, &zero, &zero, &zero, nullptr});
    CHECK(out[1] == 7);
    CHECK(counter->drawn() == 8);
}

TEST_CASE("random_op: types and shapes") {
    CHECK(detail::random_outputs(dtype::float32, {2, 3})[0] == tensor_type{dtype::float32, {2, 3}});
    CHECK_THROWS_WITH(detail::random_outputs(dtype::float32, {2, dyn}), contains("the shape [2, ?] is not known"));
    CHECK_THROWS_WITH(detail::random_outputs(dtype::float32, {-2}), contains("an extent is negative"));
    CHECK_NOTHROW((detail::normal_numbers{dtype::bfloat16, dims{2}, 0, 0}.outputs({})));
    CHECK_THROWS_AS((detail::normal_numbers{dtype::int32, dims{2}, 0, 1}.outputs({})), invalid_argument);
    CHECK_THROWS_AS((detail::normal_numbers{dtype::complex64, dims{2}, 0, 1}.outputs({})), invalid_argument);
    CHECK_THROWS_AS((detail::normal_numbers{dtype::float32, dims{2}, 0, -1}.outputs({})), invalid_argument);
    CHECK_THROWS_AS(
        (detail::normal_numbers{dtype::float32, dims{2}, std::numeric_limits<double>::infinity(), 1}.outputs({})),
        invalid_argument);
}
