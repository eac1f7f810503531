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
inline constexpr const char* summaries = "summaries";
inline constexpr const char* queue_runners = "queue_runners";
inline constexpr const char* table_initializers = "table_initializer";
} // namespace collections

/// What a new node is to be; scopes have been applied.
struct node_spec {
    op_ptr op;
    endpoint_list inputs;
    small_vector<const node*, 1> control_inputs;
    std::string name; // full, not yet unique
    std::string device;
    const node* colocated = nullptr;
    bool share = false; // an equal shared node serves as well
    std::source_location where;
    const region* inside = nullptr;
    node_bodies bodies = {};       // complete: nothing joins their regions any more
    bool scope_of_its_own = false; // it takes the name of a scope, which holds its bodies
};

/// The value that a merge gets in all iterations of its loop but the first.
struct loop_edge {
    const node* merge = nullptr;
    endpoint back;
};

/// The nodes of a graph. Append-only and safe to use from many threads; sessions run while it grows.
class RILL_EXPORT graph_state {
public:
    graph_state();
    graph_state(const graph_state&) = delete;

    const node* add(node_spec spec);

    /// A new region in another (null: in the graph itself).
    const region* add_region(const region* parent, std::string name, const std::source_location& where);
    /// The nodes of a region, without those of regions within.
    std::vector<const node*> nodes_of(const region* r) const;
    /// In order of creation.
    std::vector<const region*> regions() const;
    /// The last of a node's twins.
    const node* last_twin(const node* n) const;

    const node* find(const std::string& name) const;
    /// A consistent snapshot, in order of creation.
    std::vector<const node*> nodes() const;
    std::size_t size() const;

    /// "name", or "name_1", "name_2"… if it is taken; the returned name is taken from then on.
    std::string unique_name(std::string name);

    void add_to_collection(const std::string& name, endpoint e);
    std::vector<endpoint> collection(const std::string& name) const;
    /// All of them, by name.
    std::map<std::string, std::vector<endpoint>> collections() const;

    /// From then on no scope that is opened gets this name.
    void take_scope(const std::string& name);

    void set_initializer(const node* variable, const node* assign);
    const node* initializer(const node* variable) const;

    /// A value that the variable begins with in every session, before its initializer has run: of a graph that was saved with
    /// the values of its variables.
    void set_value(const node* variable, any_array value);
    /// Empty of a variable that has none.
    any_array value(const node* variable) const;

    /// Merges get the values that come back to them: all at once, so that whoever reads the graph sees no loop or the whole one.
    /// Throws invalid_argument where one can't be a loop's.
    void close_loops(std::span<const loop_edge> edges);
    /// What comes back to a merge; null where its loop is open.
    endpoint back_edge(const node* merge) const;
    /// The op of one of its primitives of control flow; null of a graph that never had any.
    const op* primitive() const noexcept { return primitive_.load(std::memory_order_acquire); }
    /// Returns true if some node is dynamic, or is where only a run computes an extent.
    bool may_be_dynamic() const noexcept { return may_be_dynamic_.load(std::memory_order_acquire); }

    /// Held weakly by who knows something of the graph and must not keep it: expired when it is gone.
    const std::shared_ptr<const void>& life() const noexcept { return life_; }

    std::uint64_t seed() const noexcept { return seed_.load(); }
    void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept;

private:
    ~graph_state();

    void check_inputs(const node_spec& spec) const;
    static void check_bodies(const node_spec& spec);
    void check_loop_edge(const loop_edge& e) const;

    small_vector<tensor_type, 1> infer(const node_spec& spec) const;

    static std::uint64_t sharing_key(const node_spec& spec);
    static bool same(const node& n, const node_spec& spec);

    /// A name that a scope has taken, or that was asked for more than once.
    struct asked_name {
        int next = 1; // the suffix to try when it is asked for again
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
    detail::hash_index names_, shared_; // of nodes, by id
    detail::hash_map<std::string, asked_name> asked_names_;
    std::map<std::string, std::vector<endpoint>> collections_;
    detail::hash_map<const node*, const node*> initializers_;
    detail::hash_map<const node*, any_array> values_;
    std::atomic<std::uint64_t> seed_{0};
    std::atomic<int> references_{0};
    const std::shared_ptr<const void> life_ = detail::make_shared<char>();
};

/// A graph. Copies are the same graph; it lives while any of them, or any handle to one of its nodes, does.
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

    /// The seed from which ops without a seed of their own derive theirs.
    void set_seed(std::uint64_t seed) const noexcept { state_->set_seed(seed); }
    std::uint64_t seed() const noexcept { return state_->seed(); }

    friend bool operator==(const graph& a, const graph& b) noexcept { return a.state_ == b.state_; }

private:
    graph_state* state_;
};

/// A graph and values of its variables: what with_values(session) gives to export_graph.
struct valued_graph {
    graph of;
    std::vector<std::pair<const node*, any_array>> values;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/graph.ipp>
#endif
