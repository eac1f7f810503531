// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Reads a whole file. `who` begins the messages. Throws not_found, or data_loss if reading fails.
std::string read_file(const std::string& path, const std::string& who);

/// Throws the error for an errno value: not_found, permission_denied, already_exists, resource_exhausted (a full disk), otherwise
/// data_loss. `what` begins the message.
[[noreturn]] void refuse_file(const std::string& what, int problem);

/// Returns a text as a JSON string: quoted, with quotes, backslashes and control characters escaped.
std::string json_text(std::string_view text);

/// Removes and returns the first line of a text. Lines end with LF, CRLF or CR.
std::string_view take_line(std::string_view& text);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/text_file.ipp>
#endif
