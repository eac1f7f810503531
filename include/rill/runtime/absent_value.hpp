// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// True for the type of a value that the branch taken leaves to other branches. Between stages it is an empty array.
inline bool is_absent(const tensor_type& t) { return t.type == dtype::invalid; }

/// Returns zeros that take the place of such a value, of its declared type. Gradients make zeros like it and add them up; no result
/// depends on the numbers. Extents that are not known are 1, which broadcasts to any other.
any_array stand_in(const tensor_type& declared);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/absent_value.ipp>
#endif
