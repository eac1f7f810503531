// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A pendulum by 200 Runge-Kutta steps, over any kind of number; and numbers that carry their derivatives along: what the same
// is by hand.

#include <array>
#include <cmath>
#include <cstddef>

namespace pendulum {

/// The angle after all steps, from rest. Every intermediate value is a Number of its own.
template <class Number> Number after_steps(Number angle, Number speed) {
    constexpr float h = 0.01f, stiffness = 9.81f;
    for (int i = 0; i < 200; ++i) {
        const Number k1 = -stiffness * sin(angle);
        const Number v2 = speed + 0.5f * h * k1;
        const Number k2 = -stiffness * sin(angle + 0.5f * h * speed);
        const Number v3 = speed + 0.5f * h * k2;
        const Number k3 = -stiffness * sin(angle + 0.5f * h * v2);
        const Number v4 = speed + h * k3;
        const Number k4 = -stiffness * sin(angle + h * v3);
        const Number next = angle + h / 6.f * (speed + 2.f * v2 + 2.f * v3 + v4);
        speed = Number(speed + h / 6.f * (k1 + 2.f * k2 + 2.f * k3 + k4));
        angle = next;
    }
    return angle;
}

/// A number and its derivatives by some other, up to the Order-th.
template <std::size_t Order> struct jet {
    std::array<float, Order + 1> d{};
};
template <std::size_t N> jet<N> operator+(const jet<N>& x, const jet<N>& y) {
    jet<N> z;
    for (std::size_t i = 0; i <= N; ++i) z.d[i] = x.d[i] + y.d[i];
    return z;
}
template <std::size_t N> jet<N> operator*(float x, const jet<N>& y) {
    jet<N> z;
    for (std::size_t i = 0; i <= N; ++i) z.d[i] = x * y.d[i];
    return z;
}
template <std::size_t N> jet<N> sin(const jet<N>& x) {
    static_assert(N <= 2);
    jet<N> z;
    z.d[0] = std::sin(x.d[0]);
    if constexpr (N >= 1) z.d[1] = std::cos(x.d[0]) * x.d[1];
    if constexpr (N >= 2) z.d[2] = std::cos(x.d[0]) * x.d[2] - z.d[0] * x.d[1] * x.d[1];
    return z;
}

/// The Order-th derivative of the last angle by the first.
template <std::size_t Order> float by_hand(float angle) {
    jet<Order> first;
    first.d[0] = angle;
    if constexpr (Order >= 1) first.d[1] = 1.f;
    return after_steps(first, jet<Order>()).d[Order];
}

} // namespace pendulum
