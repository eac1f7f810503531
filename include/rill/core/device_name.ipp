// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/device_name.hpp>

#include <cctype>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD int device_number(std::string_view digits, std::string_view whole) {
    int value = 0;
    if (digits == "*") return -1;
    if (digits.empty() || digits.size() > 9)
        throw invalid_argument("device name '" + std::string(whole) + "': a number is missing");
    for (const char c : digits) {
        if (c < '0' || c > '9')
            throw invalid_argument("device name '" + std::string(whole) + "': '" + std::string(digits) +
                                   "' is not a number");
        value = value * 10 + (c - '0');
    }
    return value;
}

} // namespace detail

RILL_COLD device_name parse_device(std::string_view text) {
    device_name d;
    std::string_view rest = text;
    while (!rest.empty()) {
        if (rest.front() != '/')
            throw invalid_argument("device name '" + std::string(text) + "': each part begins with '/'");
        rest.remove_prefix(1);
        const std::string_view part = rest.substr(0, rest.find('/'));
        rest.remove_prefix(part.size());
        const auto colon = part.find(':');
        const std::string_view key = part.substr(0, colon);
        std::string_view value = colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
        if (key == "job") {
            if (value.empty())
                throw invalid_argument("device name '" + std::string(text) + "': a job's name is missing");
            d.job = value == "*" ? std::string_view() : value;
        } else if (key == "replica")
            d.replica = detail::device_number(value, text);
        else if (key == "task")
            d.task = detail::device_number(value, text);
        else {
            // "device:cpu:0", or the short form "cpu:0"
            if (key == "device") {
                const auto second = value.find(':');
                d.type = value.substr(0, second);
                value = second == std::string_view::npos ? std::string_view("*") : value.substr(second + 1);
            } else {
                d.type = key;
                if (colon == std::string_view::npos) value = "*";
            }
            for (char& c : d.type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            if (d.type.empty() || d.type.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos)
                throw invalid_argument("device name '" + std::string(text) + "': '" + std::string(part) +
                                       "' is not a device");
            d.index = detail::device_number(value, text);
        }
    }
    return d;
}

RILL_COLD std::string to_string(const device_name& d) {
    std::string s;
    if (!d.job.empty()) s += "/job:" + d.job;
    if (d.replica >= 0) s += "/replica:" + std::to_string(d.replica);
    if (d.task >= 0) s += "/task:" + std::to_string(d.task);
    if (!d.type.empty()) s += "/device:" + d.type + (d.index >= 0 ? ":" + std::to_string(d.index) : "");
    return s;
}

RILL_COLD std::string logged_name(const device_name& d) {
    device_name in_capitals = d;
    for (char& c : in_capitals.type) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return to_string(in_capitals);
}

RILL_COLD std::string file_name_of(const std::string& device) {
    std::string name = device.substr(device.starts_with('/') ? 1 : 0);
    for (char& c : name)
        if (c == '/') c = '_';
    return name;
}

RILL_COLD device_name merge(const device_name& outer, const device_name& inner) {
    device_name d = outer;
    if (!inner.job.empty()) d.job = inner.job;
    if (inner.replica >= 0) d.replica = inner.replica;
    if (inner.task >= 0) d.task = inner.task;
    if (!inner.type.empty()) {
        d.type = inner.type;
        d.index = inner.index;
    }
    return d;
}

}} // namespace rill::RILL_ABI
