// SPDX-License-Identifier: BSD-3-Clause
// Datasets whose elements are copied to a virtual device ahead of the steps that read them.
#include <rill/rill.hpp>

#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "../../catch.hpp"
#include "../../io/temporary.hpp"

using namespace rill;

namespace test_prefetch {

constexpr std::size_t mega = std::size_t(1) << 20;

/// Returns the pool of a session's virtual device.
const memory_pool& pool_of(std::size_t limit) {
    const auto spaces = chosen_host_memories(*find_device("thrust"), {.virtual_devices = {{limit}}});
    return static_cast<const virtual_host_memory&>(*spaces.at(0)).pool();
}

auto numbers(std::int64_t count) {
    return dataset::range(count).map([](std::int64_t i) { return static_cast<float>(i); }).batch<64>(drop_remainder);
}

/// The values of a run, and the number of values that it copied between memories.
struct run_result {
    std::vector<float> values;
    int copies = 0;
    bool operator==(const run_result&) const = default;
};
run_result run(const session& s, const tensor<float, 64>& y) {
    const auto [value, trace] = s.run_traced(y);
    run_result got{{value.begin(), value.end()}};
    for (const auto& e : trace.entries) got.copies += e.op == "Copy" ? 1 : 0;
    return got;
}

/// Runs y = x * x + x on the device, over all elements of an iterator; each run copies its result to the host.
template <class Make> std::vector<run_result> all_runs(std::size_t limit, const Make& make, bool cut = false) {
    const graph g;
    const graph_scope here(g);
    const auto it = make();
    const tensor x = it.get_next();
    const device_scope there("/device:thrust:0");
    const tensor y = x * x + x;
    const session s(g, {.partition_devices = cut, .gpu = {.virtual_devices = {{limit}}}});
    std::vector<run_result> all;
    try {
        for (;;) all.push_back(run(s, y));
    } catch (const out_of_range&) {
        CHECK_THROWS_AS(run(s, y), out_of_range);
    }
    return all;
}

TEST_CASE("prefetch_to_device: elements are there when a step begins, which copies nothing but its result") {
    const auto wanted = all_runs(5 * mega, [] { return numbers(640).prefetch(2).make_one_shot_iterator(); });
    REQUIRE(wanted.size() == 10);
    const auto got = all_runs(5 * mega + 1024, [] {
        return numbers(640).prefetch_to_device("/device:thrust:0", 2).make_one_shot_iterator();
    });
    REQUIRE(got.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(got[i].values == wanted[i].values);
        CHECK(wanted[i].copies == 2);
        CHECK(got[i].copies == 1);
    }
    const auto cut = all_runs(
        5 * mega + 2048, [] { return numbers(640).prefetch_to_device("/device:thrust:0", 2).make_one_shot_iterator(); },
        true);
    REQUIRE(cut.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) CHECK(cut[i].values == wanted[i].values);
}

TEST_CASE("prefetch_to_device: as many elements as asked for wait in the memory of the device") {
    constexpr std::size_t limit = 6 * mega;
    const graph g;
    const graph_scope here(g);
    const auto it = numbers(6400).prefetch_to_device("/device:thrust:0", 5).make_initializable_iterator();
    const tensor x = it.get_next();
    {
        const session s(g, {.gpu = {.virtual_devices = {{limit}}}});
        CHECK_THROWS_AS(s.run(x), failed_precondition);
        s.run(it.initializer());
        CHECK(pool_of(limit).bytes_in_use() == 0);
        CHECK(s.run(x)(3) == 3.f);
        while (pool_of(limit).bytes_in_use() < 5 * 256)
            std::this_thread::yield(); // the pipeline copies them in the background
        CHECK(s.run(x)(3) == 67.f);
        s.run(it.initializer()); // drops them
        CHECK(s.run(x)(3) == 3.f);
    }
    while (pool_of(limit).bytes_in_use() != 0) std::this_thread::yield(); // a copy in the background ends first
}

TEST_CASE("prefetch_to_device: several components, text beside numbers, and errors of elements") {
    const graph g;
    const graph_scope here(g);
    const auto data = dataset::range(4).map([](std::int64_t i) {
        if (i == 1) throw invalid_argument("bad element");
        return std::tuple(static_cast<float>(i), std::to_string(i), static_cast<int>(2 * i));
    });
    const auto [a, text, n] = data.prefetch_to_device("/device:thrust:0").make_one_shot_iterator().get_next();
    const device_scope there("/device:thrust:0");
    const tensor y = a + cast<float>(n);
    const session s(g, {.gpu = {.virtual_devices = {{7 * mega}}}});
    CHECK(s.run(std::tuple(y, text)) == std::tuple(0.f, std::string("0")));
    CHECK_THROWS_WITH(s.run(std::tuple(y, text)), contains("bad element"));
    CHECK(s.run(std::tuple(y, text)) == std::tuple(6.f, std::string("2")));
}

TEST_CASE("prefetch_to_device: a state is saved while elements lie on the device, and read on another one") {
    const graph g;
    const graph_scope here(g);
    const auto it = numbers(640).prefetch_to_device("/device:thrust:0", 3).make_one_shot_iterator();
    const tensor x = it.get_next();
    const io_test::temporary_directory folder;
    std::string saved;
    {
        const session s(g, {.gpu = {.virtual_devices = {{8 * mega}}}});
        CHECK(s.run(x)(0) == 0.f);
        CHECK(s.run(x)(0) == 64.f);
        saved = saver().save(s, folder / "model", 1);
        CHECK(s.run(x)(0) == 128.f);
    }
    for (const auto& virtual_devices : {std::vector<std::vector<std::size_t>>{{9 * mega}}, {}}) {
        const session s(g, {.gpu = {.virtual_devices = virtual_devices}});
        saver().restore(s, saved);
        for (int i = 2; i < 10; ++i) CHECK(s.run(x)(0) == static_cast<float>(64 * i));
        CHECK_THROWS_AS(s.run(x), out_of_range);
    }
}

TEST_CASE("prefetch_to_device: a device that is not there, and a buffer of nothing") {
    const graph g;
    const graph_scope here(g);
    CHECK_THROWS_WITH(numbers(64).prefetch_to_device("/device:thrust:0", 0),
                      contains("the buffer of prefetch_to_device is 0; it must be 1 or more"));
    const tensor x = numbers(64).prefetch_to_device("/device:thrust:3").make_one_shot_iterator().get_next();
    CHECK_THROWS_WITH(session(g).run(x), contains("device:thrust:3"));
    CHECK(session(g, {.allow_soft_placement = true}).run(x)(1) == 1.f);
}

} // namespace test_prefetch
