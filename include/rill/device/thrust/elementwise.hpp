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

/// A reader of an operand in a kernel.
template <class T> struct operand_reader {
    const T* at;
    std::array<index_t, max_rank> stride;
    bool dense;
    T value;

    template <class B> static operand_reader make(const launch_operand& o) {
        return {B::at(static_cast<const T*>(o.at)), o.stride, o.dense, scalar_from<T>(o.value.data())};
    }
    RILL_FN T load(const launch_space& space, index_t i) const {
        if (!at) return value;
        return at[dense ? i : space.offset(i, stride)];
    }
};

/// A reader of the result of an expression, or of its gradient. If Dense, it is an array with as many elements as the space, or with one.
template <bool Dense, class T> struct result_reader {
    launch_space space;
    operand_reader<T> from;

    template <class B> static result_reader make(const launch_space& space, const launch_operand& o) {
        return {space, operand_reader<T>::template make<B>(o)};
    }
    RILL_FN T load(index_t i) const { return from.load(space, i); }
};
template <class T> struct result_reader<true, T> {
    const T* at;
    index_t mask; // 0 for one element

    /// Returns true if this reads an operand.
    static bool serves(const launch_space& space, const launch_operand& o) {
        bool is_one = true;
        for (int d = 0; d < space.rank; ++d) is_one = is_one && o.stride[static_cast<std::size_t>(d)] == 0;
        return o.at && (o.dense || is_one);
    }
    template <class B> static result_reader make(const launch_space&, const launch_operand& o) {
        return {B::at(static_cast<const T*>(o.at)), o.dense ? -1 : 0};
    }
    RILL_FN T load(index_t i) const { return at[i & mask]; }
};

/// The operands of several types, and the values that one thread reads. If Dense, all are arrays with as many elements as the space.
/// Kernels then need less code and fewer registers.
template <bool Dense, class List> struct operand_readers;
template <class... T> struct operand_readers<false, type_list<T...>> {
    using values = plain_tuple<lane<T>...>;
    launch_space space;
    plain_tuple<operand_reader<T>...> from;

    template <class B> static operand_readers make(const launch_space& space, const launch_operand* leaf) {
        return make<B>(space, leaf, std::index_sequence_for<T...>{});
    }
    RILL_FN values load(index_t i) const { return load(i, std::index_sequence_for<T...>{}); }

private:
    template <class B, std::size_t... K>
    static operand_readers make(const launch_space& space, const launch_operand* leaf, std::index_sequence<K...>) {
        return {space, plain_tuple<operand_reader<T>...>(operand_reader<T>::template make<B>(leaf[K])...)};
    }
    template <std::size_t... K> RILL_FN values load(index_t i, std::index_sequence<K...>) const {
        return values(lane<T>(rill::detail::at<K>(from).load(space, i))...);
    }
};
template <class First, class... Rest> struct operand_readers<true, type_list<First, Rest...>> {
    using values = plain_tuple<lane<First>, lane<Rest>...>;
    plain_tuple<const First*, const Rest*...> from;
    bool same; // all operands are the first one, as in x * x

    template <class B> static operand_readers make(const launch_space&, const launch_operand* leaf) {
        return make<B>(leaf, std::make_index_sequence<1 + sizeof...(Rest)>{});
    }
    RILL_FN values load(index_t i) const {
        const First first = rill::detail::at<0>(from)[i];
        if constexpr ((std::is_same_v<First, Rest> && ...))
            if (same) return values(lane<First>(first), lane<Rest>(first)...);
        return load(i, first, std::index_sequence_for<Rest...>{});
    }

private:
    template <class B, std::size_t... K>
    static operand_readers make(const launch_operand* leaf, std::index_sequence<K...>) {
        using all = plain_tuple<const First*, const Rest*...>;
        return {all(B::at(static_cast<plain_element<K, all>>(leaf[K].at))...), ((leaf[K].at == leaf[0].at) && ...)};
    }
    template <std::size_t... K> RILL_FN values load(index_t i, const First& first, std::index_sequence<K...>) const {
        return values(lane<First>(first), lane<Rest>(rill::detail::at<K + 1>(from)[i])...);
    }
};

/// Returns true if a back end has separate kernels for dense operands, and all operands of a structure are dense.
template <class B, class S> bool reads_dense(const elementwise_launch& args) {
    if (!B::tells_dense || S::leaves == 0) return false;
    for (int k = 0; k < S::leaves; ++k)
        if (!args.leaf[k].at || !args.leaf[k].dense) return false;
    return true;
}
/// Calls launch with the condition as a type. The condition can hold only if Possible.
template <bool Possible, class Launch> void with_bool(bool condition, const Launch& launch) {
    if constexpr (Possible)
        if (condition) return launch(std::true_type());
    launch(std::false_type());
}

template <class... T, std::size_t... K>
auto scalar_lanes(const scalar_value* scalar, type_list<T...>, std::index_sequence<K...>) {
    return plain_tuple<lane<T>...>(lane<T>(scalar_from<T>(scalar[K].bytes.data()))...);
}
template <class S> auto scalar_lanes(const scalar_value* scalar) {
    return scalar_lanes(scalar, typename element_lists<S>::scalars(),
                        std::make_index_sequence<static_cast<std::size_t>(S::scalars)>{});
}
template <class S> using scalar_tuple = decltype(scalar_lanes<S>(nullptr));

/// A function object that computes one element of an expression.
template <bool Dense, class S> struct forward_element {
    static constexpr bool dense = Dense;
    using R = typename S::value_type;
    operand_readers<Dense, typename element_lists<S>::leaves> from;
    scalar_tuple<S> scalars;
    R* to;

    RILL_FN auto load(index_t i) const { return from.load(i); }
    template <class X> RILL_FN void finish(index_t i, const X& x) const {
        to[i] = lane<R>(evaluator<S, 0, 0>::value(x, scalars)).v;
    }
};

/// The inputs of an adjoint: operands or the result, and the gradient.
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

/// The arrays that receive the adjoints, one per distinct leaf, at its first occurrence.
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

/// A function object that computes one element of the adjoints of an expression's leaves.
template <bool Dense, class S> struct adjoint_element {
    static constexpr bool dense = Dense;
    using R = typename S::value_type;
    using readers = operand_readers<Dense, typename element_lists<S>::leaves>;
    readers from;
    scalar_tuple<S> scalars;
    result_reader<Dense, R> gradient;
    adjoint_results<static_cast<std::size_t>(S::leaves)> results;

    using loaded = with_gradient<typename readers::values, R>;
    RILL_FN loaded load(index_t i) const { return {from.load(i), lane<R>(gradient.load(i))}; }
    RILL_FN void finish(index_t i, const loaded& all) const {
        leaf_slots<S, adjoint_slot> slots;
        pullback_of<S, 0>::run(evaluator<S, 0, 0>::forward(all.x, scalars), all.gradient, slots);
        results.store(slots, i);
    }
};

/// A function object that computes one element of the adjoints. It reads the result and its gradient, or the gradient alone.
template <bool Dense, class S> struct by_result_element {
    static constexpr bool dense = Dense;
    using R = typename S::value_type;
    result_reader<Dense, R> first, last; // the result and the gradient, or the gradient twice
    adjoint_results<static_cast<std::size_t>(S::leaves)> results;

    using loaded = with_gradient<lane<R>, R>;
    RILL_FN loaded load(index_t i) const { return {lane<R>(first.load(i)), lane<R>(last.load(i))}; }
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
    auto* const to = B::at(static_cast<typename S::value_type*>(args.result[0]));
    constexpr bool may_be_dense = B::tells_dense && (S::leaves > 0);
    with_bool<may_be_dense>(reads_dense<B, S>(args), [&]<bool Dense>(std::bool_constant<Dense>) {
        using readers = operand_readers<Dense, typename element_lists<S>::leaves>;
        B::each(*here, args.space.total,
                forward_element<Dense, S>{readers::template make<B>(args.space, args.leaf),
                                          scalar_lanes<S>(args.scalar), to});
    });
    if constexpr (structure_divides<S>) B::template refuse_zero_division<S>(*here);
}

template <class B, class S> void launch_adjoint(const execution_context& on, const elementwise_launch& args) {
    const auto here = B::enter(on);
    if (!here) return;
    using R = typename S::value_type;
    const auto& gradient = args.leaf[S::leaves];
    constexpr bool may_be_dense = B::tells_dense && (S::leaves > 0);
    const bool dense = reads_dense<B, S>(args) && result_reader<true, R>::serves(args.space, gradient);
    with_bool<may_be_dense>(dense, [&]<bool Dense>(std::bool_constant<Dense>) {
        using readers = operand_readers<Dense, typename element_lists<S>::leaves>;
        B::each(
            *here, args.space.total,
            adjoint_element<Dense, S>{readers::template make<B>(args.space, args.leaf), scalar_lanes<S>(args.scalar),
                                      result_reader<Dense, R>::template make<B>(args.space, gradient),
                                      adjoint_results<static_cast<std::size_t>(S::leaves)>::template make<B>(args)});
    });
}

template <class B, class S, pullback_reads Reads>
void launch_by_result(const execution_context& on, const elementwise_launch& args) {
    const auto here = B::enter(on);
    if (!here) return;
    using R = typename S::value_type;
    const auto &first = args.leaf[0], &last = args.leaf[Reads == pullback_reads::result ? 1 : 0];
    const bool dense =
        result_reader<true, R>::serves(args.space, first) && result_reader<true, R>::serves(args.space, last);
    with_bool<B::tells_dense>(dense, [&]<bool Dense>(std::bool_constant<Dense>) {
        using reader = result_reader<Dense, R>;
        B::each(*here, args.space.total,
                by_result_element<Dense, S>{
                    reader::template make<B>(args.space, first), reader::template make<B>(args.space, last),
                    adjoint_results<static_cast<std::size_t>(S::leaves)>::template make<B>(args)});
    });
}

/// Registers the forward launch of a structure for a device.
template <class B, class S> bool register_forward(std::string_view device) {
    launchers_of(device).elementwise.change(key_of<S>(), [](auto& known) { known.forward = &launch_forward<B, S>; });
    return true;
}

/// Registers the launches of a structure for a device: forward and the available adjoints.
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
