// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/security.hpp>

#include <filesystem>
#include <fstream>

#if defined(__unix__) || defined(__APPLE__)
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#endif

#include <rill/core/device_name.hpp>
#include <rill/core/error.hpp>
#include <rill/core/text_file.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD std::string key_name(const std::string& job, int task) { return job + "/" + std::to_string(task); }

RILL_COLD std::string key_name_of(std::string_view task) {
    try {
        const auto d = parse_device(task);
        return d.job.empty() ? std::string() : key_name(d.job, d.task);
    } catch (const error&) {
        return {};
    }
}

RILL_COLD bool may_speak_as(const std::string& holder, std::string_view says) {
    if (!says.starts_with("/job:")) return true; // a client
    const auto name = key_name_of(says);
    return !name.empty() && holder == name;
}

/// Creates a file that only its owner may open, from its creation on. Throws already_exists if it exists.
inline void write_secret(const std::filesystem::path& path, const std::string& text) {
    const auto what = "the key file " + path.string();
#if defined(__unix__) || defined(__APPLE__)
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) refuse_file(what + " can't be made", errno);
    const bool is_whole = ::write(file, text.data(), text.size()) == static_cast<::ssize_t>(text.size());
    if (::close(file) != 0 || !is_whole) throw unavailable(what + " can't be written");
#else
    if (std::filesystem::exists(path)) throw already_exists(what + " can't be made: it is there");
    std::ofstream file(path);
    file << text;
    if (!file.flush()) throw unavailable(what + " can't be written");
#endif
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
    const auto [public_key, secret_key] = make_key_pair();
    detail::write_secret(path, name + ' ' + public_key + ' ' + secret_key + '\n');
    std::ofstream list(std::filesystem::path(folder) / "cluster.pub", std::ios::app);
    list << name << ' ' << public_key << '\n';
    if (!list.flush())
        throw unavailable("the public key of " + name + " can't be written to " + folder + "/cluster.pub");
    return path.string();
}

RILL_COLD credentials curve(const std::string& key_file, const std::string& peer) {
    std::ifstream key(key_file);
    if (!key) throw not_found("there is no key file " + key_file);
#if !defined(_WIN32) // without POSIX permissions
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
