// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/io/record_stream.hpp>
#include <rill/ops/input/reader_counts.hpp>
#include <rill/ops/input/reader_read.hpp>
#include <rill/ops/queue/queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// Makes a reader of files: whole files, text lines, fixed-length records, TFRecord, or file names alone.
struct reader_op : detail::resource_maker {
    static constexpr auto name = "Reader", label = "reader";
    detail::record_format format;
    bool names_only = false, skips_errors = false;

    static void fields(auto& op, auto& visit) {
        auto kind = static_cast<std::int32_t>(op.format.kind);
        visit("kind", kind);
        op.format.kind = static_cast<detail::record_kind>(kind);
        visit("skip_header_lines", op.format.skip_header_lines);
        visit("record_bytes", op.format.record_bytes);
        visit("header_bytes", op.format.header_bytes);
        visit("footer_bytes", op.format.footer_bytes);
        visit("names_only", op.names_only);
        visit("skip_errors", op.skips_errors);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        format.check();
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const { return detail::handle_kernel<D>(made(r)); }

private:
    std::shared_ptr<resource> made(kernel_request& r) const;
};

/// A reader of files. reader.read(filenames) takes the next record of the files in a queue. A checkpoint contains its position in a
/// file. It is a template, so that only programs that use it link its kernels.
template <class Unused = void> class reader {
public:
    /// Adds a node that reads a record: (key, value). The key is "path:line" for text lines, "path:number" for other records, and the path
    /// for whole files.
    auto read(const queue<tensor<std::string>>& files,
              const std::source_location& where = std::source_location::current()) const {
        const node* n = apply_node(reader_read_op{}, where, handle_, files.handle()).node();
        return std::tuple(tensor<std::string>(detail::unchecked, any_tensor(endpoint{n, 0})),
                          tensor<std::string>(detail::unchecked, any_tensor(endpoint{n, 1})));
    }
    /// Reads at most `count` records, all from the same file.
    template <class N>
    auto read_up_to(const queue<tensor<std::string>>& files, const N& count,
                    const std::source_location& where = std::source_location::current()) const {
        const any_tensor most = detail::resource_operand<std::int64_t>(count, handle_.graph(), "read_up_to");
        const node* n = apply_node(reader_read_up_to_op{}, where, handle_, files.handle(), most).node();
        return std::tuple(tensor<std::string, dyn>(detail::unchecked, any_tensor(endpoint{n, 0})),
                          tensor<std::string, dyn>(detail::unchecked, any_tensor(endpoint{n, 1})));
    }
    /// Adds an operation that drops the current file and sets the counts to zero.
    operation reset(const std::source_location& where = std::source_location::current()) const {
        return operation(apply_node(reader_reset_op{}, where, handle_).node());
    }
    tensor<std::int64_t>
    num_records_produced(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(reader_num_records_produced_op{}, where, handle_)};
    }
    tensor<std::int64_t>
    num_work_units_completed(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(reader_num_work_units_completed_op{}, where, handle_)};
    }
    /// Returns the number of records and files that were skipped because of .skip_errors.
    tensor<std::int64_t>
    num_records_skipped(const std::source_location& where = std::source_location::current()) const {
        return {detail::unchecked, apply_node(reader_num_records_skipped_op{}, where, handle_)};
    }
    const any_tensor& handle() const { return handle_; }
    const std::string& name() const { return handle_.node()->name; }

protected:
    reader(const detail::record_format& format, bool names_only, bool skips_errors, const std::string& shared_name,
           const std::string& name, const std::source_location& where) {
        reader_op op;
        op.format = format;
        op.names_only = names_only;
        op.skips_errors = skips_errors;
        handle_ = detail::add_resource(std::move(op), shared_name, name, where);
    }

private:
    any_tensor handle_;
};

struct reader_options {
    std::string shared_name = {}; // sessions of this process share the reader under this name
    std::string name = {};        // name of the node
};
struct text_line_reader_options {
    std::int64_t skip_header_lines = 0; // in each file
    std::string shared_name = {}, name = {};
    bool skip_errors = false; // files that can't be opened and lines that are too long are skipped and counted
};
struct tf_record_reader_options {
    std::string shared_name = {}, name = {};
    bool skip_errors = false; // files that can't be opened and damaged records are skipped and counted
};
struct fixed_length_record_reader_options {
    std::int64_t record_bytes = 0, header_bytes = 0, footer_bytes = 0;
    std::string shared_name = {}, name = {};
    bool skip_errors = false; // files that can't be opened and truncated records are skipped and counted
};

/// A reader of text lines, without line ends: text_line_reader reader({.skip_header_lines = 1}).
class text_line_reader : public reader<> {
public:
    template <class Given = text_line_reader_options>
    explicit text_line_reader(const std::type_identity_t<Given>& o = {},
                              const std::source_location& where = std::source_location::current())
        : reader<>({detail::record_kind::text_line, o.skip_header_lines}, false, o.skip_errors, o.shared_name, o.name,
                   where) {}
};
/// A reader that returns each file as one record.
class whole_file_reader : public reader<> {
public:
    template <class Given = reader_options>
    explicit whole_file_reader(const std::type_identity_t<Given>& o = {},
                               const std::source_location& where = std::source_location::current())
        : reader<>({detail::record_kind::whole_file}, false, false, o.shared_name, o.name, where) {}
};
/// A reader of records of fixed length: fixed_length_record_reader reader({.record_bytes = 20}).
class fixed_length_record_reader : public reader<> {
public:
    template <class Given = fixed_length_record_reader_options>
    explicit fixed_length_record_reader(const std::type_identity_t<Given>& o,
                                        const std::source_location& where = std::source_location::current())
        : reader<>({detail::record_kind::fixed_length, 0, o.record_bytes, o.header_bytes, o.footer_bytes}, false,
                   o.skip_errors, o.shared_name, o.name, where) {}
};
/// A reader of TFRecord files.
class tf_record_reader : public reader<> {
public:
    template <class Given = tf_record_reader_options>
    explicit tf_record_reader(const std::type_identity_t<Given>& o = {},
                              const std::source_location& where = std::source_location::current())
        : reader<>({detail::record_kind::tf_record}, false, o.skip_errors, o.shared_name, o.name, where) {}
};
/// A reader that returns the names in the queue as keys and values, without opening files.
class identity_reader : public reader<> {
public:
    template <class Given = reader_options>
    explicit identity_reader(const std::type_identity_t<Given>& o = {},
                             const std::source_location& where = std::source_location::current())
        : reader<>({detail::record_kind::whole_file}, true, false, o.shared_name, o.name, where) {}
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A file of records. With `names_only`, the file is not opened, and its name is the record.
class record_file final : public reader_file {
public:
    record_file(const std::string& path, const record_format& format, bool names_only)
        : path_(path), records_(names_only ? nullptr : std::make_unique<record_stream>(path, format)) {}
    bool next(std::string& key, std::string& value) override {
        if (!records_) {
            key = value = path_;
            return !std::exchange(is_over_, true);
        }
        if (!records_->next(value)) return false;
        key = records_->key();
        return true;
    }
    place where() const override {
        if (!records_) return {is_over_, 0};
        return {static_cast<std::int64_t>(records_->where().offset), records_->where().records};
    }
    void go_to(const place& p) override {
        if (records_)
            records_->go_to({static_cast<std::uint64_t>(p.offset), p.records});
        else
            is_over_ = p.offset != 0;
    }

private:
    const std::string path_;
    const std::unique_ptr<record_stream> records_;
    bool is_over_ = false;
};

} // namespace detail

RILL_COLD std::shared_ptr<resource> reader_op::made(kernel_request& r) const {
    const std::string described =
        (names_only ? "names" : format.described()) + (skips_errors ? ", skipping errors" : "");
    return r.find_resource(
        place, detail::reader_state::described_as(described), [&](const std::string& known_as, allocator&) {
            return detail::make_shared<detail::reader_state>(
                known_as, described,
                [layout = format, names = names_only](const std::string& path) -> std::unique_ptr<detail::reader_file> {
                    return std::make_unique<detail::record_file>(path, layout, names);
                },
                skips_errors);
        });
}

}} // namespace rill::RILL_ABI
#endif
