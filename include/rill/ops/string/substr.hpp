// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Substrings of texts: `length` bytes from a position on, or fewer if the text ends. A negative position counts from the end. Shape: text,
/// position and length broadcast. A position outside its text, or a negative length, is invalid_argument.
struct substr_op {
    static constexpr auto name = "Substr";
    static constexpr int inputs = 3; // the texts, positions and lengths as int64
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr auto no_gradient = "text does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& to = request.outputs[0].shape;
        const auto places = [&](std::size_t i) { return detail::stretched_places(request.inputs[i].shape, to); };
        return kernel([to, x = places(0), p = places(1), l = places(2)](const kernel_args& a) {
            for (index_t i = 0, n = to.size(); i < n; ++i)
                a.out<T>(0)[i] =
                    part(a.in<T>(0)[x(i)], a.in<std::int64_t>(1)[p(i)], a.in<std::int64_t>(2)[l(i)], i, to);
        });
    }

private:
    static std::string part(const std::string& text, std::int64_t position, std::int64_t length, index_t at,
                            const dims& shape);
};

namespace detail {

/// Returns positions or lengths in std::int64_t, given as a tensor of int or std::int64_t, or as host numbers.
template <class I> auto as_int64(const I& numbers, const std::source_location& where) {
    static_assert(are_ids<I>, "substr: positions and lengths are int or std::int64_t");
    return cast<std::int64_t>(ids_operand(numbers, where));
}

} // namespace detail

/// Returns bytes 2 to 4 of each text: substr(x, 2, 3). Positions and lengths are whole numbers, or tensors that broadcast with x.
template <graph_operand X, ids_argument P, ids_argument L>
auto substr(const X& x, const P& position, const L& length,
            const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<substr_op, value_type_of<X>>, "substr: the element type is not string");
    constexpr auto rule = [](const dims& text, const dims& p, const dims& l) {
        const auto numbers = rules::broadcast(p, l);
        return numbers.ok() ? rules::broadcast(text, numbers.shape) : numbers;
    };
    return apply_node<std::string, std::string>(substr_op{}, rule, where, x, detail::as_int64(position, where),
                                                detail::as_int64(length, where));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> substr_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "what is cut");
    for (const auto& t : in.subspan(1))
        if (t.type != dtype::int64)
            throw invalid_argument("positions and lengths must be int64, not " + std::string(to_string(t.type)));
    return {{dtype::string, detail::stretched_shape(in)}};
}

RILL_INLINE std::string substr_op::part(const std::string& text, std::int64_t position, std::int64_t length, index_t at,
                                        const dims& shape) {
    const auto size = static_cast<std::int64_t>(text.size());
    const auto from = position < 0 ? position + size : position;
    if (from < 0 || from > size || length < 0)
        throw invalid_argument("position " + std::to_string(position) + " and length " + std::to_string(length) +
                               " at " + to_string(rules::position_of(at, shape)) + " are not in the text of " +
                               std::to_string(size) + " bytes");
    return text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(length));
}

}} // namespace rill::RILL_ABI
#endif
