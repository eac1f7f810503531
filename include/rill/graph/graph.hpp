// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/graph/node.hpp>

namespace rill::inline RILL_ABI {

/// Names of the standard collections.
namespace collections {
inline constexpr const char* variables = "variables";
inline constexpr const char* trainable_variables = "trainable_variables";
inline constexpr const char* local_variables = "local_variables";
inline constexpr const char* losses = "losses";
inline constexpr const char* summaries = "summaries";
inline constexpr const char* queue_runners = "queue_runners";
} // namespace collections

/// What a new node is to be; scopes have been applied.
struct node_spec {
    op_ptr op;
    std::vector<endpoint> inputs;
    std::vector<const node*> control_inputs;
    std::string name;  // full, not yet unique
    std::string device;
    const node* colocated = nullptr;
    bool share = false; // an equal shared node serves as well
    std::source_location where;
};

/// The nodes of a graph. Append-only and safe to use from many threads; sessions run while it grows.
class RILL_EXPORT graph_state {
public:
    graph_state() = default;
    graph_state(const graph_state&) = delete;

    const node* add(node_spec spec) {
        const std::lock_guard lock(mutex_);
        check_inputs(spec);
        std::uint64_t key = 0;
        if (spec.share && !spec.op->stateful()) {
            key = sharing_key(spec);
            const auto [first, last] = shared_.equal_range(key);
            for (auto at = first; at != last; ++at)
                if (same(*at->second, spec)) return at->second;
        }
        auto outputs = infer(spec);
        node& n = nodes_.emplace_back();
        n.owner = this;
        n.id = static_cast<std::uint32_t>(nodes_.size() - 1);
        n.name = unique(std::move(spec.name));
        n.op = std::move(spec.op);
        n.inputs = std::move(spec.inputs);
        n.control_inputs = std::move(spec.control_inputs);
        n.device = std::move(spec.device);
        n.colocated = spec.colocated;
        n.outputs = std::move(outputs);
        n.where = spec.where;
        by_name_.emplace(n.name, &n);
        if (key) shared_.emplace(key, &n);
        return &n;
    }

    const node* find(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        const auto at = by_name_.find(name);
        return at == by_name_.end() ? nullptr : at->second;
    }
    /// A consistent snapshot, in order of creation.
    std::vector<const node*> nodes() const {
        const std::lock_guard lock(mutex_);
        std::vector<const node*> all;
        for (const auto& n : nodes_) all.push_back(&n);
        return all;
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return nodes_.size();
    }

    /// "name", or "name_1", "name_2"… if it is taken; the returned name is taken from then on.
    std::string unique_name(std::string name) {
        const std::lock_guard lock(mutex_);
        return unique(std::move(name));
    }

    void add_to_collection(const std::string& name, endpoint e) {
        const std::lock_guard lock(mutex_);
        collections_[name].push_back(e);
    }
    std::vector<endpoint> collection(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        const auto at = collections_.find(name);
        return at == collections_.end() ? std::vector<endpoint>() : at->second;
    }

    void set_initializer(const node* variable, const node* assign) {
        const std::lock_guard lock(mutex_);
        initializers_[variable] = assign;
    }
    const node* initializer(const node* variable) const {
        const std::lock_guard lock(mutex_);
        const auto at = initializers_.find(variable);
        return at == initializers_.end() ? nullptr : at->second;
    }

    std::uint64_t seed() const noexcept { return seed_.load(); }
    void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

private:
    ~graph_state() = default;

    void check_inputs(const node_spec& spec) const {
        const auto check = [&](const node* n) {
            if (!n) throw failed_precondition(spec.op->label() + ": a null handle was used for the node '" + spec.name + "'");
            if (n->owner != this)
                throw invalid_argument(spec.op->label() + ": '" + n->name + "' (made at " + to_string(n->where) +
                                       ") belongs to another graph than the node '" + spec.name + "' being made at " +
                                       to_string(spec.where));
        };
        for (const auto& e : spec.inputs) check(e.from);
        for (const auto* c : spec.control_inputs) check(c);
        if (spec.colocated) check(spec.colocated);
    }

    std::vector<tensor_type> infer(const node_spec& spec) const {
        std::vector<tensor_type> inputs;
        for (const auto& e : spec.inputs) inputs.push_back(type_of(e));
        try {
            return spec.op->outputs(inputs);
        } catch (const error& problem) {
            std::string text = spec.op->label() + ": " + problem.what() + " (";
            for (std::size_t i = 0; i < inputs.size(); ++i)
                text += (i ? ", " : "") + name_of(spec.inputs[i]) + " " + to_string(inputs[i]);
            throw_error(problem.code(), text + "; node '" + spec.name + "', made at " + to_string(spec.where) + ")");
        }
    }

    static std::uint64_t sharing_key(const node_spec& spec) {
        std::uint64_t h = spec.op->hash();
        for (const auto& e : spec.inputs) h = detail::hash_combine(h, e.from->id * 64u + static_cast<unsigned>(e.port));
        for (const auto* c : spec.control_inputs) h = detail::hash_combine(h, ~static_cast<std::uint64_t>(c->id));
        return h | 1;
    }
    static bool same(const node& n, const node_spec& spec) {
        return n.inputs == spec.inputs && n.control_inputs == spec.control_inputs && n.device == spec.device &&
               n.colocated == spec.colocated && n.op->equals(*spec.op);
    }

    std::string unique(std::string name) {
        const auto [at, fresh] = used_.try_emplace(name, 1);
        if (fresh) return name;
        for (;;) {
            std::string next = name + "_" + std::to_string(at->second++);
            if (used_.try_emplace(next, 1).second) return next;
        }
    }

    mutable std::mutex mutex_;
    std::deque<node> nodes_;
    std::unordered_map<std::string, const node*> by_name_;
    std::unordered_map<std::string, int> used_; // names of nodes and scopes, with the next suffix to try
    std::unordered_multimap<std::uint64_t, const node*> shared_;
    std::map<std::string, std::vector<endpoint>> collections_;
    std::unordered_map<const node*, const node*> initializers_;
    std::atomic<std::uint64_t> seed_{0};
    std::atomic<int> references_{0};
};

/// A graph. Copies are the same graph; it lives while any of them, or any handle to one of its nodes, does.
class graph {
public:
    graph() : graph(*new graph_state) {}
    explicit graph(graph_state& state) noexcept : state_(&state) { state_->retain(); }
    graph(const graph& other) noexcept : graph(*other.state_) {}
    graph& operator=(const graph& other) noexcept {
        other.state_->retain();
        std::exchange(state_, other.state_)->release();
        return *this;
    }
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

} // namespace rill::inline RILL_ABI
