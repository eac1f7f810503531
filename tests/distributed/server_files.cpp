// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/server_files.hpp>

#include <filesystem>
#include <fstream>

#include <rill/core/error.hpp>
#include <rill/distributed.hpp>
#include <rill/expr/constant.hpp>
#include <rill/ops/input/reader.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/table/vocabulary.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_server_files {

/// A directory of its own, with a file in it and one beside it.
struct test_directory {
    test_directory() {
        std::filesystem::remove_all(root);
        std::filesystem::create_directories(root / "data");
        std::ofstream(root / "data" / "words.txt") << "a\nb\n";
        std::ofstream(root / "secret.txt") << "a\nb\n";
    }
    ~test_directory() { std::filesystem::remove_all(root); }
    std::filesystem::path root = std::filesystem::temp_directory_path() / "rill_test_server_files";
};

TEST_CASE("server files: below a directory, and no way out of it") {
    const test_directory d;
    const auto data = d.root / "data";
    const auto files = below(data.string());
    files->check((data / "words.txt").string());
    files->check((data / "later" / "words.txt").string());
    files->check((data / ".." / "data" / "words.txt").string());
    for (const auto& path : {d.root / "secret.txt", data / ".." / "secret.txt", d.root / "data2",
                             std::filesystem::path("/etc/passwd"), std::filesystem::path("")})
        CHECK_THROWS_AS(files->check(path.string()), permission_denied);
    // the system opens what stands before the 0, and may make it
    const std::string cut = (d.root / "new.txt").string() + '\0' + "/../data/words.txt";
    CHECK_THROWS_AS(files->check(cut), permission_denied);
    const auto later = below((d.root / "later").string() + "/"); // a directory that is made afterwards
    std::filesystem::create_directory(d.root / "later");
    later->check((d.root / "later" / "words.txt").string());
    CHECK_THROWS_AS(later->check((d.root / "secret.txt").string()), permission_denied);
#if !defined(_WIN32)
    std::filesystem::create_symlink(d.root / "secret.txt", data / "link.txt");
    CHECK_THROWS_AS(files->check((data / "link.txt").string()), permission_denied);
#endif
    CHECK_THROWS_WITH(detail::no_files().check("x"), contains("'x'") && contains("below"));
}

TEST_CASE("server files: a table of a server reads a file only where its options say so") {
    const test_directory d;
    for (const bool allowed : {false, true}) {
        const server node(cluster_spec{{"worker", {"test_server_files/worker"}}}, "worker", 0,
                          {.files = allowed ? below((d.root / "data").string()) : nullptr});
        graph g;
        graph_scope use(g);
        const auto words = index_table_from_file((d.root / "data" / "words.txt").string());
        const tensor<std::int64_t> b = words.lookup(constant(std::string("b")));
        const fifo_queue<tensor<std::string>> names({.capacity = 2});
        const operation put = names.enqueue(constant((d.root / "data" / "words.txt").string()));
        const text_line_reader reader;
        const auto [key, line] = reader.read(names);
        const session s(g, {.target = node.target()});
        s.run(put);
        if (!allowed) {
            CHECK_THROWS_AS(s.run(tables_initializer()), permission_denied);
            CHECK_THROWS_AS(s.run(line), permission_denied);
            continue;
        }
        CHECK(s.run(line) == "a");
        s.run(tables_initializer());
        CHECK(s.run(b) == 1);
        const auto secret = index_table_from_file((d.root / "secret.txt").string());
        CHECK_THROWS_AS(s.run(tables_initializer()), permission_denied);
    }
}

} // namespace test_server_files
