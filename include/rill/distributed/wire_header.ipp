// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/wire_header.hpp>

#include <concepts>

#include <rill/core/crc32c.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline constexpr std::uint32_t wire_magic = 0x5752'4c4cu;

RILL_COLD std::string_view method_name(wire_method m) {
    switch (m) {
    case wire_method::register_run: return "register_run";
    case wire_method::run_part: return "run_part";
    case wire_method::push: return "push";
    case wire_method::abort_step: return "abort_step";
    case wire_method::close_session: return "close_session";
    case wire_method::reset: return "reset";
    case wire_method::status: return "status";
    case wire_method::drop_run: return "drop_run";
    case wire_method::create_session: return "create_session";
    case wire_method::prepare_run: return "prepare_run";
    case wire_method::run_step: return "run_step";
    case wire_method::release_run: return "release_run";
    case wire_method::end_session: return "end_session";
    case wire_method::keep_session: return "keep_session";
    case wire_method::reset_cluster: return "reset_cluster";
    case wire_method::list_devices: return "list_devices";
    case wire_method::cut_run: return "cut_run";
    case wire_method::find_session: return "find_session";
    case wire_method::fence_run: return "fence_run";
    case wire_method::save_state: return "save_state";
    case wire_method::restore_state: return "restore_state";
    case wire_method::fence: return "fence";
    case wire_method::save_resources: return "save_resources";
    case wire_method::restore_resource: return "restore_resource";
    case wire_method::report_failure: return "report_failure";
    }
    return "unknown method";
}

/// Calls f(field) for each field of the fixed layout, in order. Reading and writing share the layout.
template <class Header, class F> void each_field(Header& h, const F& f) {
    f(h.type), f(h.flags);
    f(h.session.high), f(h.session.low);
    f(h.sender), f(h.receiver), f(h.request), f(h.ack_below);
    f(h.sent_at), f(h.time_left), f(h.method), f(h.credit), f(h.meta_bytes);
    f(h.parts);
}

template <class T> void put_number(char*& at, T v) {
    for (std::size_t i = 0; i < sizeof v; ++i)
        *at++ = static_cast<char>(static_cast<std::uint64_t>(v) >> (8 * i) & 0xff);
}
template <class T> T take_number(const char*& at) {
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        v |= static_cast<std::uint64_t>(static_cast<unsigned char>(*at++)) << (8 * i);
    return static_cast<T>(v);
}

RILL_COLD std::array<char, wire_header::size> encode(const wire_header& h) {
    std::array<char, wire_header::size> bytes{};
    char* at = bytes.data();
    put_number(at, wire_magic);
    put_number(at, wire_header::major_version);
    put_number(at, wire_header::minor_version);
    each_field(h, [&](const auto& v) { put_number(at, v); });
    put_number(at, std::uint16_t(0)); // reserved
    put_number(at, h.payload_bytes);
    put_number(at, h.checksum);
    put_number(at, crc32c({bytes.data(), wire_header::size - 4}));
    return bytes;
}

RILL_COLD std::optional<wire_header> decode_header(std::string_view bytes) {
    if (bytes.size() != wire_header::size) return {};
    const char* at = bytes.data() + wire_header::size - 4;
    if (take_number<std::uint32_t>(at) != crc32c(bytes.substr(0, wire_header::size - 4))) return {};
    at = bytes.data();
    if (take_number<std::uint32_t>(at) != wire_magic) return {};
    if (take_number<std::uint8_t>(at) != wire_header::major_version) return {};
    take_number<std::uint8_t>(at); // minor versions differ only in flags
    wire_header h;
    each_field(h, [&]<class T>(T& v) {
        if constexpr (std::same_as<T, wire_type>)
            v = static_cast<wire_type>(take_number<std::uint8_t>(at));
        else
            v = take_number<T>(at);
    });
    if (take_number<std::uint16_t>(at) != 0) return {};
    h.payload_bytes = take_number<std::uint64_t>(at);
    h.checksum = take_number<std::uint32_t>(at);
    const bool known = h.type >= wire_type::hello && h.type <= wire_type::chunk;
    const bool fits = h.meta_bytes <= wire_header::most_meta && h.parts <= wire_header::most_parts;
    if (!known || !fits || (h.type == wire_type::request && h.time_left == 0)) return {};
    return h;
}

}}} // namespace rill::RILL_ABI::detail
