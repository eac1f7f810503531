// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/error.hpp>
#include <rill/core/hash_index.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI {

/// Names of the standard collections.
namespace collections {
inline constexpr const char* variables = "variables";
inline constexpr const char* trainable_variables = "trainable_variables";
inline constexpr const char* local_variables = "local_variables";
inline constexpr const char* losses = "losses";
inline constexpr const char* regularization_losses = "regularization_losses";
inline constexpr const char* update_ops = "update_ops";
inline constexpr const char* summaries = "summaries";
inline constexpr const char* global_step = "global_step";
inline constexpr const char* queue_runners = "queue_runners";
inline constexpr const char* table_initializers = "table_initializer";
inline constexpr const char* replica_leaves = "replica_leaves"; // run when this replica has come to its end
inline constexpr const char* round_closes = "round_closes";     // run before variables are restored
inline constexpr const char* round_resets = "round_resets";     // and after
/// Begins the collections of the shards of a table: "partitions:<mod or div>:<rows>:<shards>:<name of the first shard>".
inline constexpr const char* partitions = "partitions:";
} // namespace collections

/// The description of a node to add, with all scopes applied.
struct node_spec {
    op_ptr op;
    endpoint_list inputs;
    small_vector<const node*, 1> control_inputs;
    std::string name; // full, not yet unique
    std::string device;
    const node* colocated = nullptr;
    bool share = false; // an equal shared node may be returned instead
    std::source_location where;
    const region* inside = nullptr;
    small_vector<tensor_type, 1> outputs = {}; // if outputs_of has inferred them; empty: add() does
    node_bodies bodies = {};                   // complete: their regions get no more nodes
    bool scope_of_its_own = false;             // the node takes the name of a name scope, which holds its bodies
};

/// A back edge: the value that a merge receives in every iteration but the first.
struct loop_edge {
    const node* merge = nullptr;
    endpoint back;
};

/// The state of a graph: nodes, regions and collections. Append-only and thread-safe: sessions may run while it grows.
class RILL_EXPORT graph_state {
public:
    graph_state();
    graph_state(const graph_state&) = delete;

    const node* add(node_spec spec);
    /// Returns the types that the outputs of such a node would have. Throws what add() would throw.
    small_vector<tensor_type, 1> outputs_of(const node_spec& spec) const;

    /// Adds a region within `parent` (null: in the graph itself).
    const region* add_region(const region* parent, std::string name, const std::source_location& where);
    /// Returns the nodes of a region, without those of nested regions.
    std::vector<const node*> nodes_of(const region* r) const;
    /// Returns all regions, in order of creation.
    std::vector<const region*> regions() const;
    /// Returns the last variant of a region op, which has the most results.
    const node* last_variant(const node* n) const;

    const node* find(const std::string& name) const;
    /// Returns a consistent snapshot of the nodes, in order of creation.
    std::vector<const node*> nodes() const;
    /// Returns the nodes from number `first` on, those of regions too, in order of creation.
    std::vector<const node*> nodes_from(std::size_t first) const;
    std::size_t size() const;

    /// Reserves and returns a free name: "name", or "name_1", "name_2"… if it is taken.
    std::string unique_name(std::string name);

    void add_to_collection(const std::string& name, endpoint e);
    std::vector<endpoint> collection(const std::string& name) const;
    /// Returns all collections, by name.
    std::map<std::string, std::vector<endpoint>> collections() const;

    /// Reserves a scope name: a scope opened later under this name gets a suffix.
    void take_scope(const std::string& name);

    void set_initializer(const node* variable, const node* assign);
    const node* initializer(const node* variable) const;

    /// Sets the variable's value in every session before its initializer runs. It is used by graphs saved with the values of their
    /// variables.
    void set_value(const node* variable, any_array value);
    /// Returns the value given to set_value, or an empty array.
    any_array value(const node* variable) const;

    /// Sets the back edges of merges in one step: a concurrent reader sees either no loop or the whole loop. Throws invalid_argument
    /// for an edge that can't close a loop.
    void close_loops(std::span<const loop_edge> edges);
    /// Returns the back edge of a merge; null while its loop is open.
    endpoint back_edge(const node* merge) const;
    /// Returns the op of one control-flow primitive of this graph; null if it has never had one.
    const op* primitive() const noexcept { return primitive_.load(std::memory_order_acquire); }
    /// Returns true if some node is dynamic, or becomes dynamic when only a run computes an extent.
    bool may_be_dynamic() const noexcept { return may_be_dynamic_.load(std::memory_order_acquire); }

    /// Returns a token that expires with the graph. Caches hold it weakly, so that they don't keep the graph alive.
    const std::shared_ptr<const void>& life() const noexcept { return life_; }

    std::uint64_t seed() const noexcept { return seed_.load(); }
    void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept;

private:
    ~graph_state();

    void validate(const node_spec& spec) const;
    void check_inputs(const node_spec& spec) const;
    static void check_bodies(const node_spec& spec);
    void check_loop_edge(const loop_edge& e) const;

    small_vector<tensor_type, 1> infer(const node_spec& spec) const;

    static std::uint64_t sharing_key(const node_spec& spec);
    static bool same(const node& n, const node_spec& spec);

    /// A name taken by a scope, or requested more than once.
    struct asked_name {
        int next = 1; // suffix to try at the next request
        bool scope = false;
    };
    const node* holder(const std::string& name) const;
    bool taken(const std::string& name) const;
    std::string free_name(std::string wanted, bool own_scope = false);

    mutable std::mutex mutex_;
    std::deque<node> nodes_;
    std::deque<region> regions_;
    std::deque<node_bodies> bodies_;
    detail::hash_map<const node*, const node*> last_variants_;
    detail::hash_map<const node*, endpoint> back_edges_;
    std::atomic<const op*> primitive_{nullptr};
    std::atomic<bool> may_be_dynamic_{false};
    detail::hash_index names_, shared_; // node ids, by name and by sharing key
    detail::hash_map<std::string, asked_name> asked_names_;
    std::map<std::string, std::vector<endpoint>> collections_;
    detail::hash_map<const node*, const node*> initializers_;
    detail::hash_map<const node*, any_array> values_;
    std::atomic<std::uint64_t> seed_{0};
    std::atomic<int> references_{0};
    const std::shared_ptr<const void> life_ = detail::make_shared<char>();
};

/// A handle to a graph. Copies refer to the same graph. It lives as long as any copy, or any handle to one of its nodes.
class graph {
public:
    graph();
    explicit graph(graph_state& state) noexcept : state_(&state) { state_->retain(); }
    graph(const graph& other) noexcept : graph(*other.state_) {}
    graph& operator=(const graph& other) noexcept;
    ~graph() { state_->release(); }

    graph_state& state() const noexcept { return *state_; }
    std::size_t size() const { return state_->size(); }
    std::vector<const node*> nodes() const { return state_->nodes(); }
    std::vector<endpoint> collection(const std::string& name) const { return state_->collection(name); }
    void add_to_collection(const std::string& name, endpoint e) const { state_->add_to_collection(name, e); }

    /// Sets the seed from which ops without a seed of their own derive theirs.
    void set_seed(std::uint64_t seed) const noexcept { state_->set_seed(seed); }
    std::uint64_t seed() const noexcept { return state_->seed(); }

    friend bool operator==(const graph& a, const graph& b) noexcept { return a.state_ == b.state_; }

private:
    graph_state* state_;
};

/// A graph and values of its variables, made by with_values(session) for export_graph.
struct valued_graph {
    graph of;
    std::vector<std::pair<const node*, any_array>> values;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/graph.ipp>
#endif
