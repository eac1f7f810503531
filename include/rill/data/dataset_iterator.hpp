// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/data/element_types.hpp>
#include <rill/ops/input/iterator.hpp>
#include <rill/ops/input/iterator_get_next.hpp>
#include <rill/ops/input/make_iterator.hpp>

namespace rill { inline namespace RILL_ABI {

template <class... T> class dataset_of; // data/dataset_of.hpp

struct iterator_options {
    std::string shared_name = {}; // sessions of this process share the iterator of this name
    std::string name = {};        // of its node
};

/// An iterator over datasets, as a node of the graph. T are the components of an element.
template <class... T> class dataset_iterator {
public:
    using components = detail::components<detail::component<T>...>;

    /// `device`: where elements are delivered; empty: in host memory.
    dataset_iterator(any_tensor handle, std::vector<tensor_type> types, std::string device = {})
        : handle_(std::move(handle)), types_(std::move(types)), device_(std::move(device)) {}

    /// Adds a node that takes the next element: a tensor, or a tuple of several. At the end of the input, running it throws out_of_range.
    typename detail::one_or_tuple<detail::component<T>...>::type
    get_next(const std::source_location& where = std::source_location::current()) const {
        iterator_get_next_op op;
        op.components = types_;
        op.to_device = !device_.empty();
        std::optional<device_scope> there;
        if (op.to_device) there.emplace(device_, where);
        return detail::tensors_of_outputs(components(), apply_node(op, where, handle_).node());
    }
    /// Adds an operation that starts an iteration over a dataset of the same types.
    template <class... U>
    operation make_initializer(const dataset_of<U...>& data,
                               const std::source_location& where = std::source_location::current()) const {
        static_assert(sizeof...(U) == sizeof...(T), "make_initializer: the dataset has another number of components");
        static_assert((fits<detail::component<U>, detail::component<T>> && ...),
                      "make_initializer: the dataset has components of other types");
        require_kernel<make_iterator_op, void>();
        return detail::add_initializer(handle_, data.source(), data.inputs(), where);
    }
    /// Returns the handle, to feed to another iterator: dataset_iterator<T...>::from_handle(fed).
    tensor<std::int64_t> handle() const { return {detail::unchecked, handle_}; }
    /// Returns the iterator for a handle that is fed: a feedable iterator.
    template <graph_operand H> static dataset_iterator from_handle(const H& handle) {
        return {sealed(handle), detail::component_types(components())};
    }
    /// Returns the same iterator; get_next gives elements in the memory of a device: "/gpu:0".
    dataset_iterator on_device(std::string device) const { return {handle_, types_, std::move(device)}; }
    /// Returns the name of the iterator's node.
    const std::string& name() const { return handle_.node()->name; }

private:
    template <class U, class C>
    static constexpr bool fits = std::is_same_v<value_type_of<U>, value_type_of<C>> &&
                                 rules::compatible(extents_of<U>::value, extents_of<C>::value);

    any_tensor handle_;
    std::vector<tensor_type> types_;
    std::string device_;
};

namespace detail {

template <class... T>
dataset_iterator<T...> add_iterator(std::vector<tensor_type> types, held_source source, const iterator_options& o,
                                    const std::source_location& where) {
    iterator_op op;
    op.components = types;
    op.source = std::move(source);
    return {add_resource(std::move(op), o.shared_name, o.name, where), std::move(types)};
}

} // namespace detail

/// Makes an iterator that every dataset of these types can initialize: make_iterator<tensor<float, dyn>, int>().
template <class... T>
dataset_iterator<T...> make_iterator(const iterator_options& o = {},
                                     const std::source_location& where = std::source_location::current()) {
    return detail::add_iterator<T...>(detail::component_types(typename dataset_iterator<T...>::components()), {}, o,
                                      where);
}

/// An iterator that restarts one dataset each time its initializer runs.
template <class... T> class initializable_iterator : public dataset_iterator<T...> {
public:
    initializable_iterator(dataset_iterator<T...> it, operation initializer)
        : dataset_iterator<T...>(std::move(it)), initializer_(std::move(initializer)) {}
    const operation& initializer() const { return initializer_; }

private:
    operation initializer_;
};

}} // namespace rill::RILL_ABI
