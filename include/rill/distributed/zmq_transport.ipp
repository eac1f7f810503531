// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// size: one state behind one mutex

#include <rill/distributed/zmq_transport.hpp>

#include <utility>

#include <rill/core/error.hpp>

// Only this file and the files that it includes use ZeroMQ.
#include <rill/distributed/zmq_transport_missing.ipp>
#if RILL_WITH_ZMQ
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <thread>

#include <zmq.hpp>

#include <rill/core/log.hpp>
#include <rill/distributed/net_address.hpp>
#include <rill/distributed/wire_header.hpp>
#include <rill/distributed/zmq_transport_frames.ipp>
#include <rill/distributed/zmq_transport_keys.ipp>

namespace rill { inline namespace RILL_ABI {

/// The state of the transport. Only one thread at a time may use a socket. The mutex orders senders and the receiving thread. That thread
/// waits on the descriptors of the sockets, outside of ZeroMQ. The mutex is not held while a receiver runs.
struct zmq_transport::state {
    struct socket {
        explicit socket(zmq::context_t& in, zmq::socket_type type) : at(in, type) {}
        zmq::socket_t at;
        std::shared_ptr<const receiver> receive;
        bool has_input = true;                    // possibly: a sender may have consumed the notification
        connection number = 0;                    // of a connecting socket
        std::map<std::string, connection> routes; // of a listening socket
        std::deque<message_parts> waiting;        // until ZeroMQ has room
        std::size_t waiting_bytes = 0;
    };
    /// A peer that has connected.
    struct caller {
        std::shared_ptr<socket> by;
        std::string route, name;
        std::uint64_t heard = 0;
        bool is_ignored = false;
    };
    struct delivery {
        std::shared_ptr<const receiver> to;
        connection from;
        std::vector<zmq::message_t> frames;
        std::size_t first; // after the route
    };

    explicit state(const zmq_transport_options& o) : options(o) {
        int major = 0, minor = 0, patch = 0;
        zmq_version(&major, &minor, &patch);
        if (major * 10000 + minor * 100 + patch < 40303)
            throw unimplemented("ZeroMQ 4.3.3 or newer is needed, and this is " + std::to_string(major) + "." +
                                std::to_string(minor) + "." + std::to_string(patch));
        if (o.security.has_keys()) keys.emplace(o.security);
        wakes.bind("inproc://wake");
        wake_up.connect("inproc://wake");
    }

    std::shared_ptr<socket> make_socket(zmq::socket_type type, receiver f) {
        auto made = std::make_shared<socket>(context, type);
        made->receive = std::make_shared<const receiver>(std::move(f));
        auto& s = made->at;
        // `immediate` stays off. With it, ZeroMQ aborts if a connection ends between two frames that are read (fq.cpp, !_more).
        constexpr int waiting_messages = 1000;
        s.set(zmq::sockopt::linger, 300);
        s.set(zmq::sockopt::sndhwm, waiting_messages);
        s.set(zmq::sockopt::rcvhwm, waiting_messages);
        s.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(detail::longest_frame));
        s.set(zmq::sockopt::heartbeat_ivl, 1000);
        s.set(zmq::sockopt::heartbeat_timeout, 3000);
        s.set(zmq::sockopt::heartbeat_ttl, 3000);
        s.set(zmq::sockopt::handshake_ivl, 5000);
        s.set(zmq::sockopt::reconnect_ivl, 50);
        s.set(zmq::sockopt::reconnect_ivl_max, 1000);
        s.set(zmq::sockopt::tcp_keepalive, 1);
        if (options.security.has_keys()) {
            s.set(zmq::sockopt::curve_publickey, options.security.public_key);
            s.set(zmq::sockopt::curve_secretkey, options.security.secret_key);
        }
        return made;
    }

    /// Listens, and returns the address for others to connect to. `bound`: the address for this machine.
    std::string listen(const std::string& text, receiver f, std::string& bound) {
        auto address = detail::parse_address(text);
        const bool is_secure = options.security.has_keys();
        if (address.reached_by == detail::net_address::network::process)
            throw invalid_argument("'" + text + "' is not an address of ZeroMQ");
        if (!address.is_loopback() && !is_secure && !options.security.allows_strangers)
            throw permission_denied("'" + text +
                                    "' is reached from other machines: give the task keys, .security = "
                                    "curve(\"worker0.key\"), or .security = insecure");
        const std::lock_guard lock(mutex);
        if (is_closed) throw unavailable("the transport is closed");
        auto made = make_socket(zmq::socket_type::router, std::move(f));
        if (address.host.starts_with('[')) made->at.set(zmq::sockopt::ipv6, true);
        made->at.set(zmq::sockopt::router_mandatory, true);
        if (is_secure) {
            keys->serve(context);
            made->at.set(zmq::sockopt::curve_server, true);
            made->at.set(zmq::sockopt::zap_domain, std::string("rill"));
        }
        try {
            made->at.bind(bound_text(address));
        } catch (const zmq::error_t& e) {
            const auto what = "the address '" + text + "': " + e.what();
            if (e.num() == EADDRINUSE) throw already_exists(what);
            throw invalid_argument(what);
        }
        bound = made->at.get(zmq::sockopt::last_endpoint);
        if (address.reached_by == detail::net_address::network::tcp) address.port = bound.substr(bound.rfind(':') + 1);
        for (const auto& [all, here] : {std::pair("//0.0.0.0:", "//127.0.0.1:"), std::pair("//[::]:", "//[::1]:")})
            if (const auto at = bound.find(all); at != std::string::npos)
                bound.replace(at, std::string_view(all).size(), here);
        if (!address.is_loopback()) all_loopback = false;
        sockets.push_back(std::move(made));
        start();
        return address.target();
    }

    /// Returns an address for bind, which accepts no host names: a named machine listens on all its networks.
    static std::string bound_text(detail::net_address a) {
        if (a.reached_by == detail::net_address::network::ipc) return a.target();
        if (a.host == "localhost") a.host = "127.0.0.1";
        if (a.host.find_first_not_of("0123456789.") != std::string::npos && !a.host.starts_with('[')) a.host = "*";
        return a.target();
    }

    connection connect(const std::string& text, receiver f, const std::string& peer) {
        const std::lock_guard lock(mutex);
        const auto id = ++last;
        if (is_closed) return id;
        try {
            const auto address = detail::parse_address(text);
            auto made = make_socket(zmq::socket_type::dealer, std::move(f));
            if (options.security.has_keys()) made->at.set(zmq::sockopt::curve_serverkey, key_of_task(text, peer));
            if (address.host.starts_with('[')) made->at.set(zmq::sockopt::ipv6, true);
            made->at.connect(address.target());
            made->number = id;
            if (!address.is_loopback()) all_loopback = false;
            made_connections[id] = made;
            sockets.push_back(std::move(made));
            start();
        } catch (const std::exception& e) { // treated like a peer that never starts: callers time out
            log_message(log_level::warning, "no connection can be made to '" + text + "': " + e.what());
        }
        return id;
    }

    std::string key_of_task(const std::string& address, const std::string& peer) const {
        const auto& s = options.security;
        auto name = options.name_at ? options.name_at(address) : s.peer;
        if (name.empty()) name = peer;
        for (auto at = s.allowed.rbegin(); at != s.allowed.rend(); ++at) // if a name has two keys, the later one counts
            if (at->first == name || (name.empty() && s.allowed.size() == 1)) return at->second;
        throw permission_denied(name.empty() ? "nobody has said which task listens there, so that its key is unknown"
                                             : "the list of keys has none of '" + name + "'");
    }

    void send(connection to, const message_parts& parts) {
        const std::lock_guard lock(mutex);
        if (is_closed || parts.empty()) return;
        if (const auto at = callers.find(to); at != callers.end()) {
            auto& c = at->second;
            if (!c.is_ignored && !send_frames(*c.by, &c.route, parts) && zmq_errno() == EHOSTUNREACH) forget(at);
        } else if (const auto made = made_connections.find(to); made != made_connections.end()) {
            auto& s = *made->second;
            if (!s.waiting.empty() || !send_frames(s, nullptr, parts)) keep(s, parts);
        }
    }

    /// Returns false if the message can't be sent now.
    bool send_frames(socket& s, const std::string* route, const message_parts& parts) {
        const bool sent = send_each_frame(s, route, parts);
        const int why = errno;
        note_events(s);
        errno = why;
        return sent;
    }

    /// Returns the events of a socket. A call that sends or queries may have consumed the notification of input. The descriptor then does
    /// not show it again.
    int note_events(socket& s) {
        const int events = s.at.get(zmq::sockopt::events);
        if (events & ZMQ_POLLIN) {
            s.has_input = true;
            wake();
        }
        return events;
    }

    bool send_each_frame(socket& s, const std::string* route, const message_parts& parts) {
        // all are made first: the next message would continue one that an exception has cut off
        std::vector<zmq::message_t> frames;
        frames.reserve(parts.size());
        for (const auto& p : parts)
            for (std::size_t from = 0; from <= p.size(); from += detail::longest_frame)
                frames.push_back(detail::frame_of(p, from, std::min(detail::longest_frame, p.size() - from)));
        if (route) {
            zmq::message_t head(route->data(), route->size());
            if (zmq_msg_send(head.handle(), s.at.handle(), ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0) return false;
        }
        bool is_first = !route;
        for (auto& frame : frames) {
            const int flags = ZMQ_DONTWAIT | (&frame == &frames.back() ? 0 : ZMQ_SNDMORE);
            if (zmq_msg_send(frame.handle(), s.at.handle(), flags) < 0)
                return !is_first; // the connection ended in between: the rest would begin another message
            is_first = false;
        }
        return true;
    }

    /// Keeps a message until ZeroMQ has room for it. Large ones are dropped, since their sender sends them again.
    void keep(socket& s, const message_parts& parts) {
        constexpr std::size_t most = 1 << 18;
        std::size_t bytes = 0;
        for (const auto& p : parts) bytes += p.size();
        if (s.waiting_bytes + bytes > most) return;
        s.waiting.push_back(parts);
        s.waiting_bytes += bytes;
        s.has_input = true; // the socket is asked whether it can send now
        wake();
    }

    void send_waiting(socket& s) {
        while (!s.waiting.empty() && send_frames(s, nullptr, s.waiting.front())) s.waiting.pop_front();
        if (s.waiting.empty()) s.waiting_bytes = 0;
    }

    void disconnect(connection c) {
        const std::lock_guard lock(mutex);
        if (const auto at = callers.find(c); at != callers.end()) {
            at->second.is_ignored = true; // ZeroMQ can't end one connection of many
        } else if (const auto made = made_connections.find(c); made != made_connections.end()) {
            std::erase(sockets, made->second);
            made_connections.erase(made);
            wake();
        }
    }

    void forget(std::map<connection, caller>::iterator at) {
        at->second.by->routes.erase(at->second.route);
        callers.erase(at);
    }

    /// Returns the number of a caller, a new one if it is unknown. The number of known callers is limited: the one that was silent longest
    /// is forgotten.
    connection find_caller(const std::shared_ptr<socket>& by, const zmq::message_t& route) {
        constexpr std::size_t most = 10000;
        const std::string key(static_cast<const char*>(route.data()), route.size());
        if (const auto known = by->routes.find(key); known != by->routes.end()) return known->second;
        if (callers.size() >= most) {
            auto oldest = callers.begin();
            for (auto at = callers.begin(); at != callers.end(); ++at)
                if (at->second.heard < oldest->second.heard) oldest = at;
            forget(oldest);
        }
        const auto made = ++last;
        callers.emplace(made, caller{by, key, {}, 0, false});
        try {
            by->routes.emplace(key, made);
        } catch (...) {
            callers.erase(made);
            throw;
        }
        return made;
    }

    /// Takes a message from a socket. Returns false if there is none.
    bool take(const std::shared_ptr<socket>& s, std::vector<delivery>& taken) {
        std::vector<zmq::message_t> frames;
        std::size_t bytes = 0;
        bool has_more = true, is_too_long = false;
        const std::size_t most_frames = wire_most_frames + options.most_bytes / detail::longest_frame;
        while (has_more) {
            zmq::message_t frame;
            if (zmq_msg_recv(frame.handle(), s->at.handle(), ZMQ_DONTWAIT) < 0) return false;
            has_more = frame.more();
            bytes += frame.size();
            is_too_long |= bytes > options.most_bytes || frames.size() > most_frames;
            if (!is_too_long) try {
                    frames.push_back(std::move(frame));
                } catch (const std::bad_alloc&) { // its other frames must not pass for a message
                    is_too_long = true;
                }
        }
        const bool listens = s->number == 0;
        if (is_too_long || frames.size() < (listens ? 2u : 1u)) return true;
        delivery d{s->receive, s->number, {}, listens ? 1u : 0u};
        if (listens) {
            const char* const name = zmq_msg_gets(frames[1].handle(), "User-Id");
            if (options.security.has_keys() && (!name || !*name)) return true; // its key was not checked
            d.from = find_caller(s, frames[0]);
            auto& c = callers.at(d.from);
            if (c.is_ignored) return true;
            c.heard = ++turns;
            if (name) c.name = name;
        }
        d.frames = std::move(frames);
        taken.push_back(std::move(d));
        return true;
    }

    void deliver(delivery& d) {
        try {
            auto parts = detail::parts_of_frames(d.frames, d.first);
            if (!is_closed) (*d.to)(d.from, std::move(parts));
        } catch (...) { // its sender sends it again
            log_message(log_level::warning, "a message is dropped: out of memory");
        }
    }

    // ---- the thread that receives --------------------------------------------------------------------------------------

    void start() {
        wake();
        if (!receives.joinable()) receives = std::thread([self = keeps_alive.lock()] { self->run(); });
    }

    /// Wakes the thread, so that it looks at all sockets anew.
    void wake() {
        if (std::exchange(is_woken, true)) return;
        zmq::message_t empty;
        (void)zmq_msg_send(empty.handle(), wake_up.handle(), ZMQ_DONTWAIT);
    }

    static zmq_pollitem_t descriptor(zmq::socket_t& s) { return {nullptr, s.get(zmq::sockopt::fd), ZMQ_POLLIN, 0}; }

    void run() {
        std::vector<std::shared_ptr<socket>> polled;
        std::vector<zmq_pollitem_t> items;
        std::vector<delivery> taken;
        bool is_busy = true, is_starved = false;
        for (;;) {
            if (!is_busy && zmq_poll(items.data(), static_cast<int>(items.size()), -1) < 0 && errno != EINTR) break;
            is_busy = false;
            {
                const std::lock_guard lock(mutex);
                is_woken = false;
                for (zmq::message_t m; zmq_msg_recv(m.handle(), wakes.handle(), ZMQ_DONTWAIT) >= 0;) {}
                if (is_closed) break;
                auto* const asks = keys ? keys->socket() : nullptr;
                if (asks) keys->answer();
                for (std::size_t i = 0; i < polled.size(); ++i) polled[i]->has_input |= items[i + 1].revents != 0;
                for (const auto& s : sockets) {
                    if (!std::exchange(s->has_input, false)) continue;
                    constexpr int at_once = 32; // then senders get their turn
                    try {
                        for (int n = 0; n < at_once && !s->has_input; ++n) {
                            if (!take(s, taken)) break;
                            if (n + 1 == at_once) s->has_input = is_busy = true;
                        }
                        if (!s->waiting.empty() && (note_events(*s) & ZMQ_POLLOUT)) send_waiting(*s);
                    } catch (...) { // out of memory: a message is lost, and the socket is asked again
                        s->has_input = true;
                    }
                    is_busy |= s->has_input;
                }
                try {
                    polled = sockets;
                    items.assign(1, descriptor(wakes));
                    for (const auto& s : polled) items.push_back(descriptor(s->at));
                    if (asks) items.push_back(descriptor(*asks));
                } catch (...) { // out of memory: all sockets are asked, soon
                    polled.clear();
                    is_starved = is_busy = true;
                    for (const auto& s : sockets) s->has_input = true;
                }
            }
            if (std::exchange(is_starved, false)) zmq_poll(nullptr, 0, 10); // sleeps so many ms
            for (auto& d : taken) deliver(d);
            taken.clear();
        }
        std::map<connection, std::shared_ptr<socket>> made;
        {
            const std::lock_guard lock(mutex);
            is_closed = true;
            made.swap(made_connections);
            callers.clear();
            sockets.clear();
            if (keys) keys->close();
        }
        made.clear();
        polled.clear();
        wakes.close();
        wake_up.close();
        context.close(); // waits for messages being sent, as long as `linger` says
    }

    void close() noexcept {
        std::thread gone;
        {
            const std::lock_guard lock(mutex);
            if (!is_closed.exchange(true)) wake();
            gone.swap(receives);
        }
        if (!gone.joinable()) return;
        if (gone.get_id() == std::this_thread::get_id())
            gone.detach(); // it ends when this receiver returns
        else
            gone.join();
    }

    static constexpr std::size_t wire_most_frames = 2 * detail::wire_header::most_parts;

    const zmq_transport_options options;
    std::weak_ptr<state> keeps_alive;
    mutable std::mutex mutex;
    zmq::context_t context;
    zmq::socket_t wakes{context, zmq::socket_type::pair}, wake_up{context, zmq::socket_type::pair};
    std::optional<detail::zmq_key_check> keys;
    std::vector<std::shared_ptr<socket>> sockets;
    std::map<connection, std::shared_ptr<socket>> made_connections;
    std::map<connection, caller> callers;
    connection last = 0;
    std::uint64_t turns = 0;
    std::atomic<bool> all_loopback{true};
    bool is_woken = false;
    std::atomic<bool> is_closed{false};
    std::thread receives;
};

RILL_COLD zmq_transport::zmq_transport(const zmq_transport_options& options)
    : state_(std::make_shared<state>(options)) {
    state_->keeps_alive = state_;
}
RILL_COLD zmq_transport::~zmq_transport() { close(); }
RILL_COLD std::string zmq_transport::listen(const std::string& address, receiver f) {
    std::string bound;
    const auto at = state_->listen(address, std::move(f), bound);
    const auto& security = state_->options.security;
    if (!security.has_keys()) return at;
    try {
        if (!detail::refuses_strangers(bound, security.public_key))
            throw failed_precondition("the address '" + address +
                                      "' does not refuse a key that is not in the list: it is not served");
    } catch (const zmq::error_t& problem) {
        close();
        throw unavailable("'" + address + "': " + problem.what());
    } catch (...) {
        close();
        throw;
    }
    return at;
}
RILL_COLD transport::connection zmq_transport::connect(const std::string& address, receiver f,
                                                       const std::string& peer) {
    return state_->connect(address, std::move(f), peer);
}
RILL_COLD void zmq_transport::send(connection to, message_parts message) { state_->send(to, message); }
RILL_COLD void zmq_transport::disconnect(connection c) noexcept { state_->disconnect(c); }
RILL_COLD void zmq_transport::close() noexcept { state_->close(); }
/// Returns false with CURVE, which authenticates messages, and if all addresses are of this machine.
RILL_COLD bool zmq_transport::needs_checksums() const noexcept {
    return !state_->options.security.has_keys() && !state_->all_loopback;
}
RILL_COLD std::string zmq_transport::identity(connection c) const {
    const std::lock_guard lock(state_->mutex);
    const auto at = state_->callers.find(c);
    return at == state_->callers.end() ? std::string() : at->second.name;
}

RILL_COLD std::pair<std::string, std::string> make_key_pair() {
    std::array<char, 41> open{}, secret{};
    if (zmq_curve_keypair(open.data(), secret.data()) != 0)
        throw unimplemented("this ZeroMQ was built without CURVE: it makes no keys");
    return {open.data(), secret.data()};
}

}} // namespace rill::RILL_ABI
#endif
