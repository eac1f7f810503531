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
    using detail::normal_numbers, detail::random_numbers;
    const auto drawn = [](const dims& shape) { return random_numbers{dtype::float32, shape}.numbers_type({}).at(0); };
    CHECK(drawn({2, 3}) == tensor_type{dtype::float32, {2, 3}});
    CHECK_THROWS_WITH(drawn({2, dyn}), contains("the shape [2, ?] is not known"));
    CHECK_THROWS_WITH(drawn({-2}), contains("an extent is negative"));
    const std::vector<tensor_type> shape{{dtype::int32, {2}}};
    CHECK(random_numbers{dtype::half, {}}.numbers_type({shape})[0] ==
          tensor_type{dtype::half, {dyn, dyn}}); // known later
    const auto normal = [](dtype type, double stddev) {
        return normal_numbers{{type, dims{2}}, 0, stddev}.outputs({});
    };
    CHECK_NOTHROW(normal(dtype::bfloat16, 0));
    CHECK_THROWS_AS(normal(dtype::int32, 1), invalid_argument);
    CHECK_THROWS_AS(normal(dtype::complex64, 1), invalid_argument);
    CHECK_THROWS_AS(normal(dtype::float32, -1), invalid_argument);
    CHECK_THROWS_AS(normal(dtype::float32, std::numeric_limits<double>::infinity()), invalid_argument);
}
