// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unordered_set>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/unique.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the elements of a vector that another vector lacks, in order, and their positions. It runs in host memory, because data
/// determine its output shapes.
struct list_diff_op {
    static constexpr auto name = "ListDiff";
    static constexpr int inputs = 2;
    using domain_type = unique_op::hashable;
    using compiled_types = types::numbers;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "which elements differ does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([n = request.inputs[0].shape.size(), m = request.inputs[1].shape.size()](const kernel_args& a) {
            const T *const x = a.in<T>(0), *const y = a.in<T>(1);
            const std::unordered_set<T> without(y, y + m);
            std::vector<T> kept;
            std::vector<std::int32_t> places;
            for (index_t i = 0; i < n; ++i)
                if (!without.contains(x[i])) {
                    kept.push_back(x[i]);
                    places.push_back(static_cast<std::int32_t>(i));
                }
            const dims shape{static_cast<index_t>(kept.size())};
            any_array values(dtype_of<T>, shape), at(dtype::int32, shape);
            std::copy(kept.begin(), kept.end(), static_cast<T*>(values.mutable_data()));
            std::copy(places.begin(), places.end(), static_cast<std::int32_t*>(at.mutable_data()));
            a.sized[0] = std::move(values);
            a.sized[1] = std::move(at);
        });
    }
};

/// Returns the elements of x that are not in y, and their positions in x: auto [values, places] = list_diff(x, y).
template <graph_operand X, graph_operand Y>
auto list_diff(const X& x, const Y& y, const std::source_location& where = std::source_location::current()) {
    const any_tensor made = apply_node(list_diff_op{}, where, x, y);
    const any_tensor places(endpoint{made.node(), 1});
    if constexpr (typed_operand<X>)
        return std::pair(tensor<value_type_of<X>, dyn>(detail::unchecked, made),
                         tensor<std::int32_t, dyn>(detail::unchecked, places));
    else
        return std::pair(made, places);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> list_diff_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    for (const auto& list : in)
        if (list.shape.known_rank() && list.shape.rank != 1)
            throw invalid_argument("tensors of rank 1 are expected, not " + to_string(list));
    return {{in[0].type, {dyn}}, {dtype::int32, {dyn}}};
}

}} // namespace rill::RILL_ABI
#endif
