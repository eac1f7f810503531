// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <rill/core/device_name.hpp>
#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI {

/// A node that is being made, as a device function sees it.
struct node_info {
    std::string_view name, op;            // the name may still get a suffix
    std::span<const tensor_type> outputs; // dtypes and shapes, as far as they are known
    const node* colocated = nullptr;      // the node whose device it takes whatever the function returns; null: none
    const rill::op* definition = nullptr; // the op's other facts

    bool is_variable() const { return definition->role() == op_role::variable; }
    /// Returns true for the node of a queue, a table, a lock or another resource.
    bool is_resource() const { return definition->role() == op_role::resource; }
};

/// A function that chooses the device of a node. An empty string leaves the choice to the outer scopes.
using device_function = std::function<std::string(const node_info&)>;

/// A tag of a device_scope that also applies to nodes that the library places beside a variable, such as gather.
struct explicitly_t {};
inline constexpr explicitly_t explicitly{};

namespace detail {

/// The device function of a device_scope.
struct device_choice {
    device_function choose;
    bool is_explicit = false; // made with `explicitly`
};

struct variables_in_scope; // train/get_variable.hpp

struct scope_state {
    std::optional<graph> current; // empty: the process's default graph
    std::string prefix;           // "layer1/"
    std::vector<device_choice> devices;
    std::vector<const node*> control_inputs;
    std::vector<const node*> ended; // nodes of the control_dependencies that ended when the graph had `ended_at` nodes
    std::size_t ended_at = 0;
    std::vector<const node*> of_results; // control inputs for the region's results that are being sealed (result_scope)
    const node* colocated = nullptr;
    std::string container;                               // container of new resources; empty: the session owns them
    const region* inside = nullptr;                      // region of new nodes; null: the graph itself
    std::shared_ptr<const variables_in_scope> variables; // state of the open variable_scopes
};

/// Returns the scopes of this thread.
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

/// Returns the graph that nodes join outside every graph_scope: one per process.
graph default_graph();

/// Replaces the default graph by an empty one. Handles and sessions keep the old graph.
void reset_default_graph();

/// Returns the graph of this thread's innermost graph_scope, or the default graph outside of any.
graph current_graph();

namespace detail {

/// Base of the scopes: sets a value, and restores the previous one at the end.
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

/// A scope whose nodes have names that begin with "name/". A name already used in the graph gets a suffix.
class name_scope : detail::scoped<std::string> {
public:
    explicit name_scope(const std::string& name, const std::source_location& where = std::source_location::current())
        : scoped(detail::scopes().prefix, enter(name, where)), prefix_(detail::scopes().prefix) {}

    /// Returns the prefix, including its trailing '/'.
    const std::string& prefix() const { return prefix_; }

private:
    static std::string enter(const std::string& name, const std::source_location& where);

    std::string prefix_;
};

/// A scope whose nodes join a given graph. If this is not the current graph, the scope drops all outer scopes except the container:
/// their names, nodes and devices belong to another graph.
class graph_scope : detail::scoped<detail::scope_state> {
public:
    explicit graph_scope(const graph& g);
    ~graph_scope();

private:
    static detail::scope_state entered(const graph& g);
};

/// A scope that constrains the device of its nodes. Inner scopes override outer ones part by part. A look-up in a variable (gather) runs
/// on the variable's device, so that the table is not copied. Scopes made with `explicitly` override this.
class device_scope : detail::scoped<std::vector<detail::device_choice>> {
public:
    explicit device_scope(const std::string& device,
                          const std::source_location& where = std::source_location::current())
        : device_scope(always(device, where)) {}
    device_scope(const std::string& device, explicitly_t,
                 const std::source_location& where = std::source_location::current())
        : device_scope(always(device, where), explicitly) {}
    explicit device_scope(device_function choose);
    device_scope(device_function choose, explicitly_t);
    template <class F>
        requires std::is_invocable_r_v<std::string, F, const node_info&>
    explicit device_scope(F choose) : device_scope(device_function(std::move(choose))) {}
    template <class F>
        requires std::is_invocable_r_v<std::string, F, const node_info&>
    device_scope(F choose, explicitly_t) : device_scope(device_function(std::move(choose)), explicitly) {}

private:
    static device_function always(const std::string& device, const std::source_location& where);
    static std::vector<detail::device_choice> push(detail::device_choice c);
};

/// A scope whose variables, queues and other resources live in a container of the process, under their nodes' names. Sessions share
/// the container, and session::reset empties it.
class container_scope : detail::scoped<std::string> {
public:
    explicit container_scope(const std::string& container) : scoped(detail::scopes().container, container) {}
};

namespace detail {

/// A scope whose nodes belong to a region (null: to the graph itself). These nodes take no control inputs from outer scopes; the node
/// that runs the region takes them.
class region_scope : scoped<scope_state> {
public:
    explicit region_scope(const region* r) : scoped(scopes(), entered(r)) {}

private:
    static scope_state entered(const region* r);
};

} // namespace detail

/// A handle that names a node: an operation or a tensor.
template <class H>
concept node_handle = requires(const H& h) {
    { h.node() } -> std::convertible_to<const node*>;
};

/// True if H names a node. Expressions and constants do so only after they are sealed.
template <class H> inline constexpr bool names_a_node = node_handle<H>;

namespace detail {

/// Returns the node. Throws failed_precondition in the name of `who` if it is null.
const node* checked_node(const node* n, const char* who);

/// Returns the node of a handle, or the source node of an edge.
template <class H> const node* node_of(const H& h) {
    if constexpr (node_handle<H>)
        return h.node();
    else
        return h.from;
}
/// Returns the nodes of a list of handles or edges. Throws failed_precondition if one is null.
template <class H> std::vector<const node*> nodes_of(const std::vector<H>& all, const char* who) {
    std::vector<const node*> nodes;
    for (const auto& h : all) nodes.push_back(checked_node(node_of(h), who));
    return nodes;
}

} // namespace detail

namespace detail {

/// The base of control_dependencies, which the library also opens itself.
class control_scope : scoped<std::vector<const node*>> {
public:
    explicit control_scope(const std::vector<const node*>& after) : scoped(scopes().control_inputs, merged(after)) {}

private:
    static std::vector<const node*> merged(const std::vector<const node*>& more);
};

/// A scope in which the results of a region are sealed. An expression becomes a node here, after the scopes inside the region have
/// ended. If a control_dependencies has just ended, the new node takes its control inputs. Nodes of the same region are control inputs
/// only if the new node reads a variable: the region runs them anyway, and an induction variable must not wait for them.
class result_scope : scoped<std::vector<const node*>> {
public:
    explicit result_scope(const graph& g) : scoped(scopes().of_results, just_ended(g)) {}

private:
    static std::vector<const node*> just_ended(const graph& g);
};

} // namespace detail

/// A scope whose nodes run after the given operations and tensors, or after those of a std::vector. Nested scopes add up. No arguments
/// clear the list; an empty vector adds nothing. A value that a body returns from this scope belongs to it, even if the value is an
/// expression. This holds for the body of a loop, branch, function or critical section.
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
    /// Reports a compile error: an argument has no node.
    template <class... H>
        requires(!(node_handle<H> && ...))
    explicit control_dependencies(const H&...) : control_scope(std::vector<const node*>()) {
        static_assert((names_a_node<H> && ...),
                      "control_dependencies: an expression or a constant is not a node of the "
                      "graph yet; seal it first: tensor t = x * y;");
    }
    ~control_dependencies();
};

namespace detail {

/// Returns the node that determines the device of an output. For a variable, it is the variable, whichever write the output comes from.
const node* colocation_of(const endpoint& e);

/// Returns an output of a handle's node. Throws failed_precondition if the handle is null.
template <class H> endpoint handle_output(const H& h) {
    const node* n = checked_node(h.node(), "colocate_with");
    if constexpr (requires { endpoint(h.end()); })
        return h.end();
    else
        return {n, 0};
}

} // namespace detail

/// A scope whose nodes run on the device of a given node. The result of a write counts as its variable.
class colocate_with : detail::scoped<const node*> {
public:
    template <node_handle H>
    explicit colocate_with(const H& other)
        : scoped(detail::scopes().colocated, detail::colocation_of(detail::handle_output(other))) {}
    /// Reports a compile error: the argument has no node.
    template <class H>
        requires(!node_handle<H>)
    explicit colocate_with(const H&) : scoped(detail::scopes().colocated, nullptr) {
        static_assert(names_a_node<H>, "colocate_with: an expression or a constant is not a node of the graph yet; "
                                       "seal it first: tensor t = x * y;");
    }
};

namespace detail {

/// Applies this thread's scopes to a node and adds the node. An empty name means the op's label. An empty `where` means the location
/// of the first input that has one: operators can't take a source_location.
const node* add_node(const graph& g, op_ptr op, endpoint_list inputs, const std::string& name = {}, bool share = false,
                     const std::source_location& where = {}, small_vector<const node*, 1> control_inputs = {});
/// Adds a node whose full name, scopes included, is already set.
const node* add_node(const graph& g, node_spec spec);

/// Returns the graph of the first input, or the current graph if there are none.
graph graph_of(std::span<const endpoint> inputs);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/scope.ipp>
#endif
