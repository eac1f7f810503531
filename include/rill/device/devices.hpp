// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The devices that a file compiles kernels for. Code above device/ includes this header, never a device's own header.

#include <rill/device/cpu/cpu.hpp>
#ifdef RILL_MORE_DEVICES // <a header> that defines rill::more_devices, a device_list
#include RILL_MORE_DEVICES
#endif

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// A list of device types, each of which satisfies device_primitives (device/primitives.hpp).
template <class... D> struct device_list {
    template <class F> static void each(F&& f) { (f(std::type_identity<D>{}), ...); }
};

#ifdef RILL_MORE_DEVICES
template <class List> struct with_cpu;
template <class... D> struct with_cpu<device_list<D...>> {
    using type = device_list<cpu, D...>;
};
using devices = typename with_cpu<more_devices>::type;
#else
using devices = device_list<cpu>;
#endif

}}} // namespace rill::RILL_ABI::RILL_ISA
