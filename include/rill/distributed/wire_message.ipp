// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/wire_message.hpp>

#include <array>
#include <memory>
#include <new>
#include <utility>

#include <rill/core/crc32c.hpp>
#include <rill/core/log.hpp>
#include <rill/distributed/chunks.hpp>
#include <rill/distributed/wire_meta.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline std::uint32_t checksum_of(const wire_message& m) {
    auto sum = crc32c(m.meta);
    for (const auto& p : m.payload) sum = crc32c(p.bytes(), sum);
    return sum;
}

RILL_COLD message_parts pack_message(wire_message m, bool with_checksum) {
    if (m.meta.size() > wire_header::most_arguments)
        throw resource_exhausted("a message has " + std::to_string(m.meta.size()) + " bytes of arguments, at most " +
                                 std::to_string(wire_header::most_arguments) + " can be sent");
    if (m.meta.size() > wire_header::most_meta) {
        m.head.flags |= wire_header::has_long_meta;
        m.payload.emplace_back(std::exchange(m.meta, {}));
    }
    m.head.meta_bytes = static_cast<std::uint32_t>(m.meta.size());
    m.head.parts = static_cast<std::uint16_t>(m.payload.size());
    m.head.payload_bytes = 0;
    for (const auto& p : m.payload) m.head.payload_bytes += p.size();
    m.head.flags = static_cast<std::uint8_t>(m.head.flags & ~wire_header::has_checksum);
    if (with_checksum) {
        m.head.flags |= wire_header::has_checksum;
        m.head.checksum = checksum_of(m);
    }
    const auto head = encode(m.head);
    message_parts parts;
    parts.emplace_back(std::string(head.data(), head.size()));
    parts.emplace_back(std::move(m.meta));
    for (auto& p : m.payload) parts.push_back(std::move(p));
    return parts;
}

RILL_COLD std::optional<wire_message> unpack_message(const message_parts& parts) {
    if (parts.size() < 2) return {};
    const auto head = decode_header(parts[0].bytes());
    if (!head || head->parts != parts.size() - 2 || head->meta_bytes != parts[1].size()) return {};
    wire_message m{*head, std::string(parts[1].bytes()), {parts.begin() + 2, parts.end()}};
    std::uint64_t bytes = 0;
    for (const auto& p : m.payload) bytes += p.size();
    if (bytes != head->payload_bytes) return {};
    if ((head->flags & wire_header::has_checksum) && checksum_of(m) != head->checksum) return {};
    if (head->flags & wire_header::has_long_meta) {
        if (m.payload.empty() || !m.meta.empty() || m.payload.back().size() > wire_header::most_arguments) return {};
        m.meta = m.payload.back().bytes();
        m.payload.pop_back();
    }
    return m;
}

RILL_COLD bool needs_chunks(const std::vector<message_part>& payload) {
    std::size_t bytes = 0;
    for (const auto& p : payload) bytes += p.size();
    return bytes > chunk_bytes;
}

RILL_COLD message_part announced_sizes(const std::vector<message_part>& payload) {
    sizes_meta m;
    for (const auto& p : payload) m.sizes.push_back(p.size());
    return message_part(bytes_of_meta(m));
}

RILL_COLD std::vector<std::uint64_t> sizes_announced(const wire_message& m) {
    if (m.payload.size() != 1) throw data_loss("a message that announces chunks has other parts than their sizes");
    auto sizes = meta_of<sizes_meta>(m.payload[0].bytes()).sizes;
    if (sizes.size() > wire_header::most_parts) throw data_loss("a payload of too many parts");
    return sizes;
}

RILL_COLD std::pair<error_code, std::string> described(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const error& e) {
        return {e.code(), e.what()};
    } catch (const std::bad_alloc&) {
        return {error_code::resource_exhausted, "out of memory"};
    } catch (const std::exception& e) {
        return {error_code::unknown, e.what()};
    } catch (...) {
        return {error_code::unknown, "an exception of unknown type"};
    }
}

RILL_COLD error_code code_of(const std::exception_ptr& problem) noexcept {
    try {
        std::rethrow_exception(problem);
    } catch (const error& e) {
        return e.code();
    } catch (const std::bad_alloc&) {
        return error_code::resource_exhausted;
    } catch (...) {
        return error_code::unknown;
    }
}

RILL_COLD std::exception_ptr current_error() noexcept {
    auto now = std::current_exception();
    try {
        std::rethrow_exception(now);
    } catch (const std::bad_alloc&) {
        return error_made_by([] { return resource_exhausted("out of memory"); });
    } catch (...) {
        return now;
    }
}

RILL_COLD void note_handled(const char* what) noexcept { log_message(log_level::warning, what); }

RILL_COLD std::exception_ptr made_error(std::uint32_t code, const std::string& text) {
    const bool known = code > 0 && code <= static_cast<std::uint32_t>(error_code::unauthenticated);
    try {
        throw_error(known ? static_cast<error_code>(code) : error_code::unknown, text);
    } catch (...) {
        return std::current_exception();
    }
}

}}} // namespace rill::RILL_ABI::detail
