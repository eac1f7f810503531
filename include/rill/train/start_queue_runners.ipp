// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/start_queue_runners.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <utility>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Of a queue that others may have closed: whoever was first, it is closed then.
template <class Close> void close_quietly(const Close& close) {
    try {
        close();
    } catch (const error&) {}
}

} // namespace detail

RILL_COLD std::vector<coordinated_thread> start_queue_runners(const session& s, const coordinator& c) {
    // Of each queue, how many threads still fill it: whichever runner the last one belongs to, it closes the queue, and none before it.
    using count = std::shared_ptr<std::atomic<std::size_t>>;
    std::map<const node*, count> by_queue;
    std::vector<std::pair<detail::queue_runner_note, count>> runners;
    for (auto& note : detail::queue_runners_of(s.graph())) {
        if (!s.core_->first_time(note.name)) continue;
        auto& left = by_queue[note.close->inputs[0].from];
        if (!left) left = std::make_shared<std::atomic<std::size_t>>(0);
        *left += note.enqueue.size();
        runners.emplace_back(std::move(note), left);
    }
    std::vector<coordinated_thread> threads;
    for (const auto& [note, filling] : runners) {
        const count left = filling;
        const auto close = s.make_callable(operation(note.close)), cancel = s.make_callable(operation(note.cancel));
        for (const auto* n : note.enqueue)
            threads.push_back(c.start(note.name + "/" + n->name,
                                      [=, put = s.make_callable(operation(n)).with({.cancel = c.token()})] {
                                          try {
                                              while (!c.should_stop()) put();
                                          } catch (const cancelled&) {
                                              if (!c.should_stop()) throw;
                                          } catch (const out_of_range&) { // there is nothing left to read
                                              if (--*left == 0) detail::close_quietly(close);
                                          }
                                      }));
        threads.push_back(c.start(note.name + "/cancel", [=] {
            while (*left > 0 && !c.wait_for_stop(std::chrono::milliseconds(50))) {}
            if (c.should_stop()) detail::close_quietly(cancel);
        }));
    }
    return threads;
}

}} // namespace rill::RILL_ABI
