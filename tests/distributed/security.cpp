// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/security.hpp>

#include <filesystem>
#include <fstream>

#include <rill/core/error.hpp>

#include "catch.hpp"

#if RILL_WITH_ZMQ
using namespace rill;

namespace test_security {

TEST_CASE("security: key files are written once, and read by their owner alone") {
    const auto folder = std::filesystem::temp_directory_path() / "rill_test_security";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const auto ps = write_keys("ps/0", folder.string()), client = write_keys("alice", folder.string());
    CHECK_THROWS_AS(write_keys("ps/0", folder.string()), already_exists);
    CHECK_THROWS_AS(write_keys("two words", folder.string()), invalid_argument);
    CHECK(std::filesystem::path(ps).filename() == "ps0.key");
    const auto c = curve(client, "ps/0");
    CHECK(c.name == "alice");
    CHECK(c.peer == "ps/0");
    CHECK(c.has_keys());
    REQUIRE(c.allowed.size() == 2);
    CHECK(c.allowed[0] == std::pair<std::string, std::string>("ps/0", curve(ps).public_key));
    CHECK(c.allowed[1].second == c.public_key);
    CHECK(c.secret_key != curve(ps).secret_key);
    CHECK_THROWS_AS(curve((folder / "none.key").string()), not_found);
    CHECK_THROWS_AS(write_keys("ps/1", (folder / "none").string()), not_found);
#if !defined(_WIN32)
    CHECK(std::filesystem::status(ps).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    std::filesystem::permissions(ps, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
    CHECK_THROWS_AS(curve(ps), permission_denied);
#endif
    std::ofstream(client) << "alice short\n";
    CHECK_THROWS_AS(curve(client), data_loss);
    std::filesystem::remove_all(folder);
}

TEST_CASE("security: the holder of a key speaks for no other task") {
    CHECK(detail::may_speak_as("ps/0", "/job:ps/replica:0/task:0"));
    CHECK_FALSE(detail::may_speak_as("ps/0", "/job:ps/replica:0/task:1"));
    CHECK_FALSE(detail::may_speak_as("alice", "/job:ps/replica:0/task:0"));
    CHECK_FALSE(detail::may_speak_as("ps/0", "/job:ps/replica:0/task:0/nonsense:"));
    CHECK(detail::may_speak_as("alice", "client 17"));
}

} // namespace test_security
#endif
