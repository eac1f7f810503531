// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <rill/core/half.hpp>

namespace rill { inline namespace RILL_ABI {

/// The element types. The numbers are part of the file and wire formats: never reuse or reorder them.
enum class dtype : std::uint8_t {
    invalid,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    boolean,
    string,
    complex64,
    complex128,
    bfloat16,
    half,
    qint8,
    quint8,
    qint32
};

inline constexpr int dtype_count = 20;

namespace detail {

struct dtype_row {
    std::string_view name;
    std::size_t size;
};

// one row per dtype, in the order of the enumeration
inline constexpr std::array<dtype_row, dtype_count> dtype_table{{
    {"invalid", 0},
    {"float32", 4},
    {"float64", 8},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"bool", 1},
    {"string", sizeof(std::string)},
    {"complex64", 8},
    {"complex128", 16},
    {"bfloat16", 2},
    {"half", 2},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
}};

template <dtype D> struct dtype_tag : std::integral_constant<dtype, D> {};

template <class T> struct dtype_trait : dtype_tag<dtype::invalid> {};
template <> struct dtype_trait<float> : dtype_tag<dtype::float32> {};
template <> struct dtype_trait<double> : dtype_tag<dtype::float64> {};
template <> struct dtype_trait<std::int8_t> : dtype_tag<dtype::int8> {};
template <> struct dtype_trait<std::int16_t> : dtype_tag<dtype::int16> {};
template <> struct dtype_trait<std::int32_t> : dtype_tag<dtype::int32> {};
template <> struct dtype_trait<std::int64_t> : dtype_tag<dtype::int64> {};
template <> struct dtype_trait<std::uint8_t> : dtype_tag<dtype::uint8> {};
template <> struct dtype_trait<std::uint16_t> : dtype_tag<dtype::uint16> {};
template <> struct dtype_trait<std::uint32_t> : dtype_tag<dtype::uint32> {};
template <> struct dtype_trait<std::uint64_t> : dtype_tag<dtype::uint64> {};
template <> struct dtype_trait<bool> : dtype_tag<dtype::boolean> {};
template <> struct dtype_trait<std::string> : dtype_tag<dtype::string> {};
template <> struct dtype_trait<std::complex<float>> : dtype_tag<dtype::complex64> {};
template <> struct dtype_trait<std::complex<double>> : dtype_tag<dtype::complex128> {};
template <> struct dtype_trait<bfloat16> : dtype_tag<dtype::bfloat16> {};
template <> struct dtype_trait<half> : dtype_tag<dtype::half> {};
template <> struct dtype_trait<qint8> : dtype_tag<dtype::qint8> {};
template <> struct dtype_trait<quint8> : dtype_tag<dtype::quint8> {};
template <> struct dtype_trait<qint32> : dtype_tag<dtype::qint32> {};

} // namespace detail

/// The dtype of a C++ element type.
template <class T> inline constexpr dtype dtype_of = detail::dtype_trait<T>::value;

/// A C++ type that can be a tensor's element.
template <class T>
concept element = dtype_of<T> != dtype::invalid;

/// Returns the name: "float32", "string", …
constexpr std::string_view to_string(dtype d) { return detail::dtype_table[static_cast<std::size_t>(d)].name; }

/// Returns the bytes of one element in host memory.
constexpr std::size_t size_of(dtype d) { return detail::dtype_table[static_cast<std::size_t>(d)].size; }

/// Returns true for real and complex floating point types. Only these have gradients.
constexpr bool is_differentiable(dtype d) {
    return d == dtype::float32 || d == dtype::float64 || d == dtype::half || d == dtype::bfloat16 ||
           d == dtype::complex64 || d == dtype::complex128;
}

template <class T>
inline constexpr bool is_complex = dtype_of<T> == dtype::complex64 || dtype_of<T> == dtype::complex128;
template <class T> inline constexpr bool is_real_floating = is_differentiable(dtype_of<T>) && !is_complex<T>;
template <class T> inline constexpr bool is_integral = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T> inline constexpr bool is_numeric = is_differentiable(dtype_of<T>) || is_integral<T>;

namespace detail {

/// Calls f(std::type_identity<T>{}) for the element type of d; does nothing for `invalid`. It instantiates f for every
/// dtype, so f must be small.
template <class F> constexpr void visit_dtype(dtype d, F&& f) {
    switch (d) {
    case dtype::invalid: break;
    case dtype::float32: f(std::type_identity<float>{}); break;
    case dtype::float64: f(std::type_identity<double>{}); break;
    case dtype::int8: f(std::type_identity<std::int8_t>{}); break;
    case dtype::int16: f(std::type_identity<std::int16_t>{}); break;
    case dtype::int32: f(std::type_identity<std::int32_t>{}); break;
    case dtype::int64: f(std::type_identity<std::int64_t>{}); break;
    case dtype::uint8: f(std::type_identity<std::uint8_t>{}); break;
    case dtype::uint16: f(std::type_identity<std::uint16_t>{}); break;
    case dtype::uint32: f(std::type_identity<std::uint32_t>{}); break;
    case dtype::uint64: f(std::type_identity<std::uint64_t>{}); break;
    case dtype::boolean: f(std::type_identity<bool>{}); break;
    case dtype::string: f(std::type_identity<std::string>{}); break;
    case dtype::complex64: f(std::type_identity<std::complex<float>>{}); break;
    case dtype::complex128: f(std::type_identity<std::complex<double>>{}); break;
    case dtype::bfloat16: f(std::type_identity<rill::bfloat16>{}); break;
    case dtype::half: f(std::type_identity<rill::half>{}); break;
    case dtype::qint8: f(std::type_identity<rill::qint8>{}); break;
    case dtype::quint8: f(std::type_identity<rill::quint8>{}); break;
    case dtype::qint32: f(std::type_identity<rill::qint32>{}); break;
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI
