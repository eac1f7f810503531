// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/number_text.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// The number that each text represents, with optional blanks around it. Shape: that of x. A text that is not a number, or too large for
/// the type, is invalid_argument.
struct string_to_number_op {
    static constexpr auto name = "StringToNumber";
    static constexpr int inputs = 1;
    using domain_type = types::numbers; // the dtypes of the result
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = "text does not change smoothly";
    dtype out_type = dtype::float32;

    static void fields(auto& op, auto& visit) { visit("out_type", op.out_type); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return out_type; }
    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([shape = request.inputs[0].shape](const kernel_args& a) {
            const auto* const texts = a.in<std::string>(0);
            for (index_t i = 0, n = shape.size(); i < n; ++i) {
                const auto value = detail::parsed_number<T>(detail::without_blanks(texts[i]));
                if (!value)
                    throw invalid_argument(detail::quoted(texts[i]) + " at " + to_string(rules::position_of(i, shape)) +
                                           " is not a valid " + std::string(to_string(dtype_of<T>)));
                a.out<T>(0)[i] = *value;
            }
        });
    }
};

/// Returns the numbers that texts represent: string_to_number<float>(x), for float, double, int or std::int64_t.
template <element T = float, graph_operand X>
auto string_to_number(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(op_takes<string_to_number_op, T>,
                  "string_to_number: the result must be of float, double, int or std::int64_t");
    if constexpr (typed_operand<X>)
        static_assert(same_dtype<value_type_of<X>, std::string>, "string_to_number: the element type is not string");
    constexpr auto rule = [](const dims& shape) { return shape_result{shape}; };
    return apply_node<T, T>(string_to_number_op{dtype_of<T>}, rule, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> string_to_number_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the elements");
    if (!(detail::dtypes_of<string_to_number_op>() >> static_cast<int>(out_type) & 1u))
        throw invalid_argument("the result must be float32, float64, int32 or int64, not " +
                               std::string(to_string(out_type)));
    return {{out_type, in[0].shape}};
}

}} // namespace rill::RILL_ABI
#endif
