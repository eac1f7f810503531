// SPDX-License-Identifier: BSD-3-Clause
// An elementwise op of one's own: a value and a pullback, written once for scalars, SIMD packs and traced expressions.
// It fuses with its neighbours and can be differentiated as often as one likes.
#include <cmath>
#include <iostream>

#include <rill/rill.hpp>

#include "expect.hpp"

struct softsign {
    static constexpr auto name = "Softsign";
    template <class V> static constexpr V value(V x) { return x / (V(1) + abs(x)); }
    template <class V> static constexpr V pullback(V x, V, V g) {
        auto d = V(1) + abs(x);
        return g / (d * d);
    }
};

using namespace rill;

int main() {
    tensor x = constant({-2.f, -0.5f, 0.5f, 3.f});
    auto y = 2.f * apply<softsign>(x) + 1.f; // one kernel
    const auto [dx] = gradients(reduce_sum(y), x);
    const auto [d2x] = gradients(reduce_sum(dx), x);

    session s;
    const auto [value, first, second] = s.run(std::tuple(y, dx, d2x));
    for (std::size_t i = 0; i < 4; ++i) {
        const float at = s.run(x)(i), d = 1 + std::abs(at);
        std::cout << "x = " << at << ": y = " << value(i) << ", y' = " << first(i) << ", y'' = " << second(i) << '\n';
        expect(std::abs(value(i) - (2 * at / d + 1)) < 1e-6f, "the value");
        expect(std::abs(first(i) - 2 / (d * d)) < 1e-6f, "the gradient");
        expect(std::abs(second(i) + (at < 0 ? -4 : 4) / (d * d * d)) < 1e-5f, "the second derivative");
    }
}
