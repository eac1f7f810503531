// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/zmq_transport.hpp>

#if RILL_WITH_ZMQ
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <zmq.hpp>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A handler of ZeroMQ's authentication requests: decides whether a key's holder may connect, and under which name (ZAP, RFC 27).
class zmq_key_check {
public:
    /// Creates a handler. Throws unimplemented if ZeroMQ has no CURVE, and invalid_argument for a malformed key.
    explicit zmq_key_check(const credentials& keys) {
        if (!zmq_has("curve")) throw unimplemented("this ZeroMQ was built without CURVE: keys can't be used");
        for (const auto& [name, key] : keys.allowed) names_[bytes_of_key(key)] = name;
    }

    /// Starts to answer for the sockets of a context.
    void serve(zmq::context_t& context) {
        if (asks_) return;
        asks_ = zmq::socket_t(context, zmq::socket_type::rep);
        asks_.set(zmq::sockopt::linger, 0);
        asks_.bind("inproc://zeromq.zap.01");
    }
    /// Returns the socket of the requests; null before serve().
    zmq::socket_t* socket() { return asks_ ? &asks_ : nullptr; }
    void close() { asks_.close(); }

    /// Answers the pending requests. Nothing in it needs memory of this program: a request without an answer would end the handler.
    void answer() noexcept {
        for (;;) {
            std::array<zmq::message_t, 7> q; // version, request, domain, address, identity, mechanism, key
            std::size_t count = 0;
            for (bool has_more = true; has_more; ++count) {
                zmq::message_t surplus;
                auto& frame = count < q.size() ? q[count] : surplus;
                if (zmq_msg_recv(frame.handle(), asks_.handle(), ZMQ_DONTWAIT) < 0) return;
                has_more = frame.more();
            }
            const auto text = [&](std::size_t i) {
                return std::string_view(static_cast<const char*>(q[i].data()), q[i].size());
            };
            const bool is_read = count == q.size() && text(0) == "1.0" && text(5) == "CURVE";
            const auto who = is_read ? names_.find(text(6)) : names_.end();
            const bool is_known = who != names_.end();
            const std::array<std::string_view, 6> reply{"1.0",
                                                        count > 1 ? text(1) : "",
                                                        is_known ? "200" : "400",
                                                        is_known ? "OK" : "unknown key",
                                                        is_known ? std::string_view(who->second) : "",
                                                        ""};
            for (std::size_t i = 0; i < reply.size(); ++i)
                (void)zmq_send(asks_.handle(), reply[i].data(), reply[i].size(),
                               ZMQ_DONTWAIT | (i + 1 < reply.size() ? ZMQ_SNDMORE : 0));
        }
    }

private:
    static std::string bytes_of_key(const std::string& z85) {
        std::array<std::uint8_t, 32> bytes{};
        if (z85.size() != 40 || !zmq_z85_decode(bytes.data(), z85.c_str()))
            throw invalid_argument("'" + z85 + "' is not a public key");
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    std::map<std::string, std::string, std::less<>> names_; // by public key
    zmq::socket_t asks_;
};

/// Connects to a listener with a key that no list has. Returns true if it is refused: a listener that accepts unknown keys must not be
/// announced. Throws unavailable if there is no result after 10 s.
inline bool refuses_strangers(const std::string& address, const std::string& key_of_listener) {
    std::array<char, 41> open{}, secret{};
    if (zmq_curve_keypair(open.data(), secret.data()) != 0) throw zmq::error_t();
    zmq::context_t context;
    zmq::socket_t stranger(context, zmq::socket_type::dealer), events(context, zmq::socket_type::pair);
    stranger.set(zmq::sockopt::linger, 0);
    events.set(zmq::sockopt::linger, 0);
    constexpr auto patience = std::chrono::seconds(10); // the machine may be under load
    events.set(zmq::sockopt::rcvtimeo, 100);
    if (address.find('[') != std::string::npos) stranger.set(zmq::sockopt::ipv6, true);
    stranger.set(zmq::sockopt::curve_publickey, std::string(open.data()));
    stranger.set(zmq::sockopt::curve_secretkey, std::string(secret.data()));
    stranger.set(zmq::sockopt::curve_serverkey, key_of_listener);
    constexpr int asked_for = ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    if (zmq_socket_monitor(stranger.handle(), "inproc://refusal", asked_for) != 0) throw zmq::error_t();
    events.connect("inproc://refusal");
    stranger.connect(address);
    zmq::message_t event; // its number, 16 bits, and a value
    std::uint16_t number = 0;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (zmq_msg_recv(event.handle(), events.handle(), 0) < 0 && std::chrono::steady_clock::now() < until) {
    } // not yet, or interrupted by a signal
    if (event.size() >= sizeof number) std::memcpy(&number, event.data(), sizeof number);
    zmq_socket_monitor(stranger.handle(), nullptr, 0);
    if (number == 0) throw unavailable("'" + address + "': it could not be checked within 10 s that strangers are refused");
    return number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
}

}}} // namespace rill::RILL_ABI::detail
#endif
