// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/device/cpu/jit/jit_limits.hpp>
#include <rill/device/cpu/jit/jit_loop.hpp>
#include <rill/device/cpu/jit/vector_math.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/rill.hpp>
#include <rill/runtime/control_flow/loops/lower_loop.hpp>

#include "catch.hpp"
#include "runtime/loop_node.hpp"

/// Loops over numbers as machine code, run by themselves.
namespace loop_machine {

using namespace rill;

template <class Op, class... T> void known() { detail::register_vector_op<Op, T...>(); }

/// The ops of these tests as machine code, also where the headers are all there is.
template <class T> void require_ops() {
    known<add_op, T, T>(), known<sub_op, T, T>(), known<mul_op, T, T>(), known<less_op, T, T>();
    known<greater_op, T, T>(), known<equal_op, T, T>(), known<neg_op, T>(), known<select_op, bool, T, T>();
    known<cast_op<float>, T>(), known<cast_op<double>, T>(), known<cast_op<std::int32_t>, T>();
    known<cast_op<std::int64_t>, T>(), known<cast_op<bool>, T>();
    known<maximum_op, T, T>();
    if constexpr (std::is_floating_point_v<T>) {
        known<div_op, T, T>(), known<sin_op, T>(), known<exp_op, T>(), known<tanh_op, T>(), known<sqrt_op, T>();
    }
}
inline void require_all() {
    require_ops<float>(), require_ops<double>(), require_ops<std::int32_t>(), require_ops<std::int64_t>();
    known<logical_and_op, bool, bool>(), known<logical_not_op, bool>(), known<cast_op<float>, bool>();
    known<cast_op<double>, bool>(), known<cast_op<std::int32_t>, bool>(), known<cast_op<std::int64_t>, bool>();
}

template <class F> void at_each_level(const F& f) {
    for (const int level : {3, 4})
        if (detail::emits_programs && supports_level(level)) {
            CAPTURE(level);
            f(level);
        }
}

inline detail::lowered_loop lowered(const any_tensor& loop) {
    require_all();
    const auto [it, inputs] = loop_node(loop);
    auto made = with_bound_bodies(loop, [&](const auto& bodies) {
        return detail::lower_loop(*it.op->regions(), {bodies.data(), bodies.size()}, inputs);
    });
    REQUIRE(made);
    return std::move(*made);
}

/// Runs a loop in calls of at most `most` iterations. `outer` holds the inputs of its node behind its operands.
struct machine {
    detail::lowered_loop of;
    loop_code code;

    machine(const any_tensor& loop, int level) : of(lowered(loop)), code(detail::emit_loop(of.loop, level)) {
        REQUIRE(code.run);
    }

    std::int64_t run(const std::vector<void*>& state, const std::vector<const void*>& outer, std::int64_t most,
                     const std::vector<const void*>& slices = {}, const std::vector<void*>& stacked = {}) const {
        const int operands = of.loop.parts() + of.loop.slices;
        std::vector<const void*> given;
        for (const auto& o : code.operands) {
            const void* at = o.constant.bytes.data();
            if (o.input >= 0) {
                const auto& from = of.invariants[static_cast<std::size_t>(o.input - operands)];
                at = from.input < 0 ? from.constant.data() : outer[static_cast<std::size_t>(from.input - operands)];
            }
            given.push_back(at);
        }
        return code.run({given.data(), state.data(), slices.data(), stacked.data(), most});
    }
};

template <class T> bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(a) && std::isnan(b)) return true;
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace loop_machine
