// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>

#include <rill/device/cpu/fusion/padded_tail.hpp>
#include <rill/device/cpu/fusion/reducers.hpp>
#include <rill/device/structure_key.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail { inline namespace RILL_ISA {

// ---- a common lane count for all values of an expression ---------------------------------------------------------------

template <class... S> struct lanes_of_list;
template <class S> struct lanes_of : std::integral_constant<int, lanes_for<typename S::value_type>> {};
template <class Op, class R, class... Args>
struct lanes_of<structure<Op, R, Args...>>
    : std::integral_constant<int, std::max({lanes_for<R>, lanes_of<Args>::value...})> {};

// ---- loading: a pointer per leaf; scalars are broadcast to a pack once per call ------------------------------------------

template <int N, class List> struct leaf_loader;
template <int N, class... T> struct leaf_loader<N, type_list<T...>> {
    plain_tuple<const T*...> from;

    RILL_FN explicit leaf_loader(const block_args& a) : leaf_loader(a, std::index_sequence_for<T...>{}) {}

    RILL_FN auto load(std::int64_t i) const { return load(i, std::index_sequence_for<T...>{}); }

private:
    template <std::size_t... K>
    RILL_FN leaf_loader(const block_args& a, std::index_sequence<K...>) : from(static_cast<const T*>(a.leaf[K])...) {}
    template <std::size_t... K> RILL_FN auto load(std::int64_t i, std::index_sequence<K...>) const {
        return plain_tuple<pack<T, N>...>(pack<T, N>::load(at<K>(from) + i)...);
    }
};

template <int N, class... T, std::size_t... K>
RILL_FN auto load_scalars(const block_args& a, type_list<T...>, std::index_sequence<K...>) {
    return plain_tuple<pack<T, N>...>(pack<T, N>(*static_cast<const T*>(a.scalar[K]))...);
}
template <class S, int N> RILL_FN auto load_scalars(const block_args& a) {
    return load_scalars<N>(a, typename element_lists<S>::scalars(),
                           std::make_index_sequence<static_cast<std::size_t>(S::scalars)>{});
}

// ---- the tail, shorter than a pack, runs outside the kernel; the kernel's loop then compiles for whole packs only --------

template <class List> struct element_sizes;
template <class... T> struct element_sizes<type_list<T...>> {
    static constexpr std::array<std::uint8_t, sizeof...(T)> value = {sizeof(T)...};
    static constexpr std::size_t sum = (0 + ... + sizeof(T));
};

template <int N, class Leaves, class Results> void run_tail(block_function f, const block_args& a, std::int64_t done) {
    using leaves = element_sizes<Leaves>;
    using results = element_sizes<Results>;
    static_assert(leaves::value.size() <= most_padded && results::value.size() <= most_padded);
    alignas(64) std::byte memory[N * (leaves::sum + results::sum)];
    run_padded(f, a, done, N, leaves::value, results::value, memory);
}

template <int N> struct packs_of {
    template <class T> using value = pack<T, N>;
    template <class T> struct slot {
        using value_type = T;
        pack<T, N> value = pack<T, N>(T(0));
        RILL_FN slot& operator=(const pack<T, N>& v) {
            value = v;
            return *this;
        }
    };
};

/// Adds occurrence K to the sum of the leaf whose first occurrence is First. The mask is constant in a call, so branches predict well.
template <std::size_t First, std::size_t K, class V, class Slots>
RILL_FN void add_occurrence(V& sum, const Slots& slots, std::uint32_t mask) {
    if constexpr (K > First && std::is_same_v<plain_element<K, Slots>, plain_element<First, Slots>>)
        if (mask >> K & 1) sum = sum + at<K>(slots).value;
}

/// Stores one adjoint per distinct leaf, at the index of its first occurrence.
template <int N, std::size_t J, class Slots, std::size_t... All>
RILL_FN void store_leaf(const Slots& slots, const block_args& a, std::index_sequence<All...>, std::int64_t i) {
    if constexpr (!std::is_same_v<plain_element<J, Slots>, no_gradient>) {
        if (!a.result[J]) return;
        auto sum = at<J>(slots).value;
        (add_occurrence<J, All>(sum, slots, a.mask[J]), ...);
        sum.store(static_cast<typename decltype(sum)::value_type*>(a.result[J]) + i);
    }
}

template <int N, std::size_t... J> struct store_leaves {
    template <class Slots> RILL_FN static void run(const Slots& slots, const block_args& a, std::int64_t i) {
        (store_leaf<N, J>(slots, a, std::index_sequence<J...>{}, i), ...);
    }
};

/// A store of the sum over all leaves, which are the same handle.
template <int N, std::size_t... J> struct store_sum {
    template <class Slots> RILL_FN static void run(const Slots& slots, const block_args& a, std::int64_t i) {
        auto sum = at<0>(slots).value;
        (add_occurrence<0, J>(sum, slots, ~0u), ...);
        sum.store(static_cast<typename decltype(sum)::value_type*>(a.result[0]) + i);
    }
};

}} // namespace detail::RILL_ISA

inline namespace RILL_ISA {

/// Computes an expression over a block in one pass; intermediate values stay in registers.
template <class S> void forward_block(const block_args& a) {
    constexpr int N = detail::lanes_of<S>::value;
    using R = typename S::value_type;
    using evaluate = detail::evaluator<S, 0, 0>;
    const detail::leaf_loader<N, typename detail::element_lists<S>::leaves> from(a);
    const auto scalars = detail::load_scalars<S, N>(a);
    auto* to = static_cast<R*>(a.result[0]);
    std::int64_t i = 0;
    const std::int64_t n = a.n; // a local copy: the compiler would assume that stores may change a.n
    for (; i + N <= n; i += N) pack<R, N>(evaluate::value(from.load(i), scalars)).store(to + i);
    if constexpr (N > 1)
        if (i < n)
            detail::run_tail<N, typename detail::element_lists<S>::leaves, detail::type_list<R>>(&forward_block<S>, a,
                                                                                                 i);
}

} // namespace RILL_ISA

namespace detail { inline namespace RILL_ISA {

/// Computes a block of adjoints: re-evaluates the expression in registers, runs the pullbacks in reverse, stores the leaves' adjoints.
template <class S, class Store> void adjoint_loop(const block_args& a) {
    constexpr int N = lanes_of<S>::value;
    using slots_type = leaf_slots<S, packs_of<N>::template slot>;
    using seed_type = pack<typename S::value_type, N>;
    using leaves = typename element_lists<S>::leaves;
    const leaf_loader<N, leaves> from(a);
    const auto scalars = load_scalars<S, N>(a);
    const auto* seed = static_cast<const typename S::value_type*>(a.leaf[S::leaves]);
    std::int64_t i = 0;
    const std::int64_t n = a.n;
    for (; i + N <= n; i += N) {
        slots_type slots;
        pullback_of<S, 0>::run(evaluator<S, 0, 0>::forward(from.load(i), scalars), seed_type::load(seed + i), slots);
        Store::run(slots, a, i);
    }
    if constexpr (N > 1)
        if (i < n)
            run_tail<N, joined<leaves, type_list<typename S::value_type>>, leaves>(&adjoint_loop<S, Store>, a, i);
}

/// The number of leaves that a by-result adjoint reads: the gradient, and the result if needed.
template <pullback_reads Reads> inline constexpr int by_result_leaves = Reads == pullback_reads::result ? 2 : 1;

/// Computes a block of adjoints from the result and its gradient, or from the gradient alone.
template <class S, pullback_reads Reads, class Store> void by_result_loop(const block_args& a) {
    constexpr int N = lanes_of<S>::value;
    using R = typename S::value_type;
    using leaves = std::conditional_t<Reads == pullback_reads::result, type_list<R, R>, type_list<R>>;
    const leaf_loader<N, leaves> from(a);
    std::int64_t i = 0;
    const std::int64_t n = a.n;
    for (; i + N <= n; i += N) {
        leaf_slots<S, packs_of<N>::template slot> slots;
        const auto read = from.load(i); // for gradient-only adjoints, at<0> is the gradient too
        pullback_by_result<S, 0>::run(at<0>(read), at<by_result_leaves<Reads> - 1>(read), slots);
        Store::run(slots, a, i);
    }
    if constexpr (N > 1)
        if (i < n) run_tail<N, leaves, typename element_lists<S>::leaves>(&by_result_loop<S, Reads, Store>, a, i);
}

template <class S, std::size_t... J> constexpr block_function by_result_function(std::index_sequence<J...>) {
    constexpr int N = lanes_of<S>::value;
    constexpr auto reads = adjoint_reads<S, packs_of<N>::template value>;
    if constexpr (reads == pullback_reads::operands)
        return nullptr;
    else
        return &by_result_loop<S, reads, store_leaves<N, J...>>;
}
template <class S, std::size_t... J> constexpr block_function adjoint_function(std::index_sequence<J...>) {
    return &adjoint_loop<S, store_leaves<lanes_of<S>::value, J...>>;
}
template <class S, std::size_t... J> constexpr block_function adjoint_of_one_function(std::index_sequence<J...>) {
    return &adjoint_loop<S, store_sum<lanes_of<S>::value, J...>>;
}

/// True if all tensor leaves have type T. They may then be one handle.
template <class T, class S> struct only_leaves : std::true_type {};
template <class T, class U> struct only_leaves<T, leaf<U>> : std::is_same<T, U> {};
template <class T, class Op, class R, class... Args>
struct only_leaves<T, structure<Op, R, Args...>> : std::conjunction<only_leaves<T, Args>...> {};

/// The most leaf occurrences that a mask can identify; gradients of larger expressions are interpreted.
inline constexpr int most_masked_leaves = 32;

template <class S> bool register_expression() {
    block_kernels k;
    k.forward = &forward_block<S>;
    k.lanes = k.adjoint_lanes = lanes_of<S>::value;
    if constexpr (differentiable_structure<S> && S::leaves <= most_masked_leaves) {
        constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(S::leaves)>{};
        k.adjoint = adjoint_function<S>(all);
        k.by_result = by_result_function<S>(all);
        k.leaves = S::leaves;
        k.by_result_leaves = by_result_leaves<adjoint_reads<S, packs_of<lanes_of<S>::value>::template value>>;
        if constexpr (S::leaves > 1 && only_leaves<typename S::value_type, S>::value)
            k.adjoint_of_one = adjoint_of_one_function<S>(all);
    }
    register_blocks(key_of<S>(), RILL_ISA_LEVEL, k);
    return true;
}

template <class S> struct expression_registrar {
    static bool ensure() {
        static const bool done = register_expression<S>();
        return done;
    }
};

template <class S> struct one_op_registrar {
    static bool ensure() {
        static const bool done =
            (register_primitive_blocks(key_of<S>(), RILL_ISA_LEVEL, &forward_block<S>, lanes_of<S>::value), true);
        return done;
    }
};

}} // namespace detail::RILL_ISA

inline namespace RILL_ISA {

/// Compiles the block function of a one-op structure, which the interpreter runs. compile_expression of the structure serves it too.
template <class S> void compile_one_op() {
    detail::run_at_start<&detail::one_op_registrar<S>::ensure>();
}

/// Compiles the block functions of an expression structure, forward and adjoint, into this program.
template <class S> void compile_expression() {
    detail::run_at_start<&detail::expression_registrar<S>::ensure>();
}

} // namespace RILL_ISA

}} // namespace rill::RILL_ABI
