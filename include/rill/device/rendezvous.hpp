// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>

#include <rill/core/any_array.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI {

/// The exchange of values between the parts of one step. Edges have numbers. An edge delivers its values in the order in which they are
/// sent: inside a loop, one per iteration. Thread-safe.
class rendezvous {
public:
    /// Sends a value, which must own its elements and lie in host memory. Never waits. After abort() it does nothing.
    virtual void send(std::uint32_t edge, any_array value) = 0;
    /// Receives the edge's next value if it has arrived, and returns true. Throws the problem given to abort().
    virtual bool try_receive(std::uint32_t edge, any_array& into) = 0;
    /// Calls `done` once with the edge's next value as its only output, or with the problem given to abort(). The call comes from any
    /// thread, possibly before this function returns.
    virtual void receive(std::uint32_t edge, completion done) = 0;
    /// Ends the exchange: all pending and later receives complete with this problem. Only the first call has an effect.
    virtual void abort(std::exception_ptr problem) noexcept = 0;

protected:
    ~rendezvous() = default;
};

namespace detail {

/// Returns the rendezvous of the step that a kernel runs in. Throws failed_precondition outside a partitioned step.
inline rendezvous& exchange_of(const kernel_args& a) {
    if (!a.step || !a.step->exchange)
        throw failed_precondition("the step exchanges no values: only parts of a run send and receive");
    return *a.step->exchange;
}

} // namespace detail

}} // namespace rill::RILL_ABI
