// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/number_text.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

struct as_string_options {
    int precision = -1;      // digits after the point (for `shortest`, all digits); -1: 6
    bool scientific = false; // 1.5e+00
    bool shortest = false;   // the shorter of 1.5 and 1.5e+00
    int width = -1;          // the least number of characters of a number
    std::string fill = {};   // padding: "" or " " blanks, "0" zeros, "-" blanks after the number; "+" shows a plus sign too
};

namespace detail {

/// Returns the text of a number, padded as the options say.
std::string padded_number(std::string text, const as_string_options& how);
std::string real_text(double value, const as_string_options& how);

template <class T> std::string text_of_element(const T& x, const as_string_options& how) {
    if constexpr (std::is_same_v<T, bool>)
        return x ? "true" : "false";
    else if constexpr (is_complex<T>)
        return "(" + real_text(static_cast<double>(x.real()), how) + "," +
               real_text(static_cast<double>(x.imag()), how) + ")";
    else if constexpr (is_integral<T>)
        return padded_number(std::to_string(x), how);
    else
        return real_text(static_cast<double>(static_cast<compute_type<T>>(x)), how);
}

} // namespace detail

/// The text of each element. Shape: that of x.
struct as_string_op {
    static constexpr auto name = "AsString";
    static constexpr int inputs = 1;
    using domain_type = domains::comparable;
    using compiled_types = types::common;
    static constexpr auto no_gradient = "text does not change smoothly";
    as_string_options how;

    static void fields(auto& op, auto& visit) {
        visit("precision", op.how.precision);
        visit("scientific", op.how.scientific);
        visit("shortest", op.how.shortest);
        visit("width", op.how.width);
        visit("fill", op.how.fill);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([n = request.inputs[0].shape.size(), how = how](const kernel_args& a) {
            for (index_t i = 0; i < n; ++i) a.out<std::string>(0)[i] = detail::text_of_element(a.in<T>(0)[i], how);
        });
    }
};

/// Returns each element as text: as_string(x), as_string(x, {.precision = 2}). 1.5f gives "1.500000" and "1.50", (1,2)
/// "(1.000000,2.000000)", true "true".
template <graph_operand X>
auto as_string(const X& x, const as_string_options& how = {},
               const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(op_takes<as_string_op, value_type_of<X>>, "as_string: the elements are neither numbers nor bool");
    constexpr auto rule = [](const dims& shape) { return shape_result{shape}; };
    return apply_node<std::string>(as_string_op{how}, rule, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE std::string padded_number(std::string text, const as_string_options& how) {
    const bool sign = text[0] == '-';
    if (!sign && how.fill == "+") text.insert(0, 1, '+');
    const auto wide = static_cast<std::size_t>(std::max(how.width, 0));
    if (text.size() >= wide) return text;
    const std::size_t missing = wide - text.size();
    if (how.fill == "-") return text.append(missing, ' ');
    const bool zeros = how.fill == "0" && (text.back() >= '0' && text.back() <= '9'); // infinity and NaN are padded with blanks
    return text.insert(zeros && sign ? 1 : 0, missing, zeros ? '0' : ' ');
}

RILL_INLINE std::string real_text(double value, const as_string_options& how) {
    const auto form = how.shortest     ? number_form::general
                      : how.scientific ? number_form::scientific
                                       : number_form::fixed;
    return padded_number(number_text(value, form, how.precision < 0 ? 6 : how.precision), how);
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> as_string_op::outputs(std::span<const tensor_type> in) const {
    const dtype type = in[0].type;
    if (!(detail::dtypes_of<as_string_op>() >> static_cast<int>(type) & 1u))
        throw invalid_argument("the elements are " + std::string(to_string(type)) + ", neither numbers nor bool");
    if (how.scientific && how.shortest) throw invalid_argument("scientific and shortest exclude one another");
    if (!is_differentiable(type) && (how.scientific || how.shortest || how.precision >= 0))
        throw invalid_argument("precision, scientific and shortest are of floating numbers, not of " +
                               std::string(to_string(type)));
    if (how.fill.size() > 1 || std::string(" 0-+").find(how.fill) == std::string::npos)
        throw invalid_argument("fill must be empty, \" \", \"0\", \"-\" or \"+\", not \"" + how.fill + "\"");
    constexpr int most = 1000;
    if (how.precision > most || how.width > most)
        throw invalid_argument("precision and width are at most " + std::to_string(most));
    return {{dtype::string, in[0].shape}};
}

}} // namespace rill::RILL_ABI
#endif
