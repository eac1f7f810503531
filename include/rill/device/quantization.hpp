// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <rill/config.hpp>
#include <rill/core/dims.hpp>
#include <rill/core/half.hpp>

// Quantised arithmetic: integers that represent evenly spaced real numbers of a range.

namespace rill { inline namespace RILL_ABI {

/// The mapping of a real range to integers. `min_combined`: the ends of the range map to the smallest and largest integers. `min_first`: 0
/// maps to an integer exactly, as products require.
enum class quantize_mode : std::int32_t { min_combined, min_first };

/// The integers of a quantised type.
template <class Q> struct quantized_integers {
    using type = decltype(Q::value);
    static constexpr std::int64_t lowest = std::numeric_limits<type>::min(), highest = std::numeric_limits<type>::max();
    static constexpr double steps = static_cast<double>(highest - lowest + 1);
};

/// The real range that the integers of a quantised type represent.
struct quantized_range {
    float low = 0, high = 0;

    /// Returns the integer nearest to the real number 0, before clamping to the type. For an empty range it is the lowest integer.
    template <class Q> RILL_FN std::int64_t zero_point() const {
        using I = quantized_integers<Q>;
        const double below = std::round(static_cast<double>(low * scale<Q>()));
        return below > -0x1p62 && below < 0x1p62 ? I::lowest - static_cast<std::int64_t>(below) : I::lowest;
    }
    /// Returns the integers per real number.
    template <class Q> RILL_FN float scale() const {
        using I = quantized_integers<Q>;
        if (!(high > low)) return 0;
        const double adjusted = (static_cast<double>(high) - static_cast<double>(low)) * I::steps / (I::steps - 1);
        return static_cast<float>(I::steps / adjusted);
    }
    /// Returns the difference between the real values of adjacent integers.
    template <class Q> RILL_FN float one_level() const {
        return static_cast<float>((static_cast<double>(high) - static_cast<double>(low)) /
                                  (quantized_integers<Q>::steps - 1));
    }

    template <class Q> RILL_FN Q quantize(float x, quantize_mode mode) const {
        using I = quantized_integers<Q>;
        if (!(x == x)) x = low; // NaN maps to the lowest number
        double at;
        if (mode == quantize_mode::min_first) {
            at = std::round(static_cast<double>(x) * static_cast<double>(scale<Q>())) +
                 static_cast<double>(zero_point<Q>());
        } else {
            const float inside = x < low    ? low
                                 : x > high ? high
                                            : x,
                        half = I::lowest < 0 ? static_cast<float>(I::steps / 2) : 0;
            const float levels = high > low ? static_cast<float>(I::steps - 1) / (high - low) : 0;
            at = static_cast<double>(std::round((inside - low) * levels - half));
        }
        const auto lowest = static_cast<double>(I::lowest), highest = static_cast<double>(I::highest);
        at = at < lowest ? lowest : at > highest ? highest : at;
        return Q{static_cast<typename I::type>(static_cast<std::int64_t>(at))};
    }
    template <class Q> RILL_FN float real(Q q, quantize_mode mode) const {
        using I = quantized_integers<Q>;
        if (mode == quantize_mode::min_combined) {
            const double half = I::lowest < 0 ? I::steps / 2 : 0;
            return static_cast<float>((static_cast<double>(q.value) + half) * static_cast<double>(one_level<Q>())) +
                   low;
        }
        const double level = (static_cast<double>(high) - static_cast<double>(low)) / (I::steps - 1);
        if (level == 0) return low;
        // Ties go away from 0, as in zero_point. In the range of products, low / level is a tie but for rounding errors.
        const double first = std::round(static_cast<double>(low) / level * (1 + 0x1p-50)) * level;
        return static_cast<float>(first + (static_cast<double>(q.value) - static_cast<double>(I::lowest)) * level);
    }
};

/// Returns the qint32 range of sums of products of numbers from two ranges.
template <class A, class B>
RILL_FN quantized_range range_of_products(const quantized_range& a, const quantized_range& b) {
    const float level = a.one_level<A>() * b.one_level<B>();
    return {level * -2147483648.f, level * 2147483647.f};
}

namespace detail {

/// Scalar conversions, given the ends of the ranges that they need.
struct to_quantized {
    quantize_mode mode;
    template <class Q> RILL_FN void run(float x, const std::array<float, 2>& range, Q& y) const {
        y = quantized_range{range[0], range[1]}.template quantize<Q>(x, mode);
    }
};
struct to_real {
    quantize_mode mode;
    template <class Q> RILL_FN void run(Q x, const std::array<float, 2>& range, float& y) const {
        y = quantized_range{range[0], range[1]}.real(x, mode);
    }
};
/// A conversion of qint32 to a smaller type with its own range.
struct to_other_range {
    template <class Q> RILL_FN void run(qint32 x, const std::array<float, 4>& r, Q& y) const {
        y = quantized_range{r[2], r[3]}.template quantize<Q>(
            quantized_range{r[0], r[1]}.real(x, quantize_mode::min_first), quantize_mode::min_first);
    }
};
/// The maximum of a number and 0.
struct quantized_positive_part {
    template <class Q> RILL_FN void run(Q x, const std::array<float, 2>& range, Q& y) const {
        using I = quantized_integers<Q>;
        const std::int64_t zero = quantized_range{range[0], range[1]}.template zero_point<Q>();
        const std::int64_t least = zero < I::lowest ? I::lowest : zero > I::highest ? I::highest : zero;
        y = x.value < least ? Q{static_cast<typename I::type>(least)} : x;
    }
};

} // namespace detail

}} // namespace rill::RILL_ABI
