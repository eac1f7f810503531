// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/input/iterator_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Makes an iterator over datasets, which make_initializer sets. With a dataset of its own it is a one-shot iterator. A saved graph does
/// not contain the dataset.
struct iterator_op : detail::resource_maker {
    static constexpr auto name = "IteratorV2", label = "iterator";
    std::vector<tensor_type> components;
    detail::held_source source;

    static void fields(auto& op, auto& visit) {
        detail::visit_components(op.components, visit);
        visit("dataset", op.source.number);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return handle_type(); }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_iterator(r, place, components, source));
    }
};

}} // namespace rill::RILL_ABI
