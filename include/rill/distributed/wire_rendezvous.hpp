// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <rill/device/rendezvous.hpp>
#include <rill/distributed/peer_channels.hpp>
#include <rill/distributed/wire_meta.hpp>
#include <rill/runtime/executor/local_rendezvous.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The rendezvous of a step in one task. Values for other tasks are sent over the channels to them. deliver() takes values of other tasks.
class wire_rendezvous final : public rendezvous {
public:
    struct place {
        session_number session;
        std::uint64_t run = 0, step = 0;
    };
    /// The task at the receiving end of an edge, and its position among the sorted names of all such tasks.
    struct target {
        std::string task;
        std::size_t position = 0;
    };
    /// Returns the targets of edges by the tasks at their receiving ends.
    static std::map<std::uint32_t, target> targets_of(const std::vector<edge_meta>& sends);
    /// Creates the rendezvous. `sends` and `receives`: the task at the other end of each edge that leaves the task or ends in it.
    /// `incarnations` are those of the targets, by position; missing ones are not checked. `failed` is called if a value can't be sent,
    /// also after the step.
    wire_rendezvous(const place& of, std::uint32_t edges, std::map<std::uint32_t, target> sends,
                    std::vector<std::uint64_t> incarnations, std::map<std::uint32_t, std::string> receives,
                    std::shared_ptr<peer_channels> peers, std::function<void(std::exception_ptr)> failed)
        : place_(of), edges_(edges), sends_(std::move(sends)), incarnations_(std::move(incarnations)),
          receives_(std::move(receives)), peers_(std::move(peers)), arrived_(edges), state_(std::make_shared<state>(std::move(failed), peers_->runs_in().now())) {}

    RILL_INLINE void send(std::uint32_t edge, any_array value) override;
    bool try_receive(std::uint32_t edge, any_array& into) override { return arrived_.try_receive(edge, into); }
    RILL_INLINE void receive(std::uint32_t edge, completion done) override;
    void abort(std::exception_ptr problem) noexcept override { arrived_.abort(std::move(problem)); }

    /// Takes a value from the wire. `sequence`: the number of earlier values of the edge. Values that arrive out of order wait for the
    /// earlier ones. Throws data_loss for an unknown edge, and for a value that arrives twice.
    void deliver(std::uint32_t edge, std::uint64_t sequence, any_array value);
    /// Returns the values of other tasks that the step waits for, such as "edge 3 from /job:ps/replica:0/task:0"; empty if none.
    std::string awaited() const;
    /// Returns the time of the latest value sent or received, or of the begin of the step.
    environment::time_point moved() const;

private:
    /// The state that answers to pushes refer to, also after the step.
    struct state {
        state(std::function<void(std::exception_ptr)> f, environment::time_point now)
            : failed(std::move(f)), moved(now) {}
        void fail(std::exception_ptr problem) {
            std::function<void(std::exception_ptr)> tell;
            {
                const std::lock_guard lock(mutex);
                tell = std::exchange(failed, nullptr); // the first error counts
            }
            if (tell) tell(std::move(problem));
        }
        std::mutex mutex;
        std::function<void(std::exception_ptr)> failed;
        std::multiset<std::uint32_t> awaited; // edges
        environment::time_point moved;
    };
    /// The values of an edge that ends in this task.
    struct arrivals {
        std::uint64_t next = 0;                    // the sequence number of the next value to hand on
        std::map<std::uint64_t, any_array> values; // values that arrived out of order
        bool moves = false;                        // a thread is handing values on
    };

    void note_moved();

    const place place_;
    const std::uint32_t edges_;
    const std::map<std::uint32_t, target> sends_;
    const std::vector<std::uint64_t> incarnations_; // of targets, by position
    const std::map<std::uint32_t, std::string> receives_;
    const std::shared_ptr<peer_channels> peers_;
    local_rendezvous arrived_;
    std::mutex order_mutex_;                      // guards the two below
    std::map<std::uint32_t, std::uint64_t> sent_; // the number of values sent, by edge
    std::map<std::uint32_t, arrivals> arriving_;
    const std::shared_ptr<state> state_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/wire_rendezvous.ipp>
#endif
