// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/nd_indices.hpp>
#include <rill/ops/state/scatter.hpp>

// Shared parts of scatter_nd_add, scatter_nd_sub and scatter_nd_update: writes of slices of a variable, selected by rows of indices.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The common base of scatter_nd writes. Inputs: the variable, the ids, the updates. Slices are written in place, in the order of the ids.
/// If an index is out of range, nothing is written. The output is the variable after the write. `Step` joins old and new elements.
template <class Step> struct scatter_nd : scatter<Step> {
    template <class Variable, class Ids, class Updates>
    static constexpr bool fits = ids_choose_slices<Variable, Ids> && updates_fit_nd<Variable, Ids, Updates>;

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return scatter_nd_outputs(in); }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return scatter_nd_kernel<D, T, Step>(request, [](const kernel_args& a) { return a.variable<T>(0); });
    }
};

}}} // namespace rill::RILL_ABI::detail
