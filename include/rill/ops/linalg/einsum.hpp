// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/einsum_equation.hpp>
#include <rill/ops/linalg/matrix_op.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A contraction of two tensors as matrix products [m, k] x [k, n], one for each element of a batch.
struct contraction {
    index_t batch = 1, m = 1, n = 1, k = 1;
    bool transpose_a = false, transpose_b = false;
    bool swapped = false;                                   // the second tensor is the left matrix
    bool packs_a = false, packs_b = false, unpacks = false; // copies that bring the axes into order
    strided_layout a, b, c;                                 // layouts of the copies
};
contraction contraction_of(std::string_view equation, const dims& a, const dims& b);

} // namespace detail

/// The sum of products of two tensors over labels, given by an equation such as "ij,jk->ik". Each label of an operand must occur in the
/// other operand or in the result. Gradients: contractions of g with the other operand, conjugated if it is complex.
struct einsum_op {
    static constexpr auto name = "Einsum";
    using domain_type = domains::numeric;
    using compiled_types = types::floats;
    using brings = op_list<conj_op>;
    std::string equation;

    static void fields(auto& op, auto& visit) { visit("equation", op.equation); }
    shape_result shape(const dims& a, const dims& b) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto c = detail::contraction_of(equation, request.inputs[0].shape, request.inputs[1].shape);
        const auto bytes = [](index_t n) { return (static_cast<std::size_t>(n) * sizeof(T) + 63) / 64 * 64; };
        const std::size_t b_at = c.packs_a ? bytes(c.batch * c.m * c.k) : 0,
                          c_at = b_at + (c.packs_b ? bytes(c.batch * c.k * c.n) : 0),
                          rest = c_at + (c.unpacks ? bytes(c.batch * c.m * c.n) : 0);
        request.scratch_bytes =
            rest + D::template gemm_scratch<T>(request.on, c.transpose_a, c.transpose_b, c.m, c.n, c.k);
        request.shared = D::template gemm_is_shared<T>(request.on, c.transpose_a, c.transpose_b, c.m, c.n, c.k);
        const bool empty = request.outputs[0].shape.size() == 0;
        return kernel([=](const kernel_args& s) {
            if (empty) return;
            auto* const scratch = s.template scratch<std::byte>();
            const T *a = s.in<T>(c.swapped ? 1 : 0), *b = s.in<T>(c.swapped ? 0 : 1);
            T* const to = c.unpacks ? reinterpret_cast<T*>(scratch + c_at) : s.out<T>(0);
            const auto packed = [&](const T* from, std::size_t at, const detail::strided_layout& layout) -> const T* {
                T* const copy = reinterpret_cast<T*>(scratch + at);
                D::copy(s.on, from, copy, layout);
                return copy;
            };
            if (c.packs_a && c.k > 0) a = packed(a, 0, c.a);
            if (c.packs_b && c.k > 0) b = packed(b, b_at, c.b);
            const auto on = s.on.with_scratch(scratch + rest);
            for (index_t p = 0; p < c.batch; ++p)
                D::gemm(on, c.transpose_a, c.transpose_b, c.m, c.n, c.k, a + p * c.m * c.k, b + p * c.k * c.n,
                        to + p * c.m * c.n);
            if (c.unpacks) D::copy(s.on, static_cast<const T*>(to), s.out<T>(0), c.c);
        });
    }
};

namespace detail {

/// Returns one operand of an equation, summed over the labels that neither another operand nor the result has. Removes these labels from
/// the equation.
template <class X>
any_tensor without_lone_labels(const X& x, einsum_equation& equation, int operand, const std::source_location& where) {
    axis_list gone;
    std::string left;
    for (int i = 0; i < equation.rank(operand); ++i) {
        const char label = equation.terms[static_cast<std::size_t>(operand)][static_cast<std::size_t>(i)];
        if (equation.is_lone(label))
            gone.push(i);
        else
            left += label;
    }
    if (gone.count == 0) return any_tensor(sealed(x));
    equation.set_term(operand, left);
    return any_tensor(reduce_sum(x, gone, drop_dims_t{}, where));
}

/// Contracts two tensors whose elements have the type of X.
template <class X>
any_tensor contracted(const std::string& equation, const any_tensor& a, const any_tensor& b,
                      const std::source_location& where) {
    constexpr auto rule = [](const dims&, const dims&) { return shape_result{dims::unknown()}; };
    if constexpr (typed_operand<X>)
        return apply_node<void, value_type_of<X>>(einsum_op{equation}, rule, where, a, b);
    else
        return apply_node(einsum_op{equation}, where, a, b);
}

/// Adds the nodes of an equation that fits its operands.
template <class X, class... More>
any_tensor add_einsum(einsum_equation equation, const std::source_location& where, const X& x, const More&... more) {
    int k = 0;
    std::vector<any_tensor> operands{without_lone_labels(x, equation, k++, where)};
    (operands.push_back(without_lone_labels(more, equation, k++, where)), ...);
    any_tensor made = operands[0];
    std::string labels(equation.term(0));
    for (int i = 1; i < equation.operands; ++i) {
        const std::string next = equation.after(labels, i);
        made = contracted<X>(labels + "," + std::string(equation.term(i)) + "->" + next, made,
                             operands[static_cast<std::size_t>(i)], where);
        labels = next;
    }
    const std::string result(equation.term(equation.operands));
    if (labels == result) return made;
    axis_list order;
    for (const char label : result) order.push(static_cast<index_t>(labels.find(label)));
    constexpr auto rule = [](const dims&) { return shape_result{dims::unknown()}; };
    if constexpr (typed_operand<X>)
        return apply_node<void, value_type_of<X>>(transpose_op{order}, rule, where, made);
    else
        return apply_node(transpose_op{order}, where, made);
}

/// Throws invalid_argument because an equation does not parse or does not fit the operands.
[[noreturn]] void refuse_einsum(std::string_view equation, const char* why, const std::source_location& where);
[[noreturn]] void refuse_tensordot(const shape_result& why, const std::source_location& where);

} // namespace detail

/// True if the equation parses.
template <einsum_text Equation, int... Rank>
inline constexpr bool einsum_parses = parse_einsum(Equation.view(), std::array{Rank...}).broken == nullptr;
/// True if the operands have the ranks and extents that the equation requires.
template <einsum_text Equation, class... E>
inline constexpr bool einsum_fits =
    rules::einsum(parse_einsum(Equation.view(), std::array{E::rank...}), std::array{static_dims<E>...}).ok();

/// Returns sums of products over the labels that the result does not have: einsum<"bij,bjk->bik">(a, b). "..." stands for any axes. Without
/// "->" the result has the labels that occur once, in alphabetical order. Operands are contracted from left to right.
template <einsum_text Equation, graph_operand... X>
    requires(sizeof...(X) > 0)
auto einsum(const X&... x) {
    const std::source_location where{}; // a variadic function has no source location
    if constexpr ((typed_operand<X> && ...)) {
        static_assert(einsum_parses<Equation, extents_of<X>::rank...>,
                      "einsum: the equation does not parse: a term of letters for each operand, as \"ij,jk->ik\"");
        if constexpr (einsum_parses<Equation, extents_of<X>::rank...>)
            static_assert(einsum_fits<Equation, extents_of<X>...>,
                          "einsum: the operands do not have the axes and extents that the equation says");
        constexpr auto rule = [](const auto&... shape) {
            return rules::einsum(parse_einsum(Equation.view(), std::array{shape.rank...}), std::array{shape...});
        };
        if constexpr (einsum_parses<Equation, extents_of<X>::rank...> && einsum_fits<Equation, extents_of<X>...>)
            return detail::typed_result<void, X...>(
                rule,
                detail::add_einsum(parse_einsum(Equation.view(), std::array{extents_of<X>::rank...}), where, x...));
        else
            return any_tensor();
    } else {
        return einsum(Equation.view(), x...);
    }
}

/// Overload for an equation known only at run time.
template <graph_operand... X>
    requires(sizeof...(X) > 0)
any_tensor einsum(std::string_view equation, const X&... x) {
    const std::source_location where{}; // a variadic function has no source location
    if ((detail::is_null(x) || ...)) detail::refuse_null("einsum", where);
    const auto parsed = parse_einsum(equation, std::array{detail::rank_of(x)...});
    if (parsed.broken) detail::refuse_einsum(equation, parsed.broken, where);
    if (const auto r = rules::einsum(parsed, std::array{detail::operand_type(x).shape...}); !r.ok())
        detail::refuse_einsum(equation, r.broken, where);
    return detail::add_einsum(parsed, where, x...);
}

/// Returns sums of products over axes of a and as many axes of b: tensordot(a, b, {1, 2}, {0, 1}). The result has the remaining axes of a,
/// then those of b.
template <graph_operand A, graph_operand B>
any_tensor tensordot(const A& a, const B& b, const axis_list& of_a, const axis_list& of_b,
                     const std::source_location& where = std::source_location::current()) {
    if (detail::is_null(a) || detail::is_null(b)) detail::refuse_null("tensordot", where);
    const auto text = tensordot_equation(detail::rank_of(a), detail::rank_of(b), of_a, of_b);
    if (text.broken) detail::refuse_tensordot(shape_result{dims{}, text.broken, text.axis}, where); // the types are for nvcc
    if (const auto r = rules::einsum(text, std::array{detail::operand_type(a).shape, detail::operand_type(b).shape});
        !r.ok())
        detail::refuse_tensordot(r, where);
    return detail::add_einsum(text, where, a, b);
}

/// True if the last N axes of E equal the first N of F.
template <class E, class F, int N>
inline constexpr bool tensordot_fits =
    N >= 0 && N <= E::rank && N <= F::rank &&
    rules::einsum(tensordot_equation(E::rank, F::rank, last_axes(E::rank, N), last_axes(N, N)),
                  std::array{static_dims<E>, static_dims<F>})
        .ok();

/// Returns the tensordot over the last N axes of a and the first N of b: tensordot<1>(a, b).
template <int N, graph_operand A, graph_operand B>
auto tensordot(const A& a, const B& b, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<A> && typed_operand<B>) {
        using E = extents_of<A>;
        using F = extents_of<B>;
        static_assert(tensordot_fits<E, F, N>, "tensordot: the last axes of a are not the first of b");
        constexpr auto rule = [](const dims& x, const dims& y) {
            return rules::einsum(tensordot_equation(x.rank, y.rank, last_axes(x.rank, N), last_axes(N, N)),
                                 std::array{x, y});
        };
        return detail::typed_result<void, A, B>(rule, tensordot(a, b, last_axes(E::rank, N), last_axes(N, N), where));
    } else {
        if (detail::is_null(a) || detail::is_null(b)) detail::refuse_null("tensordot", where);
        return tensordot(a, b, last_axes(detail::rank_of(a), N), last_axes(N, N), where);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD void refuse_einsum(std::string_view equation, const char* why, const std::source_location& where) {
    throw invalid_argument("einsum: \"" + std::string(equation) + "\": " + why + at_place(where));
}
RILL_COLD void refuse_tensordot(const shape_result& why, const std::source_location& where) {
    throw invalid_argument("tensordot: " + why.reason() + at_place(where));
}

/// Returns the positions of labels in a term.
RILL_COLD std::vector<int> places_of(std::string_view labels, std::string_view term) {
    std::vector<int> all;
    for (const char label : labels) all.push_back(static_cast<int>(term.find(label)));
    return all;
}

RILL_COLD contraction contraction_of(std::string_view text, const dims& first, const dims& second) {
    const einsum_equation e = parse_einsum(text, std::array{first.rank, second.rank});
    contraction r;
    const std::string_view result = e.term(2);
    // the last label of the result belongs to the right matrix
    r.swapped = !result.empty() && e.term(1).find(result.back()) == std::string_view::npos;
    const std::string_view a = e.term(r.swapped ? 1 : 0), b = e.term(r.swapped ? 0 : 1);
    const dims &of_a = r.swapped ? second : first, &of_b = r.swapped ? first : second;
    std::string batch, rows, columns, summed;
    for (const char label : result) {
        const bool in_a = a.find(label) != a.npos, in_b = b.find(label) != b.npos;
        (in_a && in_b ? batch : in_a ? rows : columns) += label;
    }
    for (const char label : a)
        if (result.find(label) == result.npos) summed += label;
    const auto size = [](std::string_view labels, std::string_view term, const dims& shape) {
        index_t n = 1;
        for (const int at : places_of(labels, term)) n *= shape[at];
        return n;
    };
    r.batch = size(batch, a, of_a);
    r.m = size(rows, a, of_a);
    r.k = size(summed, a, of_a);
    r.n = size(columns, b, of_b);
    const auto layout_of = [](std::string_view wanted, std::string_view term, const dims& shape, bool to_wanted) {
        const auto strides = dense_strides(shape);
        dims packed;
        for (const int at : places_of(wanted, term)) packed.push(shape[at]);
        const auto into = dense_strides(packed);
        strided_layout l;
        int i = 0;
        for (const int at : places_of(wanted, term)) {
            l.push(shape[at], to_wanted ? strides[at] : into[i], to_wanted ? into[i] : strides[at]);
            ++i;
        }
        l.collapse();
        return l;
    };
    const std::string plain_a = batch + rows + summed, turned_a = batch + summed + rows,
                      plain_b = batch + summed + columns, turned_b = batch + columns + summed,
                      product = batch + rows + columns;
    r.transpose_a = a != plain_a && a == turned_a;
    r.transpose_b = b != plain_b && b == turned_b;
    r.packs_a = a != plain_a && !r.transpose_a;
    r.packs_b = b != plain_b && !r.transpose_b;
    r.unpacks = result != product;
    if (r.packs_a) r.a = layout_of(plain_a, a, of_a, true);
    if (r.packs_b) r.b = layout_of(plain_b, b, of_b, true);
    if (r.unpacks) r.c = layout_of(product, result, rules::einsum(e, std::array{first, second}).shape, false);
    return r;
}

} // namespace detail

RILL_INLINE shape_result einsum_op::shape(const dims& a, const dims& b) const {
    const auto e = parse_einsum(equation, std::array{a.rank, b.rank});
    if (e.broken) return {a, e.broken};
    if (equation.find("->") == std::string::npos) return {a, "the equation does not name its result"};
    for (int operand = 0; operand < 2; ++operand)
        for (const char label : e.term(operand))
            if (e.is_lone(label)) return {a, "a label of one operand is neither in the other one nor in the result"};
    return rules::einsum(e, std::array{a, b});
}

RILL_INLINE std::vector<endpoint> einsum_op::gradient(const gradient_request& r) const {
    const auto comma = equation.find(','), arrow = equation.find("->");
    const std::string a = equation.substr(0, comma), b = equation.substr(comma + 1, arrow - comma - 1),
                      c = equation.substr(arrow + 2);
    std::vector<endpoint> d(2);
    if (r.wanted[0])
        d[0] = r.add<einsum_op>(einsum_op{c + "," + b + "->" + a}, {r.gradient(), detail::conjugate_of(r.input(1))});
    if (r.wanted[1])
        d[1] = r.add<einsum_op>(einsum_op{a + "," + c + "->" + b}, {detail::conjugate_of(r.input(0)), r.gradient()});
    return d;
}

RILL_INLINE op_cost einsum_op::cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
    const auto c = detail::contraction_of(equation, in[0].shape, in[1].shape);
    return {2 * static_cast<double>(c.batch * c.m) * static_cast<double>(c.n * c.k),
            detail::total_bytes(in) + detail::total_bytes(out)};
}

}} // namespace rill::RILL_ABI
#endif
