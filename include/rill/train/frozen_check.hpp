// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

/// Trains for some steps on one batch, with a learning rate of 0. Checks that the loss stays equal bit by bit. A change is caused by a
/// fault or by random ops. Feed the rate, or build `train` with 0. Throws failed_precondition with the step and both losses. Returns the
/// loss.
double frozen_check(const session& s, const any_tensor& loss, const operation& train,
                    const std::vector<feed_value>& feeds = {}, int steps = 5);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/frozen_check.ipp>
#endif
