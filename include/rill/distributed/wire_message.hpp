// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/distributed/transport.hpp>
#include <rill/distributed/wire_header.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A message of the protocol: header, arguments, payload.
struct wire_message {
    wire_header head;
    std::string meta;
    std::vector<message_part> payload;
};

/// Returns the parts of a message, and completes its header. Arguments of more than 64 KiB follow the payload. Throws resource_exhausted
/// for arguments of more than 1 MiB.
message_parts pack_message(wire_message m, bool with_checksum);

/// Reads an untrusted message. Returns nothing unless header, sizes and checksums agree.
std::optional<wire_message> unpack_message(const message_parts& parts);

/// Returns true if a payload is too long for one message and must follow in chunks.
bool needs_chunks(const std::vector<message_part>& payload);
/// Returns the payload part of a message that announces chunks: the sizes of the parts.
message_part announced_sizes(const std::vector<message_part>& payload);
/// Returns the sizes that an untrusted message announces. Throws data_loss if they are malformed.
std::vector<std::uint64_t> sizes_announced(const wire_message& m);

/// Returns the code and the text of an error.
std::pair<error_code, std::string> described(const std::exception_ptr& problem);
/// Returns the code of an error, as described() does, without an allocation.
error_code code_of(const std::exception_ptr& problem) noexcept;
/// Returns the exception for a code from the wire; `unknown` for an undefined code.
std::exception_ptr made_error(std::uint32_t code, const std::string& text);
/// Returns the error that f makes, or the one that prevents it: out of memory.
template <class F> std::exception_ptr error_made_by(const F& f) noexcept {
    try {
        return std::make_exception_ptr(f());
    } catch (...) {
        return std::current_exception();
    }
}
/// Returns the text that f makes, or `short_text`, which needs no memory, if memory is out.
template <class F> std::string text_made_by(const F& f, const char* short_text) noexcept {
    try {
        return std::string(f());
    } catch (...) {
        return short_text;
    }
}
/// Returns the current exception. A std::bad_alloc becomes resource_exhausted, if its text can be allocated.
std::exception_ptr current_error() noexcept;
/// Notes in the log that an exception was handled. It allocates nothing.
void note_handled(const char* what) noexcept;

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/wire_message.ipp>
#endif
