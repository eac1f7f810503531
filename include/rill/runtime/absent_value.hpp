// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true for the type of an absent value: a result that the branch taken does not give. Between stages it is an empty array.
inline bool is_absent(const tensor_type& t) { return t.type == dtype::invalid; }

/// Returns zeros of the declared type, in place of an absent value. Gradients sum such values, but no result depends on the numbers.
/// Unknown extents become 1, which broadcasts to any extent. The zeros lie in the given memory; null is the host's.
any_array stand_in(const tensor_type& declared, const memory_space* space = nullptr);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/absent_value.ipp>
#endif
