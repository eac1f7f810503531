// SPDX-License-Identifier: BSD-3-Clause
// Ops of one's own, by public names alone. An elementwise op is a value and a pullback, written once for scalars, SIMD packs
// and traced expressions: it fuses with its neighbours. A node op states its fields, its shape rule, its gradient and its
// kernel. Both can be differentiated as often as one likes, shared, and made by name.
#include <cmath>
#include <iostream>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

struct softsign {
    static constexpr auto name = "Softsign";
    using domain_type = domains::real_floating;
    template <class V> static constexpr V value(V x) { return x / (V(1) + abs(x)); }
    template <class V> static constexpr V pullback(V x, V, V g) {
        auto d = V(1) + abs(x);
        return g / (d * d);
    }
};

/// y[i] = x[i] + decay y[i - 1] along a vector; backwards if asked. Its gradient is the same op the other way round.
struct decayed_sum_op {
    static constexpr auto name = "DecayedSum";
    using domain_type = domains::real_floating;
    double decay = 1;
    bool backwards = false;

    static void fields(auto& op, auto& visit) { visit("decay", op.decay), visit("backwards", op.backwards); }
    constexpr shape_result shape(const dims& x) const {
        if (x.known_rank() && x.rank != 1) return {x, "a vector is expected"};
        return {x};
    }
    std::vector<endpoint> gradient(const gradient_request& r) const {
        return {r.add<decayed_sum_op>(decayed_sum_op{decay, !backwards}, {r.gradient()})};
    }
    /// What depends on shapes alone is done here, once; the kernel is called in every step.
    template <class Device, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        return kernel([n, keep = static_cast<T>(decay), back = backwards](const kernel_args& a) {
            const T *from = a.in<T>(0), *end = from + n;
            T *to = a.out<T>(0), sum = 0;
            if (back)
                for (to += n; end != from;) *--to = sum = *--end + keep * sum;
            else
                for (; from != end;) *to++ = sum = *from++ + keep * sum;
        });
    }
};

template <graph_operand X>
auto decayed_sum(const X& x, double decay, const std::source_location& where = std::source_location::current()) {
    return apply_node(decayed_sum_op{decay}, [](const dims& shape) { return decayed_sum_op().shape(shape); }, where, x);
}

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

    // of a matrix it is an invalid_argument that names this line: a vector is expected
    const tensor sums = decayed_sum(x, 0.5);
    const auto [dsums] = gradients(reduce_sum(sums * sums), x);
    const auto [total, slope] = s.run(std::tuple(sums, dsums));
    std::cout << "decayed sums: " << total(0) << ' ' << total(1) << ' ' << total(2) << ' ' << total(3) << '\n';
    expect(total(0) == -2.f && total(1) == -1.5f && total(2) == -0.25f && total(3) == 2.875f, "the decayed sums");
    // d(sum of squares)/dx[2]: x[2] is in the last two sums, half of it in the last
    expect(std::abs(slope(2) - (2 * -0.25f + 2 * 2.875f * 0.5f)) < 1e-5f, "their gradient");
}
