// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <rill/graph/device_name.hpp>
#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI {

/// What a device function may look at to place a node.
struct node_info {
    std::string_view name, op;
};

/// Chooses a device by node; an empty answer leaves the choice to the outer scopes.
using device_function = std::function<std::string(const node_info&)>;

namespace detail {

struct variables_in_scope; // train/get_variable.hpp

struct scope_state {
    std::optional<graph> current; // none: the process's default graph
    std::string prefix;           // "layer1/"
    std::vector<device_function> devices;
    std::vector<const node*> control_inputs;
    std::vector<const node*>
        ended; // those of a control_dependencies that ended in a body, when the graph had `ended_at` nodes
    std::size_t ended_at = 0;
    std::vector<const node*> of_results; // and what is being sealed waits for, as the body returned it
    const node* colocated = nullptr;
    std::string container;                               // where resources live; empty: with the session
    const region* inside = nullptr;                      // whose nodes are being made
    std::shared_ptr<const variables_in_scope> variables; // what the variable_scopes say
};

// scopes belong to the thread that opened them
RILL_EXPORT scope_state& scopes();

struct default_graph_holder {
    std::mutex mutex;
    graph current;
};

RILL_EXPORT inline default_graph_holder& the_default_graph() {
    static default_graph_holder& holder = *new default_graph_holder;
    return holder;
}

} // namespace detail

/// The graph that nodes join where no graph_scope says otherwise: one per process.
graph default_graph();

/// Puts an empty graph in the default graph's place. Handles and sessions keep the old one.
void reset_default_graph();

/// The innermost graph_scope's graph of this thread, else the default graph.
graph current_graph();

namespace detail {

/// Base of the scopes: what was in force before comes back at the end.
template <class Value> class scoped {
public:
    scoped(const scoped&) = delete;
    scoped& operator=(const scoped&) = delete;

protected:
    scoped(Value& place, Value value) : place_(place), before_(std::exchange(place, std::move(value))) {}
    ~scoped() { place_ = std::move(before_); }

private:
    Value& place_;
    Value before_;
};

} // namespace detail

/// Names made in this scope begin with "name/"; a name already used in the graph gets a suffix.
class name_scope : detail::scoped<std::string> {
public:
    explicit name_scope(const std::string& name, const std::source_location& where = std::source_location::current())
        : scoped(detail::scopes().prefix, enter(name, where)), prefix_(detail::scopes().prefix) {}

    /// The prefix, with its '/'.
    const std::string& prefix() const { return prefix_; }

private:
    static std::string enter(const std::string& name, const std::source_location& where);

    std::string prefix_;
};

/// Nodes made in this scope join the graph. In another graph than the one before, it begins outside all other scopes:
/// their names, nodes and devices are not that graph's.
class graph_scope : detail::scoped<detail::scope_state> {
public:
    explicit graph_scope(const graph& g);
    ~graph_scope();

private:
    static detail::scope_state entered(const graph& g);
};

/// Constrains the device of nodes made in this scope; inner scopes override part by part.
class device_scope : detail::scoped<std::vector<device_function>> {
public:
    explicit device_scope(const std::string& device,
                          const std::source_location& where = std::source_location::current());
    explicit device_scope(device_function choose);
    template <class F>
        requires std::is_invocable_r_v<std::string, F, const node_info&>
    explicit device_scope(F choose) : device_scope(device_function(std::move(choose))) {}

private:
    static device_function always(const std::string& device, const std::source_location& where);
    static std::vector<device_function> push(device_function f);
};

/// Variables, queues and other resources made in this scope live in a container of the process, under their nodes' names: sessions
/// share them, and session::reset empties it.
class container_scope : detail::scoped<std::string> {
public:
    explicit container_scope(const std::string& container) : scoped(detail::scopes().container, container) {}
};

namespace detail {

/// Nodes made in this scope belong to a region (null: to the graph itself), and wait for nothing outside it: what they belong to does.
class region_scope : scoped<scope_state> {
public:
    explicit region_scope(const region* r) : scoped(scopes(), entered(r)) {}

private:
    static scope_state entered(const region* r);
};

} // namespace detail

/// Something that names a node: an operation or a tensor.
template <class H>
concept node_handle = requires(const H& h) {
    { h.node() } -> std::convertible_to<const node*>;
};

/// H names a node: expressions and constants do once they are sealed.
template <class H> inline constexpr bool names_a_node = node_handle<H>;

namespace detail {

/// Refuses a null handle.
const node* checked_node(const node* n, const char* who);

/// The node that a handle or an edge names.
template <class H> const node* node_of(const H& h) {
    if constexpr (node_handle<H>)
        return h.node();
    else
        return h.from;
}
/// The nodes of handles or edges in a list; refuses null ones.
template <class H> std::vector<const node*> nodes_of(const std::vector<H>& all, const char* who) {
    std::vector<const node*> nodes;
    for (const auto& h : all) nodes.push_back(checked_node(node_of(h), who));
    return nodes;
}

} // namespace detail

namespace detail {

/// control_dependencies, of what the library makes itself.
class control_scope : scoped<std::vector<const node*>> {
public:
    explicit control_scope(const std::vector<const node*>& after) : scoped(scopes().control_inputs, merged(after)) {}

private:
    static std::vector<const node*> merged(const std::vector<const node*>& more);
};

/// What a body returned is sealed in this scope. An expression becomes a node when the scopes of its body have ended: where a
/// control_dependencies has just done so, it waits for what that said. (Not for what the region itself does anyway, if it reads no
/// variable that may change: the counter of a loop waits for nothing.)
class result_scope : scoped<std::vector<const node*>> {
public:
    explicit result_scope(const graph& g) : scoped(scopes().of_results, just_ended(g)) {}

private:
    static std::vector<const node*> just_ended(const graph& g);
};

} // namespace detail

/// Nodes made in this scope run after the given operations and tensors, or those of a std::vector. Scopes add up; without
/// arguments the list is cleared, an empty vector adds nothing. What the body of a loop, branch, function or critical section
/// returns in this scope belongs to it, also an expression.
class control_dependencies : detail::control_scope {
public:
    template <node_handle... H>
    explicit control_dependencies(const H&... after)
        : control_scope(std::vector<const node*>{detail::checked_node(after.node(), "control_dependencies")...}) {
        if constexpr (sizeof...(H) == 0) detail::scopes().control_inputs.clear();
    }
    template <class H>
        requires(node_handle<H> || std::is_same_v<H, endpoint>)
    explicit control_dependencies(const std::vector<H>& after)
        : control_scope(detail::nodes_of(after, "control_dependencies")) {}
    /// Refused: something among them has no node.
    template <class... H>
        requires(!(node_handle<H> && ...))
    explicit control_dependencies(const H&...) : control_scope(std::vector<const node*>()) {
        static_assert((names_a_node<H> && ...), "control_dependencies: an expression or a constant is no node of the "
                                                "graph yet; seal it first: tensor t = x * y;");
    }
    ~control_dependencies();
};

/// Nodes made in this scope sit on the device of the given one.
class colocate_with : detail::scoped<const node*> {
public:
    template <node_handle H>
    explicit colocate_with(const H& other)
        : scoped(detail::scopes().colocated, detail::checked_node(other.node(), "colocate_with")) {}
    /// Refused: it has no node.
    template <class H>
        requires(!node_handle<H>)
    explicit colocate_with(const H&) : scoped(detail::scopes().colocated, nullptr) {
        static_assert(names_a_node<H>, "colocate_with: an expression or a constant is no node of the graph yet; "
                                       "seal it first: tensor t = x * y;");
    }
};

namespace detail {

/// Applies this thread's scopes to a node and adds it. An empty name means the op's label; an empty place (operators can't
/// ask for theirs) that of the first input that has one.
const node* add_node(const graph& g, op_ptr op, endpoint_list inputs, const std::string& name = {}, bool share = false,
                     const std::source_location& where = {}, small_vector<const node*, 1> control_inputs = {});
/// The same for a node whose full name is settled.
const node* add_node(const graph& g, node_spec spec);

/// The graph that holds the inputs, or the current one if there are none.
graph graph_of(std::span<const endpoint> inputs);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/scope.ipp>
#endif
