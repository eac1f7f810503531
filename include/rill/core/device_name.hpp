// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

/// A full or partial device name: "/job:ps/replica:0/task:1/device:cpu:0". "/gpu:1" and "/cpu:0" are short forms. A missing part is
/// empty, or -1.
struct device_name {
    std::string job;
    int replica = -1, task = -1;
    std::string type; // lower case
    int index = -1;

    friend bool operator==(const device_name&, const device_name&) = default;
};

namespace detail {

int device_number(std::string_view digits, std::string_view whole);

} // namespace detail

/// Parses a device name. Throws invalid_argument if it is malformed. "" is the name without constraints.
device_name parse_device(std::string_view text);

std::string to_string(const device_name& d);

/// Returns the name in the form of TensorFlow's log, with the type in capitals: "/job:localhost/replica:0/task:0/device:CPU:0".
std::string logged_name(const device_name& d);

/// Returns the name of a device as the name of a file: "job:localhost_replica:0_task:0_device:cpu:0".
std::string file_name_of(const std::string& device);

/// Merges the names of nested scopes. Parts of the inner name win; missing parts come from the outer name.
device_name merge(const device_name& outer, const device_name& inner);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/device_name.ipp>
#endif
