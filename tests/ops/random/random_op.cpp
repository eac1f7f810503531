// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_op.hpp>

#include "catch.hpp"

using namespace rill;

static_assert(random_extents_known<2, 3> && random_extents_known<> && !random_extents_known<2, dyn>);

TEST_CASE("random_op: the host takes the next stream for each run, and the kernel finds it in its context") {
    const auto counter = std::make_shared<detail::random_counter>("drawn");
    counter->set_drawn(5);
    const auto draw = [](const execution_context& on, std::uint64_t* to) {
        to[0] = on.random->seed;
        to[1] = on.random->run;
    };
    struct bound {
        kernel_request request{{}, {}};
        kernel run;
    };
    const auto bind = [&] {
        bound made;
        made.request.seed = 11;
        made.request.find_resource = [&](const auto&...) { return counter; };
        made.run = detail::random_kernel<std::uint64_t>(made.request, draw);
        return made;
    };
    const auto run = [](const bound& b) {
        std::uint64_t out[2];
        void* slots[] = {out};
        const std::int32_t zero = 0;
        const random_stream stream = b.request.next_stream();
        const execution_context on{.random = &stream};
        b.run({slots, &zero, &zero, on, nullptr});
        return std::pair(out[0], out[1]);
    };
    using drawn = std::pair<std::uint64_t, std::uint64_t>;
    const auto first = bind(), second = bind();
    CHECK(run(first) == drawn(11, 5));
    CHECK(run(second) == drawn(11, 6)); // bound to other shapes, say: it goes on where the first one was
    CHECK(run(first) == drawn(11, 7));
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
