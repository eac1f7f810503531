// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/strided_layout.hpp>
#include <rill/expr/node_op.hpp>

// Shared parts of the ops over text. Text is always in the host's memory, as are all operands beside it in an op (passes/place.hpp). The
// kernels read elements directly, without a device's primitives.

namespace rill { inline namespace RILL_ABI {

/// A host text as an operand beside a tensor of text.
template <class X>
concept text_literal = std::is_convertible_v<const X&, std::string> && !graph_operand<X>;

namespace detail {

/// A map from the elements of a shape to those of an operand that broadcasts to it.
class stretched_places {
public:
    stretched_places(const dims& from, const dims& to);
    index_t operator()(index_t flat) const;

private:
    dims to_;
    std::array<index_t, max_rank> steps_{}; // strides by axis of the shape
    bool whole_;                            // the operand already has the shape
};

void check_text(const tensor_type& t, const char* what);

/// Returns the type of a text result with the shape of the first operand. Throws unless that operand is text.
std::vector<tensor_type> text_like(std::span<const tensor_type> in);

/// Returns a kernel that fills its output with f of each text.
template <class Out, class F> kernel map_texts(const kernel_request& request, F f) {
    return kernel([n = request.inputs[0].shape.size(), f = std::move(f)](const kernel_args& a) {
        const auto* const texts = a.in<std::string>(0);
        for (index_t i = 0; i < n; ++i) a.out<Out>(0)[i] = f(texts[i]);
    });
}

/// Base of the ops that change each text independently.
struct text_map {
    static constexpr int inputs = 1;
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr auto no_gradient = "text does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return text_like(in); }
};

/// Returns a text with the 26 letters from `first` on replaced by those from `by` on.
std::string with_letters(std::string text, char first, char by);

/// Returns the shape that an op's operands broadcast to. Throws if they do not broadcast.
dims stretched_shape(std::span<const tensor_type> in);

/// Returns true for a tensor of text, by its static type or by its dtype in the graph.
template <class X> bool is_text(const X& x) {
    if constexpr (typed_operand<X>)
        return std::is_same_v<value_type_of<X>, std::string>;
    else if constexpr (untyped_operand<X>)
        return x.dtype() == dtype::string;
    else
        return false;
}
template <class X>
inline constexpr bool may_be_text = untyped_operand<X> || std::is_same_v<rill::dtype_tag<X>, std::string>;
/// True if an elementwise op hands its operands to the op over text. All of them may be text, and at least one has text as its static type.
template <class... X>
inline constexpr bool are_text = (may_be_text<X> && ...) && (std::is_same_v<rill::dtype_tag<X>, std::string> || ...);

} // namespace detail
}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE stretched_places::stretched_places(const dims& from, const dims& to) : to_(to), whole_(from == to) {
    const auto strides = dense_strides(from);
    for (int i = 0; i < from.rank; ++i)
        if (from[i] != 1)
            steps_[static_cast<std::size_t>(to.rank - from.rank + i)] = strides[static_cast<std::size_t>(i)];
}

RILL_INLINE index_t stretched_places::operator()(index_t flat) const {
    if (whole_) return flat;
    index_t at = 0;
    for (int i = to_.rank - 1; i >= 0; flat /= to_[i], --i) at += flat % to_[i] * steps_[static_cast<std::size_t>(i)];
    return at;
}

RILL_INLINE void check_text(const tensor_type& t, const char* what) {
    if (t.type != dtype::string)
        throw invalid_argument(std::string(what) + " must be string, not " + std::string(to_string(t.type)));
}

RILL_INLINE std::string with_letters(std::string text, char first, char by) {
    for (char& c : text)
        if (c >= first && c < first + 26) c = static_cast<char>(c - first + by);
    return text;
}

RILL_INLINE std::vector<tensor_type> text_like(std::span<const tensor_type> in) {
    check_text(in[0], "the elements");
    return {in[0]};
}

RILL_INLINE dims stretched_shape(std::span<const tensor_type> in) {
    dims shape = in[0].shape;
    for (const auto& t : in.subspan(1)) {
        const auto next = rules::broadcast(shape, t.shape);
        if (!next.ok()) throw invalid_argument(next.reason());
        shape = next.shape;
    }
    return shape;
}

}}} // namespace rill::RILL_ABI::detail
#endif
