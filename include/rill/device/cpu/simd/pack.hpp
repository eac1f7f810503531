// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>

#include <rill/core/plain_tuple.hpp>
#include <rill/device/cpu/simd/lift.hpp>
#include <rill/device/cpu/simd/mask_memory.hpp>
#include <rill/device/cpu/simd/pack_math.hpp>
#include <rill/device/cpu/simd/simd.hpp>
#include <rill/device/cpu/simd/simd_memory.hpp>

// pack<T, N>: N values of T in one or more registers, or in a plain array if T has no SIMD register. It has the operators and number
// rules of lane<T>. Other functions belong to ops, and are computed by registers or lane by lane.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

template <class... T> constexpr int common_lanes() {
    if (((std::is_class_v<T> && !numeric_lane<T>) || ...)) return 1; // strings and the like
    const int native = std::max({0, native_lanes<T>...});
    return native > 0 ? native : (std::is_same_v<T, bool> && ...) ? 16 : 8;
}

template <class T, int N>
inline constexpr bool in_registers = native_lanes<T> > 0 && N % (native_lanes<T> > 0 ? native_lanes<T> : 1) == 0;

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// The lane count of an expression over these element types: the largest register lane count among them.
template <class... T> inline constexpr int lanes_for = detail::common_lanes<T...>();

template <class T, int N> struct pack;
template <class T, int N> struct mask;

/// N truth values, with the layout of the pack<T, N> that they were computed from.
template <class T, int N> struct mask {
    static constexpr bool registers = detail::in_registers<T, N>;
    static constexpr int parts = registers ? N / std::max(detail::native_lanes<T>, 1) : N;
    using part_type = std::conditional_t<registers, detail::simd_mask<T>, lane<bool>>;

    part_type part[parts];

    mask() = default;
    RILL_FN mask(bool x) {
        for (auto& p : part) p = part_type(x);
    }
    template <class U> RILL_FN mask(const mask<U, N>& other) {
        if constexpr (!registers && !mask<U, N>::registers) {
            for (int i = 0; i < N; ++i) part[i] = other.part[i];
        } else if constexpr (registers && mask<U, N>::registers && sizeof(T) == sizeof(U)) {
            std::memcpy(this, &other, sizeof(*this)); // same lane size (float and int32): the same bits
        } else {
            bool b[N];
            other.store(b);
            *this = load(b);
        }
    }
    RILL_FN mask(const pack<bool, N>& b) : mask(load(reinterpret_cast<const bool*>(&b))) {}

    RILL_FN static mask load(const bool* from) {
        mask m;
        if constexpr (registers) {
            for (int i = 0; i < parts; ++i) m.part[i] = detail::load_mask<T>(from + i * (N / parts));
        } else {
            for (int i = 0; i < N; ++i) m.part[i] = lane<bool>(from[i]);
        }
        return m;
    }
    RILL_FN void store(bool* to) const {
        if constexpr (registers) {
            for (int i = 0; i < parts; ++i) detail::store_mask<T>(part[i], to + i * (N / parts));
        } else {
            for (int i = 0; i < N; ++i) to[i] = part[i].v;
        }
    }

    RILL_FN friend mask operator!(const mask& a) { return detail::lift<mask, detail::lift_not>(a); }
};

/// N values of T, the SIMD counterpart of lane<T>.
template <class T, int N> struct pack {
    static_assert(N >= 1 && (N & (N - 1)) == 0, "a pack holds a power of two of lanes");
    using value_type = T;
    using M = mask<T, N>;
    static constexpr bool is_computed = true; // marks a value type that kernels compute with
    static constexpr bool registers = detail::in_registers<T, N>;
    static constexpr int parts = registers ? N / std::max(detail::native_lanes<T>, 1) : N;
    static constexpr int part_lanes = N / parts;
    using part_type = std::conditional_t<registers, detail::simd<T>, lane<T>>;

    part_type part[parts];

    pack() = default;
    /// Broadcasts any number, so that literals work in generic code.
    template <class A>
        requires std::is_arithmetic_v<A>
    RILL_FN pack(A a) : pack(spread{}, part_type(detail::convert<T>(a))) {}
    RILL_FN pack(const T& a)
        requires(!std::is_arithmetic_v<T>)
        : pack(spread{}, lane<T>(a)) {}
    template <class U>
        requires std::is_same_v<T, bool>
    RILL_FN pack(const mask<U, N>& m) {
        m.store(reinterpret_cast<bool*>(this));
    }

    RILL_FN static pack load(const T* from) {
        pack p;
        if constexpr (registers) {
            load_parts(p, from, std::make_index_sequence<static_cast<std::size_t>(parts)>{});
        } else {
            for (int i = 0; i < N; ++i) p.part[i].v = from[i];
        }
        return p;
    }
    RILL_FN void store(T* to) const {
        if constexpr (registers) {
            store_parts(to, std::make_index_sequence<static_cast<std::size_t>(parts)>{});
        } else {
            for (int i = 0; i < N; ++i) to[i] = part[i].v;
        }
    }
    /// Loads the first count < N values. Further lanes repeat the last one, so that padding raises no error of its own.
    RILL_FN static pack load_partial(const T* from, int count) {
        pack p;
        if constexpr (registers) {
            load_parts(p, from, count, std::make_index_sequence<static_cast<std::size_t>(parts)>{});
        } else {
            for (int i = 0; i < N; ++i) p.part[i].v = from[std::min(i, count - 1)];
        }
        return p;
    }
    /// Loads the first count < N values, and zeros in further lanes.
    RILL_FN static pack load_partial_or_zero(const T* from, int count)
        requires registers
    {
        pack p;
        load_parts_or_zero(p, from, count, std::make_index_sequence<static_cast<std::size_t>(parts)>{});
        return p;
    }
    RILL_FN void store_partial(T* to, int count) const {
        if constexpr (registers) {
            store_parts(to, count, std::make_index_sequence<static_cast<std::size_t>(parts)>{});
        } else {
            for (int i = 0; i < count; ++i) to[i] = part[i].v;
        }
    }

    RILL_FN friend pack operator+(const pack& a, const pack& b) { return detail::lift<pack, detail::lift_add>(a, b); }
    RILL_FN friend pack operator-(const pack& a, const pack& b) { return detail::lift<pack, detail::lift_sub>(a, b); }
    RILL_FN friend pack operator*(const pack& a, const pack& b) { return detail::lift<pack, detail::lift_mul>(a, b); }
    RILL_FN friend pack operator/(const pack& a, const pack& b) { return detail::lift<pack, detail::lift_div>(a, b); }
    RILL_FN friend pack operator%(const pack& a, const pack& b) { return detail::lift<pack, detail::lift_mod>(a, b); }
    RILL_FN friend pack operator-(const pack& a) { return detail::lift<pack, detail::lift_neg>(a); }
    RILL_FN friend M operator==(const pack& a, const pack& b) { return detail::lift<M, detail::lift_eq>(a, b); }
    RILL_FN friend M operator!=(const pack& a, const pack& b) { return detail::lift<M, detail::lift_ne>(a, b); }
    RILL_FN friend M operator<(const pack& a, const pack& b) { return detail::lift<M, detail::lift_lt>(a, b); }
    RILL_FN friend M operator<=(const pack& a, const pack& b) { return detail::lift<M, detail::lift_le>(a, b); }
    RILL_FN friend M operator>(const pack& a, const pack& b) { return detail::lift<M, detail::lift_lt>(b, a); }
    RILL_FN friend M operator>=(const pack& a, const pack& b) { return detail::lift<M, detail::lift_le>(b, a); }
    RILL_FN friend pack operator&&(const pack& a, const pack& b)
        requires std::is_same_v<T, bool>
    {
        return detail::lift<pack, detail::lift_and>(a, b);
    }
    RILL_FN friend pack operator||(const pack& a, const pack& b)
        requires std::is_same_v<T, bool>
    {
        return detail::lift<pack, detail::lift_or>(a, b);
    }
    RILL_FN friend pack operator!(const pack& a)
        requires std::is_same_v<T, bool>
    {
        return detail::lift<pack, detail::lift_not>(a);
    }

    /// Returns a or b, lane by lane. Both are computed beforehand. The condition is a mask or a pack<bool, N>.
    template <class Condition> RILL_FN friend pack select(const Condition& m, const pack& a, const pack& b) {
        return detail::lift<pack, detail::lift_select>(M(m), a, b);
    }
    RILL_FN friend pack max(const pack& a, const pack& b) { return detail::lift<pack, detail::lift_max>(a, b); }
    RILL_FN friend pack min(const pack& a, const pack& b) { return detail::lift<pack, detail::lift_min>(a, b); }
    RILL_FN friend pack fma(const pack& a, const pack& b, const pack& c) {
        return detail::lift<pack, detail::lift_fma>(a, b, c);
    }

    /// Computes an op: in registers if it has a register function, otherwise lane by lane.
    template <class Op, class... U> RILL_FN static auto computed(const pack<U, N>&... x) {
        using R = elementwise_result<Op, U...>;
        using out = pack<R, N>;
        if constexpr (out::registers && (std::is_same_v<R, U> && ...) && requires { Op::registers(x.part[0]...); })
            return detail::lift<out, detail::lift_op<Op>>(x...);
        else if constexpr (!out::registers && (!pack<U, N>::registers && ...))
            return by_parts<Op, out>(x...);
        else
            return by_lanes<Op, R>(std::index_sequence_for<U...>{}, x...);
    }

private:
    template <class Op, class Out, class... V> RILL_FN static Out by_parts(const V&... x) {
        Out out;
        for (int i = 0; i < N; ++i) out.part[i] = detail::compute<Op>(x.part[i]...);
        return out;
    }
    template <class Op, class R, std::size_t... K, class... U>
    static pack<R, N> by_lanes(std::index_sequence<K...>, const pack<U, N>&... x) {
        detail::plain_tuple<std::array<U, N>...> in;
        R out[N];
        (x.store(detail::at<K>(in).data()), ...);
        for (std::size_t i = 0; i < N; ++i) out[i] = lane<R>(detail::compute<Op>(lane<U>(detail::at<K>(in)[i])...)).v;
        return pack<R, N>::load(out);
    }

    struct spread {};
    RILL_FN pack(spread, const part_type& x)
        : pack(x, std::make_index_sequence<static_cast<std::size_t>(registers ? parts : 0)>{}) {}
    template <std::size_t... I> RILL_FN pack(const part_type& x, std::index_sequence<I...>) {
        if constexpr (registers)
            ((part[I] = x), ...);
        else
            for (auto& p : part) p = x;
    }
    template <std::size_t... I> RILL_FN static void load_parts(pack& p, const T* from, std::index_sequence<I...>) {
        ((p.part[I] = part_type::load(from + static_cast<int>(I) * part_lanes)), ...);
    }
    template <std::size_t... I> RILL_FN void store_parts(T* to, std::index_sequence<I...>) const {
        (part[I].store(to + static_cast<int>(I) * part_lanes), ...);
    }
    template <std::size_t... I>
    RILL_FN static void load_parts(pack& p, const T* from, int count, std::index_sequence<I...>) {
        ((p.part[I] = detail::load_some<T>(from, static_cast<int>(I) * part_lanes, count)), ...);
    }
    template <std::size_t... I>
    RILL_FN static void load_parts_or_zero(pack& p, const T* from, int count, std::index_sequence<I...>) {
        ((p.part[I] = detail::load_some_or_zero<T>(from, static_cast<int>(I) * part_lanes, count)), ...);
    }
    template <std::size_t... I> RILL_FN void store_parts(T* to, int count, std::index_sequence<I...>) const {
        (detail::store_some<T>(part[I], to, static_cast<int>(I) * part_lanes, count), ...);
    }
};

// ---- masks of different element types --------------------------------------------------------------------------------

template <class T, class U, int N> RILL_FN mask<T, N> operator&&(const mask<T, N>& a, const mask<U, N>& b) {
    return detail::lift<mask<T, N>, detail::lift_and>(a, mask<T, N>(b));
}
template <class T, class U, int N> RILL_FN mask<T, N> operator||(const mask<T, N>& a, const mask<U, N>& b) {
    return detail::lift<mask<T, N>, detail::lift_or>(a, mask<T, N>(b));
}
template <class T, class U, int N> RILL_FN mask<T, N> operator==(const mask<T, N>& a, const mask<U, N>& b) {
    return detail::lift<mask<T, N>, detail::lift_eq>(a, mask<T, N>(b));
}
template <class T, class U, int N> RILL_FN mask<T, N> operator!=(const mask<T, N>& a, const mask<U, N>& b) {
    return detail::lift<mask<T, N>, detail::lift_ne>(a, mask<T, N>(b));
}
template <class T, int N> RILL_FN mask<T, N> operator&&(const mask<T, N>& a, const pack<bool, N>& b) {
    return a && mask<T, N>(b);
}
template <class T, int N> RILL_FN mask<T, N> operator&&(const pack<bool, N>& a, const mask<T, N>& b) {
    return mask<T, N>(a) && b;
}
template <class T, int N> RILL_FN mask<T, N> operator||(const mask<T, N>& a, const pack<bool, N>& b) {
    return a || mask<T, N>(b);
}
template <class T, int N> RILL_FN mask<T, N> operator||(const pack<bool, N>& a, const mask<T, N>& b) {
    return mask<T, N>(a) || b;
}
template <class Condition, class T, class U, int N>
RILL_FN mask<T, N> select(const Condition& m, const mask<T, N>& a, const mask<U, N>& b) {
    const mask<T, N> c(m);
    return (c && a) || (!c && b);
}

// ---- conversion ----------------------------------------------------------------------------------------------------------

template <class U, class T, int N> RILL_FN pack<U, N> cast_to(const mask<T, N>& m) {
    if constexpr (std::is_same_v<U, bool>)
        return pack<bool, N>(m);
    else
        return select(m, pack<U, N>(1), pack<U, N>(0));
}
template <class U, class T, int N> RILL_FN pack<U, N> cast_to(const pack<T, N>& x) {
    if constexpr (std::is_same_v<U, T>) {
        return x;
    } else if constexpr (std::is_same_v<T, bool>) {
        return cast_to<U>(mask<U, N>(x));
    } else if constexpr (std::is_same_v<U, bool>) {
        return x != pack<T, N>(0);
    } else {
        T in[N];
        U out[N];
        x.store(in);
        for (int i = 0; i < N; ++i) out[i] = detail::convert<U>(in[i]);
        return pack<U, N>::load(out);
    }
}

// ---- reduction across lanes: halves are merged until one value is left, so the order depends on N alone ----------------

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Merges the halves of v until one value is left. Fixed-size arrays per step let compilers keep the values in registers.
template <int N, class T, class F> RILL_FN T join_halves(const T* v, F merge) {
    if constexpr (N == 1) {
        return *v;
    } else {
        T half[N / 2];
        for (int i = 0; i < N / 2; ++i) half[i] = merge(lane<T>(v[i]), lane<T>(v[i + N / 2])).v;
        return join_halves<N / 2>(half, merge);
    }
}
template <class T, int N, class F> RILL_FN T reduce(const pack<T, N>& x, F merge) {
    T v[N];
    x.store(v);
    return join_halves<N>(v, merge);
}
template <class F, class T, int N> RILL_FN T reduce(const pack<T, N>& x) {
    return reduce(x, [](lane<T> a, lane<T> b) { return F::run(a, b); });
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

template <class T, int N> RILL_FN T reduce_add(const pack<T, N>& x) { return detail::reduce<detail::lift_add>(x); }
template <class T, int N> RILL_FN T reduce_max(const pack<T, N>& x) { return detail::reduce<detail::lift_max>(x); }
template <class T, int N> RILL_FN T reduce_min(const pack<T, N>& x) { return detail::reduce<detail::lift_min>(x); }

}}} // namespace rill::RILL_ABI::RILL_ISA
