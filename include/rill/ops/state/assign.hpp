// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

/// Both inputs of a write have the variable's dtype and shape.
std::vector<tensor_type> write_outputs(std::span<const tensor_type> in);

} // namespace detail

/// Gives a variable a value. The output is the variable after the write.
struct assign_op {
    static constexpr auto name = "Assign";
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true, initialises = true;
    static constexpr int writes = 1, alias = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return detail::write_outputs(in); }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        return kernel([=](const kernel_args& a) { std::copy_n(a.in<T>(1), n, a.out<T>(0)); });
    }
    friend bool operator==(const assign_op&, const assign_op&) = default;
};

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/state/assign.ipp>
#endif
