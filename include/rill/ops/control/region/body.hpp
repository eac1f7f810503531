// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <span>
#include <tuple>

#include <rill/core/algorithm.hpp>
#include <rill/expr/apply.hpp>
#include <rill/expr/tensor.hpp>
#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/control/region/argument.hpp>

// The tracing of bodies of loops, branches and functions: a callable adds nodes to the graph while a region is open.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A traced body. Its captures are found when the node that runs it is added.
struct traced_body {
    const region* of = nullptr;
    std::vector<endpoint> arguments, results;
    std::vector<std::pair<endpoint, endpoint>> replaced = {}; // values inside, and the outside values that replace them
};

using body_function = std::function<std::vector<endpoint>(const std::vector<endpoint>& arguments)>;

/// Calls `make` with arguments of these types, in a new region, and returns the traced body. The region's name lies below the scope's.
traced_body trace_body(const graph& g, const std::string& name, std::span<const tensor_type> arguments,
                       const std::source_location& where, const body_function& make);

/// A name scope for a region node and its bodies; the node takes the scope's name.
class region_node_scope {
public:
    region_node_scope(const graph& g, const std::string& name);

    /// Adds the node, outside the scope, with an op like the given one, and returns it.
    const node* add(const op& like, region_attributes use, endpoint_list operands,
                    const std::vector<traced_body>& bodies, const std::source_location& where);

private:
    graph graph_;
    name_scope scope_;
};

/// Registers ops with bodies, and the op of their arguments. Call it in templates only: otherwise every program would contain the ops and
/// their runtime.
template <class... Op> void register_region_ops() {
    ensure_registered<argument_op>();
    (ensure_registered<Op>(), ...);
}

// ---- arguments and results of callables --------------------------------------------------------------------------------

/// True for structures whose size is part of the type: tuples, pairs and arrays. The size of a vector (is_list) is known at run time. The
/// parts are tensors or structures.
template <class X> inline constexpr bool is_tuple = false;
template <class... X> inline constexpr bool is_tuple<std::tuple<X...>> = true;
template <class A, class B> inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class X, std::size_t N> inline constexpr bool is_tuple<std::array<X, N>> = true;
template <class X> inline constexpr bool is_list = false;
template <class X> inline constexpr bool is_list<std::vector<X>> = true;

/// A value that a body may return, alone or as a part of a structure.
template <class X>
concept body_value = graph_operand<X> || literal<X>;

/// A structure with F<X>::type in place of each leaf X.
template <template <class> class F, class X> struct each_leaf : F<X> {};
template <template <class> class F, class... X> struct each_leaf<F, std::tuple<X...>> {
    using type = std::tuple<typename each_leaf<F, std::remove_cvref_t<X>>::type...>;
};
template <template <class> class F, class A, class B> struct each_leaf<F, std::pair<A, B>> {
    using type = std::pair<typename each_leaf<F, A>::type, typename each_leaf<F, B>::type>;
};
template <template <class> class F, class X, std::size_t N> struct each_leaf<F, std::array<X, N>> {
    using type = std::array<typename each_leaf<F, X>::type, N>;
};
template <template <class> class F, class X> struct each_leaf<F, std::vector<X>> {
    using type = std::vector<typename each_leaf<F, X>::type>;
};

/// Calls f with each leaf of a structure, in order.
template <class X, class F> void visit_leaves(const X& x, const F& f) {
    if constexpr (is_list<X>)
        for (const auto& each : x) visit_leaves(each, f);
    else if constexpr (is_tuple<X>)
        std::apply([&](const auto&... all) { (visit_leaves(all, f), ...); }, x);
    else
        f(x);
}

/// The type of the handle that stands for a value in a body or a result.
template <class X> struct handle_for {
    using type = any_tensor;
};
template <typed_operand X> struct handle_for<X> {
    using type = tensor_of<value_type_of<X>, extents_of<X>>;
};
template <literal X> struct handle_for<X> {
    using type = tensor<X>;
};
template <class X> using handle_type = typename each_leaf<handle_for, std::remove_cvref_t<X>>::type;

/// Returns the endpoints of the leaves of a structure, sealed in a graph; an operation has none.
template <class X> std::vector<endpoint> endpoints_of(const X& x, const graph& g) {
    std::vector<endpoint> ends;
    visit_leaves(x, [&]<class Leaf>(const Leaf& leaf) {
        if constexpr (literal<Leaf>)
            ends.push_back(seal(constant(leaf, std::source_location{}), g));
        else if constexpr (graph_operand<Leaf>)
            ends.push_back(seal(leaf, g));
    });
    return ends;
}
/// Returns the endpoints of a body's result, sealed in the body's region.
template <class X> std::vector<endpoint> results_of(const X& x, const graph& g) {
    const result_scope returned(g);
    return endpoints_of(x, g);
}

/// Appends the sizes of the vectors of a structure, in order.
template <class X> void add_list_sizes(const X& x, std::vector<std::size_t>& to) {
    if constexpr (is_list<X>) {
        to.push_back(x.size());
        for (const auto& each : x) add_list_sizes(each, to);
    } else if constexpr (is_tuple<X>) {
        std::apply([&](const auto&... all) { (add_list_sizes(all, to), ...); }, x);
    }
}

/// A reader of structures of handles from a list of edges. `lists` holds the sizes of their vectors.
class handle_reader {
public:
    explicit handle_reader(std::span<const endpoint> ends, std::span<const std::size_t> lists = {})
        : ends_(ends), lists_(lists) {}

    template <class H> H read() {
        if constexpr (is_list<H>) {
            H all(take(lists_));
            for (auto& each : all) each = read<typename H::value_type>();
            return all;
        } else if constexpr (is_tuple<H>) {
            return [&]<std::size_t... I>(std::index_sequence<I...>) {
                return H{read<std::tuple_element_t<I, H>>()...}; // braces fix the order
            }(std::make_index_sequence<std::tuple_size_v<H>>{});
        } else if constexpr (std::is_same_v<H, any_tensor>) {
            return any_tensor(take(ends_));
        } else {
            return H(unchecked, any_tensor(take(ends_)));
        }
    }

private:
    template <class T> static T take(std::span<const T>& from) {
        const T first = from.front();
        from = from.subspan(1);
        return first;
    }

    std::span<const endpoint> ends_;
    std::span<const std::size_t> lists_;
};

/// The number of leaves of a structure without vectors.
template <class H> inline constexpr std::size_t handle_count = 1;
template <class... H> inline constexpr std::size_t handle_count<std::tuple<H...>> = (0 + ... + handle_count<H>);
template <class A, class B>
inline constexpr std::size_t handle_count<std::pair<A, B>> = handle_count<A> + handle_count<B>;
template <class H, std::size_t N> inline constexpr std::size_t handle_count<std::array<H, N>> = N * handle_count<H>;

/// True if the type gives the number of all leaves: the structure has no vector.
template <class H> inline constexpr bool is_counted = !is_list<H>;
template <class... H> inline constexpr bool is_counted<std::tuple<H...>> = (is_counted<H> && ...);
template <class A, class B> inline constexpr bool is_counted<std::pair<A, B>> = is_counted<A> && is_counted<B>;
template <class H, std::size_t N> inline constexpr bool is_counted<std::array<H, N>> = is_counted<H>;

/// Returns handles to endpoints, of a type or of a structure of types.
template <class H> H handles(const std::vector<endpoint>& ends) {
    static_assert(is_counted<H>, "a std::vector of tensors is not taken here; a std::array is");
    if constexpr (is_counted<H>)
        return handle_reader(ends).read<H>();
    else
        return {};
}

inline std::vector<tensor_type> types_of(const std::vector<endpoint>& ends) {
    std::vector<tensor_type> types;
    for (const auto& e : ends) types.push_back(type_of(e));
    return types;
}

/// Returns the graph of the first operand that has one, else the current graph.
template <class... X> graph home_graph(const X&... x) {
    const graph_state* home = nullptr;
    const auto look = [&]<class Y>(const Y& y) {
        if constexpr (!literal<Y>) home = home ? home : home_of(y);
    };
    (visit_leaves(x, look), ...);
    return graph_or_current(home);
}

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>

#include <rill/core/hash_map.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE traced_body trace_body(const graph& g, const std::string& name, std::span<const tensor_type> arguments,
                                   const std::source_location& where, const body_function& make) {
    const graph_scope here(g);
    traced_body body;
    body.of = g.state().add_region(scopes().inside, scopes().prefix + name, where);
    const region_scope inside(body.of);
    const name_scope named(name);
    for (const auto& type : arguments)
        body.arguments.push_back({add_node(g, make_op(argument_op{type}), {}, {}, false, where), 0});
    body.results = make(body.arguments);
    return body;
}

RILL_INLINE region_node_scope::region_node_scope(const graph& g, const std::string& name) : graph_(g), scope_(name) {}

/// A collector of the captures, writes and effects of bodies.
class body_closer {
public:
    explicit body_closer(const graph& g) : graph_(g) {}

    void close(const traced_body& made) {
        body b;
        b.of = made.of;
        b.arguments = made.arguments;
        b.results = made.results;
        const auto nodes = graph_.state().nodes_of(made.of);
        for (const auto* n : nodes)
            for (const int w : n->op->writes()) note(written_, {written_variable(n->inputs[w]), 0});
        // A node with an ordering may wait for writes of other steps. Its body then reads variables itself instead of capturing their
        // values.
        if (detail::any_of(nodes, [](const node* n) { return n->op->ordering() != step_ordering::none; })) {
            const auto read = [&](const endpoint& e) {
                if (e && e.from->op->role() == op_role::variable) note(written_, e);
            };
            for (const auto* n : nodes)
                for (const auto& e : n->inputs) read(e);
            for (const auto& e : made.results) read(e);
        }
        for (const auto* n : nodes) {
            if (has_effect(*n)) b.effects.push_back(n);
            effects_ = effects_ || (n->op->stateful() && n->op->role() == op_role::ordinary) || has_effect(*n);
            for (const auto* c : n->control_inputs)
                if (c->inside != made.of && !detail::contains(waits_for_, c)) waits_for_.push_back(c);
        }
        bodies_.push_back(std::move(b));
        nodes_.push_back(nodes);
        replaced_.push_back(made.replaced);
    }

    /// Finds the captures of all bodies, once all are closed. If one body writes a variable, the others read it as a variable.
    void find_captures() {
        for (std::size_t i = 0; i < bodies_.size(); ++i) {
            const auto take = [&](const endpoint& e) {
                if (!e || e.from->inside == bodies_[i].of || e.from->op->role() == op_role::constant) return;
                if (detail::contains(written_, e)) return;
                if (!note(bodies_[i].captures, e)) return;
                note(captures_, e);
                bodies_[i].captured.push_back(place(e));
            };
            const auto needed = needed_nodes(i);
            for (const auto* n : nodes_[i])
                if (needed.contains(n))
                    for (const auto& e : n->inputs) take(e);
            for (const auto& r : bodies_[i].results) take(r);
            for (const auto& [inside, outside] : replaced_[i]) {
                note(captures_, outside);
                bodies_[i].captures.push_back(inside);
                bodies_[i].captured.push_back(place(outside));
            }
        }
    }

    node_spec finish(const op& like, region_attributes use, endpoint_list operands) {
        use.operands = static_cast<int>(operands.size());
        use.captures = static_cast<int>(captures_.size());
        use.written = static_cast<int>(written_.size());
        use.effects = effects_;
        node_spec spec;
        spec.op = like.with_regions(use);
        spec.inputs = std::move(operands);
        for (const auto& e : captures_) spec.inputs.push_back(e);
        for (const auto& e : written_) spec.inputs.push_back(e);
        for (auto& b : bodies_)
            for (int& c : b.captured) c += use.operands;
        static_cast<std::vector<body>&>(spec.bodies) = std::move(bodies_);
        for (const auto* c : waits_for_) spec.control_inputs.push_back(c);
        spec.scope_of_its_own = true;
        return spec;
    }

private:
    /// Returns the nodes that a body's results and effects depend on. Inputs of other nodes are not captured: a loop would keep them for
    /// gradients.
    hash_set<const node*> needed_nodes(std::size_t i) const {
        const auto& b = bodies_[i];
        hash_set<const node*> needed;
        std::vector<const node*> open(b.effects);
        const auto need = [&](const endpoint& e) {
            const auto is_e = [&](const auto& r) { return r.first == e; };
            if (e && !detail::any_of(replaced_[i], is_e)) open.push_back(e.from);
        };
        for (const auto& r : b.results) need(r);
        for (const auto* n : nodes_[i]) // functionalization makes one node of all merges of a predicate
            if (n->op->flow()) open.push_back(n);
        while (!open.empty()) {
            const node* n = open.back();
            open.pop_back();
            if (n->inside != b.of || !needed.insert(n)) continue;
            for (const auto& e : n->inputs) need(e);
            open.insert(open.end(), n->control_inputs.begin(), n->control_inputs.end());
        }
        return needed;
    }
    int place(const endpoint& e) const { return static_cast<int>(detail::find(captures_, e) - captures_.begin()); }
    static bool note(std::vector<endpoint>& all, const endpoint& e) {
        if (detail::contains(all, e)) return false;
        all.push_back(e);
        return true;
    }
    /// Returns true if the node runs for its side effects.
    static bool has_effect(const node& n) {
        if (!n.op->writes().empty() || n.op->consumes()) return true;
        if (n.outputs.empty() && n.op->role() == op_role::ordinary) return true;
        return n.bodies && detail::any_of(*n.bodies, [](const body& b) { return !b.effects.empty(); });
    }

    graph graph_;
    std::vector<body> bodies_;
    std::vector<std::vector<const node*>> nodes_;
    std::vector<std::vector<std::pair<endpoint, endpoint>>> replaced_;
    std::vector<endpoint> captures_, written_;
    std::vector<const node*> waits_for_;
    bool effects_ = false;
};

RILL_INLINE const node* region_node_scope::add(const op& like, region_attributes use, endpoint_list operands,
                                               const std::vector<traced_body>& bodies,
                                               const std::source_location& where) {
    body_closer closer(graph_);
    for (const auto& b : bodies) closer.close(b);
    closer.find_captures();
    auto spec = closer.finish(like, use, std::move(operands));
    std::string name = scope_.prefix();
    name.pop_back();
    spec.name = std::move(name);
    spec.where = where;
    return add_node(graph_, std::move(spec));
}

}}} // namespace rill::RILL_ABI::detail
#endif
