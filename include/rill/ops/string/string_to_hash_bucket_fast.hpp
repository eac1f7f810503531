// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/fingerprint.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// The bucket of each text, in [0, buckets), as int64. It is the FarmHash fingerprint modulo the number of buckets, as in TensorFlow.
/// Shape: that of x.
struct string_to_hash_bucket_fast_op {
    static constexpr auto name = "StringToHashBucketFast";
    static constexpr int inputs = 1;
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr auto no_gradient = "text does not change smoothly";
    std::int64_t num_buckets = 1;

    static void fields(auto& op, auto& visit) { visit("num_buckets", op.num_buckets); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::map_texts<std::int64_t>(request, [n = static_cast<std::uint64_t>(num_buckets)](const T& text) {
            return static_cast<std::int64_t>(detail::fingerprint::of(text) % n);
        });
    }
};

/// Returns the bucket of each text: string_to_hash_bucket_fast(x, 1000).
template <graph_operand X>
auto string_to_hash_bucket_fast(const X& x, std::int64_t num_buckets,
                                const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<string_to_hash_bucket_fast_op, value_type_of<X>>,
                      "string_to_hash_bucket_fast: the element type is not string");
    return apply_node<std::int64_t, std::string>(string_to_hash_bucket_fast_op{num_buckets}, detail::shape_of_first,
                                                 where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> string_to_hash_bucket_fast_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "what is hashed");
    if (num_buckets < 1)
        throw invalid_argument("there are " + std::to_string(num_buckets) + " buckets; 1 or more are needed");
    return {{dtype::int64, in[0].shape}};
}

}} // namespace rill::RILL_ABI
#endif
