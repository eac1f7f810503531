// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The parts of the standard library that value functions use, for texts of programs that NVRTC compiles: it has no standard library.
// The names are those of C++20, since the headers of ops are shared with the host.

#if defined(__CUDACC_RTC__)

namespace std {

using size_t = decltype(sizeof(0));
using ptrdiff_t = long;
using nullptr_t = decltype(nullptr);
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;

// ---- <type_traits>, <concepts>, <utility> ----------------------------------------------------------------------------------

template <class T, T V> struct integral_constant {
    static constexpr T value = V;
    using value_type = T;
    constexpr operator T() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class T> struct type_identity {
    using type = T;
};
template <bool B, class T, class F> struct conditional : type_identity<T> {};
template <class T, class F> struct conditional<false, T, F> : type_identity<F> {};
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> : type_identity<T> {};
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;

template <class T> struct remove_reference : type_identity<T> {};
template <class T> struct remove_reference<T&> : type_identity<T> {};
template <class T> struct remove_reference<T&&> : type_identity<T> {};
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_cv : type_identity<T> {};
template <class T> struct remove_cv<const T> : type_identity<T> {};
template <class T> struct remove_cv<volatile T> : type_identity<T> {};
template <class T> struct remove_cv<const volatile T> : type_identity<T> {};
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;

template <class A, class B> inline constexpr bool is_same_v = false;
template <class A> inline constexpr bool is_same_v<A, A> = true;
template <class A, class B> struct is_same : bool_constant<is_same_v<A, B>> {};
template <class A, class... B> inline constexpr bool is_one_of = (is_same_v<remove_cv_t<A>, B> || ...);
template <class T> inline constexpr bool is_void_v = is_same_v<remove_cv_t<T>, void>;
template <class T> inline constexpr bool is_floating_point_v = is_one_of<T, float, double>;
template <class T>
inline constexpr bool is_integral_v = is_one_of<T, bool, char, signed char, unsigned char, short, unsigned short, int,
                                                unsigned, long, unsigned long, long long, unsigned long long>;
template <class T> inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_signed_v =
    is_floating_point_v<T> || is_one_of<T, char, signed char, short, int, long, long long>;
template <class T> inline constexpr bool is_class_v = __is_class(T);
template <class T> inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class B, class D> inline constexpr bool is_base_of_v = __is_base_of(B, D);
template <class T, class... A> inline constexpr bool is_constructible_v = __is_constructible(T, A...);
template <class From, class To> inline constexpr bool is_convertible_v = __is_convertible_to(From, To);

template <class T> struct make_unsigned : type_identity<T> {};
template <> struct make_unsigned<signed char> : type_identity<unsigned char> {};
template <> struct make_unsigned<short> : type_identity<unsigned short> {};
template <> struct make_unsigned<int> : type_identity<unsigned> {};
template <> struct make_unsigned<long> : type_identity<unsigned long> {};
template <> struct make_unsigned<long long> : type_identity<unsigned long long> {};
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;

template <class A, class B>
concept same_as = is_same_v<A, B> && is_same_v<B, A>;
template <class T> remove_reference_t<T>&& declval() noexcept;
template <class T> constexpr remove_reference_t<T>&& move(T&& x) noexcept {
    return static_cast<remove_reference_t<T>&&>(x);
}
constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

template <class T, T... V> struct integer_sequence {};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <size_t N, size_t... I> struct counted_indices : counted_indices<N - 1, N - 1, I...> {};
template <size_t... I> struct counted_indices<0, I...> : type_identity<index_sequence<I...>> {};
template <size_t N> using make_index_sequence = typename counted_indices<N>::type;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

// ---- <tuple>, <array>: types alone -----------------------------------------------------------------------------------------

template <class... T> struct tuple {};
template <size_t I, class Tuple> struct tuple_element;
template <size_t I, class First, class... Rest>
struct tuple_element<I, tuple<First, Rest...>> : tuple_element<I - 1, tuple<Rest...>> {};
template <class First, class... Rest> struct tuple_element<0, tuple<First, Rest...>> : type_identity<First> {};
template <size_t I, class Tuple> using tuple_element_t = typename tuple_element<I, Tuple>::type;
template <size_t I, class... T> constexpr const tuple_element_t<I, tuple<T...>>& get(const tuple<T...>&);
template <size_t I, class... T> constexpr tuple_element_t<I, tuple<T...>>& get(tuple<T...>&);

template <class T, size_t N> struct array {
    T all[N];
    constexpr const T& operator[](size_t i) const { return all[i]; }
    constexpr T& operator[](size_t i) { return all[i]; }
};

// ---- <string_view>, <string>, <source_location>: for descriptions of ops, which no kernel reads -------------------------------

struct string_view {
    static constexpr size_t npos = ~size_t(0);
    const char* text = "";
    size_t count = 0;

    constexpr string_view() = default;
    constexpr string_view(const char* t) : text(t) {
        while (t[count]) ++count;
    }
    constexpr char operator[](size_t i) const { return text[i]; }
    constexpr size_t size() const { return count; }
    constexpr bool starts_with(string_view part) const {
        for (size_t i = 0; i < part.count; ++i)
            if (i >= count || text[i] != part.text[i]) return false;
        return true;
    }
    constexpr size_t find(string_view part) const {
        for (size_t i = 0; i < count; ++i)
            if (substr(i).starts_with(part)) return i;
        return npos;
    }
    constexpr size_t find_first_of(string_view any) const {
        for (size_t i = 0; i < count; ++i)
            for (size_t k = 0; k < any.count; ++k)
                if (text[i] == any.text[k]) return i;
        return npos;
    }
    constexpr void remove_prefix(size_t n) { text += n, count -= n; }
    constexpr string_view substr(size_t from, size_t n = npos) const {
        string_view part;
        part.text = text + from;
        part.count = n < count - from ? n : count - from;
        return part;
    }
};
struct string {
    string() = default;
    string(const char*);
    string(string_view);
    char memory[32];
};
string operator+(const string&, const string&);
struct source_location {
    static constexpr source_location current() { return {}; }
};

// ---- <limits>, <bit>, <cstring> --------------------------------------------------------------------------------------------

template <class T> struct numeric_limits {
    static constexpr int digits = static_cast<int>(sizeof(T) * 8) - is_signed_v<T>;
    static constexpr T max() { return static_cast<T>(~make_unsigned_t<T>(0) >> is_signed_v<T>); }
    static constexpr T min() { return static_cast<T>(-max() - is_signed_v<T>); }
    static constexpr T lowest() { return min(); }
};
template <> struct numeric_limits<bool> {
    static constexpr int digits = 1;
    static constexpr bool max() { return true; }
    static constexpr bool min() { return false; }
    static constexpr bool lowest() { return false; }
};
template <> struct numeric_limits<float> {
    static constexpr int digits = 24;
    static constexpr float max() { return 0x1.fffffep127f; }
    static constexpr float min() { return 0x1p-126f; }
    static constexpr float lowest() { return -max(); }
    static constexpr float epsilon() { return 0x1p-23f; }
    static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }
    static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000u); }
};
template <> struct numeric_limits<double> {
    static constexpr int digits = 53;
    static constexpr double max() { return 0x1.fffffffffffffp1023; }
    static constexpr double min() { return 0x1p-1022; }
    static constexpr double lowest() { return -max(); }
    static constexpr double epsilon() { return 0x1p-52; }
    static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ull); }
    static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7ff8000000000000ull); }
};
using ::memcpy;
template <class To, class From> constexpr To bit_cast(const From& from) { return __builtin_bit_cast(To, from); }

// ---- <cmath>: CUDA's functions ---------------------------------------------------------------------------------------------

using ::abs, ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atan2, ::atanh, ::ceil, ::cos, ::cosh, ::erf, ::erfc, ::exp;
using ::expm1, ::fabs, ::floor, ::fma, ::fmod, ::isfinite, ::isinf, ::isnan, ::lgamma, ::log, ::log1p, ::nearbyint;
using ::pow, ::sin, ::sinh, ::sqrt, ::tan, ::tanh, ::tgamma, ::trunc;

// ---- <complex>: programs for GPUs have no complex numbers (device/cuda/cuda_backend.hpp) --------------------------------------

template <class T> struct complex {
    using value_type = T;
    T parts[2];
};

} // namespace std

#endif
