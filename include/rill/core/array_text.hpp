// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <iosfwd>
#include <string>
#include <type_traits>

#include <rill/core/host_array.hpp>

// Formats arrays as text for display.

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <class T> void write_element(std::string& to, const T& x) {
    if constexpr (std::is_same_v<T, std::string>) {
        to += '"' + x + '"';
    } else if constexpr (std::is_same_v<T, bool>) {
        to += x ? "true" : "false";
    } else if constexpr (is_complex<T>) {
        write_element(to += '(', x.real());
        write_element(to += ',', x.imag());
        to += ')';
    } else if constexpr (requires { x.value; }) { // quantized types
        write_element(to, x.value);
    } else if constexpr (!std::is_arithmetic_v<T>) { // half, bfloat16
        write_element(to, static_cast<float>(x));
    } else {
        char text[40]; // the shortest text that reads back as the same number
        to.append(text, std::to_chars(text, text + sizeof text, x).ptr);
    }
}

/// Writes the elements from an axis on and advances `at`. Writes only the first and last `ends` elements of a longer axis.
template <class T>
void write_elements(std::string& to, const dims& shape, int axis, const T* at, index_t stride, index_t ends) {
    if (axis == shape.rank) return write_element(to, *at);
    const index_t n = shape[axis], inner = n > 0 ? stride / n : 0;
    to += '{';
    for (index_t i = 0; i < n; ++i) {
        if (i > 0) to += ", ";
        if (n > 2 * ends && i == ends) {
            to += "..., ";
            i = n - ends;
        }
        write_elements(to, shape, axis + 1, at + i * inner, inner, ends);
    }
    to += '}';
}

/// Writes "{{1, 2}, {3, 0.5}}". Writes only the ends of each axis if there are more than 1,000 elements.
template <class T> void write_array(std::string& to, const any_array& array) {
    const index_t ends = array.size() > 1000 ? 3 : 1000;
    write_elements(to, array.shape(), 0, array.elements<T>().data(), array.size(), ends);
}

} // namespace detail

/// Returns "float32 [2, 2] {{1, 2}, {3, 0.5}}". Writes only the ends of each axis if there are more than 1,000 elements.
template <class A>
    requires std::is_same_v<A, any_array>
std::string to_string(const A& array) {
    if (array.empty()) return "any_array()";
    std::string text = to_string(array.type()) + " ";
    detail::visit_dtype(array.dtype(), [&]<class T>(std::type_identity<T>) { detail::write_array<T>(text, array); });
    return text;
}
/// Returns the elements of an xtensor expression: "{{1, 2}, {3, 0.5}}".
template <xtensor_expression X>
    requires element<host_element<X>>
std::string to_string(const X& array) {
    std::string text;
    detail::write_array<host_element<X>>(text, to_any_array<host_element<X>>(array));
    return text;
}

/// Prints dtype, shape and elements.
template <class Stream, class A> // A is looked at first: the constraint on streams asks for operators itself
    requires(std::is_same_v<A, any_array> && requires(Stream& s) { s << std::string(); })
Stream& operator<<(Stream& out, const A& array) {
    out << to_string(array);
    return out;
}

}} // namespace rill::RILL_ABI

namespace xt {

/// Prints a result of a run: std::cout << s.run(y). Argument-dependent lookup finds it in namespace xt. It is less specialized than
/// xtensor's own operator, which wins if xtensor's io header is included.
template <class Traits, class E>
    requires rill::element<typename E::value_type>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const xexpression<E>& array) {
    return out << rill::to_string(array.derived_cast());
}

} // namespace xt
