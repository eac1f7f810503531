// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/numbers.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_EXPORT RILL_INLINE unsigned& sticky_errors() {
    static constinit thread_local unsigned bits = 0;
    return bits;
}

}}} // namespace rill::RILL_ABI::detail
