// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// The pieces of each text of a vector, as a sparse matrix. Results: indices [pieces, 2] (text, number of its piece), values [pieces], and
/// the dense shape [2]. The dense shape is the number of texts by the most pieces of a text. Each byte of `delimiter` ends a piece. If it
/// is empty, each byte is a piece. Like all ops with results sized by data, it runs in the host's memory.
struct string_split_op {
    static constexpr auto name = "StringSplit";
    static constexpr int inputs = 1;
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "text does not change smoothly";
    std::string delimiter = " ";
    bool skip_empty = true;

    static void fields(auto& op, auto& visit) {
        visit("delimiter", op.delimiter);
        visit("skip_empty", op.skip_empty);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([n = request.inputs[0].shape.size(), op = *this](const kernel_args& a) {
            op.split({a.in<T>(0), static_cast<std::size_t>(n)}, a.sized);
        });
    }

private:
    void split(std::span<const std::string> texts, any_array* to) const;
};

struct string_split_options {
    bool skip_empty = true; // pieces without bytes are left out
};

/// Returns the pieces of a vector of texts between the bytes of a delimiter: auto [indices, values, dense_shape] = string_split(x, " ").
template <graph_operand X>
auto string_split(const X& x, const std::string& delimiter = " ", const string_split_options& o = {},
                  const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<string_split_op, value_type_of<X>> && extents_of<X>::rank == 1,
                      "string_split: a vector of texts is expected");
    detail::require_kernel_for<string_split_op, std::string>();
    const node* const made = apply_node(string_split_op{delimiter, o.skip_empty}, where, x).node();
    return std::tuple(tensor<std::int64_t, dyn, 2>(detail::unchecked, any_tensor(endpoint{made, 0})),
                      tensor<std::string, dyn>(detail::unchecked, any_tensor(endpoint{made, 1})),
                      tensor<std::int64_t, 2>(detail::unchecked, any_tensor(endpoint{made, 2})));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <algorithm>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> string_split_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "what is split");
    if (in[0].shape.known_rank() && in[0].shape.rank != 1)
        throw invalid_argument("a vector of texts is expected, not " + to_string(in[0]));
    return {{dtype::int64, {dyn, 2}}, {dtype::string, {dyn}}, {dtype::int64, {2}}};
}

RILL_INLINE void string_split_op::split(std::span<const std::string> texts, any_array* to) const {
    std::vector<std::int64_t> places;
    std::vector<std::string> pieces;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string& text = texts[i];
        std::int64_t number = 0;
        const auto add = [&](std::size_t from, std::size_t end) {
            if (skip_empty && from == end) return;
            places.push_back(static_cast<std::int64_t>(i));
            places.push_back(number++);
            pieces.push_back(text.substr(from, end - from));
        };
        if (delimiter.empty()) {
            for (std::size_t k = 0; k < text.size(); ++k) add(k, k + 1);
        } else if (!text.empty()) { // as in TensorFlow, an empty text has no pieces
            std::size_t from = 0;
            for (std::size_t end; (end = text.find_first_of(delimiter, from)) != std::string::npos; from = end + 1)
                add(from, end);
            add(from, text.size());
        }
        most = std::max(most, number);
    }
    const auto count = static_cast<index_t>(pieces.size());
    to[0] = any_array(dtype::int64, {count, 2});
    std::copy(places.begin(), places.end(), static_cast<std::int64_t*>(to[0].mutable_data()));
    to[1] = any_array(dtype::string, {count});
    std::move(pieces.begin(), pieces.end(), static_cast<std::string*>(to[1].mutable_data()));
    to[2] = any_array(dtype::int64, {2});
    auto* const shape = static_cast<std::int64_t*>(to[2].mutable_data());
    shape[0] = static_cast<std::int64_t>(texts.size());
    shape[1] = most;
}

}} // namespace rill::RILL_ABI
#endif
