// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The Thrust device in the far device's place: it bears the name "far" and computes by Thrust's kernels, in memory that the host can't
// read, with the copies, instances and checks of ../far. Programs name this header as RILL_MORE_DEVICES.

#include <optional>
#include <string_view>
#include <utility>

#include <rill/device/cpu/cpu.hpp>
#include <rill/device/thrust/host_backend.hpp>
#include <rill/device/thrust/thrust_device.hpp>

#include "../far/addresses.hpp"

namespace test_far {

struct thrust_backend : rill::host_backend<rill::cpp_system> {
    template <class T> static T* at(T* p) { return here(p); }
    static std::optional<rill::execution_context> enter(const rill::execution_context& on) { return here(on); }
    static rill::kernel on_instance(rill::kernel inner, const rill::kernel_request& request) {
        return rill::kernel([inner = std::move(inner), space = request.space](const rill::kernel_args& a) {
            const selected instance(space);
            inner(a);
        });
    }
};

} // namespace test_far

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

struct far : thrust_device<far, test_far::thrust_backend> {
    static constexpr std::string_view type = "far";
};

template <class... D> struct device_list; // device/devices.hpp, which includes this
using more_devices = device_list<far>;

}}} // namespace rill::RILL_ABI::RILL_ISA
