// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unordered_map>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the distinct elements of a vector in order of first occurrence, and the index of each element among them. It runs in
/// host memory, because data determine its output shapes.
struct unique_op {
    static constexpr auto name = "Unique";
    static constexpr int inputs = 1;
    struct hashable {
        template <class T> static constexpr bool has = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;
    };
    using domain_type = hashable;
    using compiled_types = types::numbers;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "which elements differ does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([n = request.inputs[0].shape.size()](const kernel_args& a) {
            const T* const x = a.in<T>(0);
            any_array numbers(dtype::int32, {n});
            auto* const number = static_cast<std::int32_t*>(numbers.mutable_data());
            std::vector<T> found;
            std::unordered_map<T, std::int32_t> known;
            for (index_t i = 0; i < n; ++i) {
                const auto [at, fresh] = known.try_emplace(x[i], static_cast<std::int32_t>(found.size()));
                if (fresh) found.push_back(x[i]);
                number[i] = at->second;
            }
            any_array values(dtype_of<T>, {static_cast<index_t>(found.size())});
            std::copy(found.begin(), found.end(), static_cast<T*>(values.mutable_data()));
            a.sized[0] = std::move(values);
            a.sized[1] = std::move(numbers);
        });
    }
};

/// Returns the distinct elements of a vector: auto [values, numbers] = unique(x). gather(values, numbers) is x. NaNs
/// are all distinct.
template <graph_operand X>
auto unique(const X& x, const std::source_location& where = std::source_location::current()) {
    const any_tensor made = apply_node(unique_op{}, where, x);
    const any_tensor numbers(endpoint{made.node(), 1});
    if constexpr (typed_operand<X>) {
        static_assert(extents_of<X>::rank == 1, "unique: a tensor of rank 1 is expected");
        return std::pair(tensor<value_type_of<X>, dyn>(detail::unchecked, made),
                         tensor<std::int32_t, extents_of<X>::value[0]>(detail::unchecked, numbers));
    } else {
        return std::pair(made, numbers);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> unique_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].shape.known_rank() && in[0].shape.rank != 1)
        throw invalid_argument("a tensor of rank 1 is expected, not " + to_string(in[0]));
    return {{in[0].type, {dyn}}, {dtype::int32, in[0].shape.known_rank() ? in[0].shape : dims{dyn}}};
}

}} // namespace rill::RILL_ABI
#endif
