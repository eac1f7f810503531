// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/compiled_loop_of.hpp>
#include <rill/ops/control/scan.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs body 1 while body 0 returns true. Body 1 maps the state to the next state. Its further results are stacked, iteration by iteration.
struct while_op {
    static constexpr auto name = "While", label = "while";
    using domain_type = domains::every;
    region_attributes use{region_attributes::form::repeat};

    static void fields(auto& op, auto& visit) { region_attributes::fields(op.use, visit); }
    const region_attributes* regions() const { return &use; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
};

struct while_options {
    std::int64_t maximum_iterations = -1; // the loop ends after this many; -1: no limit
    /// The extents of each part of a std::vector<any_tensor> state, with dyn for extents that may change. If empty, the extents of the
    /// first values apply.
    std::vector<dims> shape_invariants = {};
    /// Keeps the values that the loop's gradient needs in host memory. Each iteration copies its values there, and the gradient copies
    /// them back, iteration by iteration. On a device in the host's memory nothing is copied.
    bool swap_memory = false;
};

namespace detail {

/// A part of a loop's state: a value, or a tuple or array of them.
template <class X>
concept loop_value = body_value<X> || is_tuple<X>;

std::vector<endpoint> add_while(const graph& g, std::vector<endpoint> initial, const std::vector<tensor_type>& types,
                                const body_function& condition, const body_function& body, const while_options& options,
                                const std::source_location& where);

std::vector<any_tensor>
untyped_while(const std::function<any_tensor(const std::vector<any_tensor>&)>& condition,
              const std::function<std::vector<any_tensor>(const std::vector<any_tensor>&)>& body,
              const std::vector<any_tensor>& initial, const while_options& options, const std::source_location& where);

} // namespace detail

/// Runs the body while the condition holds, and returns the last state: a tensor, or a tuple of several. Both functions take the state,
/// part by part. The condition returns a bool of rank 0. The body returns the next state, as a tuple if it has several parts. A part may
/// itself be a tuple or an array. Each part keeps its dtype and static extents through all iterations; extents that are dyn may change.
template <class Cond, class Body, class... X>
auto while_loop(const Cond& condition, const Body& body, const std::tuple<X...>& initial,
                const while_options& options = {},
                const std::source_location& where = std::source_location::current()) {
    detail::register_region_ops<while_op, scan_slices_op>(); // its gradients are scans
    using states = detail::handle_type<std::tuple<X...>>;
    using parts = detail::loop_parts<states>;
    using condition_type = decltype(std::apply(condition, std::declval<const parts&>()));
    using given_type = decltype(std::apply(body, std::declval<const parts&>()));
    require_compiled_loop<std::remove_cvref_t<condition_type>, std::remove_cvref_t<given_type>>();
    const graph g = detail::home_graph(initial);
    if (!options.shape_invariants.empty())
        throw invalid_argument(
            "while_loop: shape_invariants are those of a std::vector<any_tensor>; in tensor<T, dyn> the type "
            "says that an extent may change" +
            detail::at_place(where));
    const auto first = detail::endpoints_of(initial, g);
    const auto ends = detail::add_while(
        g, first, detail::state_types<states>(first),
        [&](const std::vector<endpoint>& arguments) {
            const auto result = std::apply([&](const auto&... state) { return condition(state...); },
                                           detail::handles<parts>(arguments));
            using C = std::remove_cvref_t<decltype(result)>;
            if constexpr (typed_operand<C>) {
                static_assert(same_dtype<value_type_of<C>, bool>, "while_loop: the condition must give a bool");
                static_assert(extents_of<C>::rank == 0, "while_loop: the condition must have rank 0");
            }
            return detail::results_of(result, g);
        },
        [&](const std::vector<endpoint>& arguments) { return detail::next_state<states, parts>(body, arguments, g); },
        options, where);
    return detail::as_result<states>(ends);
}
/// Runs a loop whose state has the elements of an array as its parts.
template <class Cond, class Body, class X, std::size_t N>
auto while_loop(const Cond& condition, const Body& body, const std::array<X, N>& initial,
                const while_options& options = {},
                const std::source_location& where = std::source_location::current()) {
    return while_loop(condition, body, std::tuple_cat(initial), options, where);
}
/// Runs a loop from the parts of its first state, one by one. Options need a tuple unless there is one part.
template <class Cond, class Body, detail::body_value X>
auto while_loop(const Cond& condition, const Body& body, const X& initial, const while_options& options = {},
                const std::source_location& where = std::source_location::current()) {
    return while_loop(condition, body, std::tuple<X>(initial), options, where);
}
template <class Cond, class Body, detail::loop_value X, detail::loop_value Y>
auto while_loop(const Cond& condition, const Body& body, const X& x, const Y& y,
                const std::source_location& where = std::source_location::current()) {
    return while_loop(condition, body, std::tuple<X, Y>(x, y), {}, where);
}
template <class Cond, class Body, detail::loop_value X, detail::loop_value Y, detail::loop_value Z>
auto while_loop(const Cond& condition, const Body& body, const X& x, const Y& y, const Z& z,
                const std::source_location& where = std::source_location::current()) {
    return while_loop(condition, body, std::tuple<X, Y, Z>(x, y, z), {}, where);
}
template <class Cond, class Body, class... X>
    requires(sizeof...(X) > 3 && (detail::loop_value<X> && ...))
auto while_loop(const Cond& condition, const Body& body, const X&... initial) {
    // A default source location can't follow the pack: the operands give it.
    return while_loop(condition, body, std::tuple<X...>(initial...), {}, std::source_location{});
}
/// Runs a loop over tensors whose types or number are known at run time only. Both functions take a std::vector<any_tensor>; the body
/// returns one.
template <class Cond, class Body>
std::vector<any_tensor> while_loop(const Cond& condition, const Body& body, const std::vector<any_tensor>& initial,
                                   const while_options& options = {},
                                   const std::source_location& where = std::source_location::current()) {
    detail::register_region_ops<while_op, scan_slices_op>();
    return detail::untyped_while([&](const auto& state) { return any_tensor(condition(state)); },
                                 [&](const auto& state) { return std::vector<any_tensor>(body(state)); }, initial,
                                 options, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> while_op::outputs(const known_inputs& in) const {
    const auto parts = static_cast<std::size_t>(use.operands);
    const auto& condition = in.bodies[0];
    if (condition.size() != 1 || condition[0].type != dtype::boolean ||
        (condition[0].shape.known_rank() && condition[0].shape.rank != 0))
        throw invalid_argument("the condition gives " +
                               (condition.size() == 1 ? to_string(condition[0]) : "several values") +
                               ", not a bool of rank 0");
    const auto& next = in.bodies[1];
    if (next.size() < parts)
        throw invalid_argument("the state has " + std::to_string(parts) + " parts, the body gives " +
                               std::to_string(next.size()));
    std::vector<tensor_type> all;
    for (std::size_t i = 0; i < parts; ++i) {
        all.push_back(detail::next_type(in, i, next[i]));
    }
    for (std::size_t i = parts; i < next.size(); ++i)
        all.push_back({next[i].type, rules::insert_axis(next[i].shape, 0, dyn).shape});
    return all;
}

RILL_INLINE std::vector<endpoint> while_op::gradient(const gradient_request& r) const {
    return detail::loop_gradient(r, *make_op(scan_slices_op{}));
}

namespace detail {

RILL_INLINE std::vector<endpoint> add_while(const graph& g, std::vector<endpoint> initial,
                                            const std::vector<tensor_type>& types, const body_function& condition,
                                            const body_function& body, const while_options& options,
                                            const std::source_location& where) {
    if (options.maximum_iterations < -1)
        throw invalid_argument("while_loop: maximum_iterations is " + std::to_string(options.maximum_iterations) +
                               "; it must be 0 or more (-1: no limit), made at " + to_string(where));
    const graph_scope here(g);
    region_node_scope scope(g, "while");
    const auto& place =
        where.line() == 0 && !initial.empty() ? initial[0].from->where : where; // a variadic call passes no location
    std::vector<traced_body> bodies{trace_body(g, "cond", types, place, condition)};
    bodies.push_back(trace_body(g, "body", types, place, body));
    region_attributes use{region_attributes::form::repeat};
    use.most = options.maximum_iterations;
    use.swap_memory = options.swap_memory;
    endpoint_list operands;
    for (const auto& e : initial) operands.push_back(e);
    const node* made = scope.add(*make_op(while_op{}), use, std::move(operands), bodies, place);
    for (std::size_t i = 0; i < initial.size(); ++i) initial[i] = {made, static_cast<int>(i)};
    return initial;
}

RILL_INLINE std::vector<any_tensor>
untyped_while(const std::function<any_tensor(const std::vector<any_tensor>&)>& condition,
              const std::function<std::vector<any_tensor>(const std::vector<any_tensor>&)>& body,
              const std::vector<any_tensor>& initial, const while_options& options, const std::source_location& where) {
    if (initial.empty()) throw invalid_argument("while_loop: the state has no parts");
    const auto tensors = [](const std::vector<endpoint>& ends) {
        return std::vector<any_tensor>(ends.begin(), ends.end());
    };
    for (const auto& t : initial) checked_node(t.node(), "while_loop");
    std::vector<tensor_type> types;
    for (const auto& t : initial) types.push_back(type_of(t.end()));
    const auto& says = options.shape_invariants;
    if (!says.empty() && says.size() != types.size())
        throw invalid_argument("while_loop: there are " + std::to_string(says.size()) + " shape_invariants for " +
                               std::to_string(types.size()) + " parts of the state" + at_place(where));
    for (std::size_t i = 0; i < says.size(); ++i) {
        if (rules::common(says[i], types[i].shape) != says[i])
            throw invalid_argument("while_loop: part " + std::to_string(i) + " of the state is " + to_string(types[i]) +
                                   ", its shape_invariant " + to_string(says[i]) + at_place(where));
        types[i].shape = says[i];
    }
    return tensors(add_while(
        initial[0].graph(), {initial.begin(), initial.end()}, types,
        [&](const std::vector<endpoint>& state) { return std::vector<endpoint>{condition(tensors(state))}; },
        [&](const std::vector<endpoint>& state) {
            const auto next = body(tensors(state));
            if (next.size() != initial.size())
                throw invalid_argument("while_loop: the state has " + std::to_string(initial.size()) +
                                       " parts, the body gives " + std::to_string(next.size()) + " (made at " +
                                       to_string(where) + ")");
            return std::vector<endpoint>(next.begin(), next.end());
        },
        options, where));
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
