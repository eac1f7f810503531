// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/imag.hpp>

#include "ops/math/complex_test.hpp"

using namespace rill;

TEST_CASE("imag: values and gradient, typed and untyped") {
    complex_test::of_complex([](const auto& z) { return imag(z); }, [](const auto& z) { return z.imag(); });
    static_assert(
        std::is_same_v<decltype(imag(std::declval<tensor<std::complex<float>, dyn, 3>>())), tensor<float, dyn, 3>>);
}

TEST_CASE("imag: refusals, and by name") {
    CHECK_THROWS_WITH(imag(any_placeholder("x", dtype::float32)),
                      contains("imag: the elements must be complex, not float32"));
    CHECK(make_op("Imag")->equals(*make_op(imag_op{})));
}
