// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The common base of shape, size and rank. Their values follow from the shapes of a run, before any kernel runs.
struct shape_numbers {
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "a shape does not change smoothly";
    dtype index = dtype::int32;

    static void fields(auto& op, auto& visit) { visit("out_type", op.index); }
    static input_list shape_only_inputs() { return {0}; }
};

/// Returns an array of integers.
any_array index_array(dtype type, const dims& shape, std::span<const index_t> numbers);

/// Returns a kernel that writes integers known when the kernel is bound, into the device's memory.
template <class D> kernel numbers_kernel(dtype type, const any_array& numbers) {
    return with_index_type(type, [&]<class I>(std::type_identity<I>) {
        return kernel([numbers](const kernel_args& a) {
            const auto all = numbers.elements<I>();
            for (std::size_t i = 0; i < all.size(); ++i) D::fill(a.on, 1, a.out<I>(0) + i, all[i]);
        });
    });
}

} // namespace detail

/// Returns the extents of a tensor.
struct shape_op : detail::shape_numbers {
    static constexpr auto name = "Shape";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    any_array known(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::numbers_kernel<D>(index, known(request.inputs));
    }
};

/// Returns the extents: shape(x) in int, or shape<std::int64_t>(x). The run provides extents that the type leaves open.
template <element Out = std::int32_t, graph_operand X>
auto shape(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "shape: the result must be int or std::int64_t");
    constexpr auto rule = [](const dims& s) { return shape_result{s.known_rank() ? dims{s.rank} : dims{dyn}}; };
    return apply_node<Out, void>(shape_op{{dtype_of<Out>}}, rule, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> shape_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(index, "the result");
    return {{index, dims{in[0].shape.known_rank() ? in[0].shape.rank : dyn}}};
}

RILL_INLINE any_array shape_op::known(std::span<const tensor_type> in) const {
    const dims& x = in[0].shape;
    return detail::index_array(index, dims{x.rank}, {x.extent.data(), static_cast<std::size_t>(x.rank)});
}

namespace detail {

RILL_INLINE any_array index_array(dtype type, const dims& shape, std::span<const index_t> numbers) {
    any_array all(type, shape);
    with_index_type(type, [&]<class I>(std::type_identity<I>) {
        auto* to = static_cast<I*>(all.mutable_data());
        for (const index_t n : numbers) {
            if (n > static_cast<index_t>(std::numeric_limits<I>::max()))
                throw invalid_argument(std::to_string(n) + " does not fit " + std::string(to_string(type)));
            *to++ = static_cast<I>(n);
        }
    });
    return all;
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
