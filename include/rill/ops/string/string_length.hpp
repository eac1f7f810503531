// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// The number of bytes of each text, as int. Shape: that of x.
struct string_length_op {
    static constexpr auto name = "StringLength";
    static constexpr int inputs = 1;
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr auto no_gradient = "text does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::map_texts<std::int32_t>(request,
                                               [](const T& text) { return static_cast<std::int32_t>(text.size()); });
    }
};

/// Returns the number of bytes of each text: string_length(x).
template <graph_operand X>
auto string_length(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<string_length_op, value_type_of<X>>, "string_length: the element type is not string");
    constexpr auto rule = [](const dims& shape) { return shape_result{shape}; };
    return apply_node<std::int32_t, std::string>(string_length_op{}, rule, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> string_length_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the elements");
    return {{dtype::int32, in[0].shape}};
}

}} // namespace rill::RILL_ABI
#endif
