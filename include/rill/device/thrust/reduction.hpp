// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <type_traits>

#include <rill/device/cpu/fusion/reducers.hpp>
#include <rill/device/thrust/elementwise.hpp>

// Reductions of the Thrust device. A result is cut into parts by its shape alone. One kernel adds up the parts, a second one combines the
// parts of each result. The order of both depends on shapes alone, so sums are the same from run to run.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The kept and the reduced dimensions of a space, as two spaces.
struct reduced_space {
    launch_space kept, reduced;
    std::array<index_t, max_rank> kept_from{}, kept_to{}, reduced_from{}; // strides

    reduced_space(const launch_space& space, const std::array<index_t, max_rank>& from,
                  const std::array<index_t, max_rank>& to, index_t results) {
        if (space.total == 0) { // each result has no elements to combine
            kept.rank = 1;
            kept.extent[0] = kept.total = results;
            kept_to[0] = 1;
            return;
        }
        kept.total = reduced.total = 1;
        for (int d = 0; d < space.rank; ++d) {
            const auto k = static_cast<std::size_t>(d);
            const bool stays = to[k] != 0;
            launch_space& part = stays ? kept : reduced;
            const auto at = static_cast<std::size_t>(part.rank++);
            part.extent[at] = space.extent[k];
            part.total *= space.extent[k];
            (stays ? kept_from : reduced_from)[at] = from[k];
            if (stays) kept_to[at] = to[k];
        }
    }

    /// Returns the layout of the results' elements.
    line_layout elements() const {
        const auto innermost = [](const launch_space& s, const std::array<index_t, max_rank>& stride) {
            return s.rank > 0 ? stride[static_cast<std::size_t>(s.rank - 1)] : 0;
        };
        const bool across = innermost(kept, kept_from) == 1 && innermost(reduced, reduced_from) != 1;
        return across ? line_layout::across : line_layout::along;
    }
};

/// A function object that combines one part of one result. A line is a part. Neighbouring lines are the parts of one result. If elements of
/// neighbouring results are adjacent, neighbouring lines are the same part of these results.
template <class C, class T, class Sum> struct reduce_part {
    using sum = lane<Sum>;
    reduced_space space;
    const T* from; // null: every element is `value`
    T value;
    index_t results, parts;
    line_layout layout;
    Sum* to;

    /// Elements `first` to `first + count` of a result whose elements begin at `base`.
    struct line {
        const reduce_part& of;
        index_t result, part, base, first, count;
        bool is_regular; // element k lies at from[k * stride]
        const T* from;
        index_t stride;

        RILL_FN sum regular_element(index_t k) const { return sum(static_cast<Sum>(from[k * stride])); }
        RILL_FN sum element(index_t k) const {
            if (is_regular) return regular_element(k);
            if (!of.from) return sum(static_cast<Sum>(of.value));
            return sum(static_cast<Sum>(of.from[base + of.space.reduced.offset(first + k, of.space.reduced_from)]));
        }
    };
    RILL_FN line open(index_t i) const {
        const index_t inner = layout == line_layout::across ? results : parts;
        const index_t above = quotient(i, inner), below = i - above * inner;
        const index_t result = layout == line_layout::across ? below : above,
                      part = layout == line_layout::across ? above : below;
        const index_t n = space.reduced.total, first = n * part / parts;
        const index_t base = space.kept.offset(result, space.kept_from), count = n * (part + 1) / parts - first;
        const bool is_regular = from && space.reduced.rank <= 1;
        const index_t stride = space.reduced.rank == 1 ? space.reduced_from[0] : 0;
        return {*this, result, part, base, first, count, is_regular, is_regular ? from + base + first * stride : from,
                stride};
    }
    RILL_FN static sum identity() { return sum(C::template identity<Sum>()); }
    RILL_FN static sum merge(const sum& a, const sum& b) { return C::merge(a, b); }
    RILL_FN void finish(const line& l, const sum& all) const { to[l.result * parts + l.part] = all.v; }
};

/// A function object that combines the parts of one result, and divides a mean.
template <class C, class T, class Sum, bool Mean> struct combine_parts {
    using sum = lane<Sum>;
    reduced_space space;
    const Sum* from;
    index_t parts, count;
    T* to;

    struct line {
        index_t result;
        const Sum* from;
        index_t count;
        static constexpr bool is_regular = true;
        RILL_FN sum regular_element(index_t k) const { return sum(from[k]); }
        RILL_FN sum element(index_t k) const { return regular_element(k); }
    };
    RILL_FN line open(index_t i) const { return {i, from + i * parts, parts}; }
    RILL_FN static sum identity() { return sum(C::template identity<Sum>()); }
    RILL_FN static sum merge(const sum& a, const sum& b) { return C::merge(a, b); }
    RILL_FN void finish(const line& l, const sum& all) const {
        T* const at = to + space.kept.offset(l.result, space.kept_to);
        if constexpr (Mean)
            combine_divide<T, Sum>(at, &all.v, 1, count);
        else
            *at = all.v;
    }
};

/// A function object that divides one element by a count.
template <class T> struct divide_element {
    const T* from;
    index_t count;
    T* to;

    RILL_FN void operator()(index_t i) const { combine_divide<T, T>(to + i, from + i, 1, count); }
};

template <class B, class C, class T, class Sum, bool Mean>
void launch_reduction(const execution_context& on, const reduction_launch& args) {
    const auto here = B::enter(on);
    if (!here || args.results == 0) return;
    const reduced_space space(args.space, args.from.stride, args.stride, args.results);
    const line_layout layout = space.elements();
    const index_t parts = reduction_parts(args.space.total, args.results, layout);
    auto* const partial = B::at(static_cast<Sum*>(args.partial));
    B::fold(*here, args.results * parts, space.reduced.total / parts, layout,
            reduce_part<C, T, Sum>{space, B::at(static_cast<const T*>(args.from.at)),
                                   scalar_from<T>(args.from.value.data()), args.results, parts, layout, partial});
    B::fold(*here, args.results, parts, line_layout::along,
            combine_parts<C, T, Sum, Mean>{space, partial, parts, args.count, B::at(static_cast<T*>(args.to))});
}

template <class B, class T>
void launch_division(const execution_context& on, const void* from, void* to, index_t n, index_t count) {
    if (const auto here = B::enter(on))
        B::each(*here, n, divide_element<T>{B::at(static_cast<const T*>(from)), count, B::at(static_cast<T*>(to))});
}

/// An accumulator with the interface of a lane, for sums of 64-bit integers.
struct long_sum_combine {
    template <class T> RILL_FN static constexpr T identity() { return T(); }
    template <class V> RILL_FN static V merge(V a, const V& b) {
        a.v.add(b.v);
        return a;
    }
};

template <class B, combine How, class T> bool register_reduction(std::string_view device) {
    using C = combine_rule<How>;
    auto& table = launchers_of(device).reductions;
    const auto plain = [&](combine how) {
        reduction_launchers made{&launch_reduction<B, C, T, T, false>, nullptr, sizeof(T)};
        if constexpr (is_numeric<T> && !is_integral<T>) made.divide = &launch_division<B, T>;
        table.add(kernel_key(to_string(how), dtype_of<T>), 0, made);
    };
    if constexpr (How == combine::mean) {
        using sum = sum_for_mean<T>;
        using rule = std::conditional_t<std::is_same_v<sum, long_sum>, long_sum_combine, C>;
        plain(combine::sum); // the gradient of a mean uses sums
        table.add(kernel_key(to_string(How), dtype_of<T>), 0,
                  {&launch_reduction<B, rule, T, sum, true>, nullptr, sizeof(sum)});
    } else {
        plain(How);
    }
    return true;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
