// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/ops/queue/queue_runner.hpp>
#include <rill/session/session.hpp>
#include <rill/train/coordinator.hpp>

namespace rill { inline namespace RILL_ABI {

/// Starts the steps that fill the queues of the session's graph (add_queue_runner), unless this session has started them. Use: auto
/// threads = start_queue_runners(s, c); at the end c.request_stop(); c.join(threads). Each entry runs one operation repeatedly, and holds
/// no thread while that waits. It ends at the end of its input. The last runner of a queue closes the queue. Any other error stops all. A
/// stop request cancels pending enqueues.
std::vector<coordinated_thread> start_queue_runners(const session& s, const coordinator& c);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/start_queue_runners.ipp>
#endif
