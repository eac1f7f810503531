// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/summary_messages.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <rill/core/real_number.hpp>
#include <rill/io/png.hpp>
#include <rill/io/tensor_message.hpp>
#include <rill/io/wire.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a Summary with one value: its tag and one field of it.
inline std::string summary_of(const std::string& tag, const wire_writer& value) {
    wire_writer with_tag, summary;
    with_tag.field(1, tag);
    with_tag.raw(value.out);
    summary.field(1, with_tag.out);
    return std::move(summary.out);
}

inline std::vector<double> real_numbers(const char* who, const std::string& tag, const any_array& values) {
    std::vector<double> all;
    visit_dtype(values.dtype(), [&]<class T>(std::type_identity<T>) {
        if constexpr (is_real_number<T>)
            for (const T& v : values.elements<T>()) all.push_back(as_double(v));
        else
            throw invalid_argument(std::string(who) + " '" + tag + "': the elements are " +
                                   std::string(to_string(values.dtype())) + ", which are not real numbers");
    });
    return all;
}

RILL_INLINE std::string scalar_summary_bytes(const std::string& tag, double value) {
    wire_writer to;
    to.field_fixed32(2, static_cast<float>(value));
    return summary_of(tag, to);
}

RILL_COLD std::string scalar_summary_bytes(const std::string& tag, const any_array& value) {
    const auto all = real_numbers("scalar_summary", tag, value);
    if (all.size() != 1)
        throw invalid_argument("scalar_summary '" + tag + "': one element is expected, the shape is " +
                               to_string(value.shape()));
    return scalar_summary_bytes(tag, all[0]);
}

/// Returns TensorFlow's bucket limits, which grow by a factor of 1.1 to both sides of 0.
inline const std::vector<double>& histogram_limits() {
    static const std::vector<double> limits = [] {
        std::vector<double> positive, all;
        for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
        positive.push_back(std::numeric_limits<double>::max());
        for (auto v = positive.rbegin(); v != positive.rend(); ++v) all.push_back(-*v);
        all.push_back(0);
        all.insert(all.end(), positive.begin(), positive.end());
        return all;
    }();
    return limits;
}

RILL_INLINE std::string histogram_summary_bytes(const std::string& tag, const any_array& values) {
    const auto all = real_numbers("histogram_summary", tag, values);
    const auto& limits = histogram_limits();
    std::vector<double> counts(limits.size());
    double low = all.empty() ? 0 : all[0], high = low, sum = 0, squares = 0;
    for (const double v : all) {
        if (std::isnan(v)) throw invalid_argument("histogram_summary '" + tag + "': an element is NaN");
        const auto at = std::upper_bound(limits.begin(), limits.end(), v) - limits.begin();
        ++counts[std::min(static_cast<std::size_t>(at), limits.size() - 1)];
        low = std::min(low, v);
        high = std::max(high, v);
        sum += v;
        squares += v * v;
    }
    wire_writer ends, buckets, histogram, value;
    if (all.empty()) {
        ends.fixed(limits.back());
        buckets.fixed(0.0);
    }
    for (std::size_t i = 0; i < limits.size() && !all.empty();) {
        std::size_t last = i++;
        if (counts[last] == 0) // merges a run of empty buckets
            while (i < limits.size() && counts[i] == 0) last = i++;
        ends.fixed(limits[last]);
        buckets.fixed(counts[last]);
    }
    const double numbers[] = {low, high, static_cast<double>(all.size()), sum, squares};
    for (int i = 0; i < 5; ++i) histogram.field_fixed64(i + 1, numbers[i]);
    histogram.field(6, ends.out);
    histogram.field(7, buckets.out);
    value.field(5, histogram.out);
    return summary_of(tag, value);
}

RILL_INLINE std::string image_summary_bytes(const std::string& tag, const any_array& images, index_t most) {
    const dims& shape = images.shape();
    if (shape.rank < 2 || shape.rank > 4)
        throw invalid_argument("image_summary '" + tag + "': the shape is " + to_string(shape) +
                               "; accepted are [h, w], [h, w, channels] and [n, h, w, channels]");
    const bool batch = shape.rank == 4;
    const index_t n = batch ? shape[0] : 1, h = shape[batch ? 1 : 0], w = shape[batch ? 2 : 1],
                  c = shape.rank == 2 ? 1 : shape[shape.rank - 1];
    const auto size = static_cast<std::size_t>(h * w * c);
    const auto all =
        images.dtype() == dtype::uint8 ? std::vector<double>() : real_numbers("image_summary", tag, images);
    std::string summary;
    std::vector<std::uint8_t> samples(size);
    for (index_t i = 0; i < std::min(n, most); ++i) {
        const auto first = static_cast<std::size_t>(i) * size;
        if (images.dtype() == dtype::uint8) {
            std::copy_n(images.elements<std::uint8_t>().data() + first, size, samples.data());
        } else {
            double low = 0, high = 0;
            for (std::size_t k = first; k < first + size; ++k)
                if (std::isfinite(all[k])) low = std::min(low, all[k]), high = std::max(high, all[k]);
            const double middle = low < 0 ? 127 : 0, range = low < 0 ? std::max(-low, high) : high;
            const double scale = range > 0 ? (low < 0 ? 127 : 255) / range : 0;
            for (std::size_t k = 0; k < size; ++k) { // values that are not finite become black
                const double v = all[first + k];
                samples[k] = static_cast<std::uint8_t>(std::isfinite(v) ? std::lround(v * scale + middle) : 0);
            }
        }
        wire_writer image, value;
        image.field(1, static_cast<std::uint64_t>(h));
        image.field(2, static_cast<std::uint64_t>(w));
        image.field(3, static_cast<std::uint64_t>(c));
        image.field(4, with_prefix("image_summary '" + tag + "'", [&] { return png_bytes(samples, h, w, c); }));
        value.field(4, image.out);
        summary += summary_of(batch ? tag + "/image/" + std::to_string(i) : tag, value);
    }
    return summary;
}

RILL_INLINE std::string text_summary_bytes(const std::string& tag, const any_array& text) {
    if (text.dtype() != dtype::string)
        throw invalid_argument("text_summary '" + tag + "': the elements are " + std::string(to_string(text.dtype())) +
                               ", not string");
    wire_writer plugin, metadata, value;
    plugin.field(1, std::string_view("text"));
    metadata.field(1, plugin.out);
    value.field(9, metadata.out);
    value.field(8, tensor_bytes(text));
    return summary_of(tag, value);
}

RILL_INLINE std::string event_bytes(double time, std::int64_t step, int field, std::string_view value) {
    wire_writer to;
    to.field_fixed64(1, time);
    if (step != 0) to.field(2, static_cast<std::uint64_t>(step));
    to.field(field, value);
    return std::move(to.out);
}

}}} // namespace rill::RILL_ABI::detail
