// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/security.hpp>

#include <filesystem>
#include <fstream>

#include <rill/core/device_name.hpp>
#include <rill/core/error.hpp>
#include <rill/graph/cluster_spec.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD std::string key_name(const std::string& job, int task) { return job + "/" + std::to_string(task); }

RILL_COLD bool may_speak_as(const std::string& holder, std::string_view says) {
    if (!says.starts_with("/job:")) return true; // a client
    try {
        const auto d = parse_device(std::string(says));
        return holder == key_name(d.job, d.task);
    } catch (const error&) {
        return false;
    }
}

} // namespace detail

RILL_COLD std::string write_keys(const std::string& name, const std::string& folder) {
    if (name.empty() || name.find_first_of(" \t\r\n") != std::string::npos)
        throw invalid_argument("'" + name +
                               "' is not a name for a key; accepted are job/task and names without spaces");
    std::string file;
    for (const char c : name)
        if (c != '/') file += c;
    const auto path = std::filesystem::path(folder) / (file + ".key");
    if (std::filesystem::exists(path)) throw already_exists("there is a key file " + path.string());
    const auto [public_key, secret_key] = make_key_pair();
    std::ofstream key(path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    key << name << ' ' << public_key << ' ' << secret_key << '\n';
    std::ofstream list(std::filesystem::path(folder) / "cluster.pub", std::ios::app);
    list << name << ' ' << public_key << '\n';
    if (!key.flush() || !list.flush()) throw unavailable("the keys of " + name + " can't be written to " + folder);
    return path.string();
}

RILL_COLD credentials curve(const std::string& key_file, const std::string& peer) {
    std::ifstream key(key_file);
    if (!key) throw not_found("there is no key file " + key_file);
#if !defined(_WIN32) // where permissions say nothing
    const auto open_to_others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    if ((std::filesystem::status(key_file).permissions() & open_to_others) != std::filesystem::perms::none)
        throw permission_denied("others than its owner may use the key file " + key_file + ": chmod 600 it");
#endif
    constexpr std::size_t key_size = 40;
    credentials c;
    c.peer = peer;
    key >> c.name >> c.public_key >> c.secret_key;
    if (c.public_key.size() != key_size || c.secret_key.size() != key_size)
        throw data_loss(key_file + " is not a key file");
    const auto list_file = std::filesystem::path(key_file).parent_path() / "cluster.pub";
    std::ifstream list(list_file);
    if (!list) throw not_found("there is no list of keys " + list_file.string());
    for (std::string name, public_key; list >> name >> public_key;) {
        if (public_key.size() != key_size)
            throw data_loss(list_file.string() + ": the key of '" + name + "' does not have 40 characters");
        c.allowed.emplace_back(std::move(name), std::move(public_key));
    }
    return c;
}

}} // namespace rill::RILL_ABI
