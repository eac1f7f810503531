// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// Canonical codes, with the numbers used on the wire.
enum class error_code {
    ok = 0,
    cancelled = 1,
    unknown = 2,
    invalid_argument = 3,
    deadline_exceeded = 4,
    not_found = 5,
    already_exists = 6,
    permission_denied = 7,
    resource_exhausted = 8,
    failed_precondition = 9,
    aborted = 10,
    out_of_range = 11,
    unimplemented = 12,
    internal = 13,
    unavailable = 14,
    data_loss = 15,
    unauthenticated = 16
};

constexpr std::string_view to_string(error_code c) {
    constexpr std::string_view names[] = {
        "ok",        "cancelled",      "unknown",           "invalid argument",   "deadline exceeded",
        "not found", "already exists", "permission denied", "resource exhausted", "failed precondition",
        "aborted",   "out of range",   "unimplemented",     "internal",           "unavailable",
        "data loss", "unauthenticated"};
    return names[static_cast<int>(c)];
}

/// Base of all exceptions of the library.
class RILL_EXPORT error : public std::runtime_error {
public:
    error(error_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
    error_code code() const noexcept { return code_; }
    /// Returns the first cluster task that the message names ("/job:ps/replica:0/task:1"), or an empty string.
    std::string task() const;

private:
    error_code code_;
};

namespace detail {

/// Base of the exception types: an error with a fixed code.
template <error_code Code> class RILL_EXPORT error_of : public error {
public:
    explicit error_of(const std::string& message) : error(Code, message) {}
};

} // namespace detail

// Classes instead of aliases of the template: terminate and debuggers print the name of the class.
// clang-format off: a line each
struct RILL_EXPORT cancelled : detail::error_of<error_code::cancelled> { using error_of::error_of; };
struct RILL_EXPORT unknown : detail::error_of<error_code::unknown> { using error_of::error_of; };
struct RILL_EXPORT invalid_argument : detail::error_of<error_code::invalid_argument> { using error_of::error_of; };
struct RILL_EXPORT deadline_exceeded : detail::error_of<error_code::deadline_exceeded> { using error_of::error_of; };
struct RILL_EXPORT not_found : detail::error_of<error_code::not_found> { using error_of::error_of; };
struct RILL_EXPORT already_exists : detail::error_of<error_code::already_exists> { using error_of::error_of; };
struct RILL_EXPORT permission_denied : detail::error_of<error_code::permission_denied> { using error_of::error_of; };
struct RILL_EXPORT resource_exhausted : detail::error_of<error_code::resource_exhausted> { using error_of::error_of; };
struct RILL_EXPORT failed_precondition : detail::error_of<error_code::failed_precondition> { using error_of::error_of; };
struct RILL_EXPORT aborted : detail::error_of<error_code::aborted> { using error_of::error_of; };
struct RILL_EXPORT out_of_range : detail::error_of<error_code::out_of_range> { using error_of::error_of; };
struct RILL_EXPORT unimplemented : detail::error_of<error_code::unimplemented> { using error_of::error_of; };
struct RILL_EXPORT internal : detail::error_of<error_code::internal> { using error_of::error_of; };
struct RILL_EXPORT unavailable : detail::error_of<error_code::unavailable> { using error_of::error_of; };
struct RILL_EXPORT data_loss : detail::error_of<error_code::data_loss> { using error_of::error_of; };
struct RILL_EXPORT unauthenticated : detail::error_of<error_code::unauthenticated> { using error_of::error_of; };
// clang-format on

/// Throws the exception type that belongs to a code.
[[noreturn]] void throw_error(error_code code, const std::string& message);

/// Returns "digits.cpp:42". It has the file name without folders, so that messages do not depend on the build path.
std::string to_string(const std::source_location& where);

namespace detail {

/// Returns true for the errors of an input that is malformed, damaged, missing or not permitted, which a pipeline may leave out.
constexpr bool is_bad_input(error_code c) {
    return c == error_code::invalid_argument || c == error_code::data_loss || c == error_code::not_found ||
           c == error_code::permission_denied;
}

/// Returns " (at digits.cpp:42)", the end of error messages from functions that make no node; nodes record their own location. Returns
/// an empty string for an empty location.
std::string at_place(const std::source_location& where);

/// Rethrows the current exception with the message describe(what), which adds a location. An `error` keeps its code. std::bad_alloc
/// becomes resource_exhausted; other exceptions are nested in `internal`.
template <class Describe> [[noreturn]] void rethrow_described(const Describe& describe) {
    try {
        throw;
    } catch (const error& problem) {
        throw_error(problem.code(), describe(problem.what()));
    } catch (const std::bad_alloc&) {
        throw_error(error_code::resource_exhausted, describe("there is not so much memory"));
    } catch (const std::exception& problem) {
        std::throw_with_nested(internal(describe(problem.what())));
    } catch (...) {
        std::throw_with_nested(internal(describe("an exception of unknown type")));
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/error.ipp>
#endif
