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

    template <class Q> RILL_FN Q quantize(float x, quantize_mode mode) const;
    template <class Q> RILL_FN float real(Q q, quantize_mode mode) const;
};

namespace detail {

// Compilers vectorise loops over the following functions: std::rint but not std::round, and one choice at a time.

/// Returns the nearest integer, as std::round does: halves go away from 0.
template <class T> RILL_FN T rounded_away(T x) {
    const T even = std::rint(x), rest = x - even;
    const bool up = (rest == T(0.5)) & (x > 0), down = (rest == T(-0.5)) & (x < 0);
    return even + (up ? T(1) : T(0)) - (down ? T(1) : T(0));
}
/// Returns the number of an interval that is nearest to x; `low` for NaN.
template <class T> RILL_FN T limited(T x, T low, T high) {
    const T above = x >= low ? x : low;
    return above <= high ? above : high;
}

/// Returns a rounded number as an integer of Q, at most the highest and at least the lowest.
template <class Q> RILL_FN Q nearest_integer(double x) {
    using I = quantized_integers<Q>;
    const double inside = limited(x, static_cast<double>(I::lowest), static_cast<double>(I::highest));
    return Q{static_cast<typename I::type>(static_cast<std::int32_t>(inside))};
}

/// A conversion of real numbers to integers. The constructor computes what depends on the range alone.
template <class Q, quantize_mode Mode> class quantizer;

template <class Q> class quantizer<Q, quantize_mode::min_first> {
public:
    RILL_FN explicit quantizer(const quantized_range& range)
        : low_(range.low), scale_(static_cast<double>(range.template scale<Q>())),
          zero_(static_cast<double>(range.template zero_point<Q>())) {}

    RILL_FN Q operator()(float x) const {
        x = x == x ? x : low_; // NaN maps to the lowest number
        return nearest_integer<Q>(rounded_away(static_cast<double>(x) * scale_) + zero_);
    }

private:
    float low_;
    double scale_, zero_;
};

template <class Q> class quantizer<Q, quantize_mode::min_combined> {
public:
    RILL_FN explicit quantizer(const quantized_range& range)
        : low_(range.low), high_(range.high),
          levels_(high_ > low_ ? static_cast<float>(quantized_integers<Q>::steps - 1) / (high_ - low_) : 0) {}

    RILL_FN Q operator()(float x) const { // NaN maps to the lowest number
        using I = quantized_integers<Q>;
        constexpr float half = I::lowest < 0 ? static_cast<float>(I::steps / 2) : 0;
        return nearest_integer<Q>(static_cast<double>(rounded_away((limited(x, low_, high_) - low_) * levels_ - half)));
    }

private:
    float low_, high_, levels_;
};

/// A conversion of integers to the real numbers that they represent.
template <class Q, quantize_mode Mode> class dequantizer;

template <class Q> class dequantizer<Q, quantize_mode::min_first> {
public:
    RILL_FN explicit dequantizer(const quantized_range& range)
        : lowest_(static_cast<double>(range.low)),
          level_((static_cast<double>(range.high) - lowest_) / (quantized_integers<Q>::steps - 1)) {
        // Ties go away from 0, as in zero_point. In the range of products, low / level is a tie but for rounding errors.
        if (level_ != 0) lowest_ = std::round(lowest_ / level_ * (1 + 0x1p-50)) * level_;
    }

    RILL_FN float operator()(Q q) const {
        constexpr auto lowest = static_cast<double>(quantized_integers<Q>::lowest);
        return static_cast<float>(lowest_ + (static_cast<double>(q.value) - lowest) * level_);
    }

private:
    double lowest_, level_; // the number that the lowest integer represents, and the distance to the next
};

template <class Q> class dequantizer<Q, quantize_mode::min_combined> {
public:
    RILL_FN explicit dequantizer(const quantized_range& range)
        : low_(range.low), level_(static_cast<double>(range.template one_level<Q>())) {}

    RILL_FN float operator()(Q q) const {
        using I = quantized_integers<Q>;
        constexpr double half = I::lowest < 0 ? I::steps / 2 : 0;
        return static_cast<float>((static_cast<double>(q.value) + half) * level_) + low_;
    }

private:
    float low_;
    double level_;
};

} // namespace detail

template <class Q> RILL_FN Q quantized_range::quantize(float x, quantize_mode mode) const {
    return mode == quantize_mode::min_first ? detail::quantizer<Q, quantize_mode::min_first>(*this)(x)
                                            : detail::quantizer<Q, quantize_mode::min_combined>(*this)(x);
}
template <class Q> RILL_FN float quantized_range::real(Q q, quantize_mode mode) const {
    return mode == quantize_mode::min_first ? detail::dequantizer<Q, quantize_mode::min_first>(*this)(q)
                                            : detail::dequantizer<Q, quantize_mode::min_combined>(*this)(q);
}

/// Returns the qint32 range of sums of products of numbers from two ranges.
template <class A, class B>
RILL_FN quantized_range range_of_products(const quantized_range& a, const quantized_range& b) {
    const float level = a.one_level<A>() * b.one_level<B>();
    return {level * -2147483648.f, level * 2147483647.f};
}

namespace detail {

/// A place for one number, which a conversion fills.
template <class X, class Y> struct one_number {
    X x;
    Y& y;
    template <class F> RILL_FN void operator()(const F& each) const { y = each(x); }
};

/// The base of conversions. F::prepare calls use(f) with the function f of one number for given ends of ranges.
template <class F> struct conversion {
    template <class X, class Y, std::size_t N> RILL_FN void run(X x, const std::array<float, N>& ends, Y& y) const {
        static_cast<const F*>(this)->template prepare<X, Y>(ends, one_number<X, Y>{x, y});
    }
};
struct to_quantized : conversion<to_quantized> {
    quantize_mode mode;
    RILL_FN explicit to_quantized(quantize_mode by = quantize_mode::min_combined) : mode(by) {}
    template <class X, class Y, class U> RILL_FN void prepare(const std::array<float, 2>& r, const U& use) const {
        if (mode == quantize_mode::min_first)
            use(quantizer<Y, quantize_mode::min_first>({r[0], r[1]}));
        else
            use(quantizer<Y, quantize_mode::min_combined>({r[0], r[1]}));
    }
};
struct to_real : conversion<to_real> {
    quantize_mode mode;
    RILL_FN explicit to_real(quantize_mode by = quantize_mode::min_combined) : mode(by) {}
    template <class X, class Y, class U> RILL_FN void prepare(const std::array<float, 2>& r, const U& use) const {
        if (mode == quantize_mode::min_first)
            use(dequantizer<X, quantize_mode::min_first>({r[0], r[1]}));
        else
            use(dequantizer<X, quantize_mode::min_combined>({r[0], r[1]}));
    }
};
/// A conversion of qint32 to a smaller type with its own range.
struct to_other_range : conversion<to_other_range> {
    template <class Q> struct function {
        dequantizer<qint32, quantize_mode::min_first> real;
        quantizer<Q, quantize_mode::min_first> quantize;
        RILL_FN Q operator()(qint32 x) const { return quantize(real(x)); }
    };
    template <class X, class Y, class U> RILL_FN void prepare(const std::array<float, 4>& r, const U& use) const {
        use(function<Y>{dequantizer<qint32, quantize_mode::min_first>({r[0], r[1]}),
                        quantizer<Y, quantize_mode::min_first>({r[2], r[3]})});
    }
};
/// The maximum of a number and 0.
struct quantized_positive_part : conversion<quantized_positive_part> {
    template <class Q> struct function {
        decltype(Q::value) least;
        RILL_FN Q operator()(Q x) const { return Q{x.value < least ? least : x.value}; }
    };
    template <class X, class Y, class U> RILL_FN void prepare(const std::array<float, 2>& r, const U& use) const {
        using I = quantized_integers<Y>;
        const std::int64_t zero = quantized_range{r[0], r[1]}.template zero_point<Y>();
        const std::int64_t least = zero < I::lowest ? I::lowest : zero > I::highest ? I::highest : zero;
        use(function<Y>{static_cast<typename I::type>(least)});
    }
};

} // namespace detail

}} // namespace rill::RILL_ABI
