// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "addresses.hpp"

namespace test_far {

/// Where nodes run that ask for no device, for a while.
class by_default {
public:
    explicit by_default(const std::string& name) : before_(rill::default_device().name) {
        device();
        rill::set_default_device(name);
    }
    ~by_default() { rill::set_default_device(before_); }
    by_default(const by_default&) = delete;

private:
    std::string before_;
};

} // namespace test_far
