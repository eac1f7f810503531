// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow.hpp>

// For ops whose nodes are no steps of a straight line: they include this, which holds what runs them (op::control).

#if !RILL_COMPILED
#include <rill/runtime/control_flow/all_control_flow.ipp>
#endif
