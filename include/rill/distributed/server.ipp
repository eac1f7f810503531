// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/server.hpp>

#include <mutex>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/allocator.hpp>
#include <rill/core/platform.hpp>
#include <rill/distributed/client_links.hpp>
#include <rill/distributed/client_session.hpp>
#include <rill/distributed/master.hpp>
#include <rill/distributed/net_address.hpp>
#include <rill/distributed/peer_channels.hpp>
#include <rill/distributed/remote_session_core.hpp>
#include <rill/distributed/responder.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/transports.hpp>
#include <rill/distributed/worker.hpp>
#include <rill/distributed/zmq_transport.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns an allocator with a limit. It is leaked: values may outlive their server.
inline allocator& make_limited_allocator(std::size_t bytes) {
    static std::mutex& mutex = *new std::mutex;
    static auto& all = *new std::vector<std::unique_ptr<allocator>>;
    const std::lock_guard lock(mutex);
    return *all.emplace_back(std::make_unique<tracked_allocator>(bytes));
}

RILL_COLD bool register_servers() {
    static constexpr remote_sessions all{
        .open = [](const graph& g, const session_options& options) -> std::shared_ptr<session_core> {
            return detail::make_shared<remote_session_core>(
                g, client_session::open(the_client_links().find(options.target, options), options));
        },
        .reset =
            [](const std::string& target, const std::vector<std::string>& containers, std::chrono::nanoseconds timeout,
               const credentials_option& security) {
                session_options options;
                options.security = security;
                reset_cluster(*the_client_links().find(target, options), containers, timeout);
            }};
    registered_remote_sessions = &all;
    return true;
}

} // namespace detail

struct server::state {
    state(const cluster_spec& cluster, const std::string& job, int task, const server_options& o)
        : name(task_name(job, task)), address(cluster.address({job, 0, task, "", -1})),
          env(o.environment ? *o.environment : environment::real()),
          net(o.net ? o.net : detail::make_transport(address, o.security, cluster)), health(o.health),
          stopped(env.make_signal()) {
        check_keys(cluster, o.security);
        // 31 bits, since handles of resources contain them
        const detail::task_identity self{name, (env.draw() >> 33 & 0x7ffffffeu) + 1, cluster.digest()};
        peers = std::make_shared<detail::peer_channels>(cluster, self, net, env, health);
        own = std::make_shared<detail::worker>(
            peers, o.memory ? detail::make_limited_allocator(o.memory) : default_allocator(), o.files);
        leads = std::make_shared<detail::master>(peers, own);
        answers = std::make_shared<detail::responder>(
            net, env, self, health,
            [w = own, m = leads](const detail::incoming_request& r, const detail::answer_function& reply) {
                detail::master::serves(r.method) ? m->handle(r, reply) : w->handle(r, reply);
            },
            o.memory ? o.memory : detail::host_memory() / 2, [w = own] { return w->progress(); });
        address = answers->listen(address, o.data_address.empty() ? address_beside(address) : o.data_address);
        clients = std::make_shared<detail::channel>(net, env, detail::client_identity(env), address, name, health);
        detail::the_client_links().add(target(), clients);
    }

    std::string target() const { return detail::parse_address(address).target(); }

    /// Returns the data address of a task whose options name none. Within a process it is empty, since messages do not
    /// delay each other there.
    static std::string address_beside(const std::string& address) {
        auto beside = detail::parse_address(address);
        if (beside.reached_by == detail::net_address::network::process) return {};
        if (beside.reached_by == detail::net_address::network::ipc) beside.host += ".data";
        beside.port = "0";
        return beside.target();
    }

    /// Throws not_found if a task of the cluster has no key, and failed_precondition if the keys belong to another task.
    void check_keys(const cluster_spec& cluster, const credentials& keys) const {
        if (!keys.has_keys()) return;
        if (!detail::may_speak_as(keys.name, name))
            throw failed_precondition("the keys of '" + keys.name + "' are not those of " + name);
        for (const auto& t : cluster.all_tasks()) {
            const auto who = detail::key_name(t.job, t.task);
            if (detail::find_if(keys.allowed, [&](const auto& a) { return a.first == who; }) == keys.allowed.end())
                throw not_found("the list of keys has none of '" + who + "'");
        }
    }

    void stop(bool tells) noexcept {
        {
            const std::lock_guard lock(mutex);
            if (std::exchange(is_stopped, true)) return;
        }
        try {
            detail::the_client_links().remove(target(), clients);
        } catch (...) { // out of memory: sessions that find it there get its error
        }
        if (!tells) net->close();
        answers->close();
        leads->close();
        peers->close();
        own->close();
        net->close();
        if (tells)
            clients->close(detail::error_made_by([&] {
                return unavailable(name + " (incarnation " + std::to_string(peers->self().incarnation) +
                                   ") has stopped");
            }));
        stopped->notify();
    }

    const std::string name;
    std::string address;
    environment& env;
    const std::shared_ptr<transport> net;
    const health_options health;
    std::shared_ptr<detail::peer_channels> peers;
    std::shared_ptr<detail::worker> own;
    std::shared_ptr<detail::master> leads;
    std::shared_ptr<detail::responder> answers;
    std::shared_ptr<detail::channel> clients; // of this process
    std::mutex mutex;
    const std::unique_ptr<environment::signal> stopped;
    bool is_stopped = false;
};

RILL_COLD server::server(const cluster_spec& cluster, const std::string& job, int task, const server_options& options)
    : state_(std::make_shared<state>(cluster, job, task, options)) {
    detail::register_servers();
}
RILL_COLD server::server(server&&) noexcept = default;
RILL_COLD server::~server() { stop(); }
RILL_COLD std::string server::target() const { return state_->target(); }
RILL_COLD server create_local_server(const server_options& options) {
    return server(cluster_spec{{"local", {"127.0.0.1:0"}}}, "local", 0, options);
}
RILL_COLD void server::stop() noexcept {
    if (const auto s = state_) s->stop(true); // a thread in join() may end the server now
}
RILL_COLD void server::kill() noexcept { state_->stop(false); }
RILL_COLD void server::join() {
    std::unique_lock lock(state_->mutex);
    while (!state_->is_stopped) state_->stopped->wait(lock, environment::time_point::max());
}
RILL_COLD peer_health server::health(const std::string& job, int task) const {
    return state_->peers->to(task_name(job, task))->health();
}
RILL_COLD std::uint64_t server::bytes_sent() const { return state_->peers->bytes_sent(); }
RILL_COLD std::uint64_t server::incarnation() const { return state_->peers->self().incarnation; }

}} // namespace rill::RILL_ABI
