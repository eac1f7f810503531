// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

// Shared parts of the control-flow primitives. Their nodes have no kernels. A run turns them into branches and loops
// (passes/functionalize/functionalize_control_flow.hpp), or sends values through them one by one (runtime/dataflow/dataflow_plan.hpp).

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a handle to an output that has the operand's type.
template <class X> auto handle_like(const endpoint& e) {
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of<X>>(unchecked, any_tensor(e));
    else
        return any_tensor(e);
}

/// Returns the type of the first input.
inline std::vector<tensor_type> type_of_first(std::span<const tensor_type> in) { return {in[0]}; }

/// Throws invalid_argument unless the type is a bool of rank 0.
void check_predicate(const tensor_type& t, const char* what);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void check_predicate(const tensor_type& t, const char* what) {
    if (t.type != dtype::boolean || (t.shape.known_rank() && t.shape.rank != 0))
        throw invalid_argument(std::string(what) + " must be a bool of rank 0, not " + to_string(t));
}

}}} // namespace rill::RILL_ABI::detail
#endif
