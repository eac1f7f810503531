// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/feed.hpp>

#include <rill/core/host_array.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE borrowed_feed::operator feed_value() const {
    feed_value kept = borrowed_;
    if (!kept.value.memory())
        kept.value = detail::owned_copy(kept.value); // a value with memory of its own is shared, not copied
    return kept;
}

namespace detail {

RILL_INLINE void check_feed(const endpoint& e, const tensor_type& given, const dims& promised) {
    const auto& wanted = type_of(e);
    if (given.type != wanted.type || !rules::compatible(wanted.shape, given.shape) ||
        !rules::compatible(promised, given.shape))
        throw invalid_argument("feed: '" + name_of(e) + "' is " +
                               to_string(wanted.shape.known_rank() ? wanted : tensor_type{wanted.type, promised}) +
                               ", fed with " + to_string(given) + " (" + place_of(*e.from) + ")");
}

RILL_INLINE void check_countable(const endpoint& e, const any_array& given) {
    if (!given.type().countable())
        throw invalid_argument("feed: '" + name_of(e) + "' is fed with " + to_string(given.type()) +
                               ", whose elements can't be counted (" + place_of(*e.from) + ")");
}

} // namespace detail
}} // namespace rill::RILL_ABI
