// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow.hpp>

// Headers of ops with dynamic nodes include this, so that header-only programs find the runtime of such nodes (register_control_flow).
// It alone lets ops/ reach runtime/.

#if !RILL_COMPILED
#include <rill/link/control_flow.ipp>
#endif
