// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <rill/session/session.hpp>
#include <rill/train/get_variable.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the counter of training steps in the collection "global_step", or null. Throws invalid_argument if there are several, or if the
/// counter is not an int64 of rank 0.
any_tensor find_global_step(const graph& g);

} // namespace detail

/// Returns the counter of training steps of the current graph: minimize(loss, global_step). It is an int64 of rank 0 that no optimizer
/// trains. Makes it if the graph has none.
template <class... Unused> // a template, so that only programs that call it have its kernels
variable<std::int64_t> get_or_create_global_step(const std::source_location& where = std::source_location::current()) {
    if (const auto there = detail::find_global_step(current_graph())) return {detail::unchecked, there};
    const detail::names_as_given exact;
    return {"global_step",
            0,
            {.trainable = false, .collections = {collections::variables, collections::global_step}},
            where};
}

/// Returns the counter, or a null handle if the current graph has none.
inline any_tensor get_global_step() { return detail::find_global_step(current_graph()); }

/// Returns the number of training steps that a session has run. Returns 0 if its graph has no counter, or if the counter has no value.
std::int64_t global_step_of(const session& s);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/global_step.ipp>
#endif
