// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/core/dims.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns a value of a given type with unspecified elements. In a partition it replaces a value of another partition that is read only
/// for its shape. With an input, the shape of the run is the value of that input.
struct stand_in_op {
    static constexpr auto name = "StandIn", label = "stand_in";
    static constexpr int least_inputs = 0;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "it belongs to a part of a run, which is made after gradients";
    tensor_type type;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.type.type);
        visit("shape", op.type.shape);
    }
    static input_list shape_inputs() { return {0}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args&) {});
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> stand_in_op::outputs(const known_inputs& in) const {
    if (in.types.size() > 1)
        throw invalid_argument("stand_in: takes at most a shape, not " + std::to_string(in.types.size()) + " inputs");
    if (in.types.empty()) {
        if (!type.shape.complete()) throw invalid_argument("stand_in: the shape of " + to_string(type) + " is open");
        return {type};
    }
    tensor_type made = type;
    const any_array* shape = in.value(0);
    if (!shape) return {made};
    made.shape = dims{};
    for (const auto n : shape->elements<std::int64_t>()) made.shape.push(n);
    return {made};
}

}} // namespace rill::RILL_ABI
#endif
