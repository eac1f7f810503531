// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/dynamic_runtime.hpp>

// Headers of ops with dynamic nodes include this header, so that header-only programs link the control-flow runtime
// (register_dynamic_runtime). It is the only way from ops/ to runtime/.

#if !RILL_COMPILED
#include <rill/link/dynamic_runtime.ipp>
#endif
