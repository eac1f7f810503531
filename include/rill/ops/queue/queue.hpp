// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <tuple>

#include <rill/core/algorithm.hpp>
#include <rill/expr/constant.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/queue/dequeue.hpp>
#include <rill/ops/queue/dequeue_many.hpp>
#include <rill/ops/queue/dequeue_up_to.hpp>
#include <rill/ops/queue/enqueue.hpp>
#include <rill/ops/queue/enqueue_many.hpp>
#include <rill/ops/queue/queue_close.hpp>
#include <rill/ops/queue/queue_is_closed.hpp>
#include <rill/ops/queue/queue_size.hpp>

namespace rill { inline namespace RILL_ABI {

struct queue_close_options {
    bool cancel_pending_enqueues = false;
};

/// True if there is one operand for each component of the queue's elements.
template <std::size_t Given, std::size_t Components> inline constexpr bool one_operand_each = Given == Components;
/// True if an operand fits a component: the same dtype and a compatible shape.
template <class X, class Component>
inline constexpr bool fits_component = dtypes_agree<value_type_of<Component>, dtype_tag<X>>;
template <detail::text X, class Component>
inline constexpr bool fits_component<X, Component> = same_dtype<value_type_of<Component>, std::string>;
template <typed_operand X, class Component>
inline constexpr bool fits_component<X, Component> =
    same_dtype<value_type_of<X>, value_type_of<Component>> &&
    rules::compatible(extents_of<X>::value, extents_of<Component>::value);
/// True if an operand fits as a batch of a component, along the first axis.
template <class X, class Component> inline constexpr bool fits_batch = untyped_operand<X>;
template <typed_operand X, class Component>
inline constexpr bool fits_batch<X, Component> =
    same_dtype<value_type_of<X>, value_type_of<Component>> && extents_of<X>::rank >= 1 &&
    rules::compatible(rules::slice(extents_of<X>::value), extents_of<Component>::value);

namespace detail {

template <class T, index_t N> struct batch_of;
template <class T, index_t... D, index_t N> struct batch_of<tensor<T, D...>, N> {
    using type = tensor<T, N, D...>;
};

} // namespace detail

/// A queue of tuples that lives in the graph's sessions, or under a shared name in the process. It is the base of the four kinds of queues.
/// T are the tensors of one element. An enqueue copies its operands, or takes them over if nothing else needs them. A waiting op holds no
/// thread.
template <class... T> class queue {
    static_assert(sizeof...(T) > 0, "a queue's elements have one component or more");

public:
    /// Enqueues one element once there is room.
    template <class... X> operation enqueue(const X&... components) const {
        static_assert(one_operand_each<sizeof...(X), sizeof...(T)>, "enqueue: one operand for each component");
        if constexpr (sizeof...(X) == sizeof...(T)) {
            static_assert((fits_component<X, T> && ...), "enqueue: an operand differs from the queue's component");
            return put<enqueue_op>(components...);
        } else {
            return {};
        }
    }
    /// Enqueues the slices along the first axis, one after another, as there is room.
    template <class... X> operation enqueue_many(const X&... components) const {
        static_assert(one_operand_each<sizeof...(X), sizeof...(T)>, "enqueue_many: one operand for each component");
        if constexpr (sizeof...(X) == sizeof...(T)) {
            static_assert((fits_batch<X, T> && ...),
                          "enqueue_many: an operand is not a batch of the queue's component");
            return put<enqueue_many_op>(components...);
        } else {
            return {};
        }
    }
    /// Dequeues one element: a tensor, or a tuple of several.
    auto dequeue(const std::source_location& where = std::source_location::current()) const {
        dequeue_op op;
        op.components = component_types();
        return results<T...>(take(std::move(op), {}, where));
    }
    /// Dequeues n elements as a batch.
    template <index_t N> auto dequeue_many(const std::source_location& where = std::source_location::current()) const {
        static_assert(N >= 0, "dequeue_many: the number of elements is below 0");
        return batch<N, dequeue_many_op>(constant(static_cast<std::int64_t>(N)), where);
    }
    template <class N>
    auto dequeue_many(const N& n, const std::source_location& where = std::source_location::current()) const {
        return batch<dyn, dequeue_many_op>(n, where);
    }
    /// Dequeues n elements as a batch, or fewer if a closed queue has no more.
    template <class N>
    auto dequeue_up_to(const N& n, const std::source_location& where = std::source_location::current()) const {
        return batch<dyn, dequeue_up_to_op>(n, where);
    }
    /// Closes the queue to new elements; those in it can still be taken out.
    operation close(const queue_close_options& options = {},
                    const std::source_location& where = std::source_location::current()) const {
        queue_close_op op;
        op.cancel_pending_enqueues = options.cancel_pending_enqueues;
        return operation(apply_node(op, where, handle_).node());
    }
    tensor<int> size(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(queue_size_op{}, where, handle_)};
    }
    tensor<bool> is_closed(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(queue_is_closed_op{}, where, handle_)};
    }
    /// Returns the name of the queue's node.
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

protected:
    explicit queue(any_tensor handle) : handle_(std::move(handle)) {}

    static std::vector<tensor_type> component_types() { return {static_type<T>...}; }

private:
    template <class Op, class... X> operation put(const X&... x) const {
        Op op;
        op.components = component_types();
        const graph g = handle_.graph();
        const std::array given{detail::resource_operand<value_type_of<T>>(x, g, "enqueue")...};
        const auto made = detail::find_if(given, [](const any_tensor& t) { return t.node()->where.line() != 0; });
        const auto where = made == given.end() ? std::source_location() : made->node()->where; // closer to the caller than the queue
        return operation(
            std::apply([&](const auto&... all) { return apply_node(op, where, handle_, all...); }, given).node());
    }
    template <class Op> const node* take(Op op, const any_tensor& count, const std::source_location& where) const {
        if (count) return apply_node(op, where, handle_, count).node();
        return apply_node(op, where, handle_).node();
    }
    template <index_t N, class Op, class Count>
    auto batch(const Count& count, const std::source_location& where) const {
        Op op;
        op.components = component_types();
        const graph g = handle_.graph();
        const any_tensor n = detail::resource_operand<std::int64_t>(count, g, "dequeue");
        return results<typename detail::batch_of<T, N>::type...>(take(std::move(op), n, where));
    }
    template <class... R> static auto results(const node* n) {
        int port = 0;
        std::tuple<R...> all{R(detail::unchecked, any_tensor(endpoint{n, port++}))...};
        if constexpr (sizeof...(R) == 1)
            return std::get<0>(all);
        else
            return all;
    }

    any_tensor handle_;
};

}} // namespace rill::RILL_ABI
