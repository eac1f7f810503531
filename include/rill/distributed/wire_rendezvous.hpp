// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include <rill/device/rendezvous.hpp>
#include <rill/distributed/peer_channels.hpp>
#include <rill/distributed/wire_meta.hpp>
#include <rill/runtime/executor/local_rendezvous.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The exchange of a step in one task: values for other tasks leave by the channels to them, values of other tasks arrive by deliver().
class wire_rendezvous final : public rendezvous {
public:
    struct place {
        session_number session;
        std::uint64_t run = 0, step = 0;
    };
    /// The task that an edge leads to. An incarnation of 0 stands for any.
    struct target {
        std::string task;
        std::uint64_t incarnation = 0;
    };
    /// Returns the tasks that edges lead to. `incarnations` are those of the tasks in order of their names; missing ones are not checked.
    static std::map<std::uint32_t, target> targets_of(const std::map<std::uint32_t, std::string>& sends,
                                                      std::span<const std::uint64_t> incarnations);
    /// `sends` and `receives`: per edge that leaves the task or ends in it, the task at the other end. `failed` is told when a value can't
    /// be sent, also after the step.
    wire_rendezvous(const place& of, std::uint32_t edges, std::map<std::uint32_t, target> sends,
                    std::map<std::uint32_t, std::string> receives, std::shared_ptr<peer_channels> peers,
                    std::function<void(std::exception_ptr)> failed)
        : place_(of), edges_(edges), sends_(std::move(sends)), receives_(std::move(receives)), peers_(std::move(peers)),
          arrived_(edges), state_(std::make_shared<state>(std::move(failed), peers_->runs_in().now())) {}

    RILL_INLINE void send(std::uint32_t edge, any_array value) override;
    bool try_receive(std::uint32_t edge, any_array& into) override { return arrived_.try_receive(edge, into); }
    RILL_INLINE void receive(std::uint32_t edge, completion done) override;
    void abort(std::exception_ptr problem) noexcept override { arrived_.abort(std::move(problem)); }

    /// Takes a value that has come over the wire. `sequence`: the number of values that the edge has carried before it. Values that come out
    /// of order wait for the earlier ones. Throws data_loss for an edge that the run does not have, and for a value that comes twice.
    void deliver(std::uint32_t edge, std::uint64_t sequence, any_array value);
    /// Returns the values of other tasks that the step waits for: "edge 3 from /job:ps/replica:0/task:0"; empty if none.
    std::string awaited() const;
    /// Returns the time of the latest value that has left or come, or of the begin of the step.
    environment::time_point moved() const;

private:
    /// The state that answers of pushes find, also after the step.
    struct state {
        state(std::function<void(std::exception_ptr)> f, environment::time_point now)
            : failed(std::move(f)), moved(now) {}
        void fail(std::exception_ptr problem) {
            std::function<void(std::exception_ptr)> tell;
            {
                const std::lock_guard lock(mutex);
                tell = std::exchange(failed, nullptr); // the first problem counts
            }
            if (tell) tell(std::move(problem));
        }
        std::mutex mutex;
        std::function<void(std::exception_ptr)> failed;
        std::multiset<std::uint32_t> awaited; // edges
        environment::time_point moved;
    };
    /// The values of an edge that ends here.
    struct arrivals {
        std::uint64_t next = 0;                    // the sequence number of the value that is handed on next
        std::map<std::uint64_t, any_array> values; // that came out of order
        bool moves = false;                        // a thread hands values on
    };

    void note_moved();

    const place place_;
    const std::uint32_t edges_;
    const std::map<std::uint32_t, target> sends_;
    const std::map<std::uint32_t, std::string> receives_;
    const std::shared_ptr<peer_channels> peers_;
    local_rendezvous arrived_;
    std::mutex order_mutex_;                      // of the two below
    std::map<std::uint32_t, std::uint64_t> sent_; // values that have left, by edge
    std::map<std::uint32_t, arrivals> arriving_;
    const std::shared_ptr<state> state_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/wire_rendezvous.ipp>
#endif
