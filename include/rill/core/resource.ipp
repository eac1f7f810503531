// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/resource.hpp>

#include <mutex>
#include <unordered_map>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct resource_table {
    std::mutex mutex;
    std::int64_t last = 0;
    std::unordered_map<std::int64_t, std::weak_ptr<resource>> all;
};

/// Leaked: resources of static objects die late.
RILL_EXPORT RILL_COLD resource_table& the_resource_table() {
    static resource_table& table = *new resource_table;
    return table;
}

RILL_COLD void make_findable(const std::shared_ptr<resource>& r) {
    auto& table = the_resource_table();
    const std::lock_guard lock(table.mutex);
    table.all.emplace(r->number(), r);
}

RILL_INLINE std::shared_ptr<resource> find_resource(std::int64_t number) {
    auto& table = the_resource_table();
    const std::lock_guard lock(table.mutex);
    const auto at = table.all.find(number);
    return at == table.all.end() ? nullptr : at->second.lock();
}

RILL_COLD void refuse_resource(const resource* there, const char* wanted) {
    throw invalid_argument(std::string("the handle of a ") + wanted + " is expected, " +
                           (there ? "not of a " + there->described() : "and this is of nothing that is there"));
}

} // namespace detail

RILL_COLD resource::resource() {
    auto& table = detail::the_resource_table();
    const std::lock_guard lock(table.mutex);
    number_ = ++table.last;
}

RILL_COLD resource::~resource() {
    auto& table = detail::the_resource_table();
    const std::lock_guard lock(table.mutex);
    table.all.erase(number_);
}

}} // namespace rill::RILL_ABI
