// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/region/loop_state.hpp>
#include <rill/ops/control/region/region_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs its body for each slice of its operands along axis 0. The first `carried` operands are the state, which is not sliced. The body
/// returns the next state, and values that are stacked along axis 0.
struct scan_slices_op {
    static constexpr auto name = "ScanSlices", label = "scan";
    using domain_type = domains::every;
    region_attributes use{region_attributes::form::scan};

    static void fields(auto& op, auto& visit) { region_attributes::fields(op.use, visit); }
    const region_attributes* regions() const { return &use; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
};

struct scan_options {
    bool reverse = false;     // from the last slice to the first; results keep the order of the slices
    bool swap_memory = false; // keeps what the gradient needs in host memory, as while_options::swap_memory does
};

namespace detail {

/// The type of a slice along axis 0.
template <class H> struct slice_of {
    using type = any_tensor;
};
template <class T, index_t N, index_t... D> struct slice_of<tensor<T, N, D...>> {
    using type = tensor<T, D...>;
};
template <class T> struct slice_of<tensor<T>> {
    static_assert(sizeof(T) == 0, "scan: what is gone through slice by slice needs an axis");
};
template <class X> using slice_type = typename each_leaf<slice_of, handle_type<X>>::type;

/// The extent along axis 0: that of the first part of a structure with a static one, else dyn.
template <class H> inline constexpr index_t first_extent = dyn;
template <class T, index_t N, index_t... D> inline constexpr index_t first_extent<tensor<T, N, D...>> = N;
template <class H, class... More>
inline constexpr index_t first_extent<std::tuple<H, More...>> =
    first_extent<H> != dyn ? first_extent<H> : first_extent<std::tuple<More...>>;
template <class A, class B> inline constexpr index_t first_extent<std::pair<A, B>> = first_extent<std::tuple<A, B>>;
template <class H, std::size_t N> inline constexpr index_t first_extent<std::array<H, N>> = first_extent<H>;

/// The type of N leaves stacked along a new axis 0.
template <index_t N> struct stacked {
    template <class H> struct leaf {
        using type = any_tensor;
    };
    template <class T, index_t... D> struct leaf<tensor<T, D...>> {
        using type = tensor<T, N, D...>;
    };
};
/// The type of results H stacked over the slices of the inputs X.
template <class H, class X>
using stack_type = typename each_leaf<stacked<first_extent<handle_type<X>>>::template leaf, handle_type<H>>::type;

/// The parts of a body's result: the next state alone, or a pair or tuple of the next state and the outputs to stack.
template <class State, class Given> struct given_state {
    static constexpr bool with_outputs = false;
    using next = Given;
};
template <class State, class Next, class Outputs>
    requires is_built_as<State, Next>
struct given_state<State, std::tuple<Next, Outputs>> {
    static constexpr bool with_outputs = true;
    using next = Next;
    using outputs = Outputs;
};
template <class State, class Next, class Outputs>
struct given_state<State, std::pair<Next, Outputs>> : given_state<State, std::tuple<Next, Outputs>> {};

template <class F, class S, class X>
using given_of = given_state<handle_type<S>,
                             handle_type<std::invoke_result_t<const F&, const handle_type<S>&, const slice_type<X>&>>>;

/// Adds a node that scans, and returns its outputs: the last state, then the stacked values. The body takes the state, of these types, and
/// the slices.
std::vector<endpoint> add_scan(const graph& g, const std::string& name, const std::vector<endpoint>& initial,
                               std::vector<tensor_type> types, const std::vector<endpoint>& slices,
                               const scan_options& options, const body_function& body,
                               const std::source_location& where);

/// The outputs of a fold or scan: edges of the last state and of the stacked values, and the sizes of their vectors.
struct folded {
    std::vector<endpoint> ends;
    std::vector<std::size_t> lists;

    handle_reader read() const { return handle_reader(ends, lists); }
};

/// Throws invalid_argument if the body changes the size of a vector of the state.
void check_list_sizes(const char* name, std::span<const std::size_t> state, std::span<const std::size_t> next,
                      const std::source_location& where);

/// Adds a scan of f(state, slice), where state and slice are structures. It stacks the outputs that f returns beside the next state.
/// Without outputs it stacks all states if `all`.
template <class F, class S, class X>
folded add_fold(const char* name, const F& f, const S& initial, const X& inputs, const scan_options& options, bool all,
                const std::source_location& where) {
    register_region_ops<scan_slices_op>();
    using state = handle_type<S>;
    using given_type = given_of<F, S, X>;
    static_assert(
        is_built_as<state, typename given_type::next>,
        "the body of a scan or fold gives the next state, built as the state is, or std::tuple(next, outputs)");
    if constexpr (is_built_as<state, typename given_type::next>)
        static_assert(parts_keep_their_types<state, typename given_type::next>,
                      "the body of a loop gives a part of the state another element type or shape");
    const graph g = home_graph(initial, inputs);
    const auto first = endpoints_of(initial, g);
    folded result;
    add_list_sizes(initial, result.lists);
    auto lists = result.lists;
    add_list_sizes(inputs, lists);
    result.ends = add_scan(
        g, name, first, state_types<state>(first, lists), endpoints_of(inputs, g), options,
        [&](const std::vector<endpoint>& arguments) {
            handle_reader reader(arguments, lists);
            const auto before = reader.read<state>();
            const auto given = f(before, reader.read<slice_type<X>>());
            std::vector<std::size_t> sizes;
            if constexpr (given_type::with_outputs) {
                add_list_sizes(std::get<0>(given), sizes);
                check_list_sizes(name, result.lists, sizes, where);
                add_list_sizes(std::get<1>(given), result.lists);
                return results_of(given, g);
            } else {
                add_list_sizes(given, sizes);
                check_list_sizes(name, result.lists, sizes, where);
                auto next = results_of(given, g);
                if (all) {
                    const auto states = next;
                    next.insert(next.end(), states.begin(), states.end());
                    result.lists.insert(result.lists.end(), sizes.begin(), sizes.end());
                }
                return next;
            }
        },
        where);
    return result;
}

template <class F, class S, class X>
handle_type<S> last_state(const char* name, const F& f, const S& initial, const X& inputs, bool reverse,
                          const std::source_location& where) {
    static_assert(!given_of<F, S, X>::with_outputs,
                  "fold: the body gives the next state alone; scan takes outputs, too");
    return add_fold(name, f, initial, inputs, {reverse}, false, where).read().template read<handle_type<S>>();
}

} // namespace detail

/// Runs f(state, slice), slice after slice along axis 0 of the inputs. If f returns the next state, scan returns all states, stacked along
/// a new axis 0. If f returns std::tuple(next state, outputs), scan returns a tuple of the last state and the stacked outputs. State,
/// inputs and outputs are tensors, or nested structures of them: tuples, pairs, arrays and vectors. The state of a scan keeps its dtype and
/// extents. The state of a fold follows the rules of while_loop.
template <class F, class S, class X>
auto scan(const F& f, const S& initial, const X& inputs, const scan_options& options = {},
          const std::source_location& where = std::source_location::current()) {
    using given = detail::given_of<F, S, X>;
    using state = detail::handle_type<S>;
    const auto ends = detail::add_fold("scan", f, initial, inputs, options, true, where);
    auto reader = ends.read();
    auto last = reader.template read<state>();
    if constexpr (given::with_outputs) {
        using outputs = detail::stack_type<typename given::outputs, X>;
        return std::tuple<state, outputs>(std::move(last), reader.template read<outputs>());
    } else {
        return reader.template read<detail::stack_type<state, X>>();
    }
}

/// Returns the last state of state = f(state, slice), over the slices along axis 0 of the inputs, first to last.
template <class F, class S, class X>
auto fold(const F& f, const S& initial, const X& inputs,
          const std::source_location& where = std::source_location::current()) {
    return detail::last_state("fold", f, initial, inputs, false, where);
}
/// Returns the last state of a fold from the last slice to the first.
template <class F, class S, class X>
auto fold_right(const F& f, const S& initial, const X& inputs,
                const std::source_location& where = std::source_location::current()) {
    return detail::last_state("fold_right", f, initial, inputs, true, where);
}

/// Returns f(slice) for each slice along axis 0 of the inputs, stacked along axis 0. Inputs and results are tensors, or structures of them.
template <class F, class X>
auto map(const F& f, const X& inputs, const std::source_location& where = std::source_location::current()) {
    detail::register_region_ops<scan_slices_op>();
    using slice = detail::slice_type<X>;
    using result = detail::stack_type<std::invoke_result_t<const F&, const slice&>, X>;
    const graph g = detail::home_graph(inputs);
    std::vector<std::size_t> lists, given_lists;
    detail::add_list_sizes(inputs, lists);
    const auto ends = detail::add_scan(
        g, "map", {}, {}, detail::endpoints_of(inputs, g), scan_options{},
        [&](const std::vector<endpoint>& arguments) {
            const auto given = f(detail::handle_reader(arguments, lists).read<slice>());
            detail::add_list_sizes(given, given_lists);
            return detail::results_of(given, g);
        },
        where);
    return detail::handle_reader(ends, given_lists).template read<result>();
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

RILL_INLINE void detail::check_list_sizes(const char* name, std::span<const std::size_t> state,
                                          std::span<const std::size_t> next, const std::source_location& where) {
    for (std::size_t i = 0; i < state.size(); ++i)
        if (state[i] != next[i])
            throw invalid_argument(std::string(name) + ": a vector of the state has " + std::to_string(state[i]) +
                                   " parts, the body gives " + std::to_string(next[i]) + at_place(where));
}

RILL_INLINE std::vector<endpoint> detail::add_scan(const graph& g, const std::string& name,
                                                   const std::vector<endpoint>& initial, std::vector<tensor_type> types,
                                                   const std::vector<endpoint>& slices, const scan_options& options,
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
    region_attributes use{region_attributes::form::scan};
    use.carried = static_cast<int>(initial.size());
    use.reverse = options.reverse;
    use.swap_memory = options.swap_memory;
    const node* made = scope.add(*make_op(scan_slices_op{}), use, std::move(operands),
                                 {trace_body(g, "body", types, where, body)}, where);
    std::vector<endpoint> ends;
    for (std::size_t i = 0; i < made->outputs.size(); ++i) ends.push_back({made, static_cast<int>(i)});
    return ends;
}

}} // namespace rill::RILL_ABI
#endif
