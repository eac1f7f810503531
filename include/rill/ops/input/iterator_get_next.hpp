// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/input/iterator_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Takes the next element of an iterator. It waits while the dataset waits. Fails with `out_of_range` at the end of the
/// input.
struct iterator_get_next_op : detail::resource_user {
    static constexpr auto name = "IteratorGetNext", label = "get_next";
    static constexpr int inputs = 1;
    static constexpr bool is_async = true, has_dynamic_outputs = true, consumes = true;
    static constexpr auto no_gradient = "gradients end at a dataset";
    std::vector<tensor_type> components;
    bool to_device = false; // the element comes in the memory of the node's device

    static void fields(auto& op, auto& visit) {
        detail::visit_components(op.components, visit);
        visit("to_device", op.to_device);
    }
    bool delivers_to_device() const { return to_device; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return components; }
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r.space); }

private:
    kernel bound(const memory_space* space) const;
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE kernel iterator_get_next_op::bound(const memory_space* space) const {
    return kernel([all = components, space](const kernel_args& a) {
        const auto from = detail::resource_of<detail::iterator_state>(a);
        detail::require_components(from->named(), from->components(), all);
        from->get_next(*a.wait, a.step, a.sized, space);
    });
}

}} // namespace rill::RILL_ABI
#endif
