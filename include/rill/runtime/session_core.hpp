// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <unordered_map>

#include <rill/core/names.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/plan.hpp>

namespace rill::inline RILL_ABI::detail {

/// A finished step: its fetched values stay in the frame until it goes.
class step_result {
public:
    step_result(std::shared_ptr<segment> s, std::unique_ptr<frame> f) : segment_(std::move(s)), frame_(std::move(f)) {}
    step_result(step_result&&) = default;
    ~step_result() {
        if (frame_) segment_->release(std::move(frame_));
    }

    const tensor_type& type(std::size_t i) const { return segment_->fetch_type(i); }
    const void* data(std::size_t i) const { return segment_->fetch_data(*frame_, i); }

private:
    std::shared_ptr<segment> segment_;
    std::unique_ptr<frame> frame_;
};

/// What a session is made of, shared with its callables. Everything here is independent of static types.
class session_core {
public:
    session_core(const rill::graph& g, const session_options& options)
        : graph_(g), options_(options),
          resources_(std::make_shared<resource_store>(options.memory ? *options.memory : default_allocator())) {}

    const rill::graph& graph() const noexcept { return graph_; }
    const session_options& options() const noexcept { return options_; }

    void close() noexcept { closed_ = true; }
    bool closed() const noexcept { return closed_; }

    std::shared_ptr<plan> find_plan(const plan_key& key) {
        check_open();
        {
            const std::lock_guard lock(mutex_);
            if (const auto at = plans_.find(key); at != plans_.end()) return at->second;
        }
        check_key(key);
        auto made = std::make_shared<plan>(key, options_, resources_);
        const std::lock_guard lock(mutex_);
        return plans_.try_emplace(key, std::move(made)).first->second;
    }

    /// Runs a plan; the values stay borrowed until the result goes.
    step_result run(plan& p, std::span<const any_array> feeds, step_trace* trace = nullptr) {
        check_open();
        constexpr std::size_t few = 8;
        std::array<tensor_type, few> few_types;
        std::array<const void*, few> few_data;
        std::vector<tensor_type> many_types;
        std::vector<const void*> many_data;
        std::span<tensor_type> types(few_types.data(), std::min(few, feeds.size()));
        std::span<const void*> data(few_data.data(), types.size());
        if (feeds.size() > few) {
            many_types.resize(feeds.size());
            many_data.resize(feeds.size());
            types = many_types;
            data = many_data;
        }
        for (std::size_t i = 0; i < feeds.size(); ++i) {
            types[i] = feeds[i].type();
            data[i] = feeds[i].data();
        }
        auto bound = p.bind(types);
        auto f = bound->acquire();
        try {
            bound->run(*f, data, trace);
        } catch (...) {
            bound->release(std::move(f));
            throw;
        }
        return {std::move(bound), std::move(f)};
    }

    /// "layer/x:0", or "layer/x" for output 0.
    endpoint edge(const std::string& name) const {
        std::string node_name = name;
        int port = 0;
        if (const auto colon = name.rfind(':'); colon != std::string::npos) {
            node_name = name.substr(0, colon);
            const std::string digits = name.substr(colon + 1);
            if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos)
                throw invalid_argument("'" + name + "': a number is expected behind the colon");
            port = std::stoi(digits);
        }
        const node* n = graph_.state().find(node_name);
        if (!n) {
            std::vector<std::string> names;
            for (const auto* other : graph_.nodes()) names.push_back(other->name);
            std::string text = "the graph has no node '" + node_name + "'";
            const auto nearest = nearest_names(node_name, names);
            for (std::size_t i = 0; i < nearest.size(); ++i) text += (i ? "', '" : "; did you mean '") + nearest[i];
            throw not_found(text + (nearest.empty() ? "" : "'?"));
        }
        if (port >= static_cast<int>(n->outputs.size()))
            throw not_found("'" + name + "': the node has " + std::to_string(n->outputs.size()) + " outputs");
        return {n, port};
    }

private:
    void check_open() const {
        if (closed_) throw cancelled("the session is closed");
    }
    void check_key(const plan_key& key) const {
        const auto check = [&](const node* n, const char* what) {
            if (!n) throw failed_precondition(std::string(what) + ": a null handle was used");
            if (n->owner != &graph_.state())
                throw invalid_argument(std::string(what) + ": '" + n->name + "' (made at " + to_string(n->where) +
                                       ") belongs to another graph than the session");
        };
        for (const auto& e : key.fetches) check(e.from, "fetch");
        for (const auto* n : key.targets) check(n, "run");
        for (std::size_t i = 0; i < key.feeds.size(); ++i) {
            check(key.feeds[i].from, "feed");
            for (std::size_t j = 0; j < i; ++j)
                if (key.feeds[i] == key.feeds[j]) throw invalid_argument("feed: '" + name_of(key.feeds[i]) + "' is fed twice");
        }
    }

    rill::graph graph_;
    session_options options_;
    std::shared_ptr<resource_store> resources_;
    std::atomic<bool> closed_{false};
    std::mutex mutex_;
    std::unordered_map<plan_key, std::shared_ptr<plan>, plan_key::hash> plans_;
};

} // namespace rill::inline RILL_ABI::detail
