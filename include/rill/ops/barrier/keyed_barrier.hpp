// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/core/shared.hpp>
#include <rill/ops/barrier/keyed_barrier_close.hpp>
#include <rill/ops/barrier/keyed_barrier_incomplete_size.hpp>
#include <rill/ops/barrier/keyed_barrier_insert_many.hpp>
#include <rill/ops/barrier/keyed_barrier_ready_size.hpp>
#include <rill/ops/barrier/keyed_barrier_take_many.hpp>
#include <rill/ops/queue/queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// A barrier that joins the components of elements by keys.
struct keyed_barrier_op : detail::resource_maker {
    static constexpr auto name = "Barrier", label = "keyed_barrier"; // TensorFlow's name; `barrier` is CyclicBarrier
    std::vector<tensor_type> components;

    static void fields(auto& op, auto& visit) {
        detail::visit_components(op.components, visit);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        if (components.empty()) throw invalid_argument("a keyed barrier's elements have one component or more");
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(r.find_resource(place, detail::keyed_barrier_state::described_as(components),
                                                        [&](const std::string& known_as, allocator& memory) {
                                                            return detail::make_shared<detail::keyed_barrier_state>(
                                                                known_as, components, memory);
                                                        }));
    }
};

struct keyed_barrier_options {
    std::string shared_name = {}; // sessions of this process share the barrier under this name
    std::string name = {};        // name of the node
};

struct take_many_options {
    bool allow_small_batch = false; // a closed barrier returns the ready elements if there are fewer than n
};

/// A barrier of elements by keys: keyed_barrier<tensor<float, 2>, tensor<int>> b (TensorFlow's Barrier). The components of an element
/// arrive one by one, from any step, under a key. An element with all components can be taken. Elements leave in the order in which their
/// keys arrived. A waiting op holds no thread.
template <class... T> class keyed_barrier {
    static_assert(sizeof...(T) > 0, "a keyed barrier's elements have one component or more");

public:
    explicit keyed_barrier(const keyed_barrier_options& o = {},
                           const std::source_location& where = std::source_location::current())
        : handle_(detail::add_resource(with_components(), o.shared_name, o.name, where)) {}

    /// Inserts component I of the elements of these keys, a vector of strings: the slices of `values` along the first axis. Never waits.
    template <std::size_t I, class K, class X>
    operation insert_many(const K& keys, const X& values,
                          const std::source_location& where = std::source_location::current()) const {
        static_assert(I < sizeof...(T), "insert_many: there is no such component");
        if constexpr (I < sizeof...(T)) {
            using component = std::tuple_element_t<I, std::tuple<T...>>;
            static_assert(dtypes_agree<std::string, dtype_tag<K>>, "insert_many: the keys are strings");
            static_assert(fits_batch<X, component>, "insert_many: the values are not a batch of the component");
            keyed_barrier_insert_many_op op;
            op.component = I;
            const graph g = handle_.graph();
            return operation(apply_node(op, where, handle_,
                                        detail::resource_operand<std::string>(keys, g, "insert_many"),
                                        detail::resource_operand<value_type_of<component>>(values, g, "insert_many"))
                                 .node());
        } else {
            return {};
        }
    }
    /// Takes n elements: arrival numbers of their keys, the keys, and the components.
    template <index_t N> auto take_many(const std::source_location& where = std::source_location::current()) const {
        static_assert(N >= 0, "take_many: the number of elements is below 0");
        return take<N>(constant(static_cast<std::int64_t>(N)), {}, where);
    }
    template <class N>
    auto take_many(const N& n, const take_many_options& options = {},
                   const std::source_location& where = std::source_location::current()) const {
        return take<dyn>(n, options, where);
    }
    /// Closes the barrier to new keys.
    operation close(const queue_close_options& options = {},
                    const std::source_location& where = std::source_location::current()) const {
        keyed_barrier_close_op op;
        op.cancel_pending_enqueues = options.cancel_pending_enqueues;
        return operation(apply_node(op, where, handle_).node());
    }
    /// Returns the number of complete elements.
    tensor<int> ready_size(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(keyed_barrier_ready_size_op{}, where, handle_)};
    }
    /// Returns the number of elements that lack a component.
    tensor<int> incomplete_size(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(keyed_barrier_incomplete_size_op{}, where, handle_)};
    }
    /// Returns the name of the barrier's node.
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

private:
    static keyed_barrier_op with_components() {
        keyed_barrier_op op;
        op.components = {static_type<T>...};
        return op;
    }
    template <index_t N, class Count>
    auto take(const Count& count, const take_many_options& options, const std::source_location& where) const {
        keyed_barrier_take_many_op op;
        op.components = {static_type<T>...};
        op.allow_small_batch = options.allow_small_batch;
        const auto n = detail::resource_operand<std::int64_t>(count, handle_.graph(), "take_many");
        const node* made = apply_node(op, where, handle_, n).node();
        int port = 0;
        const auto next = [&] { return any_tensor(endpoint{made, port++}); };
        return std::tuple<tensor<std::int64_t, N>, tensor<std::string, N>, typename detail::batch_of<T, N>::type...>{
            {detail::unchecked, next()},
            {detail::unchecked, next()},
            typename detail::batch_of<T, N>::type(detail::unchecked, next())...};
    }

    any_tensor handle_;
};

}} // namespace rill::RILL_ABI
