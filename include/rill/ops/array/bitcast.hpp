// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape after a bitcast to elements of another size. A larger element type drops the last axis; a smaller one
/// adds an axis.
constexpr shape_result bitcast(const dims& x, std::size_t from, std::size_t to) {
    if (from == 0 || to == 0) return {x, "elements of a fixed size are expected"};
    if (!x.known_rank()) return {dims::unknown()};
    dims r = x;
    if (from > to) {
        if (x.rank == max_rank) return {x, "the result would have more than 8 dimensions"};
        r.push(static_cast<index_t>(from / to));
    } else if (from < to) {
        if (x.rank == 0 || !extents_compatible(x[x.rank - 1], static_cast<index_t>(to / from)))
            return {x, "the last axis must hold the parts of one element"};
        r = {};
        for (int i = 0; i < x.rank - 1; ++i) r.push(x[i]);
    }
    return {r};
}

} // namespace rules

/// Reinterprets the bytes of a tensor as another element type. Shape: that of x. A smaller element type adds an axis; a larger one drops
/// the last axis.
struct bitcast_op {
    static constexpr auto name = "Bitcast";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "bits do not change smoothly";
    dtype to = dtype::float32;

    static void fields(auto& op, auto& visit) { visit("type", op.to); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([type = request.inputs[0].type, n = request.inputs[0].shape.size()](const kernel_args& a) {
            D::copy(a.on, type, a.in<void>(0), a.out<void>(0), n);
        });
    }
};

/// True if the bytes of shape E can be read as the other type. Both types must be numbers.
template <class T> inline constexpr bool has_bits = is_numeric<T>;
template <class E, class From, class To>
inline constexpr bool bits_fit = rules::bitcast(static_dims<E>, sizeof(From), sizeof(To)).ok();

/// Reinterprets the bits of x: bitcast<int>(x) of floats. bitcast<std::uint8_t>(x) of float32 [n] is [n, 4].
template <element To, graph_operand X>
auto bitcast(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(has_bits<To>, "bitcast: to a type of numbers");
    if constexpr (typed_operand<X>) {
        static_assert(has_bits<value_type_of<X>>, "bitcast: from a type of numbers");
        static_assert(bits_fit<extents_of<X>, value_type_of<X>, To>,
                      "bitcast: the last axis must hold the parts of one element");
        constexpr auto rule = [](const dims& s) { return rules::bitcast(s, sizeof(value_type_of<X>), sizeof(To)); };
        return apply_node<To>(bitcast_op{dtype_of<To>}, rule, where, x);
    } else {
        return apply_node(bitcast_op{dtype_of<To>}, where, x);
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> bitcast_op::outputs(std::span<const tensor_type> in) const {
    const auto bytes_of = [](dtype type) {
        std::size_t bytes = 0;
        detail::visit_dtype(type, [&]<class T>(std::type_identity<T>) {
            if constexpr (has_bits<T>) bytes = sizeof(T);
        });
        return bytes;
    };
    const auto made = rules::bitcast(in[0].shape, bytes_of(in[0].type), bytes_of(to));
    if (!made.ok()) throw invalid_argument(made.reason() + " (to " + std::string(to_string(to)) + ")");
    return {{to, made.shape}};
}

}} // namespace rill::RILL_ABI
#endif
