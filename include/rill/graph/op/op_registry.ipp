// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/op/op_registry.hpp>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <rill/graph/op/field_bytes.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct op_table {
    std::mutex mutex;
    std::map<std::pair<std::string_view, dtype>, op_entry> entries; // never erased: addresses of entries are stable
};

/// Returns the op table, which is leaked: graphs may be made while statics are destroyed.
RILL_EXPORT RILL_COLD op_table& the_op_table() {
    static op_table& table = *new op_table;
    return table;
}

#if !RILL_COMPILED
RILL_COLD void require_catalogue() {} // <rill/all_kernels.hpp> registers it at program start
#endif

} // namespace detail

RILL_COLD void register_op(const op_entry& entry) {
    auto& table = detail::the_op_table();
    const std::lock_guard lock(table.mutex);
    const auto [at, fresh] = table.entries.try_emplace({entry.name, entry.result}, entry);
    if (!fresh && at->second.struct_name != entry.struct_name)
        throw already_exists("op '" + std::string(entry.name) + "': it is the name of two structs, " +
                             std::string(at->second.struct_name) + " and " + std::string(entry.struct_name));
}

RILL_COLD const op_entry* detail::find_registered_op(std::string_view name, dtype result) {
    auto& table = detail::the_op_table();
    const std::lock_guard lock(table.mutex);
    if (const auto at = table.entries.find({name, result}); at != table.entries.end()) return &at->second;
    const auto at = table.entries.find({name, dtype::invalid});
    return at == table.entries.end() ? nullptr : &at->second;
}

RILL_COLD const op_entry* find_op(std::string_view name, dtype result) {
    detail::require_catalogue();
    return detail::find_registered_op(name, result);
}

RILL_COLD std::vector<const op_entry*> known_ops() {
    detail::require_catalogue();
    auto& table = detail::the_op_table();
    const std::lock_guard lock(table.mutex);
    std::vector<const op_entry*> all;
    for (const auto& [key, entry] : table.entries) all.push_back(&entry);
    return all;
}

namespace detail {

RILL_COLD const op_entry& node_op_entry(std::string_view name) {
    if (const auto* entry = find_op(name); entry && entry->make) return *entry;
    std::vector<std::string> names;
    for (const auto* e : known_ops())
        if (e->make) names.emplace_back(e->name);
    std::string text = "no node op '" + std::string(name) + "' is in this program";
    for (const auto& near : nearest_names(name, names))
        text += (text.back() == '\'' ? ", '" : "; did you mean '") + near + "'";
    throw not_found(text + " (<rill/all_kernels.hpp> and rill::kernels bring every op of the catalogue)");
}

} // namespace detail

RILL_COLD op_ptr make_op(std::string_view name) { return detail::node_op_entry(name).make(nullptr); }

RILL_COLD op_ptr make_op(std::string_view name, int version, std::string_view fields) {
    const auto& entry = detail::node_op_entry(name);
    if (version < 1 || version > entry.version)
        throw invalid_argument("op '" + std::string(name) + "': version " + std::to_string(version) +
                               (version < 1 ? " is not valid; this program has " : " is newer than this program's, ") +
                               std::to_string(entry.version));
    op_ptr made;
    load_fields(fields, [&](field_visitor& reader) { made = entry.make(&reader); });
    return made;
}

}} // namespace rill::RILL_ABI
