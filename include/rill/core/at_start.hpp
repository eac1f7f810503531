// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// True once F has run at program start.
template <auto F> inline const bool ran_at_start = F();

/// Calls a registrar. It runs at once for graphs built before main, and at program start for graphs read from files. The files of
/// rill::kernels omit the call at program start, so that programs link only the kernels that they name.
template <auto F> void run_at_start() {
#if !RILL_IN_KERNELS
    (void)ran_at_start<F>;
#endif
    F();
}

}}} // namespace rill::RILL_ABI::detail
