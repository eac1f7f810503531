// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/angle.hpp>

#include <rill/ops/math/gradients.hpp>

#include "ops/math/complex_test.hpp"

using namespace rill;

TEST_CASE("angle: values and gradient, typed and untyped") {
    complex_test::of_complex([](const auto& z) { return angle(z); }, [](const auto& z) { return std::arg(z); });
}

TEST_CASE("angle: gradient of very large and small numbers, and at 0") {
    using C = std::complex<float>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<C> z("z");
    const auto [d] = gradients(angle(z), z);
    for (const float size : {1e-23f, 1e20f}) {
        const C found = s.run(d, feed(z, C(3 * size, 4 * size)));
        CHECK(found.real() == Approx(-0.16 / size));
        CHECK(found.imag() == Approx(0.12 / size));
    }
    CHECK(s.run(d, feed(z, C(0))) == C(0));
}
