// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <rill/core/array_text.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// A text whose marks "{}" are replaced by the values of tensors of any type. Shape: [].
struct string_format_op {
    static constexpr auto name = "StringFormat", label = "string_format";
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "text does not change smoothly";
    std::string text;
    std::int64_t tensors = 0;

    static void fields(auto& op, auto& visit) {
        visit("template", op.text);
        visit("tensors", op.tensors);
    }
    input_list host_inputs() const;
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

/// Returns a tensor<std::string>: string_format("loss {} at {}", loss, x). Arrays are written as to_string writes them.
template <graph_operand... X>
    requires(sizeof...(X) > 0)
tensor<std::string> string_format(const std::string& text, const X&... x) {
    return {detail::unchecked, apply_node(string_format_op{text, static_cast<std::int64_t>(sizeof...(X))}, {}, x...)};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD input_list string_format_op::host_inputs() const {
    input_list all;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(tensors); ++i) all.push_back(i);
    return all;
}

RILL_COLD std::vector<tensor_type> string_format_op::outputs(std::span<const tensor_type> in) const {
    std::int64_t marks = 0;
    for (std::size_t at = 0; (at = text.find("{}", at)) != std::string::npos; at += 2) ++marks;
    if (marks != tensors || marks != static_cast<std::int64_t>(in.size()))
        throw invalid_argument("the text has " + std::to_string(marks) + " marks {}, and " + std::to_string(in.size()) +
                               " tensors are given");
    return {{dtype::string, dims{}}};
}

RILL_COLD kernel string_format_op::bound(const kernel_request& r) const {
    std::vector<tensor_type> types(r.inputs.begin(), r.inputs.end());
    return kernel([types = std::move(types), text = text](const kernel_args& a) {
        std::string made;
        std::size_t from = 0;
        for (std::size_t i = 0; i < types.size(); ++i) {
            const auto at = text.find("{}", from);
            made.append(text, from, at - from);
            detail::visit_dtype(types[i].type, [&]<class T>(std::type_identity<T>) {
                detail::write_array<T>(made, a.array(types[i], static_cast<int>(i)));
            });
            from = at + 2;
        }
        *a.out<std::string>(0) = made.append(text, from, std::string::npos);
    });
}

}} // namespace rill::RILL_ABI
#endif
