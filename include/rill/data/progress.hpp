// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

struct progress_options {
    std::int64_t total = 0; // items; 0: unknown
    std::string label = {};
    std::FILE* to = nullptr; // null: the standard error stream, if it is a terminal
};

namespace detail {

/// Returns the text of a progress bar.
std::string progress_line(const progress_options& o, std::int64_t done, double seconds);
/// Returns the stream for a progress bar; null for none.
std::FILE* progress_stream(const progress_options& o);
/// Draws a line over the previous one; `end` also ends it.
void draw_progress(std::FILE* to, const std::string& line, bool end);

/// A loop over a range that draws its progress, at most ten times a second.
template <class Range> class progress_range {
public:
    progress_range(Range range, progress_options o) : range_(std::move(range)), options_(std::move(o)) {}

    class iterator {
    public:
        using clock = std::chrono::steady_clock;
        using inner = decltype(std::begin(std::declval<const Range&>()));
        using value_type = std::remove_cvref_t<decltype(*std::declval<const inner&>())>;
        using difference_type = std::ptrdiff_t;

        iterator(const Range& over, const progress_options& o)
            : at_(std::begin(over)), end_(std::end(over)), options_(&o), to_(progress_stream(o)) {}
        decltype(auto) operator*() const { return *at_; }
        iterator& operator++() {
            ++at_;
            ++done_;
            const bool over = at_ == end_;
            if (to_ && (over || clock::now() - drawn_ > std::chrono::milliseconds(100))) {
                drawn_ = clock::now();
                draw_progress(
                    to_, progress_line(*options_, done_, std::chrono::duration<double>(drawn_ - begun_).count()), over);
            }
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return at_ == end_; }

    private:
        inner at_;
        decltype(std::end(std::declval<const Range&>())) end_;
        const progress_options* options_;
        std::FILE* to_;
        std::int64_t done_ = 0;
        clock::time_point begun_ = clock::now(), drawn_ = begun_;
    };
    iterator begin() const { return {range_, options_}; }
    std::default_sentinel_t end() const { return {}; }

private:
    const Range range_;
    const progress_options options_;
};

} // namespace detail

/// Wraps a dataset, or any range, in a loop that draws items, rate and time left: for (auto batch : progress(data, {.total =
/// 1000})).
template <class Range> detail::progress_range<Range> progress(Range range, progress_options o = {}) {
    if constexpr (requires { std::size(range); })
        if (o.total == 0) o.total = static_cast<std::int64_t>(std::size(range));
    return {std::move(range), std::move(o)};
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/data/progress.ipp>
#endif
