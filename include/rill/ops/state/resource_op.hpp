// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <string>

#include <rill/core/shared.hpp>
#include <rill/device/devices.hpp>
#include <rill/device/lane.hpp>
#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/fill.hpp>

// Shared parts of the ops that make and use a resource: a queue, a lock, a table.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Base of the ops that make a resource. The output is the handle, its number.
struct resource_maker {
    static constexpr int inputs = 0;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = ""; // the op has no inputs
    static constexpr auto role = op_role::resource;
    static constexpr bool stateful = true;
    resource_name place;

    static void place_fields(auto& op, auto& visit) {
        visit("container", op.place.container);
        visit("shared_name", op.place.shared_name);
    }
    static std::vector<tensor_type> handle_type() { return {{dtype::int64, dims{}}}; }
};

/// Base of the ops that use a resource. The handle is their first input.
struct resource_user {
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool stateful = true, takes_handle = true;
    input_list host_inputs() const { return {0}; }
};

/// Returns the resource of a node: an R, made of its name and `traits`.
template <class R, class... Traits>
std::shared_ptr<resource> make_resource(kernel_request& r, const resource_name& place, const Traits&... traits) {
    return r.find_resource(place, R::described_as(traits...), [&](const std::string& name, allocator&) {
        return detail::make_shared<R>(name, traits...);
    });
}

/// Returns the kernel of an op that makes a resource.
template <class D> kernel handle_kernel(std::shared_ptr<resource> r) {
    return kernel([r = std::move(r)](const kernel_args& a) { D::fill(a.on, 1, a.out<std::int64_t>(0), r->number()); });
}

/// Returns the resource of the handle, which is the first input. Throws invalid_argument for a handle from another task than that of the
/// step.
template <class R> std::shared_ptr<R> resource_of(const kernel_args& a) {
    return resource_as<R>(*a.in<std::int64_t>(0), a.step ? a.step->incarnation : 0);
}

/// Base of the ops that acquire or release permits of a semaphore. The number of permits is the second input.
struct permit_user : resource_user {
    static constexpr int inputs = 2;
    static constexpr auto no_gradient = ""; // the op has no outputs

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
};

template <class R, class A> R asked_of(A (R::*)() const);

/// Base of the ops that query a resource. `Asked` is the member function that answers, `I` the element type of the result.
template <auto Asked, class I = std::int32_t> struct resource_question : resource_user {
    static constexpr int inputs = 1;
    static constexpr auto no_gradient = "it reads the state of a resource, not an operand";

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype_of<I>, dims{}}}; }
    template <std::same_as<cpu> D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            *a.out<I>(0) = static_cast<I>(((*resource_of<decltype(asked_of(Asked))>(a)).*Asked)());
        });
    }
};

/// Adds the node of a resource, named by its kind unless a name is given.
template <class Op>
any_tensor add_resource(Op op, const std::string& shared_name, const std::string& name,
                        const std::source_location& where) {
    require_kernel<Op, void>();
    op.place = {scopes().container, shared_name};
    const region_scope outside(nullptr); // resources are independent of the region around the node
    return any_tensor(endpoint{add_node(current_graph(), make_op(std::move(op)), {}, name, false, where), 0});
}

template <class X>
concept text = std::is_convertible_v<const X&, std::string>;

/// Returns an operand of element type T. Numbers and texts become constants of rank 0.
template <class T, class X> any_tensor resource_operand(const X& x, const graph& g, const char* who) {
    if constexpr (literal<X>)
        return seal(filled_constant<T>(literal_value<T>(x, who), std::source_location{}), g);
    else if constexpr (text<X>)
        return seal(constant(std::string(x)), g);
    else
        return seal(x, g);
}

/// Adds n elements of `from` to `to`.
template <class T> void add_elements(const void* from, void* to, index_t n) {
    const auto* const x = static_cast<const T*>(from);
    auto* const sum = static_cast<T*>(to);
    for (index_t i = 0; i < n; ++i) sum[i] = (lane<T>(sum[i]) + lane<T>(x[i])).v;
}

/// Returns the number that an int32 or int64 of rank 0 holds.
index_t count_of(dtype type, const void* count);

/// Throws unless the operand is an int32 or int64 of rank 0.
void check_count_operand(const tensor_type& type, const char* what);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE index_t count_of(dtype type, const void* count) {
    return type == dtype::int32 ? *static_cast<const std::int32_t*>(count) : *static_cast<const std::int64_t*>(count);
}

RILL_COLD void check_count_operand(const tensor_type& type, const char* what) {
    check_index_type(type.type, what);
    if (type.shape.known_rank() && type.shape.rank != 0)
        throw invalid_argument(std::string(what) + " must have rank 0, not " + to_string(type.shape));
}

RILL_INLINE std::vector<tensor_type> permit_user::outputs(std::span<const tensor_type> in) const {
    check_count_operand(in[1], "the number of permits");
    return {};
}

}}} // namespace rill::RILL_ABI::detail
#endif
