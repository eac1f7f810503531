// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/group.hpp>
#include <rill/ops/table/hash_table.hpp>
#include <rill/ops/table/initialize_table.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The operation that fills a table, in the collection that tables_initializer() runs.
void add_table_initializer(const any_tensor& table, const std::string& path, const std::source_location& where);

} // namespace detail

/// A table that a text file fills, a word a line, when tables_initializer() runs: no file is read before. Using it earlier is
/// `failed_precondition`; a word that is there twice `invalid_argument`, naming the line.
template <class K, class V> class vocabulary : public detail::table_handle<K, V> {
public:
    vocabulary(const std::string& path, V otherwise, const hash_table_options& o, const std::source_location& where)
        : detail::table_handle<K, V>(true, o.shared_name, o.name, where), otherwise_(std::move(otherwise)) {
        require_kernel<initialize_table_op, void>();
        detail::add_table_initializer(this->handle_, path, where);
    }

    /// The values of keys, the default of those that the file has not.
    template <class X>
    auto lookup(const X& keys, const std::source_location& where = std::source_location::current()) const {
        return this->look_up(keys, constant(otherwise_, where), where);
    }

private:
    V otherwise_;
};

struct index_table_options {
    std::int64_t default_value = -1; // of words that the file has not
    std::string shared_name = {};    // sessions of this process share the table of that name
    std::string name = {};           // of its node
};
struct string_table_options {
    std::string default_value = "UNK"; // of numbers that the file has not
    std::string shared_name = {};
    std::string name = {};
};

/// The line number, from 0, of words: index_table_from_file("words.txt", {.default_value = 0}).lookup(words).
template <class... Unused> // a template, so that only programs that call it have its kernels
auto index_table_from_file(const std::string& path, const index_table_options& o = {},
                           const std::source_location& where = std::source_location::current()) {
    return vocabulary<std::string, std::int64_t>(path, o.default_value, {o.shared_name, o.name}, where);
}
/// The word in a line, by its number from 0.
template <class... Unused>
auto index_to_string_table_from_file(const std::string& path, const string_table_options& o = {},
                                     const std::source_location& where = std::source_location::current()) {
    return vocabulary<std::int64_t, std::string>(path, o.default_value, {o.shared_name, o.name}, where);
}

/// An operation that fills every table of the current graph that a file fills: those made so far.
operation tables_initializer(const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/expr/constant.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD void detail::add_table_initializer(const any_tensor& table, const std::string& path,
                                             const std::source_location& where) {
    const graph g = table.graph();
    const region_scope outside(nullptr); // whatever the nodes made beside it are part of
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
