// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/device/device.hpp>

namespace gpu_test {

using namespace rill;

/// A default device for a while.
class by_default {
public:
    explicit by_default(const std::string& name) : before_(default_device().name) { set_default_device(name); }
    ~by_default() { set_default_device(before_); }
    by_default(const by_default&) = delete;

private:
    std::string before_;
};

} // namespace gpu_test
