// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/accumulator_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes the mean or the sum of all gradients out of an accumulator, once there are n or more. Waiting ops are served in order. The
/// accumulator's step then increases by one.
struct accumulator_take_gradient_op : detail::resource_user {
    static constexpr auto name = "AccumulatorTakeGradient";
    static constexpr int inputs = 2; // the handle, n
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    static constexpr bool is_async = true, has_dynamic_outputs = true, consumes = true;
    static constexpr auto no_gradient = "gradients end at an accumulator";
    tensor_type type;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type.type);
        visit("shape", op.type.shape);
    }
    input_list host_inputs() const { return {0, 1}; }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return type.type; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the number of gradients");
        return {type};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([expected = type, count = r.inputs[1].type](const kernel_args& a) {
            const auto divide = [](void* sum, std::int64_t by, index_t n) {
                // the count may exceed the range of a narrow type
                using wide = std::conditional_t<std::is_integral_v<T>,
                                                std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                                                compute_type<T>>;
                auto* const all = static_cast<T*>(sum);
                for (index_t i = 0; i < n; ++i)
                    all[i] = static_cast<T>(static_cast<wide>(all[i]) / wide(static_cast<real_type<wide>>(by)));
            };
            detail::resource_of<detail::accumulator_state>(a)->take(expected, detail::count_of(count, a.in<void>(1)),
                                                                    divide, *a.wait, a.sized);
        });
    }
};

}} // namespace rill::RILL_ABI
