// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/stack/stack_pop.hpp>
#include <rill/ops/stack/stack_push.hpp>
#include <rill/ops/stack/stack_size.hpp>

namespace rill { inline namespace RILL_ABI {

/// A last-in, first-out stack of tensors.
struct tensor_stack_op : detail::resource_maker {
    static constexpr auto name = "StackV2", label = "stack";
    detail::stack_traits traits;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.traits.type.type);
        visit("shape", op.traits.type.shape);
        visit("capacity", op.traits.capacity);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        traits.check();
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::stack_state>(r, place, traits));
    }
};

struct tensor_stack_options {
    index_t capacity = -1;        // -1: no limit
    std::string shared_name = {}; // sessions of this process share the stack under this name
    std::string name = {};        // name of the node
};

/// True if an operand fits a stack: the same dtype and a compatible shape.
template <class X, class T, class E> inline constexpr bool fits_stack = dtypes_agree<T, dtype_tag<X>>;
template <typed_operand X, class T, class E>
inline constexpr bool fits_stack<X, T, E> =
    same_dtype<value_type_of<X>, T> && rules::compatible(extents_of<X>::value, E::value);

/// A last-in, first-out stack of tensors: tensor_stack<float, 2> s({.capacity = 100}). Its ops never wait. Within a step, control
/// dependencies order them.
template <class T, index_t... D> class tensor_stack {
public:
    explicit tensor_stack(const tensor_stack_options& o = {},
                          const std::source_location& where = std::source_location::current())
        : handle_(detail::add_resource(with(o), o.shared_name, o.name, where)) {}

    /// Pushes x. The op fails with `resource_exhausted` if the stack is full.
    template <class X>
    operation push(const X& x, const std::source_location& where = std::source_location::current()) const {
        static_assert(fits_stack<X, T, extents<D...>>, "push: the operand differs from the stack's elements");
        return operation(
            apply_node(stack_push_op{}, where, handle_, detail::resource_operand<T>(x, handle_.graph(), "push"))
                .node());
    }
    /// Pops the last tensor. The op fails with `failed_precondition` if the stack is empty.
    tensor<T, D...> pop(const std::source_location& where = std::source_location::current()) const {
        stack_pop_op op;
        op.type = {dtype_of<T>, extents<D...>::value};
        return {detail::unchecked, apply_node(op, where, handle_)};
    }
    tensor<int> size(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(stack_size_op{}, where, handle_)};
    }
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

private:
    static tensor_stack_op with(const tensor_stack_options& o) {
        tensor_stack_op op;
        op.traits = {{dtype_of<T>, extents<D...>::value}, o.capacity};
        return op;
    }

    any_tensor handle_;
};

}} // namespace rill::RILL_ABI
