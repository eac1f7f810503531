// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

// The common base of gather_nd and the scatter_nd ops: rows of indices [.., r] select slices along the first r axes.

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape of gather_nd: the shape of the ids without its last axis, then that of x without its first r axes.
constexpr shape_result gather_nd(const dims& x, const dims& ids) {
    if (ids.known_rank() && ids.rank == 0)
        return {x, "the ids must have an axis: the last one holds the rows of indices"};
    const index_t depth = extent_along(ids, -1);
    if (!x.known_rank() || !ids.known_rank() || depth == dyn) return {dims::unknown()};
    if (depth > x.rank) return {x, "a row of ids has more indices than the tensor has axes"};
    if (ids.rank - 1 + x.rank - depth > max_rank) return {x, "the result would have more than 8 dimensions"};
    dims r;
    for (int i = 0; i < ids.rank - 1; ++i) r.push(ids[i]);
    for (int i = static_cast<int>(depth); i < x.rank; ++i) r.push(x[i]);
    return {r};
}

} // namespace rules

/// True if rows of ids can select slices of X.
template <class X, class Ids>
inline constexpr bool ids_choose_slices = rules::gather_nd(static_dims<X>, static_dims<Ids>).ok();
/// True if the updates have the shape of the selected slices.
template <class X, class Ids, class Updates>
inline constexpr bool updates_fit_nd =
    !ids_choose_slices<X, Ids> ||
    rules::compatible(rules::gather_nd(static_dims<X>, static_dims<Ids>).shape, static_dims<Updates>);

namespace detail {

/// The rows of indices of a kernel, which converts each row to the flat position of a slice.
struct nd_indices {
    dims shape;        // the axes that the indices refer to
    index_t count = 0; // number of rows
    index_t inner = 1;
    error_site_ptr where;

    nd_indices(const dims& x, const dims& ids);
    std::size_t scratch_bytes() const { return static_cast<std::size_t>(count) * sizeof(std::int64_t); }
};

/// Returns the output types of an op that updates slices of its first input. The second input holds rows of indices,
/// the third the updates.
std::vector<tensor_type> scatter_nd_outputs(std::span<const tensor_type> in);

/// Returns the kernel of such an op. `Step` combines old and new elements, in the order of the rows. An index out of range is refused
/// before any write. `to` returns the address of the output, after it has copied the old tensor there if necessary.
template <class D, class T, class Step, class To> kernel scatter_nd_kernel(kernel_request& request, To to) {
    const nd_indices rows(request.inputs[0].shape, request.inputs[1].shape);
    request.scratch_bytes = rows.scratch_bytes();
    return with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
        return kernel([=](const kernel_args& a) {
            auto* const flat = a.scratch<std::int64_t>();
            D::flat_indices(a.on, a.in<I>(1), flat, rows.count, rows.shape, *rows.where);
            D::template update_rows<Step>(a.on, flat, rows.count, rows.inner, std::array{to(a)}, std::array{a.in<T>(2)},
                                          no_constants<T>{}, equal_ids::in_turn);
        });
    });
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

class nd_index_site final : public error_site {
public:
    nd_index_site(const dims& ids, const dims& extents) : ids_(ids), extents_(extents) {}
    RILL_COLD error describe(const refused_element& found) const override {
        const dims at = rules::position_of(found.at, ids_);
        const int axis = static_cast<int>(at[at.rank - 1]);
        return invalid_argument("index " + std::to_string(found.value) + " at " + to_string(at) +
                                " of the ids is outside [0, " + std::to_string(extents_[axis]) + "), axis " +
                                std::to_string(axis));
    }

private:
    dims ids_, extents_;
};

RILL_INLINE nd_indices::nd_indices(const dims& x, const dims& ids) : count(1) {
    const auto depth = static_cast<int>(ids[ids.rank - 1]);
    for (int i = 0; i < ids.rank - 1; ++i) count *= ids[i];
    for (int i = depth; i < x.rank; ++i) inner *= x[i];
    for (int i = 0; i < depth; ++i) shape.push(x[i]);
    where = detail::make_shared<const nd_index_site>(ids, shape);
}

RILL_INLINE std::vector<tensor_type> scatter_nd_outputs(std::span<const tensor_type> in) {
    check_index_type(in[1].type, "the ids");
    if (in[0].type != in[2].type)
        throw invalid_argument("the dtypes differ: the tensor is " + to_string(in[0]) + ", the updates " +
                               to_string(in[2]));
    const auto chosen = rules::gather_nd(in[0].shape, in[1].shape);
    if (!chosen.ok()) throw invalid_argument(chosen.reason());
    if (!rules::compatible(chosen.shape, in[2].shape))
        throw invalid_argument("the updates must be of shape " + to_string(chosen.shape));
    return {in[0]};
}

}}} // namespace rill::RILL_ABI::detail
#endif
