// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/io/csv_record.hpp>
#include <rill/io/record_stream.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/resources/element_source.hpp>

namespace rill { inline namespace RILL_ABI {

/// The files to read: a path, a pattern such as "data/*.csv", or a list of both. Patterns are expanded when the list is made.
class file_list {
public:
    template <class Path>
        requires std::convertible_to<const Path&, std::string>
    file_list(const Path& path) : file_list(std::vector<std::string>{std::string(path)}) {}      // NOLINT: is one
    file_list(std::initializer_list<std::string> patterns) : file_list(std::vector(patterns)) {} // NOLINT
    file_list(const std::vector<std::string>& patterns);                                         // NOLINT

    const std::vector<std::string>& paths() const noexcept { return paths_; }

private:
    std::vector<std::string> paths_;
};

/// Returns the files that match a pattern of `*`, `?` and `[a-z]` in its last part, sorted. Throws not_found if there are none.
std::vector<std::string> glob(const std::string& pattern);

struct csv_dataset_options {
    /// True if the first record of each file holds names. The default detects a header: a field in a column of numbers is not a number.
    /// With columns of text only, the first record is data.
    std::optional<bool> header = {};
    char delimiter = ',';
    bool quotes = true; // false: a quote is an ordinary character
};

struct text_line_options {
    std::int64_t skip_header_lines = 0; // of each file
};

struct fixed_length_options {
    std::int64_t header_bytes = 0, footer_bytes = 0; // at the ends of each file, outside of records
};

namespace detail {

/// Returns a source of text records: one string of rank 0.
element_source_ptr record_source(const file_list& files, const record_format& format);
/// Returns a source of CSV records: one value of rank 0 for each column.
element_source_ptr csv_source(const file_list& files, const std::vector<dtype>& columns,
                              const csv_dataset_options& options);
/// Returns the array in a whole file: .npy, or IDX.
any_array read_array_file(const std::string& path, bool is_npy);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/data/file_sources.ipp>
#endif
