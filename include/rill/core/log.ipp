// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/log.hpp>

#include <utility>

#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD void set_log_sink(log_sink sink) {
    auto next = sink ? detail::make_shared<const log_sink>(std::move(sink)) : nullptr;
    const std::lock_guard lock(detail::the_log().mutex);
    detail::the_log().sink = std::move(next);
}

RILL_COLD void log_message(log_level level, std::string_view message) noexcept {
    try {
        std::shared_ptr<const log_sink> sink;
        {
            const std::lock_guard lock(detail::the_log().mutex);
            sink = detail::the_log().sink;
        }
        if (sink) (*sink)(level, message);
    } catch (...) {}
}

}} // namespace rill::RILL_ABI
