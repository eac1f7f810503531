// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/checkpoint.hpp>

#include <cerrno>
#include <cstdlib>
#include <random>

#include "catch.hpp"
#include "io/model_files.hpp"

using namespace rill;
using io_test::array_of;
using io_test::model_files;

namespace test_checkpoint {

std::vector<named_array> arrays(float first) {
    return {{"w", array_of<float>({2, 3}, {first, 1, 2, 3, 4, 5})},
            {"b", array_of<std::int64_t>({}, {static_cast<std::int64_t>(first)})},
            {"words", array_of<std::string>({2}, {"one", std::string(100, 'x')})},
            {"none", any_array(dtype::float64, dims{0})}};
}

/// The value that tells which save a checkpoint is of; -1 if there is none. A mix of two saves fails the test.
float saved(file_system& files, const std::string& directory) {
    const auto path = latest_checkpoint(directory, files);
    if (path.empty()) return -1;
    const checkpoint_reader from(path, files);
    const auto all = from.read_all();
    const float first = from.read("w").elements<float>()[0];
    CHECK(all.size() == 4);
    CHECK(static_cast<float>(from.read("b").value<std::int64_t>()) == first);
    CHECK(from.info().step == static_cast<std::int64_t>(first));
    return first;
}

void save(file_system& files, float first) {
    detail::write_checkpoint("run/model", arrays(first), {.step = static_cast<std::int64_t>(first), .files = &files});
}

std::size_t count_of(const char* variable, std::size_t few) {
    const char* const asked = std::getenv(variable);
    return asked ? static_cast<std::size_t>(std::atol(asked)) : few;
}

} // namespace test_checkpoint

TEST_CASE("checkpoint: arrays come back, by directory and as one file, with step and metadata") {
    model_files files;
    auto given = test_checkpoint::arrays(3);
    given.push_back({"large", any_array(dtype::uint8, dims{(1 << 20) + 5})});
    std::memset(given.back().value.mutable_data(), 7, (1 << 20) + 5);
    const auto path =
        detail::write_checkpoint("run/model", given, {.step = 12, .metadata = {{"graph", "g"}}, .files = &files});
    CHECK(path.substr(0, 21) == "run/model-0000000012-");
    CHECK(path.size() == 29);
    detail::write_checkpoint_file("one.ckpt", given, {.step = 12, .metadata = {{"graph", "g"}}, .files = &files});
    CHECK(files.list("run") == std::vector<std::string>{"LATEST", detail::base_of(path)});
    for (const auto& each : {path, std::string("one.ckpt")}) {
        const checkpoint_reader from(each, files);
        CHECK(from.info().step == 12);
        CHECK(from.info().metadata.at("graph") == "g");
        CHECK(from.info().id.size() == 32);
        CHECK(from.tensors().size() == 5);
        CHECK(from.tensors()[0].first == "b");
        CHECK(from.has("w"));
        CHECK_FALSE(from.has("v"));
        CHECK(from.bytes("w") == 24);
        CHECK(from.read("w").elements<float>()[5] == 5);
        CHECK(from.read("words").elements<std::string>()[0] == "one");
        CHECK(from.read("large").elements<std::uint8_t>()[1 << 20] == 7);
        CHECK(from.read_all().size() == 5);
        CHECK_THROWS_AS(from.read("v"), not_found);
    }
    CHECK_THROWS_AS(checkpoint_reader("", files), not_found);
    CHECK_THROWS_AS(checkpoint_reader("no", files), not_found);
    CHECK(latest_checkpoint("nowhere", files).empty());
    CHECK_THROWS_AS(detail::write_checkpoint("run/model", {given[0], given[0]}, {.files = &files}), invalid_argument);
    CHECK(files.list("run").size() == 2);
}

TEST_CASE("checkpoint: the newest valid one is found, a damaged one is passed over") {
    model_files files;
    for (const float step : {1.f, 3.f, 2.f}) test_checkpoint::save(files, step);
    CHECK(test_checkpoint::saved(files, "run") == 3);
    const auto newest = latest_checkpoint("run", files);
    auto& shard = files.contents(newest + "/shard-00000-of-00001.dat");
    shard.pop_back();
    CHECK(test_checkpoint::saved(files, "run") == 2);
    CHECK(checkpoints_in("run", files).size() == 2);
    detail::remove_checkpoint(latest_checkpoint("run", files), files);
    CHECK(test_checkpoint::saved(files, "run") == 1);
    files.make_directory("run/.tmp-model-0000000009-00000000");
    files.put("run/.tmp-model-0000000009-00000000/x", "half");
    detail::remove_unfinished("run", files);
    CHECK(files.list("run").size() == 3); // LATEST, 1, and the damaged one
}

TEST_CASE("checkpoint: G18: each operation in turn fails, the last one stays, and the next save succeeds") {
    for (const int problem : {ENOSPC, EIO, EROFS}) {
        std::size_t operations = 1;
        for (std::size_t k = 1; k <= operations; ++k) {
            model_files files;
            test_checkpoint::save(files, 1);
            files.fail(k, problem);
            const auto before = files.calls();
            bool failed = false;
            try {
                test_checkpoint::save(files, 2);
            } catch (const error& e) {
                failed = true;
                CHECK_THAT(e.what(), contains("run"));
            }
            operations = std::max(operations, files.calls() - before);
            files.fail(0, 0);
            CHECK(test_checkpoint::saved(files, "run") == (failed ? 1 : 2));
            for (const auto& name : files.list("run"))
                if (name.find("LATEST") == std::string::npos) CHECK(name[0] != '.');
            test_checkpoint::save(files, 3);
            CHECK(test_checkpoint::saved(files, "run") == 3);
        }
        CHECK(operations > 15);
    }
}

TEST_CASE("checkpoint: G19: power fails after any operation, the last or the previous one is found, never a mix") {
    model_files files;
    test_checkpoint::save(files, 1);
    files.settle();
    const auto begin = files.operations();
    test_checkpoint::save(files, 2);
    const auto end = files.operations();
    std::mt19937 draw(5);
    const auto subsets = test_checkpoint::count_of("RILL_CRASHES", 12);
    for (std::size_t n = begin; n <= end; ++n) {
        const auto crash = [&](const std::function<bool(std::size_t)>& kept) {
            model_files left(files, n, kept);
            const float found = test_checkpoint::saved(left, "run");
            CHECK((found == 1 || found == 2));
            if (n == end) CHECK(found == 2); // it was reported as saved
        };
        crash([](std::size_t) { return true; });
        for (std::size_t m = begin; m <= n; ++m) crash([&](std::size_t i) { return i < m; });
        for (std::size_t i = 0; i < subsets; ++i) crash([&](std::size_t) { return draw() % 2 == 0; });
    }
}

TEST_CASE("checkpoint: G21: every bit flip and every truncation is reported, and never loaded") {
    model_files files;
    detail::write_checkpoint_file("c", test_checkpoint::arrays(1),
                                  {.step = 1, .metadata = {{"a", "b"}}, .files = &files});
    const auto stride = test_checkpoint::count_of("RILL_FLIP_STRIDE", 1);
    CHECK(io_test::damages_read(files, "c", [&] { checkpoint_reader("c", files).read_all(); }, stride) == 0);
    test_checkpoint::save(files, 1);
    const auto path = latest_checkpoint("run", files);
    for (const auto& name : files.list(path))
        CHECK(io_test::damages_read(
                  files, path + "/" + name, [&] { checkpoint_reader(path, files).read_all(); }, 3) == 0);
    std::string& bytes = files.contents("c");
    const auto at = bytes.find(std::string("\0\0\0\x40", 4), 64); // within w
    REQUIRE(at != std::string::npos);
    bytes[at] ^= 1;
    CHECK_THROWS_WITH(checkpoint_reader("c", files).read("w"), contains("'c'") && contains("tensor 'w'"));
}
