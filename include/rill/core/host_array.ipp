// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/host_array.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE dims shape_of_flat(index_t count, const dims& wanted) {
    if (!wanted.known_rank() || (wanted.rank == 1 && rules::extents_compatible(wanted[0], count))) return dims{count};
    const auto solved = rules::reshape(dims{count}, wanted);
    if (!solved.ok() || !solved.shape.complete())
        throw invalid_argument("host value: " + std::to_string(count) + " elements don't fill the shape " +
                               to_string(wanted) +
                               (wanted.dynamic_extents() > 1 ? " (flat data leaves at most one extent open)" : ""));
    return solved.shape;
}

RILL_INLINE any_array single_element(dtype type, const void* value) {
    if (type == dtype::string) {
        auto text = std::make_shared<std::string>(*static_cast<const std::string*>(value));
        void* const data = text.get();
        return any_array(type, dims{}, data, std::move(text));
    }
    struct alignas(16) number {
        std::byte bytes[16];
    };
    auto owner = std::make_shared<number>();
    std::memcpy(owner->bytes, value, size_of(type));
    void* const data = owner->bytes;
    return any_array(type, dims{}, data, std::move(owner));
}

}}} // namespace rill::RILL_ABI::detail
