// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// True once F ran at program start.
template <auto F> inline const bool ran_at_start = F();

/// Calls a registrar: now, for graphs that are built before main, and at program start, for graphs that are read from files. The files of
/// rill::kernels leave out the latter, so that a program contains only what it names.
template <auto F> void run_at_start() {
#if !RILL_IN_KERNELS
    (void)ran_at_start<F>;
#endif
    F();
}

}}} // namespace rill::RILL_ABI::detail
