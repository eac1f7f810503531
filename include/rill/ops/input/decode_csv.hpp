// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/io/csv_record.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Parses CSV records, one per string, into a tensor for each column, with the strings' shape. Errors name the column and the record. With
/// a second operand they name the record's key, else its text.
struct decode_csv_op {
    static constexpr auto name = "DecodeCSV", label = "decode_csv";
    static constexpr int least_inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "text does not change smoothly";
    /// A column's dtype, and its default for empty fields. Without a default, an empty field is an error.
    struct column {
        dtype type = dtype::invalid;
        bool is_required = false;
        any_array value = {}; // rank 0
    };
    std::vector<column> columns;
    std::string delimiter = ",";
    bool quotes = true;

    static void fields(auto& op, auto& visit) {
        auto count = static_cast<std::int32_t>(op.columns.size());
        visit("columns", count);
        check_column_count(count);
        op.columns.resize(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < op.columns.size(); ++i) {
            const auto number = std::to_string(i);
            visit(("dtype_" + number).c_str(), op.columns[i].type);
            visit(("required_" + number).c_str(), op.columns[i].is_required);
            visit(("default_" + number).c_str(), op.columns[i].value);
        }
        visit("field_delim", op.delimiter);
        visit("use_quote_delim", op.quotes);
    }
    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    static void check_column_count(std::int32_t count);
    kernel bound(const kernel_request& r) const;
};

/// The tag in place of a default: an empty field of the column is an error.
struct required_t {};
inline constexpr required_t required{};

/// The default of a column of type T: a value, or `required`.
template <class T> class csv_default {
public:
    template <class V>
        requires(std::is_convertible_v<const V&, T> && !std::is_same_v<V, required_t>)
    csv_default(const V& value) : value_(static_cast<T>(value)) {} // NOLINT: is one
    csv_default(required_t) {}                                     // NOLINT

    decode_csv_op::column column() const { return {dtype_of<T>, !value_, to_any_array<T>(value_.value_or(T()))}; }

private:
    std::optional<T> value_;
};

struct decode_csv_options {
    char delimiter = ',';
    bool quotes = true;  // false: a quote is an ordinary character
    any_tensor key = {}; // the keys from a reader; errors use them to name file and line
};

/// Parses records: auto [a, b, species] = decode_csv<float, float, int>(line, {0.f, required, 0}, {.key = key}). Each column has the line's
/// shape. A blank field counts as empty and takes the default. Columns are float, double, int, std::int64_t or std::string.
template <class... T, graph_operand X>
auto decode_csv(const X& records, const std::type_identity_t<std::tuple<csv_default<T>...>>& defaults,
                const decode_csv_options& o = {}, const std::source_location& where = std::source_location::current()) {
    static_assert(sizeof...(T) > 0,
                  "decode_csv: the types of the columns are template arguments: decode_csv<float, int>(…)");
    static_assert(typed_operand<X>, "decode_csv: the records are a tensor of std::string, or a constant");
    static_assert(same_dtype<value_type_of<X>, std::string>, "decode_csv: the element type is not string");
    decode_csv_op op;
    op.columns = std::apply([](const auto&... d) { return std::vector{d.column()...}; }, defaults);
    op.delimiter = std::string(1, o.delimiter);
    op.quotes = o.quotes;
    const node* n = (o.key ? apply_node(op, where, records, o.key) : apply_node(op, where, records)).node();
    int port = 0;
    std::tuple<tensor_of<T, extents_of<X>>...> all{
        tensor_of<T, extents_of<X>>(detail::unchecked, any_tensor(endpoint{n, port++}))...};
    if constexpr (sizeof...(T) == 1)
        return std::get<0>(all);
    else
        return all;
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/core/number_text.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD void decode_csv_op::check_column_count(std::int32_t count) {
    if (count < 0 || count > 100'000) throw invalid_argument("a record of " + std::to_string(count) + " columns");
}

RILL_COLD std::vector<tensor_type> decode_csv_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the records");
    if (in.size() > 2) throw invalid_argument("records, and their keys at most, are expected");
    if (in.size() == 2) detail::check_text(in[1], "the keys");
    if (in.size() == 2 && !rules::compatible(in[0].shape, in[1].shape))
        throw invalid_argument("the records are " + to_string(in[0]) + ", their keys " + to_string(in[1]));
    if (delimiter.size() != 1) throw invalid_argument("the delimiter is one character, not '" + delimiter + "'");
    detail::csv_syntax{delimiter[0], quotes}.check();
    std::vector<tensor_type> all;
    for (const auto& c : columns) {
        detail::check_csv_type(c.type);
        if (c.value.type() != tensor_type{c.type, dims{}})
            throw invalid_argument("the default of a column of " + std::string(to_string(c.type)) + " is " +
                                   to_string(c.value.type()));
        all.push_back({c.type, in[0].shape});
    }
    return all;
}

RILL_INLINE kernel decode_csv_op::bound(const kernel_request& r) const {
    return kernel([all = columns, syntax = detail::csv_syntax{delimiter[0], quotes}, shape = r.inputs[0].shape,
                   has_keys = r.inputs.size() == 2](const kernel_args& a) {
        detail::csv_record record(syntax);
        for (index_t i = 0, n = shape.size(); i < n; ++i) {
            std::string_view text = a.in<std::string>(0)[i];
            std::size_t at = 0;
            const auto refuse = [&](const std::string& why) {
                if (has_keys) throw invalid_argument(a.in<std::string>(1)[i] + ": " + why);
                throw invalid_argument((n == 1 ? std::string("the record") : "record " + std::to_string(i)) + " " +
                                       detail::quoted(text.substr(0, text.find('\0'))) + ": " + why);
            };
            while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
            try {
                record.clear();
                if (!record.add_line(text)) record.refuse_open_quote();
                const auto& fields = record.fields();
                if (fields.size() != all.size())
                    throw invalid_argument(std::to_string(fields.size()) + " fields, " + std::to_string(all.size()) +
                                           " expected");
            } catch (const invalid_argument& problem) {
                refuse(problem.what());
            }
            for (const auto& c : all) {
                const auto& field = record.fields()[at];
                auto* const to = a.out<std::byte>(static_cast<int>(at)) + static_cast<std::size_t>(i) * size_of(c.type);
                const auto number = std::to_string(++at);
                if (detail::is_blank_field(field)) {
                    if (c.is_required) refuse("column " + number + " is empty, and required");
                    detail::copy_elements(c.type, c.value.data(), to, 1);
                    continue;
                }
                try {
                    detail::store_csv_value(field, c.type, to);
                } catch (const invalid_argument& problem) {
                    refuse("column " + number + ": " + problem.what());
                }
            }
        }
    });
}

}} // namespace rill::RILL_ABI
#endif
