// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/file_sources.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <rill/core/host_array.hpp>
#include <rill/data/pipeline.hpp>
#include <rill/io/idx.hpp>
#include <rill/io/npy.hpp>
#include <rill/resources/element_slots.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD file_list::file_list(const std::vector<std::string>& patterns) {
    for (const auto& p : patterns)
        for (auto& path : detail::expand_pattern(p)) paths_.push_back(std::move(path));
    if (paths_.empty()) throw invalid_argument("dataset: no files were given");
}

RILL_COLD std::vector<std::string> glob(const std::string& pattern) { return detail::expand_pattern(pattern); }

namespace detail {

/// A source iterator that reads files in sequence. `Stream` reads one: from a path, with next(), save() and
/// restore().
template <class Stream, class Format> class files_iterator final : public element_iterator {
public:
    files_iterator(std::shared_ptr<const std::vector<std::string>> files, std::shared_ptr<const Format> format)
        : files_(std::move(files)), format_(std::move(format)) {}
    bool next(element_arrays& to, const pull_context&) override {
        for (;; stream_.reset()) {
            if (!stream_) {
                if (at_ == files_->size()) return false;
                stream_ = std::make_unique<Stream>((*files_)[at_++], *format_);
            }
            if (stream_->next(to)) return true;
        }
    }
    void save(iterator_archive& to) override {
        to.put(static_cast<std::int64_t>(at_));
        to.put(static_cast<std::int64_t>(stream_ != nullptr));
        if (stream_) stream_->save(to);
    }
    void restore(iterator_archive& from, const pull_context&) override {
        at_ = from.count(static_cast<std::int64_t>(files_->size()));
        if (from.number() == 0 || at_ == 0) return;
        stream_ = std::make_unique<Stream>((*files_)[at_ - 1], *format_);
        stream_->restore(from);
    }

private:
    const std::shared_ptr<const std::vector<std::string>> files_;
    const std::shared_ptr<const Format> format_;
    std::size_t at_ = 0; // the next file
    std::unique_ptr<Stream> stream_;
};

template <class Stream, class Format>
element_source_ptr files_source(const file_list& files, const Format& format, std::vector<tensor_type> components,
                                std::string described, names_function names = {}) {
    for (const auto& path : files.paths()) described += " '" + path + "'";
    return make_source(
        std::move(components), std::move(described), false,
        [paths = std::make_shared<const std::vector<std::string>>(files.paths()),
         shared = std::make_shared<const Format>(format)](const iterate_request&) {
            return std::make_unique<files_iterator<Stream, Format>>(paths, shared);
        },
        std::move(names));
}

class record_element_stream {
public:
    record_element_stream(const std::string& path, const record_format& format) : records_(path, format) {}
    bool next(element_arrays& to) {
        any_array one(dtype::string, dims{});
        if (!records_.next(*static_cast<std::string*>(one.mutable_data()))) return false;
        to.assign(1, std::move(one));
        return true;
    }
    void save(iterator_archive& to) const {
        to.put(static_cast<std::int64_t>(records_.where().offset));
        to.put(records_.where().records);
    }
    void restore(iterator_archive& from) {
        const auto offset = static_cast<std::uint64_t>(from.count());
        records_.go_to({offset, from.number()});
    }

private:
    record_stream records_;
};

RILL_COLD element_source_ptr record_source(const file_list& files, const record_format& format) {
    format.check();
    return files_source<record_element_stream>(files, format, {{dtype::string, dims{}}}, format.described());
}

struct csv_format {
    std::vector<dtype> columns;
    csv_dataset_options options;
};

class csv_element_stream {
public:
    csv_element_stream(const std::string& path, const csv_format& format)
        : format_(format), records_(path, {format.options.delimiter, format.options.quotes}) {}

    /// Reads the first record. Returns true if it is a header; otherwise it is the first element.
    bool begin() {
        begun_ = true;
        has_record_ = records_.next();
        if (!has_record_ || format_.options.header == false) return false;
        const auto& fields = records_.fields();
        bool is_header = format_.options.header.value_or(false);
        for (std::size_t i = 0; i < fields.size() && i < format_.columns.size() && !format_.options.header; ++i)
            is_header = is_header || !(is_blank_field(fields[i]) || is_csv_value(fields[i], format_.columns[i]));
        if (is_header) check_count();
        has_record_ = !is_header;
        return is_header;
    }
    std::vector<std::string> texts() const { return {records_.fields().begin(), records_.fields().end()}; }
    bool next(element_arrays& to) {
        if (!begun_) begin();
        if (!std::exchange(has_record_, false) && !records_.next()) return false;
        check_count();
        to.clear();
        for (std::size_t i = 0; i < format_.columns.size(); ++i) to.push_back(value(i));
        return true;
    }
    void save(iterator_archive& to) const {
        to.put(static_cast<std::int64_t>(begun_));
        to.put(static_cast<std::int64_t>(records_.offset()));
        to.put(records_.line());
    }
    void restore(iterator_archive& from) {
        begun_ = from.number() != 0;
        const auto offset = static_cast<std::uint64_t>(from.count());
        records_.skip_to(offset, from.number());
    }

private:
    void check_count() const {
        const auto found = records_.fields().size(), wanted = format_.columns.size();
        if (found != wanted)
            throw invalid_argument(records_.place() + ": column " + std::to_string(std::min(found, wanted) + 1) + ": " +
                                   std::to_string(found) + " fields, " + std::to_string(wanted) + " expected");
    }
    any_array value(std::size_t i) {
        const auto type = format_.columns[i];
        any_array one = type == dtype::string ? any_array(type, dims{}) : number(type);
        try {
            store_csv_value(records_.fields()[i], type, one.mutable_data());
        } catch (const invalid_argument& problem) {
            throw invalid_argument(records_.place() + ": column " + std::to_string(i + 1) + ": " + problem.what());
        }
        return one;
    }
    /// Returns a number without a value yet.
    any_array number(dtype type) {
        if (!numbers_ || used_ == sizeof numbers_->bytes) {
            numbers_ = std::make_shared<number_block>();
            used_ = 0;
        }
        void* const place = numbers_->bytes + used_;
        used_ += sizeof(std::int64_t);
        return any_array(type, dims{}, place, numbers_);
    }

    /// Memory of numbers of consecutive records. It lives as long as one of them: a record that is kept alone costs 1 KiB, as much as five
    /// columns with a block each, and together they cost far less time and memory.
    struct number_block {
        alignas(16) std::byte bytes[1024];
    };

    const csv_format& format_;
    csv_stream records_;
    bool begun_ = false, has_record_ = false; // the first record is an element that was not returned yet
    std::shared_ptr<number_block> numbers_;
    std::size_t used_ = 0; // bytes of the block
};

RILL_COLD element_source_ptr csv_source(const file_list& files, const std::vector<dtype>& columns,
                                        const csv_dataset_options& options) {
    std::vector<tensor_type> components;
    for (const auto c : columns) {
        check_csv_type(c);
        components.push_back({c, dims{}});
    }
    const csv_format format{columns, options};
    const auto names = [format, paths = files.paths()] {
        for (std::size_t i = 0;; ++i)
            try { // of the first file that can be read: others may be left out by ignore_errors
                csv_element_stream first(paths[i], format);
                return first.begin() ? first.texts() : std::vector<std::string>();
            } catch (const error& problem) {
                if (!is_bad_input(problem.code()) || i + 1 == paths.size()) throw;
            }
    };
    return files_source<csv_element_stream>(files, format, components, "csv" + tuple_text(components), names);
}

RILL_COLD any_array read_array_file(const std::string& path, bool is_npy) {
    return is_npy ? read_npy(path) : read_idx(path);
}

} // namespace detail

}} // namespace rill::RILL_ABI
