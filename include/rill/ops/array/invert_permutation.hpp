// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the inverse of a permutation of 0, 1, …, n - 1: y[x[i]] = i. A number that is out of range or occurs twice is
/// invalid_argument.
struct invert_permutation_op {
    static constexpr auto name = "InvertPermutation";
    static constexpr int inputs = 1;
    using domain_type = domains::index;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = ""; // indices have none

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    static input_list host_inputs() { return {0}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([n = request.inputs[0].shape.size(), space = request.space](const kernel_args& a) {
            any_array all(dtype_of<T>, dims{n});
            auto* const to = static_cast<T*>(all.mutable_data());
            std::fill_n(to, n, T(-1));
            for (index_t i = 0; i < n; ++i) {
                const auto at = static_cast<index_t>(a.in<T>(0)[i]);
                if (at < 0 || at >= n || to[at] >= 0) refuse(at, i, n);
                to[at] = static_cast<T>(i);
            }
            detail::copy_between(nullptr, all.data(), space, a.out<T>(0), dtype_of<T>, n);
        });
    }

private:
    [[noreturn]] static void refuse(index_t id, index_t at, index_t n);
};

/// Returns the inverse permutation: gather(gather(x, order), invert_permutation(order)) is x.
template <ids_argument X = std::vector<int>>
auto invert_permutation(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<X>, "invert_permutation: the elements must be int or std::int64_t");
    return apply_node(invert_permutation_op{}, detail::shape_of_first, where, detail::ids_operand(x, where));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> invert_permutation_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[0].type, "the elements");
    if (in[0].shape.known_rank() && in[0].shape.rank != 1)
        throw invalid_argument("a tensor of rank 1 is expected, not " + to_string(in[0]));
    return {in[0]};
}

RILL_COLD void invert_permutation_op::refuse(index_t id, index_t at, index_t n) {
    throw invalid_argument(std::to_string(id) + " at [" + std::to_string(at) +
                           (id < 0 || id >= n ? "] is outside [0, " + std::to_string(n) + ")" : "] comes twice"));
}

}} // namespace rill::RILL_ABI
#endif
