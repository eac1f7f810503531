// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <rill/core/plain_tuple.hpp>
#include <rill/device/elementwise_op.hpp>

namespace rill { inline namespace RILL_ABI {

// The structure of an expression: its type without extents, names and handle kinds. Kernels are functions of structures;
// expressions that differ only in shape share them. All of this header compiles for a GPU; the key of a structure is text, and has a
// header of its own (device/structure_key.hpp).

/// A tensor operand.
template <class T> struct leaf {
    using value_type = T;
    static constexpr int leaves = 1, scalars = 0;
};

/// A scalar operand.
template <class T> struct scalar_leaf {
    using value_type = T;
    static constexpr int leaves = 0, scalars = 1;
};

/// An elementwise op over operands; R is the element type of its result.
template <class Op, class R, class... Args> struct structure {
    using value_type = R;
    static constexpr int leaves = (0 + ... + Args::leaves), scalars = (0 + ... + Args::scalars);
};

/// A marker in a pullback's result: no gradient flows to this operand.
struct no_gradient {};

/// A pullback's result for an op of several operands: their adjoints in order.
template <class... V> using adjoints = detail::plain_tuple<V...>;

namespace detail {

/// True if the op has a pullback. Otherwise its gradient is traced through its expansion.
template <class Op> inline constexpr bool has_pullback = !requires { Op::expands; };

/// True if the op and every op below it have a pullback. An op without one would be treated as a constant.
template <class S> inline constexpr bool all_have_pullbacks = true;
template <class Op, class R, class... Args>
inline constexpr bool all_have_pullbacks<structure<Op, R, Args...>> =
    has_pullback<Op> && (all_have_pullbacks<Args> && ...);

/// True if a compiled gradient exists: every op has a pullback, and the result and some tensor leaf are differentiable.
template <class S> inline constexpr bool differentiable_structure = false;
template <class T> inline constexpr bool differentiable_structure<leaf<T>> = is_differentiable(dtype_of<T>);
template <class Op, class R, class... Args>
inline constexpr bool differentiable_structure<structure<Op, R, Args...>> =
    all_have_pullbacks<structure<Op, R, Args...>> && is_differentiable(dtype_of<R>) &&
    (differentiable_structure<Args> || ...);

// ---- evaluation of a structure, on any kind of value -------------------------------------------------------------------

/// Returns the number of leaves in the arguments before the k-th.
template <class... Args> constexpr int leaves_before(std::size_t k) {
    const int count[] = {Args::leaves..., 0};
    int n = 0;
    for (std::size_t i = 0; i < k; ++i) n += count[i];
    return n;
}
template <class... Args> constexpr int scalars_before(std::size_t k) {
    const int count[] = {Args::scalars..., 0};
    int n = 0;
    for (std::size_t i = 0; i < k; ++i) n += count[i];
    return n;
}

/// The element types of a structure's leaves and scalars, by occurrence.
template <class S> struct element_lists;
template <class T> struct element_lists<leaf<T>> {
    using leaves = type_list<T>;
    using scalars = type_list<>;
};
template <class T> struct element_lists<scalar_leaf<T>> {
    using leaves = type_list<>;
    using scalars = type_list<T>;
};
template <class Op, class R, class... Args> struct element_lists<structure<Op, R, Args...>> {
    using leaves = joined<typename element_lists<Args>::leaves...>;
    using scalars = joined<typename element_lists<Args>::scalars...>;
};

/// The values of a node and of all nodes below it. The backward sweep needs them; they stay in registers.
template <class V, class... Below> struct sweep {
    V value;
    plain_tuple<Below...> below;
};

template <class S, int Leaf, int Scalar> struct evaluator;

/// An evaluator of a structure: `value` returns the result, `forward` also the values for the backward sweep.
template <class T, int Leaf, int Scalar> struct evaluator<leaf<T>, Leaf, Scalar> {
    template <class Leaves, class Scalars> RILL_FN static auto value(const Leaves& leaves, const Scalars&) {
        return at<Leaf>(leaves);
    }
    template <class Leaves, class Scalars> RILL_FN static auto forward(const Leaves& leaves, const Scalars&) {
        return sweep<plain_element<Leaf, Leaves>>{at<Leaf>(leaves), {}};
    }
};
template <class T, int Leaf, int Scalar> struct evaluator<scalar_leaf<T>, Leaf, Scalar> {
    template <class Leaves, class Scalars> RILL_FN static auto value(const Leaves&, const Scalars& scalars) {
        return at<Scalar>(scalars);
    }
    template <class Leaves, class Scalars> RILL_FN static auto forward(const Leaves&, const Scalars& scalars) {
        return sweep<plain_element<Scalar, Scalars>>{at<Scalar>(scalars), {}};
    }
};
template <class Op, class R, class... Args, int Leaf, int Scalar>
struct evaluator<structure<Op, R, Args...>, Leaf, Scalar> {
    template <class Leaves, class Scalars> RILL_FN static auto value(const Leaves& leaves, const Scalars& scalars) {
        return whole(leaves, scalars, std::index_sequence_for<Args...>{});
    }
    template <class Leaves, class Scalars> RILL_FN static auto forward(const Leaves& leaves, const Scalars& scalars) {
        return go(leaves, scalars, std::index_sequence_for<Args...>{});
    }

private:
    template <class Leaves, class Scalars, std::size_t... K>
    RILL_FN static auto whole(const Leaves& leaves, const Scalars& scalars, std::index_sequence<K...>) {
        return compute<Op>(
            evaluator<Args, Leaf + leaves_before<Args...>(K), Scalar + scalars_before<Args...>(K)>::value(leaves,
                                                                                                          scalars)...);
    }
    template <class Leaves, class Scalars, std::size_t... K>
    RILL_FN static auto go(const Leaves& leaves, const Scalars& scalars, std::index_sequence<K...>) {
        return join(evaluator<Args, Leaf + leaves_before<Args...>(K), Scalar + scalars_before<Args...>(K)>::forward(
            leaves, scalars)...);
    }
    template <class... Below> RILL_FN static auto join(const Below&... below) {
        const auto v = compute<Op>(below.value...);
        return sweep<std::remove_const_t<decltype(v)>, Below...>{v, plain_tuple<Below...>(below...)};
    }
};

// ---- adjoints of the leaves --------------------------------------------------------------------------------------------

/// True if the parent's pullback returns a gradient for this operand, and the operand can carry one.
template <class S, class G>
inline constexpr bool takes_gradient = differentiable_structure<S> && !std::is_same_v<G, no_gradient>;

/// The backward sweep: runs the pullbacks in reverse and stores the adjoint of each leaf occurrence in its slot.
template <class S, int Leaf> struct pullback_of {
    template <class Sweep, class G, class Slots> RILL_FN static void run(const Sweep&, const G& g, Slots& slots) {
        if constexpr (takes_gradient<S, G>) at<Leaf>(slots) = g;
    }
};
template <class Op, class R, class... Args, int Leaf> struct pullback_of<structure<Op, R, Args...>, Leaf> {
    template <class Sweep, class G, class Slots> RILL_FN static void run(const Sweep& s, const G& g, Slots& slots) {
        if constexpr (takes_gradient<structure<Op, R, Args...>, G>) go(s, g, slots, std::index_sequence_for<Args...>{});
    }

private:
    template <class Sweep, class G, class Slots, std::size_t... K>
    RILL_FN static void go(const Sweep& s, const G& g, Slots& slots, std::index_sequence<K...>) {
        const auto d = pull_back<Op>(s.value, g, at<K>(s.below).value...);
        if constexpr (sizeof...(Args) == 1)
            (pullback_of<Args, Leaf>::run(at<0>(s.below), d, slots), ...);
        else
            (pullback_of<Args, Leaf + leaves_before<Args...>(K)>::run(at<K>(s.below), at<K>(d), slots), ...);
    }
};

/// The values that the adjoints of an expression's leaves depend on. Only the topmost op can use the expression's result.
template <class S, template <class> class Value>
inline constexpr pullback_reads adjoint_reads = pullback_reads::gradient;
template <class Op, class R, class... Args, template <class> class Value>
inline constexpr pullback_reads adjoint_reads<structure<Op, R, Args...>, Value> = [] {
    if constexpr (!differentiable_structure<structure<Op, R, Args...>>)
        return pullback_reads::gradient;
    else if constexpr (((adjoint_reads<Args, Value> == pullback_reads::gradient) && ...))
        return pullback_reads_of<Op, Value<R>>();
    else
        return pullback_reads::operands;
}();

/// Like pullback_of, for adjoints that depend on no operand.
template <class S, int Leaf> struct pullback_by_result {
    template <class G, class Slots> RILL_FN static void run(const G&, const G& g, Slots& slots) {
        if constexpr (takes_gradient<S, G>) at<Leaf>(slots) = g;
    }
};
template <class Op, class R, class... Args, int Leaf> struct pullback_by_result<structure<Op, R, Args...>, Leaf> {
    template <class G, class Slots> RILL_FN static void run(const G& result, const G& g, Slots& slots) {
        if constexpr (takes_gradient<structure<Op, R, Args...>, G>)
            go(result, g, slots, std::index_sequence_for<Args...>{});
    }

private:
    template <class G, class Slots, std::size_t... K>
    RILL_FN static void go(const G& result, const G& g, Slots& slots, std::index_sequence<K...>) {
        const auto d = pull_back<Op>(result, g);
        if constexpr (sizeof...(Args) == 1)
            (pullback_by_result<Args, Leaf>::run(d, d, slots), ...); // the ops below read only gradients
        else
            (pullback_by_result<Args, Leaf + leaves_before<Args...>(K)>::run(at<K>(d), at<K>(d), slots), ...);
    }
};

/// The slot types: one per leaf occurrence; the slot of a non-differentiable leaf is empty.
template <class S, template <class> class Value> struct slot_list;
template <class T, template <class> class Value> struct slot_list<leaf<T>, Value> {
    using type = type_list<std::conditional_t<is_differentiable(dtype_of<T>), Value<T>, no_gradient>>;
};
template <class T, template <class> class Value> struct slot_list<scalar_leaf<T>, Value> {
    using type = type_list<>;
};
template <class Op, class R, class... Args, template <class> class Value>
struct slot_list<structure<Op, R, Args...>, Value> {
    using type = joined<typename slot_list<Args, Value>::type...>;
};
template <class S, template <class> class Value> using leaf_slots = tuple_of_list<typename slot_list<S, Value>::type>;

} // namespace detail

}} // namespace rill::RILL_ABI
