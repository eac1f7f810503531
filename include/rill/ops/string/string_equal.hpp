// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// The equality of texts, as bool. It is the node of equal and not_equal for strings. Shape: a and b broadcast.
struct string_equal_op {
    static constexpr auto name = "StringEqual";
    static constexpr int inputs = 2;
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr auto no_gradient = "text does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& to = request.outputs[0].shape;
        return kernel([n = to.size(), a = detail::stretched_places(request.inputs[0].shape, to),
                       b = detail::stretched_places(request.inputs[1].shape, to)](const kernel_args& args) {
            const T *const x = args.in<T>(0), *const y = args.in<T>(1);
            for (index_t i = 0; i < n; ++i) args.out<bool>(0)[i] = x[a(i)] == y[b(i)];
        });
    }
};

namespace detail {

/// Returns equal of texts. The caller has checked the operands as far as their types are known.
template <graph_operand A, graph_operand B> auto string_equal(const A& a, const B& b) {
    constexpr auto rule = [](const dims& x, const dims& y) { return rules::broadcast(x, y); };
    return apply_node<bool, std::string>(string_equal_op{}, rule, {}, a, b);
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> string_equal_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != in[1].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[0]) + " and " + to_string(in[1]));
    detail::check_text(in[0], "what is compared");
    return {{dtype::boolean, detail::stretched_shape(in)}};
}

}} // namespace rill::RILL_ABI
#endif
