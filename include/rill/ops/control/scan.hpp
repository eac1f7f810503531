// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/loop_state.hpp>
#include <rill/ops/control/region_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs its body for each slice of its operands along axis 0 (those behind the first `carried`, which are the state): the body gives
/// the next state, and values that are stacked along axis 0.
struct scan_slices_op {
    static constexpr auto name = "ScanSlices", label = "scan";
    using domain_type = domains::every;
    region_use use{region_use::form::scan};

    static void fields(auto& op, auto& visit) { region_use::fields(op.use, visit); }
    const region_use* regions() const { return &use; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
};

struct scan_options {
    bool reverse = false; // from the last slice to the first; results stand where their slices do
};

namespace detail {

/// The type of a slice along axis 0.
template <class H> struct slice_type {
    using type = any_tensor;
};
template <class T, index_t N, index_t... D> struct slice_type<tensor<T, N, D...>> {
    using type = tensor<T, D...>;
};
template <class T> struct slice_type<tensor<T>> {
    static_assert(sizeof(T) == 0, "scan: what is gone through slice by slice needs an axis");
};
template <class... H> struct slice_type<std::tuple<H...>> {
    using type = std::tuple<typename slice_type<H>::type...>;
};

/// The extent along axis 0.
template <class H> inline constexpr index_t first_extent = dyn;
template <class T, index_t N, index_t... D> inline constexpr index_t first_extent<tensor<T, N, D...>> = N;
template <class H, class... More> inline constexpr index_t first_extent<std::tuple<H, More...>> = first_extent<H>;

/// So many of them along a new axis 0.
template <class H, index_t N> struct stack_type {
    using type = any_tensor;
};
template <class T, index_t... D, index_t N> struct stack_type<tensor<T, D...>, N> {
    using type = tensor<T, N, D...>;
};
template <class... H, index_t N> struct stack_type<std::tuple<H...>, N> {
    using type = std::tuple<typename stack_type<H, N>::type...>;
};

/// A node that scans: the last state, then what is stacked. The body gets the state, of these types, and the slices.
std::vector<endpoint> add_scan(const graph& g, const std::string& name, const std::vector<endpoint>& initial,
                               std::vector<tensor_type> types, const std::vector<endpoint>& slices, bool reverse,
                               const body_function& body, const std::source_location& where);

/// The last state and all states of f(state, slice), for state and slices that are tensors or tuples of them.
template <class F, class S, class X>
std::vector<endpoint> add_fold(const char* name, const F& f, const S& initial, const X& inputs, bool reverse,
                               bool stacked, const std::source_location& where) {
    make_bodies_known<scan_slices_op>();
    using state = handle_type<S>;
    using slice = typename slice_type<handle_type<X>>::type;
    using states = std::conditional_t<is_tuple<state>, state, std::tuple<state>>;
    const graph g = home_graph(initial, inputs);
    const auto first = endpoints_of(initial, g);
    return add_scan(
        g, name, first, state_types<states>(first), endpoints_of(inputs, g), reverse,
        [&](const std::vector<endpoint>& arguments) {
            const auto in = handles<slice>(arguments, handle_count<state>);
            auto next = next_state<states>(
                [&](const auto&... parts) {
                    if constexpr (is_tuple<state>)
                        return f(state(parts...), in);
                    else
                        return f(parts..., in);
                },
                arguments, g);
            if (stacked) next.insert(next.end(), next.begin(), next.begin() + handle_count<state>);
            return next;
        },
        where);
}

} // namespace detail

/// All states of state = f(state, slice), slice after slice along axis 0 of the inputs, stacked along a new axis 0. State and inputs
/// are tensors, or tuples, which f takes as tuples. A state that is scanned keeps its dtype and extents; that of a fold as in while_loop.
template <class F, class S, class X>
auto scan(const F& f, const S& initial, const X& inputs, const scan_options& options = {},
          const std::source_location& where = std::source_location::current()) {
    using state = detail::handle_type<S>;
    const auto ends = detail::add_fold("scan", f, initial, inputs, options.reverse, true, where);
    using result = typename detail::stack_type<state, detail::first_extent<detail::handle_type<X>>>::type;
    return detail::handles<result>(ends, detail::handle_count<state>);
}

/// The last state of state = f(state, slice), from the first slice along axis 0 of the inputs to the last.
template <class F, class S, class X>
auto fold(const F& f, const S& initial, const X& inputs,
          const std::source_location& where = std::source_location::current()) {
    return detail::handles<detail::handle_type<S>>(detail::add_fold("fold", f, initial, inputs, false, false, where));
}
/// The same from the last slice to the first.
template <class F, class S, class X>
auto fold_right(const F& f, const S& initial, const X& inputs,
                const std::source_location& where = std::source_location::current()) {
    return detail::handles<detail::handle_type<S>>(
        detail::add_fold("fold_right", f, initial, inputs, true, false, where));
}

/// f(slice) for each slice along axis 0 of the inputs (a tensor, or a tuple, which f takes as a tuple), stacked along axis 0.
template <class F, class X>
auto map(const F& f, const X& inputs, const std::source_location& where = std::source_location::current()) {
    detail::make_bodies_known<scan_slices_op>();
    using slice = typename detail::slice_type<detail::handle_type<X>>::type;
    using given = std::remove_cvref_t<std::invoke_result_t<const F&, const slice&>>;
    using result =
        typename detail::stack_type<detail::handle_type<given>, detail::first_extent<detail::handle_type<X>>>::type;
    const graph g = detail::home_graph(inputs);
    return detail::handles<result>(detail::add_scan(
        g, "map", {}, {}, detail::endpoints_of(inputs, g), false,
        [&](const std::vector<endpoint>& arguments) {
            return detail::results_of(f(detail::handles<slice>(arguments)), g);
        },
        where));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> scan_slices_op::outputs(const known_inputs& in) const {
    const auto carried = static_cast<std::size_t>(use.carried);
    const auto& next = in.bodies[0];
    if (next.size() < carried)
        throw invalid_argument("the state has " + std::to_string(carried) + " parts, the body gives " +
                               std::to_string(next.size()));
    index_t length = dyn;
    for (auto i = carried; i < static_cast<std::size_t>(use.operands); ++i) {
        const auto& shape = in.types[i].shape;
        if (!shape.known_rank()) continue;
        if (shape.rank < 1) throw invalid_argument("operand " + std::to_string(i) + " has no axis to go along");
        if (length != dyn && shape[0] != dyn && shape[0] != length)
            throw invalid_argument("one operand has " + std::to_string(length) + " slices, another " +
                                   std::to_string(shape[0]));
        if (length == dyn) length = shape[0];
    }
    std::vector<tensor_type> all;
    for (std::size_t i = 0; i < next.size(); ++i) {
        if (i < carried) {
            all.push_back(detail::next_type(in, i, next[i]));
            continue;
        }
        all.push_back({next[i].type, rules::insert_axis(next[i].shape, 0, length).shape});
    }
    return all;
}

RILL_INLINE std::vector<endpoint> scan_slices_op::gradient(const gradient_request& r) const {
    return detail::loop_gradient(r, *r.at.op);
}

RILL_INLINE std::vector<endpoint> detail::add_scan(const graph& g, const std::string& name,
                                                   const std::vector<endpoint>& initial, std::vector<tensor_type> types,
                                                   const std::vector<endpoint>& slices, bool reverse,
                                                   const body_function& body, const std::source_location& where) {
    if (slices.empty()) throw invalid_argument(name + ": there is nothing to go through");
    const graph_scope here(g);
    region_node_scope scope(g, name);
    endpoint_list operands;
    for (const auto& e : initial) operands.push_back(e);
    for (const auto& e : slices) {
        operands.push_back(e);
        if (type_of(e).shape.rank == 0) throw invalid_argument(name + ": '" + name_of(e) + "' has no axis to go along");
        types.push_back({type_of(e).type, rules::slice(type_of(e).shape)});
    }
    region_use use{region_use::form::scan};
    use.carried = static_cast<int>(initial.size());
    use.reverse = reverse;
    const node* made = scope.add(*make_op(scan_slices_op{}), use, std::move(operands),
                                 {trace_body(g, "body", types, where, body)}, where);
    std::vector<endpoint> ends;
    for (std::size_t i = 0; i < made->outputs.size(); ++i) ends.push_back({made, static_cast<int>(i)});
    return ends;
}

}} // namespace rill::RILL_ABI
#endif
