// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather.hpp>

// Shared parts of scatter_add, scatter_sub and scatter_update: writes of slices of a variable along its first axis.

namespace rill { inline namespace RILL_ABI {

/// True if updates fit a variable and ids. Their shape must be [ids…, the variable's extents but the first…].
template <class Variable, class Ids, class Updates>
inline constexpr bool updates_fit =
    Variable::rank >= 1 && rules::compatible(rules::gather(static_dims<Variable>, static_dims<Ids>, 0).shape, static_dims<Updates>);

namespace detail {

/// The common base of scatter writes. Inputs: the variable, the ids, the updates. Slices are written in place, in the order of the ids. If
/// an id is out of range, nothing is written. The output is the variable after the write. `Step` joins old and new elements.
template <class Step> struct scatter {
    static constexpr int inputs = 3;
    /// True if updates of that shape fit the variable and the ids.
    template <class Variable, class Ids, class Updates>
    static constexpr bool fits = updates_fit<Variable, Ids, Updates>;
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true;
    static constexpr int alias = 0;

    input_list writes() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return scatter_outputs(in); }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type>) const { return cost_of_slices(in[2]); }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const axis_view view(request.inputs[0].shape, 0);
        return with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const index_check<I> ids(request.inputs[1].shape, view.extent, "id");
            return kernel([=](const kernel_args& a) {
                check_indices<D>(a.on, ids, a.in<I>(1));
                D::template update_rows<Step>(a.on, a.in<I>(1), ids.count, view.inner, std::array{a.variable<T>(0)},
                                              std::array{a.in<T>(2)}, no_constants<T>{}, equal_ids::in_turn);
            });
        });
    }
};

} // namespace detail

}} // namespace rill::RILL_ABI
