// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::string error::task() const {
    const std::string_view text = what();
    const auto begin = text.find("/job:");
    const auto number = begin == std::string_view::npos ? begin : text.find("/task:", begin);
    if (number == std::string_view::npos) return {};
    const auto end = text.find_first_not_of("0123456789", number + 6);
    return std::string(text.substr(begin, end == std::string_view::npos ? end : end - begin));
}

RILL_COLD void throw_error(error_code code, const std::string& message) {
    switch (code) {
    case error_code::cancelled: throw cancelled(message);
    case error_code::invalid_argument: throw invalid_argument(message);
    case error_code::deadline_exceeded: throw deadline_exceeded(message);
    case error_code::not_found: throw not_found(message);
    case error_code::already_exists: throw already_exists(message);
    case error_code::permission_denied: throw permission_denied(message);
    case error_code::resource_exhausted: throw resource_exhausted(message);
    case error_code::failed_precondition: throw failed_precondition(message);
    case error_code::aborted: throw aborted(message);
    case error_code::out_of_range: throw out_of_range(message);
    case error_code::unimplemented: throw unimplemented(message);
    case error_code::internal: throw internal(message);
    case error_code::unavailable: throw unavailable(message);
    case error_code::data_loss: throw data_loss(message);
    case error_code::unauthenticated: throw unauthenticated(message);
    case error_code::ok:
    case error_code::unknown: break;
    }
    throw unknown(message);
}

RILL_COLD std::string to_string(const std::source_location& where) {
    if (where.line() == 0) return "an unknown place";
    std::string_view file = where.file_name();
    if (const auto cut = file.find_last_of("/\\"); cut != std::string_view::npos) file.remove_prefix(cut + 1);
    return std::string(file) + ":" + std::to_string(where.line());
}

RILL_COLD std::string detail::at_place(const std::source_location& where) {
    return where.line() == 0 ? std::string() : " (at " + to_string(where) + ")";
}

}} // namespace rill::RILL_ABI
