// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/at_start.hpp>
#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/indices.hpp>

// Shapes that are inputs: a shape rule reads their values.

namespace rill { inline namespace RILL_ABI {

/// True if the tensor can hold a shape: integers of rank 1, at most max_rank of them.
template <class E, class T>
inline constexpr bool is_shape_tensor =
    E::rank == 1 && is_index_type<T> && rules::extent_along(static_dims<E>, 0) <= max_rank;

namespace detail {

/// Returns the partial shape that is known from the extent of a shape vector: its rank.
constexpr dims rank_from(const dims& vector) {
    const bool known = vector.known_rank() && vector.rank == 1 && vector[0] >= 0 && vector[0] <= max_rank;
    return rules::of_rank(known ? static_cast<int>(vector[0]) : -1);
}

/// Returns the shape that an input holds. If its value is unknown, returns the rank alone, as far as it is known. Throws
/// invalid_argument if the input can't hold a shape.
dims shape_from(const known_inputs& in, std::size_t input, const char* what = "the shape");

template <class... Unused> bool dynamic_shapes_enabled() {
    register_dynamic_runtime();
    return true;
}

/// Registers the dynamic runtime. Ops call it if their result shape depends on an input's value. A node is dynamic if data determine that
/// value.
template <class... Unused> void enable_dynamic_shapes() {
    run_at_start<&dynamic_shapes_enabled<Unused...>>();
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE dims shape_from(const known_inputs& in, std::size_t input, const char* what) {
    const tensor_type& type = in.types[input];
    check_index_type(type.type, what);
    if (type.shape.known_rank() && type.shape.rank != 1)
        throw invalid_argument(std::string(what) + " must be a tensor of rank 1");
    if (rules::extent_along(type.shape, 0) > max_rank)
        throw invalid_argument(std::string(what) + " has at most 8 extents");
    const any_array* value = in.value(input);
    if (!value) return rank_from(type.shape);
    return with_index_type(type.type, [&]<class I>(std::type_identity<I>) {
        dims said;
        for (const I n : value->elements<I>()) said.push(static_cast<index_t>(n));
        return said;
    });
}

}}} // namespace rill::RILL_ABI::detail
#endif
