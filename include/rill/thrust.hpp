// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The device "thrust": the GPU kernels on host threads, in host memory. With -fopenmp they run on OpenMP's threads, otherwise on one
// thread. Programs enable it with "-DRILL_MORE_DEVICES=<rill/thrust.hpp>" (docs/gpu.md). Only nodes that request it run there: device_scope
// on("/device:thrust:0").

#include <string>
#include <string_view>

#include <rill/device/cpu/cpu.hpp>
#include <rill/device/device.hpp>
#include <rill/device/thrust/can_launch.hpp>
#include <rill/device/thrust/host_backend.hpp>
#include <rill/device/thrust/host_memory.hpp>
#include <rill/device/thrust/thrust_device.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// The Thrust device in host memory.
#ifdef _OPENMP
struct thrust_host : thrust_device<thrust_host, host_backend<omp_system>> {
#else
struct thrust_host : thrust_device<thrust_host, host_backend<cpp_system>> {
#endif
    static constexpr std::string_view type = "thrust";
};

template <class... D> struct device_list; // device/devices.hpp, which includes this header
using more_devices = device_list<thrust_host>;

/// Registers the device type "thrust". A session may have any number of instances in the host's memory, or virtual devices with limits.
inline bool register_thrust_host() {
    static const bool done = [] {
        auto& type = *new device_type{std::string(thrust_host::type)}; // leaked: device types are never freed
        type.chosen_spaces = &chosen_host_memories;
        type.can_run = &detail::can_launch;
        register_device(type);
        return true;
    }();
    return done;
}

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

inline const bool thrust_host_at_start = register_thrust_host();

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
