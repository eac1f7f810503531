// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/resource.hpp>

#include <mutex>
#include <unordered_map>

#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct resource_table {
    const std::uint32_t incarnation = draw_incarnation();
    std::mutex mutex;
    std::uint32_t last = 0;
    std::unordered_map<std::int64_t, std::weak_ptr<resource>> all;
};

/// Returns the table of the process. It is leaked, because resources of static objects are destroyed late.
RILL_EXPORT RILL_COLD resource_table& the_resource_table() {
    static resource_table& table = *new resource_table;
    return table;
}

RILL_COLD std::uint32_t draw_incarnation() {
    const auto incarnation = static_cast<std::uint32_t>(random_bits() >> 33);
    return incarnation == 0 ? 1 : incarnation;
}

RILL_COLD std::uint32_t process_incarnation() { return the_resource_table().incarnation; }

RILL_COLD void make_findable(const std::shared_ptr<resource>& r, std::uint32_t incarnation) {
    auto& table = the_resource_table();
    const std::lock_guard lock(table.mutex);
    do // the count wraps after 2^32 resources; skip numbers still in use
        r->number_ = static_cast<std::int64_t>(std::uint64_t(incarnation) << 32 | ++table.last);
    while (!table.all.try_emplace(r->number_, r).second);
}

RILL_INLINE std::shared_ptr<resource> find_resource(std::int64_t number, std::uint32_t incarnation) {
    if (incarnation != 0 && number >> 32 != incarnation) return nullptr;
    auto& table = the_resource_table();
    const std::lock_guard lock(table.mutex);
    const auto at = table.all.find(number);
    return at == table.all.end() ? nullptr : at->second.lock();
}

RILL_COLD void refuse_resource(std::int64_t number, std::uint32_t incarnation, const resource* there,
                               const char* wanted) {
    const std::int64_t mine = incarnation != 0 ? incarnation : process_incarnation(), of = number >> 32;
    throw invalid_argument(std::string("the handle of a ") + wanted + " is expected, " +
                           (there                  ? "not of a " + there->described()
                            : of > 0 && of != mine ? "and this is a handle of another task"
                                                   : "and this is of nothing that is there"));
}

} // namespace detail

RILL_INLINE std::vector<named_array> resource::saved_parts() const { return {}; }

RILL_INLINE void resource::restore_parts(std::span<const named_array>) {
    throw invalid_argument("a checkpoint can't hold the state of a " + described());
}

RILL_INLINE void resource::check_parts(std::span<const named_array>) const {
    if (saved_parts().empty()) throw invalid_argument("a checkpoint can't hold the state of a " + described());
}

RILL_COLD resource::~resource() {
    if (number_ == 0) return;
    auto& table = detail::the_resource_table();
    const std::lock_guard lock(table.mutex);
    table.all.erase(number_);
}

}} // namespace rill::RILL_ABI
