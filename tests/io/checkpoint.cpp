// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/checkpoint.hpp>

#include <cerrno>
#include <cstdlib>
#include <random>

#include <rill/core/log.hpp>
#include <rill/io/shard.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"
#include "io/temporary.hpp"

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

void save(file_system& files, float first, int shards = 1) {
    detail::write_checkpoint("run/model", arrays(first),
                             {.step = static_cast<std::int64_t>(first), .files = &files, .shards = shards});
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
    CHECK(files.list("run").size() == 3); // LATEST, 1, and the damaged one
    std::vector<std::string> lines;
    set_log_sink([&](log_level, std::string_view line) { lines.emplace_back(line); });
    CHECK(test_checkpoint::saved(files, "run") == 1);
    set_log_sink({});
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines[0], contains("passed over: ") && contains("'" + newest + "'") && contains("should be"));
}

TEST_CASE("checkpoint: what an interrupted save has left goes by its prefix, other savers go on") {
    model_files files;
    test_checkpoint::save(files, 1);
    const std::string mine = "run/.tmp-model-0000000009-0123abcd", others = "run/.tmp-model-2-0000000009-0123abcd";
    for (const auto& directory : {mine, others}) {
        files.make_directory(directory);
        files.put(directory + "/shard-00000-of-00001.dat", "half");
    }
    files.make_directory("run/model-0000000003-0123abcd"); // a removal has begun: its manifest is gone
    files.put("run/model-0000000003-0123abcd/shard-00000-of-00001.dat", "half");
    for (const char* name : {".tmp-model-LATEST-17", ".tmp-model-123", ".tmp-other-LATEST-17", ".tmp-modelling-123"})
        files.put(std::string("run/") + name, "half");
    const std::string kept = detail::base_of(latest_checkpoint("run", files));
    detail::remove_unfinished("run", "model", files);
    CHECK(files.list("run") == std::vector<std::string>{".tmp-model-2-0000000009-0123abcd", ".tmp-modelling-123",
                                                        ".tmp-other-LATEST-17", "LATEST", kept});
    detail::remove_unfinished("nowhere", "model", files);
    CHECK(detail::base_of_checkpoint("model-2-0000000009-0123abcd") == "model-2");
    for (const char* name :
         {"model-000000009-0123abcd", "model-0000000009-0123abcx", "model-0000000009", "-", "", "LATEST"})
        CHECK(detail::base_of_checkpoint(name).empty());
}

TEST_CASE("checkpoint: a manifest names files of its own directory, or is refused") {
    model_files files;
    test_checkpoint::save(files, 1);
    const auto path = latest_checkpoint("run", files);
    for (const char* name : {"../../etc/passwd", "/etc/passwd", "..", ".hidden", ""}) {
        files.contents(path + "/MANIFEST") =
            detail::manifest_bytes({.step = 1}, std::string(16, 'i'), 0, {{name, 64, 0, 0}});
        CHECK_THROWS_WITH(checkpoint_reader(path, files),
                          contains("'" + path + "'") && contains(std::string("names the file '") + name + "'"));
    }
}

TEST_CASE("checkpoint: arrays are spread over shards, and read from all of them") {
    model_files files;
    auto given = test_checkpoint::arrays(1);
    given.push_back({"large", any_array(dtype::float32, dims{5000})});
    const auto path = detail::write_checkpoint("run/model", given, {.step = 1, .files = &files, .shards = 3});
    CHECK(files.list(path) == std::vector<std::string>{"MANIFEST", "shard-00000-of-00003.dat",
                                                       "shard-00001-of-00003.dat", "shard-00002-of-00003.dat"});
    const checkpoint_reader from(path, files);
    CHECK(from.tensors().size() == 5);
    CHECK(from.read("w").elements<float>()[0] == 1);
    CHECK(from.read_all().size() == 5);
    CHECK(io_test::damages_read(
              files, path + "/shard-00001-of-00003.dat", [&] { checkpoint_reader(path, files).read_all(); }, 7) == 0);
    CHECK(io_test::damages_read(files, path + "/MANIFEST", [&] { checkpoint_reader(path, files).read_all(); }) == 0);
    std::swap(files.contents(path + "/shard-00000-of-00003.dat"), files.contents(path + "/shard-00001-of-00003.dat"));
    CHECK_THROWS_WITH(checkpoint_reader(path, files),
                      contains("'shard-00000-of-00003.dat'") && contains("different checkpoints"));
    for (const int shards : {0, -1, 5000})
        CHECK_THROWS_WITH(detail::write_checkpoint("run/model", given, {.files = &files, .shards = shards}),
                          contains("1 to 4096 shards, not " + std::to_string(shards)));
    CHECK_THROWS_AS(detail::write_checkpoint("run/model", {given[0], given[0]}, {.files = &files, .shards = 2}),
                    invalid_argument);
    CHECK(files.list("run").size() == 2);
    CHECK(sharded_filename("run/m", 1, 3) == "run/m-00001-of-00003");
}

namespace test_checkpoint {

/// Rows 0 to 6 of two numbers each, row i being {i, 10 i}: those from `start` on, in steps.
named_array rows(const std::string& name, index_t start, index_t n, index_t step) {
    std::vector<float> values;
    for (index_t i = 0; i < n; ++i)
        for (const float scale : {1.f, 10.f}) values.push_back(scale * static_cast<float>(start + i * step));
    return {name, array_of<float>({n, 2}, values)};
}
saved_slice slice_of(index_t start, index_t n, index_t step) { return {"t", dims{7, 2}, 0, start, n, step}; }

} // namespace test_checkpoint

TEST_CASE("checkpoint: files of many shards are open only while they are read") {
    const io_test::temporary_directory here;
    std::vector<named_array> arrays;
    for (int i = 0; i < 300; ++i)
        arrays.push_back({"v" + std::to_string(i), array_of<float>({1}, {static_cast<float>(i)})});
    const auto path = detail::write_checkpoint(here / "m", arrays, {.step = 1, .shards = 150});
    const checkpoint_reader from(path);
    CHECK(from.read("v123").value<float>() == 123);
    const auto all = from.read_all();
    CHECK(all.size() == 300);
    for (const auto& a : all) CHECK("v" + std::to_string(static_cast<int>(a.value.value<float>())) == a.name);
}

TEST_CASE("checkpoint: slices are one array, read whole or in other slices") {
    using test_checkpoint::rows, test_checkpoint::slice_of;
    model_files files;
    const auto whole = rows("t", 0, 7, 1).value;
    const auto equal = [](const any_array& a, const any_array& b) {
        return a.type() == b.type() &&
               std::equal(a.elements<float>().begin(), a.elements<float>().end(), b.elements<float>().begin());
    };
    for (const int shards : {1, 2}) {
        // three parts, each third row
        const auto path = detail::write_checkpoint(
            "run/model", {rows("t/part_0", 0, 3, 3), rows("t/part_1", 1, 2, 3), rows("t/part_2", 2, 2, 3)},
            {.files = &files,
             .shards = shards,
             .slices = {
                 {"t/part_0", slice_of(0, 3, 3)}, {"t/part_1", slice_of(1, 2, 3)}, {"t/part_2", slice_of(2, 2, 3)}}});
        const checkpoint_reader from(path, files);
        CHECK(from.tensors() == std::vector<std::pair<std::string, tensor_type>>{{"t", whole.type()}});
        CHECK(from.bytes("t") == 56);
        CHECK(equal(from.read("t"), whole));
        CHECK(equal(from.read_slice(slice_of(1, 2, 3)), rows("", 1, 2, 3).value)); // one that is there
        CHECK(equal(from.read_slice(slice_of(4, 3, 1)), rows("", 4, 3, 1).value)); // a block, of two parts
        const auto cut = from.read_slice({"t", dims{7, 2}, 1, 1, 1, 1});           // along the other axis
        CHECK(cut.shape() == dims{7, 1});
        CHECK(cut.elements<float>()[6] == 60);
        const auto two = from.read_all({{"a", slice_of(0, 4, 2)}, {"b", slice_of(1, 3, 2)}});
        REQUIRE(two.size() == 2);
        CHECK(equal(two[0].value, rows("", 0, 4, 2).value));
        CHECK(equal(two[1].value, rows("", 1, 3, 2).value));
        CHECK(from.read_all().size() == 1);
        for (const auto& wrong : {slice_of(5, 3, 1), slice_of(-1, 2, 1), slice_of(0, 2, 0), slice_of(0, 4, 3),
                                  saved_slice{"t", dims{8, 2}, 0, 0, 1, 1}, saved_slice{"t", dims{7, 2}, 2, 0, 1, 1}})
            CHECK_THROWS_AS(from.read_slice(wrong), invalid_argument);
        CHECK_THROWS_AS(from.read_slice({"u", dims{7, 2}, 0, 0, 1, 1}), not_found);
    }
    CHECK_THROWS_WITH(detail::write_checkpoint("run/model", {rows("a", 0, 3, 1)},
                                               {.files = &files, .slices = {{"a", slice_of(0, 2, 1)}}}),
                      contains("tensor 'a'") && contains("not a part of 't' [7, 2]"));
}

TEST_CASE("checkpoint: slices that are missing or there twice are data_loss") {
    using test_checkpoint::rows, test_checkpoint::slice_of;
    model_files files;
    const auto refused = [&](const std::vector<named_array>& arrays, const std::map<std::string, saved_slice>& slices,
                             const std::string& why) {
        const auto path = detail::write_checkpoint("run/m", arrays, {.files = &files, .slices = slices});
        CHECK_THROWS_WITH(checkpoint_reader(path, files).read("t"), contains("tensor 't'") && contains(why));
    };
    refused({rows("a", 0, 3, 1)}, {{"a", slice_of(0, 3, 1)}}, "3 of 7 elements along axis 0");
    refused({rows("a", 0, 4, 1), rows("b", 2, 3, 1)}, {{"a", slice_of(0, 4, 1)}, {"b", slice_of(2, 3, 1)}},
            "two slices hold element 2");
    refused({rows("a", 0, 4, 1), rows("b", 2, 5, 1)}, {{"a", slice_of(0, 4, 1)}, {"b", slice_of(2, 5, 1)}},
            "9 of 7 elements");
    const auto path = detail::write_checkpoint("run/m", {rows("a", 0, 3, 1)},
                                               {.step = 9, .files = &files, .slices = {{"a", slice_of(0, 3, 1)}}});
    const auto part = checkpoint_reader(path, files).read_slice(slice_of(1, 2, 1)); // which is there
    CHECK(part.elements<float>()[2] == 2);
}

TEST_CASE("checkpoint: checkpoints of different arrays are merged into one") {
    using test_checkpoint::rows, test_checkpoint::slice_of;
    model_files files;
    const auto a = detail::write_checkpoint("ps0/m", {rows("t/part_0", 0, 4, 1), {"b", array_of<float>({1}, {5})}},
                                            {.step = 3, .files = &files, .slices = {{"t/part_0", slice_of(0, 4, 1)}}});
    const auto b = detail::write_checkpoint("ps1/m", {rows("t/part_1", 4, 3, 1), {"c", array_of<float>({1}, {6})}},
                                            {.step = 4,
                                             .metadata = {{"k", "v"}},
                                             .files = &files,
                                             .shards = 2,
                                             .slices = {{"t/part_1", slice_of(4, 3, 1)}}});
    const auto path = merge_checkpoints({a, b}, "run/m", {.delete_old = false, .files = &files});
    const checkpoint_reader from(path, files);
    CHECK(files.list(path).size() == 4);
    CHECK(from.info().step == 4);
    CHECK(from.info().metadata.at("k") == "v");
    CHECK(from.tensors().size() == 3);
    CHECK(from.read("t").elements<float>()[13] == 60);
    CHECK(from.read("c").value<float>() == 6);
    CHECK(from.read_all().size() == 3);
    CHECK_THROWS_WITH(merge_checkpoints({a, a}, "run/m", {.files = &files}),
                      contains("merge_checkpoints") && contains("an earlier checkpoint has it too"));
    CHECK_THROWS_AS(merge_checkpoints({}, "run/m", {.files = &files}), invalid_argument);
    const auto whole = detail::write_checkpoint("ps2/m", {rows("t", 0, 7, 1)}, {.step = 3, .files = &files});
    CHECK_THROWS_WITH(merge_checkpoints({a, whole}, "run/m", {.files = &files}), contains("'t'") && contains("too"));
    CHECK_THROWS_WITH(detail::write_checkpoint("run/m", {rows("t", 0, 7, 1), rows("t/part_1", 4, 3, 1)},
                                               {.step = 5,
                                                .files = &files,
                                                .shards = 2,
                                                .slices = {{"t/part_1", slice_of(4, 3, 1)}}}),
                      contains("'t'") && contains("the name is taken"));
    CHECK(files.exists(a));
    CHECK(files.exists(whole));
    detail::write_checkpoint_file("one", {{"d", array_of<float>({1}, {7})}}, {.files = &files});
    CHECK_THROWS_WITH(merge_checkpoints({a, "one"}, "run/m", {.files = &files}), contains("'one' is a single file"));
    CHECK(latest_checkpoint("run", files) == path);
    std::size_t operations = 1;
    for (std::size_t k = 1; k <= operations; ++k) { // each operation in turn fails
        files.fail(k, EIO);
        const auto before = files.calls();
        std::string made;
        try {
            made = merge_checkpoints({a, b}, "other/m", {.delete_old = false, .files = &files});
        } catch (const error&) {}
        operations = std::max(operations, files.calls() - before);
        files.fail(0, 0);
        CHECK(checkpoints_in("other", files).size() == (made.empty() ? 0u : 1u));
        if (!made.empty()) detail::remove_checkpoint(made, files);
    }
    merge_checkpoints({a, b}, "run/m", {.files = &files});
    CHECK_FALSE(files.exists(a));
    CHECK_FALSE(files.exists(b));
}

namespace test_checkpoint {

float saved_file(file_system& files) { return checkpoint_reader("run/one.ckpt", files).read("w").elements<float>()[0]; }

/// Lets each operation of a save in turn fail: the last checkpoint stays, nothing is left beside it, and the next save succeeds.
void fail_each(const std::function<void(file_system&, float)>& save, const std::function<float(file_system&)>& saved) {
    for (const int problem : {ENOSPC, EIO, EROFS, EINTR}) {
        std::size_t operations = 1;
        for (std::size_t k = 1; k <= operations; ++k) {
            model_files files;
            save(files, 1);
            files.fail(k, problem);
            const auto before = files.calls();
            bool failed = false;
            try {
                save(files, 2);
            } catch (const error& e) {
                failed = true;
                CHECK_THAT(e.what(), contains("run"));
            }
            operations = std::max(operations, files.calls() - before);
            files.fail(0, 0);
            CHECK(saved(files) == (failed ? 1 : 2));
            for (const auto& name : files.list("run"))
                if (name.find("LATEST") == std::string::npos) CHECK(name[0] != '.');
            save(files, 3);
            CHECK(saved(files) == 3);
        }
        CHECK(operations > 8);
    }
}

} // namespace test_checkpoint

TEST_CASE("checkpoint: G18: each operation in turn fails, the last one stays, and the next save succeeds") {
    const auto newest = [](file_system& files) { return test_checkpoint::saved(files, "run"); };
    test_checkpoint::fail_each([](file_system& files, float first) { test_checkpoint::save(files, first); }, newest);
    test_checkpoint::fail_each([](file_system& files, float first) { test_checkpoint::save(files, first, 3); }, newest);
}

TEST_CASE("checkpoint: G18: each operation of a single-file save in turn fails, the old file stays") {
    // A failed sync of the directory is reported, though the new file is there: it may not survive a loss of power.
    std::size_t operations = 1;
    for (std::size_t k = 1; k <= operations; ++k) {
        model_files files;
        const auto save = [&](float first) {
            detail::write_checkpoint_file("run/one.ckpt", test_checkpoint::arrays(first), {.files = &files});
        };
        save(1);
        files.fail(k, ENOSPC);
        const auto before = files.calls();
        bool failed = false;
        try {
            save(2);
        } catch (const resource_exhausted& e) {
            failed = true;
            CHECK_THAT(e.what(), contains("run"));
        }
        operations = std::max(operations, files.calls() - before);
        files.fail(0, 0);
        CHECK(test_checkpoint::saved_file(files) == (failed && k < operations ? 1 : 2));
        CHECK(files.list("run") == std::vector<std::string>{"one.ckpt"});
        save(3);
        CHECK(test_checkpoint::saved_file(files) == 3);
    }
    CHECK(operations > 8);
}

TEST_CASE("checkpoint: G19: power fails after any operation, the last or the previous one is found, never a mix") {
    const int shards = GENERATE(1, 2);
    model_files files;
    test_checkpoint::save(files, 1);
    files.settle();
    const auto begin = files.operations();
    test_checkpoint::save(files, 2, shards);
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
    CHECK(io_test::damages_read(
              files, "c", [&] { checkpoint_reader("c", files).read_all(); }, stride) == 0);
    test_checkpoint::save(files, 1);
    const auto path = latest_checkpoint("run", files);
    for (const auto& name : files.list(path))
        CHECK(io_test::damages_read(
                  files, path + "/" + name, [&] { checkpoint_reader(path, files).read_all(); }, 3) == 0);
    if (const auto more = test_checkpoint::count_of("RILL_FLIP_BYTES", 0);
        more > 0) { // 65536: the goal's size, some minutes
        auto given = test_checkpoint::arrays(1);
        given.push_back({"large", any_array(dtype::uint8, dims{static_cast<index_t>(more)})});
        std::memset(given.back().value.mutable_data(), 7, more);
        detail::write_checkpoint_file("large", given, {.files = &files});
        CHECK(io_test::damages_read(
                  files, "large", [&] { checkpoint_reader("large", files).read_all(); }, stride) == 0);
    }
    std::string& bytes = files.contents("c");
    const auto at = bytes.find(std::string("\0\0\0\x40", 4), 64); // within w
    REQUIRE(at != std::string::npos);
    bytes[at] ^= 1;
    CHECK_THROWS_WITH(checkpoint_reader("c", files).read("w"),
                      contains("'c'") && contains("tensor 'w'") && contains("bytes "));
}
