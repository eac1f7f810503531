// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/add.hpp>
#include <rill/ops/state/assign.hpp>

namespace rill::inline RILL_ABI {

/// Adds to a variable, in place and as one step. The output is the variable after the write.
struct assign_add_op {
    static constexpr auto name = "AssignAdd";
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true;
    static constexpr int writes = 1, alias = 0;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return detail::write_outputs(in); }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        return kernel([=](const kernel_args& a) {
            D::template map<structure<add_op, T, leaf<T>, leaf<T>>>(n, a.out<T>(0), a.in<T>(0), a.in<T>(1));
        });
    }
    friend bool operator==(const assign_add_op&, const assign_add_op&) = default;
};

} // namespace rill::inline RILL_ABI
