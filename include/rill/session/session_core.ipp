// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/session_core.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <rill/core/names.hpp>
#include <rill/resources/container_set.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD const remote_sessions& remote_sessions_for(const std::string& target) {
    const auto* known = registered_remote_sessions.load();
    if (!known) throw unimplemented("the target '" + target + "' needs #include <rill/distributed.hpp>");
    return *known;
}

RILL_COLD void reset_containers(const std::string& target, const std::vector<std::string>& containers,
                                std::chrono::nanoseconds timeout, const credentials_option& security) {
    if (!target.empty()) return remote_sessions_for(target).reset(target, containers, timeout, security);
    container_set::of_process().reset(containers);
}

[[noreturn]] inline void refuse_state(const char* what) {
    throw unimplemented(std::string(what) + ": the state of a session in another process can't be reached from here");
}

RILL_COLD any_array session_core::variable_value(const node*) const { refuse_state("save"); }
RILL_COLD void session_core::restore_variable(const node*, const any_array&) { refuse_state("restore"); }
RILL_COLD std::vector<saved_resource> session_core::saved_resources() const { refuse_state("save"); }
RILL_COLD void session_core::restore_resource(const saved_resource&) { refuse_state("restore"); }
RILL_COLD void session_core::check_variable(const node*, const any_array&) const {}
RILL_COLD void session_core::check_resource(const saved_resource&) const {}

RILL_COLD std::vector<run_part> session_core::partition(const plan_key&) {
    throw unimplemented("partition: only a session in this process shows the parts of a run");
}

RILL_COLD endpoint session_core::edge(const std::string& name) const {
    endpoint e = named(name);
    e.port = std::max(e.port, 0);
    if (e.port >= static_cast<int>(e.from->outputs.size()))
        throw not_found("'" + name + "': the node has " + std::to_string(e.from->outputs.size()) + " outputs");
    return e;
}

RILL_INLINE endpoint session_core::fetched(const std::string& name) const {
    const endpoint e = named(name);
    return e.port < 0 && e.from->outputs.empty() ? e : edge(name);
}

RILL_COLD endpoint session_core::named(const std::string& name) const {
    std::string node_name = name;
    int port = -1;
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
    return {n, port};
}

RILL_COLD void session_core::check_key(const plan_key& key) const {
    // a null handle has no location: name another node, or the session, to locate the call
    const auto refuse_null = [&](const char* list, std::size_t i, std::size_t count) {
        std::string text = "run: " + std::string(list) + " " + std::to_string(i + 1) + " of " + std::to_string(count) +
                           " is a null handle";
        const node* beside = nullptr;
        const auto look = [&](const node* n) { beside = beside ? beside : n; };
        for (const auto& e : key.fetches) look(e.from);
        for (const auto* n : key.targets) look(n);
        for (const auto& e : key.feeds) look(e.from);
        if (beside) text += " beside '" + beside->name + "' (made at " + to_string(beside->where) + ")";
        if (!beside && opened_at_.line() > 0) text += " (the session was opened at " + to_string(opened_at_) + ")";
        throw failed_precondition(text);
    };
    const auto check = [&](const node* n, const char* what, const char* list, std::size_t i, std::size_t count) {
        if (!n) refuse_null(list, i, count);
        if (n->inside)
            throw invalid_argument(std::string(what) + ": '" + n->name + "' (made at " + to_string(n->where) +
                                   ") belongs to the body " + text_of(*n->inside) +
                                   ": it has values only while that runs");
        if (n->owner != &graph().state())
            throw invalid_argument(std::string(what) + ": '" + n->name + "' (made at " + to_string(n->where) +
                                   ") belongs to another graph than the session");
    };
    for (std::size_t i = 0; i < key.fetches.size(); ++i)
        check(key.fetches[i].from, "fetch", "fetch", i, key.fetches.size());
    for (std::size_t i = 0; i < key.targets.size(); ++i)
        check(key.targets[i], "run", "operation", i, key.targets.size());
    for (std::size_t i = 0; i < key.feeds.size(); ++i) {
        check(key.feeds[i].from, "feed", "feed", i, key.feeds.size());
        for (std::size_t j = 0; j < i; ++j)
            if (key.feeds[i] == key.feeds[j])
                throw invalid_argument("feed: '" + name_of(key.feeds[i]) + "' is fed twice");
    }
}

}}} // namespace rill::RILL_ABI::detail
