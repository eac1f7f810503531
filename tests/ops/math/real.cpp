// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/real.hpp>

#include "ops/math/complex_test.hpp"

using namespace rill;

TEST_CASE("real: values and gradient, typed and untyped") {
    complex_test::of_complex([](const auto& z) { return real(z); }, [](const auto& z) { return z.real(); });
    static_assert(
        std::is_same_v<decltype(real(std::declval<tensor<std::complex<float>, dyn, 3>>())), tensor<float, dyn, 3>>);
}

TEST_CASE("real: refusals, and by name") {
    CHECK_THROWS_WITH(real(any_placeholder("x", dtype::float32)),
                      contains("real: the elements must be complex, not float32"));
    CHECK(make_op("Real")->equals(*make_op(real_op{})));
}
