// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/window.hpp>
#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/reverse.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/array/strided_slice.hpp>

namespace rill { inline namespace RILL_ABI {

/// The padding elements. constant: one value; reflect: elements mirrored without the edge; symmetric: mirrored with the
/// edge.
enum class pad_mode { constant, reflect, symmetric };

namespace rules {

constexpr shape_result pad(const dims& x, const dims& before, const dims& after) {
    if (!before.known_rank() || before.rank != after.rank) return {x, "two numbers are expected for each axis"};
    for (int i = 0; i < before.rank; ++i)
        if (before[i] < 0 || after[i] < 0) return {x, "a number of elements is negative"};
    if (!x.known_rank()) return {dims::unknown()};
    if (before.rank != x.rank) return {x, "two numbers are expected for each axis"};
    dims r = x;
    for (int i = 0; i < x.rank; ++i) {
        constexpr index_t most = std::numeric_limits<index_t>::max() / 4;
        if (before[i] > most || after[i] > most || x[i] > most)
            return {x, "there would be more elements than an index counts"};
        if (x[i] != dyn) r[i] = x[i] + before[i] + after[i];
    }
    return {r};
}

} // namespace rules

/// A padding value: the nearest double, and the difference of a 64-bit integer from it.
struct pad_constant {
    double nearest = 0;
    std::int64_t rest = 0;

    pad_constant() = default;
    template <class V>
        requires std::is_arithmetic_v<V>
    constexpr pad_constant(V v) : nearest(static_cast<double>(v)) {
        if constexpr (std::is_integral_v<V>)
            rest = static_cast<std::int64_t>(static_cast<std::uint64_t>(v) - as_unsigned(nearest));
    }
    /// Returns the value as a T, which must be able to hold it.
    template <class T> T as() const {
        if constexpr (std::is_same_v<T, bool>)
            return nearest != 0;
        else if constexpr (is_integral<T>)
            return static_cast<T>(as_unsigned(nearest) + static_cast<std::uint64_t>(rest));
        else
            return detail::convert<T>(nearest);
    }
    template <class T> bool fits() const;

private:
    static constexpr std::uint64_t as_unsigned(double v) {
        constexpr double all = 18446744073709551616.; // 2^64, which wraps to 0
        return v < 0     ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v))
               : v < all ? static_cast<std::uint64_t>(v)
                         : 0;
    }
};

/// Pads a tensor with a constant of its dtype. Gradient: the slice of g without the padding.
struct pad_op {
    static constexpr int inputs = 1;
    static constexpr auto name = "PadV2", label = "pad";
    using domain_type = domains::comparable;
    using compiled_types = types::common;
    using brings = op_list<strided_slice_op>;
    dims before, after;
    pad_constant value;

    static void fields(auto& op, auto& visit) {
        visit("before", op.before);
        visit("after", op.after);
        visit("value", op.value.nearest);
        visit("value_rest", op.value.rest);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    padded_view pads_input(std::span<const tensor_type> in) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &x = request.inputs[0].shape, &y = request.outputs[0].shape;
        const auto l = detail::layout_of_slice(y, inside(), false);
        const bool exact = x == y;
        return kernel([l, exact, n = y.size(), around = value.template as<T>()](const kernel_args& a) {
            if (!exact) D::fill(a.on, n, a.out<T>(0), around);
            if (!l.empty) D::copy(a.on, a.in<T>(0), a.out<T>(0) + l.begin, l.layout);
        });
    }

private:
    rules::slicing inside() const;
};

namespace detail {

template <std::size_t N> constexpr shape_result padded(const dims& shape, const std::array<padding, N>& all) {
    dims before, after;
    for (const auto& p : all) {
        before.push(p.before);
        after.push(p.after);
    }
    return rules::pad(shape, before, after);
}
pad_op pad_by(std::span<const padding> all, const pad_constant& value);

/// Pads one axis of a tensor of rank `rank` with mirrored elements.
any_tensor mirrored(const any_tensor& x, int axis, int rank, const padding& by, bool with_edge,
                    const std::source_location& where);

/// Registers the kernels that mirrored padding needs.
template <class X> void require_mirror() {
    require_kernel_for<slice_op, X>();
    require_kernel_for<reverse_op, X>();
    require_kernel_for<concat_op, X>();
}

} // namespace detail

template <class E, padding... P>
inline constexpr bool paddings_fit = detail::padded(static_dims<E>, std::array<padding, sizeof...(P)>{P...}).ok();

/// Pads with zeros: pad<padding{1, 1}, padding{0, 2}>(x). pad<…>(x, -1) pads with another constant.
template <padding... P, graph_operand X>
    requires(sizeof...(P) > 0)
auto pad(const X& x, const pad_constant& value = {},
         const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(paddings_fit<extents_of<X>, P...>, "pad: two numbers are expected for each axis, none negative");
    constexpr std::array<padding, sizeof...(P)> all{P...};
    constexpr auto rule = [](const dims& shape) {
        return detail::padded(shape, std::array<padding, sizeof...(P)>{P...});
    };
    return apply_node(detail::pad_by(all, value), rule, where, x);
}
/// Pads by amounts known only at run time: pad(x, {{1, 1}, {0, 2}}).
template <graph_operand X>
auto pad(const X& x, std::initializer_list<padding> all, const pad_constant& value = {},
         const std::source_location& where = std::source_location::current()) {
    return apply_node(detail::pad_by(std::span(all.begin(), all.size()), value), detail::rank_of_first, where, x);
}
/// Pads with the tensor's own elements, mirrored: pad(x, {{1, 1}}, pad_mode::reflect).
template <graph_operand X>
auto pad(const X& x, std::initializer_list<padding> all, pad_mode mode,
         const std::source_location& where = std::source_location::current()) {
    if (mode == pad_mode::constant) return pad(x, all, pad_constant(), where);
    detail::require_mirror<X>();
    any_tensor y = detail::seal(x);
    if (type_of(y.end()).shape.known_rank() && type_of(y.end()).shape.rank != static_cast<int>(all.size()))
        throw invalid_argument("pad: two numbers are expected for each axis (" + to_string(type_of(y.end()).shape) +
                               ")");
    const graph_scope here(y.graph());
    const name_scope scope("pad"); // errors of a run name the nodes: "pad/slice"
    int axis = 0;
    for (const auto& by : all)
        y = detail::mirrored(y, axis++, static_cast<int>(all.size()), by, mode == pad_mode::symmetric, where);
    return detail::typed_result<void, X>(detail::rank_of_first, y);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <cmath>
#include <cstring>

namespace rill { inline namespace RILL_ABI {

template <class T> bool pad_constant::fits() const {
    if constexpr (std::is_same_v<T, bool>) return nearest == 0 || nearest == 1;
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min()),
                     past = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2; // a power of two, too large
    return nearest == std::floor(nearest) && nearest >= low && (nearest < past || (nearest == past && rest < 0));
}

RILL_INLINE rules::slicing pad_op::inside() const {
    rules::slicing s;
    for (int i = 0; i < before.rank; ++i) s.push({before[i], after[i] == 0 ? slice_range::all : -after[i], 1});
    return s;
}

RILL_INLINE std::vector<tensor_type> pad_op::outputs(std::span<const tensor_type> in) const {
    const auto padded = rules::pad(in[0].shape, before, after);
    if (!padded.ok()) throw invalid_argument(padded.reason());
    bool fits = true;
    detail::visit_dtype(in[0].type, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_same_v<T, bool> || is_integral<T>) fits = value.template fits<T>();
    });
    if (!fits)
        throw invalid_argument(std::to_string(value.nearest) + " is not a valid " + std::string(to_string(in[0].type)));
    return {{in[0].type, padded.shape}};
}

RILL_INLINE padded_view pad_op::pads_input(std::span<const tensor_type> in) const {
    padded_view p;
    p.whole = rules::pad(in[0].shape, before, after).shape;
    p.before = before;
    p.value = detail::view_of_slice(p.whole, inside());
    detail::visit_dtype(in[0].type, [&]<class T>(std::type_identity<T>) {
        if constexpr (op_takes<pad_op, T>) {
            const T element = value.template as<T>();
            std::memcpy(p.around.data(), &element, sizeof element);
        }
    });
    return p;
}

RILL_INLINE std::vector<endpoint> pad_op::gradient(const gradient_request& r) const {
    return {r.add<pad_op>(strided_slice_op{inside()}, {r.gradient()})};
}

namespace detail {

RILL_INLINE pad_op pad_by(std::span<const padding> all, const pad_constant& value) {
    pad_op op;
    op.value = value;
    for (const auto& p : all) {
        op.before.push(p.before);
        op.after.push(p.after);
    }
    return op;
}

RILL_INLINE any_tensor mirrored(const any_tensor& x, int axis, int rank, const padding& by, bool with_edge,
                                const std::source_location& where) {
    const index_t edge = with_edge ? 0 : 1, extent = rules::extent_along(type_of(x.end()).shape, axis);
    if (by.before < 0 || by.after < 0) throw invalid_argument("pad: a number of elements is negative");
    if (extent != dyn && std::max(by.before, by.after) > std::max<index_t>(extent - edge, 0))
        throw invalid_argument("pad: there are not that many elements to mirror (" + to_string(type_of(x.end()).shape) +
                               ", axis " + std::to_string(axis) + ")");
    const auto turned = [&](const any_tensor& t) {
        return any_tensor(add_op_node(make_op(reverse_op{{axis}}), 0, where, t));
    };
    const auto first = [&](const any_tensor& t,
                           index_t count) { // from the edge; the run checks that the axis is long enough
        index_list begin, size;
        for (int i = 0; i < rank; ++i) {
            begin.push(i == axis ? edge : 0);
            size.push(i == axis ? count : dyn);
        }
        return any_tensor(add_op_node(make_op(slice_op{begin, size}), 0, where, t));
    };
    endpoint_list all;
    if (by.before > 0) all.push_back(turned(first(x, by.before)).end());
    all.push_back(x.end());
    if (by.after > 0) all.push_back(first(turned(x), by.after).end());
    if (all.size() == 1) return x;
    return endpoint{add_node(x.graph(), make_op(concat_op{axis}), std::move(all), {}, false, where), 0};
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
