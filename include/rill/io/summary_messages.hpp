// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <rill/core/any_array.hpp>

// TensorFlow's Summary and Event messages as bytes. Concatenated bytes of Summaries are a Summary of all their values.

namespace rill { inline namespace RILL_ABI { namespace detail {

std::string scalar_summary_bytes(const std::string& tag, double value);
/// Returns the Summary of a number. Throws invalid_argument, with the tag, unless there is one element of a real type.
std::string scalar_summary_bytes(const std::string& tag, const any_array& value);
/// Returns the Summary of a histogram. Throws invalid_argument, with the tag, for a NaN and for elements that are not real numbers.
std::string histogram_summary_bytes(const std::string& tag, const any_array& values);
/// Returns the Summary of the first `most` images of [h, w], [h, w, channels] or [n, h, w, channels]. uint8 samples are kept. Others are
/// scaled: from 0 to the largest as 0 to 255, or around 127 if some are negative. Throws invalid_argument, with the tag, for other shapes.
std::string image_summary_bytes(const std::string& tag, const any_array& images, index_t most);
/// Returns the Summary of text, shown as Markdown. Throws invalid_argument, with the tag, for other dtypes.
std::string text_summary_bytes(const std::string& tag, const any_array& text);

/// Returns an Event with seconds since 1970, a step, and one field of the message.
std::string event_bytes(double time, std::int64_t step, int field, std::string_view value);
inline constexpr int event_file_version = 3, event_graph = 4, event_summary = 5, event_session_log = 7,
                     event_run_metadata = 8;

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/io/summary_messages.ipp>
#endif
