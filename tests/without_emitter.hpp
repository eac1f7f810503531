// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <rill/device/kernel_registry.hpp>

/// As long as this is there, fusion groups are bound to compiled kernels and the interpreter, as in programs without
/// rill::kernels.
struct without_emitter {
    const rill::code_emitter* emit = rill::the_kernels().emit;

    without_emitter() { rill::detail::register_emitter(nullptr); }
    ~without_emitter() { rill::detail::register_emitter(emit); }
    without_emitter(const without_emitter&) = delete;
};
