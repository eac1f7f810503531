// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/input/iterator_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Begins an iteration over a dataset. The operands after the handle are the tensors that the dataset is built from.
struct make_iterator_op : detail::resource_user {
    static constexpr auto name = "MakeIterator", label = "make_initializer";
    static constexpr int least_inputs = 1;
    static constexpr auto no_gradient = ""; // the op has no outputs
    static constexpr bool has_dynamic_outputs = true;
    detail::held_source source;

    static void fields(auto& op, auto& visit) { visit("dataset", op.source.number); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

namespace detail {

/// Adds an operation that begins an iteration over a dataset. The caller registers the kernel.
operation add_initializer(const any_tensor& iterator, element_source_ptr source, const std::vector<any_tensor>& inputs,
                          const std::source_location& where);

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD kernel make_iterator_op::bound(const kernel_request& r) const {
    return kernel([from = source.get(),
                   types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
        std::vector<any_array> inputs;
        for (std::size_t i = 1; i < types.size(); ++i)
            inputs.push_back(detail::owned_copy(a.array(types[i], static_cast<int>(i))));
        detail::resource_of<detail::iterator_state>(a)->initialize(from, std::move(inputs));
    });
}

RILL_COLD operation detail::add_initializer(const any_tensor& iterator, element_source_ptr source,
                                            const std::vector<any_tensor>& inputs, const std::source_location& where) {
    make_iterator_op op;
    op.source = numbered_source(std::move(source));
    endpoint_list edges{iterator.end()};
    for (const auto& i : inputs) edges.push_back(i.end());
    const region_scope outside(nullptr); // an initializer must not belong to a body
    return operation(add_node(iterator.graph(), make_op(std::move(op)), edges, {}, false, where));
}

}} // namespace rill::RILL_ABI
#endif
