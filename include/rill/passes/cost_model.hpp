// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <rill/passes/cost_record.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

inline bool same_task(const device& a, const device& b) {
    return a.full.job == b.full.job && a.full.replica == b.full.replica && a.full.task == b.full.task;
}

} // namespace detail

/// Estimates of times, in microseconds. A measured node takes the median of its last times. Other times follow from the costs that ops
/// declare and the speeds of device types. Unknown extents count as 64.
class cost_model {
public:
    cost_model() = default;
    /// Uses measured times. The record may be null, and must outlive the model.
    explicit cost_model(const cost_record* measured) : measured_(measured) {}

    /// Returns true if the model has measured times.
    bool has_measured() const noexcept { return measured_ && !measured_->empty(); }
    /// Returns the single-thread time of an item on a device. A time measured on another type of device is scaled by the ratio of the
    /// estimates.
    double microseconds(const subgraph& g, int item, const device& on) const;
    /// Returns the time to transfer a value of that size to another device. Null is the host. Devices that share a memory transfer at once;
    /// other tasks are reached by the network.
    double transfer_microseconds(double bytes, const device* from, const device* to) const;
    /// Returns the size of an output of an item; 0 if no node computes it.
    double bytes(const subgraph& g, const subgraph::value& v) const;

private:
    const cost_record* measured_ = nullptr;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/cost_model.ipp>
#endif
