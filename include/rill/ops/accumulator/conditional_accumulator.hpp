// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/accumulator/accumulator_apply_gradient.hpp>
#include <rill/ops/accumulator/accumulator_counts.hpp>
#include <rill/ops/accumulator/accumulator_set_global_step.hpp>
#include <rill/ops/accumulator/accumulator_take_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

/// An accumulator that sums gradients until enough have arrived.
struct conditional_accumulator_op : detail::resource_maker {
    static constexpr auto name = "ConditionalAccumulator";
    detail::accumulator_traits traits;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.traits.type.type);
        visit("shape", op.traits.type.shape);
        visit("reduction_type", op.traits.reduction);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        traits.check();
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::accumulator_state>(r, place, traits));
    }
};

struct conditional_accumulator_options {
    std::string reduction_type = "MEAN"; // or "SUM"
    std::string shared_name = {};        // sessions of this process share the accumulator under this name
};

/// True if a gradient fits an accumulator: the same dtype and a compatible shape.
template <class G, class T, class E> inline constexpr bool fits_accumulator = true;
template <typed_operand G, class T, class E>
inline constexpr bool fits_accumulator<G, T, E> =
    same_dtype<value_type_of<G>, T> && rules::compatible(extents_of<G>::value, E::value);

/// An accumulator of gradients: conditional_accumulator<float, 2, 3> sum("name"). The steps of several workers add gradients. One step
/// takes their mean once there are enough. The accumulator counts its own global step, from 0. Gradients of an earlier step are stale,
/// and dropped.
template <class T, index_t... D> class conditional_accumulator {
    static_assert(is_numeric<T>, "conditional_accumulator: the element type must be a number");

public:
    explicit conditional_accumulator(const std::string& name = {}, const conditional_accumulator_options& o = {},
                                     const std::source_location& where = std::source_location::current())
        : handle_(detail::add_resource(with(o), o.shared_name, name, where)) {}

    /// Adds g, unless local_step, an int or an int tensor, is below the accumulator's step.
    template <class G, class N>
    operation apply_grad(const G& g, const N& local_step,
                         const std::source_location& where = std::source_location::current()) const {
        static_assert(fits_accumulator<G, T, extents<D...>>, "apply_grad: the gradient differs from the accumulator's");
        require_kernel<accumulator_apply_gradient_op, T>();
        const graph home = handle_.graph();
        const any_tensor value = detail::resource_operand<T>(g, home, "apply_grad");
        if (type_of(value.end()).type != dtype_of<T> ||
            !rules::compatible(type_of(value.end()).shape, extents<D...>::value))
            throw invalid_argument("apply_grad: the gradients of '" + name() + "' are " +
                                   to_string(tensor_type{dtype_of<T>, extents<D...>::value}) + ", not " +
                                   to_string(type_of(value.end())) + " (made at " + to_string(where) + ")");
        return add<accumulator_apply_gradient_op>(
            {}, where, value, detail::resource_operand<std::int64_t>(local_step, home, "apply_grad"));
    }
    /// Takes the mean or sum of all gradients, once there are n or more. This empties the accumulator and increases its step by
    /// one.
    template <class N = int>
    tensor<T, D...> take_grad(const N& n = 1,
                              const std::source_location& where = std::source_location::current()) const {
        require_kernel<accumulator_take_gradient_op, T>();
        accumulator_take_gradient_op op;
        op.type = {dtype_of<T>, extents<D...>::value};
        const auto count = detail::resource_operand<std::int64_t>(n, handle_.graph(), "take_grad");
        return {detail::unchecked, any_tensor(endpoint{add(std::move(op), where, count).node(), 0})};
    }
    template <class N>
    operation set_global_step(const N& step,
                              const std::source_location& where = std::source_location::current()) const {
        return add<accumulator_set_global_step_op>(
            {}, where, detail::resource_operand<std::int64_t>(step, handle_.graph(), "set_global_step"));
    }
    /// Returns the number of gradients that the accumulator holds.
    tensor<std::int64_t> num_accumulated(const std::source_location& where = std::source_location::current()) const {
        return counts(0, where);
    }
    /// Returns the number of stale gradients that the accumulator has dropped.
    tensor<std::int64_t> num_dropped(const std::source_location& where = std::source_location::current()) const {
        return counts(1, where);
    }
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

private:
    static conditional_accumulator_op with(const conditional_accumulator_options& o) {
        conditional_accumulator_op op;
        op.traits = {{dtype_of<T>, extents<D...>::value}, o.reduction_type};
        return op;
    }
    template <class Op> operation add(Op op, const std::source_location& where, const auto&... operands) const {
        if constexpr (op_takes<Op, void>) require_kernel<Op, void>();
        return operation(detail::add_node(handle_.graph(), make_op(std::move(op)), {handle_.end(), operands.end()...},
                                          {}, false, where));
    }
    tensor<std::int64_t> counts(int port, const std::source_location& where) const {
        return {detail::unchecked, any_tensor(endpoint{add<accumulator_counts_op>({}, where).node(), port})};
    }

    any_tensor handle_;
};

}} // namespace rill::RILL_ABI
