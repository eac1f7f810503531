// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include <rill/device/cpu/fusion/expression_kernel.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/structure_key.hpp>
#include <rill/device/thrust/launch.hpp>

// Expressions as kernels of the Thrust device: one thread computes one element, from the value functions of the ops.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// An operand as a kernel reads it.
template <class T> struct operand_reader {
    const T* at;
    std::array<index_t, max_rank> stride;
    bool dense;
    T value;

    RILL_FN T load(const launch_space& space, index_t i) const {
        if (!at) return value;
        return at[dense ? i : space.offset(i, stride)];
    }
};

template <class B, class T> operand_reader<T> reader_of(const launch_operand& o) {
    return {B::at(static_cast<const T*>(o.at)), o.stride, o.dense, scalar_from<T>(o.value.data())};
}

/// The operands of several types, and the values that one thread reads.
template <class List> struct operand_readers;
template <> struct operand_readers<type_list<>> {
    using values = plain_tuple<>;
    template <class B> static operand_readers make(const launch_operand*) { return {}; }
    RILL_FN values load(const launch_space&, index_t) const { return {}; }
};
template <class First, class... Rest> struct operand_readers<type_list<First, Rest...>> {
    using values = plain_tuple<lane<First>, lane<Rest>...>;
    plain_tuple<operand_reader<First>, operand_reader<Rest>...> from;
    bool dense;            // all operands are dense arrays: nothing else is asked for an element
    std::uint32_t repeats; // of dense operands: those that are the first one once more, as in x * x

    template <class B> static operand_readers make(const launch_operand* leaf) {
        return make<B>(leaf, std::make_index_sequence<1 + sizeof...(Rest)>{});
    }
    RILL_FN values load(const launch_space& space, index_t i) const {
        return dense ? load(i, std::index_sequence_for<Rest...>{})
                     : load(space, i, std::make_index_sequence<1 + sizeof...(Rest)>{});
    }

private:
    using elements = plain_tuple<First, Rest...>;

    template <class B, std::size_t... K>
    static operand_readers make(const launch_operand* leaf, std::index_sequence<K...>) {
        return {plain_tuple<operand_reader<First>, operand_reader<Rest>...>(
                    reader_of<B, plain_element<K, elements>>(leaf[K])...),
                ((leaf[K].at && leaf[K].dense) && ...),
                ((K < 32 && leaf[K].at == leaf[0].at ? std::uint32_t(1) << K % 32 : 0) | ...)};
    }
    template <std::size_t... K> RILL_FN values load(index_t i, std::index_sequence<K...>) const {
        const First first = rill::detail::at<0>(from).at[i];
        return values(lane<First>(first), lane<Rest>(again<K + 1, Rest>(first, i))...);
    }
    /// Returns element i of operand K.
    template <std::size_t K, class T> RILL_FN T again(const First& first, index_t i) const {
        if constexpr (std::is_same_v<T, First> && K < 32)
            if (repeats >> K & 1) return first;
        return rill::detail::at<K>(from).at[i];
    }
    template <std::size_t... K>
    RILL_FN values load(const launch_space& space, index_t i, std::index_sequence<K...>) const {
        return values(plain_element<K, values>(rill::detail::at<K>(from).load(space, i))...);
    }
};

template <class... T, std::size_t... K>
auto scalar_lanes(const scalar_value* scalar, type_list<T...>, std::index_sequence<K...>) {
    return plain_tuple<lane<T>...>(lane<T>(scalar_from<T>(scalar[K].bytes.data()))...);
}
template <class S> auto scalar_lanes(const scalar_value* scalar) {
    return scalar_lanes(scalar, typename element_lists<S>::scalars(),
                        std::make_index_sequence<static_cast<std::size_t>(S::scalars)>{});
}
template <class S> using scalar_tuple = decltype(scalar_lanes<S>(nullptr));

/// Computes one element of an expression.
template <class S> struct forward_element {
    using R = typename S::value_type;
    launch_space space;
    operand_readers<typename element_lists<S>::leaves> from;
    scalar_tuple<S> scalars;
    R* to;

    RILL_FN auto load(index_t i) const { return from.load(space, i); }
    template <class X> RILL_FN void finish(index_t i, const X& x) const {
        to[i] = lane<R>(evaluator<S, 0, 0>::value(x, scalars)).v;
    }
};

/// What an adjoint reads: operands or the result, and the gradient.
template <class X, class R> struct with_gradient {
    X x;
    lane<R> gradient;
};

/// The adjoint of one leaf occurrence.
template <class T> struct adjoint_slot {
    using value_type = T;
    lane<T> value = lane<T>(T(0));
    RILL_FN adjoint_slot& operator=(const lane<T>& v) {
        value = v;
        return *this;
    }
};

/// The arrays that adjoints are stored to, one for each distinct leaf, at its first occurrence.
template <std::size_t Leaves> struct adjoint_results {
    std::array<void*, Leaves> to;
    std::array<std::uint32_t, Leaves> mask;

    template <class B> static adjoint_results make(const elementwise_launch& args) {
        adjoint_results all{};
        for (std::size_t k = 0; k < Leaves; ++k) {
            all.to[k] = B::at(static_cast<std::byte*>(args.result[k]));
            all.mask[k] = args.mask[k];
        }
        return all;
    }
    template <class Slots> RILL_FN void store(const Slots& slots, index_t i) const {
        store(slots, i, std::make_index_sequence<Leaves>{});
    }

private:
    template <class Slots, std::size_t... J>
    RILL_FN void store(const Slots& slots, index_t i, std::index_sequence<J...> all) const {
        (store_one<J>(slots, i, all), ...);
    }
    template <std::size_t J, class Slots, std::size_t... All>
    RILL_FN void store_one(const Slots& slots, index_t i, std::index_sequence<All...>) const {
        if constexpr (!std::is_same_v<plain_element<J, Slots>, no_gradient>) {
            if (!to[J]) return;
            auto sum = rill::detail::at<J>(slots).value;
            (add_occurrence<J, All>(sum, slots, mask[J]), ...);
            static_cast<typename decltype(sum)::value_type*>(to[J])[i] = sum.v;
        }
    }
};

/// Computes one element of the adjoints of an expression's leaves.
template <class S> struct adjoint_element {
    using R = typename S::value_type;
    launch_space space;
    operand_readers<typename element_lists<S>::leaves> from;
    scalar_tuple<S> scalars;
    operand_reader<R> gradient;
    adjoint_results<static_cast<std::size_t>(S::leaves)> results;

    using loaded = with_gradient<typename operand_readers<typename element_lists<S>::leaves>::values, R>;
    RILL_FN loaded load(index_t i) const { return {from.load(space, i), lane<R>(gradient.load(space, i))}; }
    RILL_FN void finish(index_t i, const loaded& all) const {
        leaf_slots<S, adjoint_slot> slots;
        pullback_of<S, 0>::run(evaluator<S, 0, 0>::forward(all.x, scalars), all.gradient, slots);
        results.store(slots, i);
    }
};

/// Computes one element of the adjoints from the result and its gradient, or from the gradient alone.
template <class S, pullback_reads Reads> struct by_result_element {
    using R = typename S::value_type;
    launch_space space;
    operand_reader<R> first, last; // the result and the gradient, or the gradient twice
    adjoint_results<static_cast<std::size_t>(S::leaves)> results;

    using loaded = with_gradient<lane<R>, R>;
    RILL_FN loaded load(index_t i) const { return {lane<R>(first.load(space, i)), lane<R>(last.load(space, i))}; }
    RILL_FN void finish(index_t i, const loaded& all) const {
        leaf_slots<S, adjoint_slot> slots;
        pullback_by_result<S, 0>::run(all.x, all.gradient, slots);
        results.store(slots, i);
    }
};

/// True if an op of the structure may report an integer division by zero.
template <class S> inline constexpr bool structure_divides = false;
template <class Op, class R, class... Args>
inline constexpr bool structure_divides<structure<Op, R, Args...>> =
    (op_divides<Op>() && is_integral<R>) || (structure_divides<Args> || ...);

/// True if a back end has kernels for all element types of a structure.
template <class B, class S> inline constexpr bool takes_structure = B::template takes<typename S::value_type>;
template <class B, class Op, class R, class... Args>
inline constexpr bool takes_structure<B, structure<Op, R, Args...>> =
    B::template takes<R> && (takes_structure<B, Args> && ...);

template <class B, class S> void launch_forward(const execution_context& on, const elementwise_launch& args) {
    const auto here = B::enter(on);
    if (!here) return;
    B::each(
        *here, args.space.total,
        forward_element<S>{args.space, operand_readers<typename element_lists<S>::leaves>::template make<B>(args.leaf),
                           scalar_lanes<S>(args.scalar), B::at(static_cast<typename S::value_type*>(args.result[0]))});
    if constexpr (structure_divides<S>) B::refuse_zero_division(*here);
}

template <class B, class S> void launch_adjoint(const execution_context& on, const elementwise_launch& args) {
    const auto here = B::enter(on);
    if (!here) return;
    using R = typename S::value_type;
    B::each(*here, args.space.total,
            adjoint_element<S>{args.space,
                               operand_readers<typename element_lists<S>::leaves>::template make<B>(args.leaf),
                               scalar_lanes<S>(args.scalar), reader_of<B, R>(args.leaf[S::leaves]),
                               adjoint_results<static_cast<std::size_t>(S::leaves)>::template make<B>(args)});
}

template <class B, class S, pullback_reads Reads>
void launch_by_result(const execution_context& on, const elementwise_launch& args) {
    const auto here = B::enter(on);
    if (!here) return;
    using R = typename S::value_type;
    B::each(*here, args.space.total,
            by_result_element<S, Reads>{args.space, reader_of<B, R>(args.leaf[0]),
                                        reader_of<B, R>(args.leaf[Reads == pullback_reads::result ? 1 : 0]),
                                        adjoint_results<static_cast<std::size_t>(S::leaves)>::template make<B>(args)});
}

/// Registers the forward launch of a structure for a device.
template <class B, class S> bool register_forward(std::string_view device) {
    launchers_of(device).elementwise.change(key_of<S>(), [](auto& known) { known.forward = &launch_forward<B, S>; });
    return true;
}

/// Registers the launches of a structure for a device: forward, and the adjoints that it has.
template <class B, class S> bool register_launches(std::string_view device) {
    register_forward<B, S>(device);
    if constexpr (differentiable_structure<S> && S::leaves <= most_masked_leaves) {
        constexpr auto reads = adjoint_reads<S, lane>;
        launchers_of(device).elementwise.change(key_of<S>(), [](auto& known) {
            known.adjoint = &launch_adjoint<B, S>;
            known.leaves = S::leaves;
            if constexpr (reads != pullback_reads::operands) {
                known.by_result = &launch_by_result<B, S, reads>;
                known.by_result_leaves = reads == pullback_reads::result ? 2 : 1;
            }
        });
    }
    return true;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
