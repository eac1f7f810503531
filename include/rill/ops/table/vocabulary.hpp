// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/group.hpp>
#include <rill/ops/table/hash_table.hpp>
#include <rill/ops/table/initialize_table.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Adds the operation that fills a table to the collection that tables_initializer() runs.
void add_table_initializer(const any_tensor& table, const std::string& path, const std::source_location& where);

} // namespace detail

/// A table that tables_initializer() fills from a text file with one word per line. The file is not read before. An earlier
/// use is `failed_precondition`. A repeated word is `invalid_argument`, with its line in the message.
template <class K, class V> class vocabulary : public detail::table_handle<K, V> {
public:
    vocabulary(const std::string& path, V otherwise, const hash_table_options& o, const std::source_location& where)
        : detail::table_handle<K, V>(true, o.shared_name, o.name, where), otherwise_(std::move(otherwise)) {
        require_kernel<initialize_table_op, void>();
        detail::add_table_initializer(this->handle_, path, where);
    }

    /// Returns the values of keys, and the default for keys that the file lacks.
    template <class X>
    auto lookup(const X& keys, const std::source_location& where = std::source_location::current()) const {
        return this->look_up(keys, constant(otherwise_, where), where);
    }

private:
    V otherwise_;
};

struct index_table_options {
    std::int64_t default_value = -1; // for words that the file lacks
    std::string shared_name = {};    // sessions of this process share the table under this name
    std::string name = {};           // name of the node
};
struct string_table_options {
    std::string default_value = "UNK"; // for numbers that the file lacks
    std::string shared_name = {};
    std::string name = {};
};

/// Returns a table from words to line numbers, from 0: index_table_from_file("words.txt", {.default_value =
/// 0}).lookup(words).
template <class... Unused> // a template, so that only programs that call it have its kernels
auto index_table_from_file(const std::string& path, const index_table_options& o = {},
                           const std::source_location& where = std::source_location::current()) {
    return vocabulary<std::string, std::int64_t>(path, o.default_value, {o.shared_name, o.name}, where);
}
/// Returns a table from line numbers, from 0, to words.
template <class... Unused>
auto index_to_string_table_from_file(const std::string& path, const string_table_options& o = {},
                                     const std::source_location& where = std::source_location::current()) {
    return vocabulary<std::int64_t, std::string>(path, o.default_value, {o.shared_name, o.name}, where);
}

/// Returns an operation that fills every file-backed table that the current graph has so far.
operation tables_initializer(const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/expr/constant.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD void detail::add_table_initializer(const any_tensor& table, const std::string& path,
                                             const std::source_location& where) {
    const graph g = table.graph();
    const region_scope outside(nullptr); // the node must not belong to an enclosing body
    const endpoint file = seal(constant(path, where), g);
    const node* fill = add_node(g, make_op(initialize_table_op{}), {table.end(), file}, {}, false, where);
    g.add_to_collection(collections::table_initializers, {fill, 0});
}

RILL_COLD operation tables_initializer(const std::source_location& where) {
    const graph g = current_graph();
    std::vector<const node*> all;
    for (const auto& e : g.collection(collections::table_initializers)) all.push_back(e.from);
    return detail::add_group(std::move(all), "init_tables", where);
}

}} // namespace rill::RILL_ABI
#endif
