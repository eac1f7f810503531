// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// The first text where the condition holds, else the second. It is the node of select for strings. Shape: all three
/// broadcast.
struct string_select_op {
    static constexpr auto name = "StringSelect";
    static constexpr int inputs = 3; // the condition, a, b
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr auto no_gradient = "text does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type> in, std::span<const tensor_type>) const { return in[1].type; }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& to = request.outputs[0].shape;
        const auto places = [&](std::size_t i) { return detail::stretched_places(request.inputs[i].shape, to); };
        return kernel([n = to.size(), c = places(0), a = places(1), b = places(2)](const kernel_args& args) {
            const T *const x = args.in<T>(1), *const y = args.in<T>(2);
            for (index_t i = 0; i < n; ++i) args.out<T>(0)[i] = args.in<bool>(0)[c(i)] ? x[a(i)] : y[b(i)];
        });
    }
};

namespace detail {

/// Returns select of texts. The caller has checked the operands as far as their types are known.
template <graph_operand C, graph_operand A, graph_operand B>
auto string_select(const C& condition, const A& a, const B& b) {
    constexpr auto rule = [](const dims& c, const dims& x, const dims& y) {
        return rules::broadcast(c, rules::broadcast(x, y).shape);
    };
    return apply_node<std::string, std::string>(string_select_op{}, rule, {}, condition, a, b);
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> string_select_op::outputs(std::span<const tensor_type> in) const {
    if (in[0].type != dtype::boolean)
        throw invalid_argument("the condition must be bool, not " + std::string(to_string(in[0].type)));
    if (in[1].type != in[2].type)
        throw invalid_argument("the dtypes differ: " + to_string(in[1]) + " and " + to_string(in[2]));
    detail::check_text(in[1], "what is chosen from");
    return {{dtype::string, detail::stretched_shape(in)}};
}

}} // namespace rill::RILL_ABI
#endif
