// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

enum class log_level { info, warning, error };

using log_sink = std::function<void(log_level, std::string_view)>;

namespace detail {

struct log_state {
    std::mutex mutex;
    std::shared_ptr<const log_sink> sink;
};

// leaked on purpose: destructors of static objects may still log
RILL_EXPORT inline log_state& the_log() {
    static log_state& state = *new log_state;
    return state;
}

} // namespace detail

/// Sets the sink of log messages. There is none by default; an empty sink disables logging. The sink may be called from
/// any thread.
void set_log_sink(log_sink sink);

/// Passes a message to the sink, if there is one. Never throws: exceptions of the sink are dropped.
void log_message(log_level level, std::string_view message) noexcept;

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/log.ipp>
#endif
