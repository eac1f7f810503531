// SPDX-License-Identifier: BSD-3-Clause
#include <rill/data/pipeline.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include <rill/data/dataset.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/io/zlib.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/train/saver.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

namespace test_data_pipeline {

using numbers = dataset_of<tensor<std::int64_t>>;

std::vector<std::int64_t> rest_of(const session& s, const tensor<std::int64_t>& next, std::size_t most) {
    std::vector<std::int64_t> all;
    try {
        while (all.size() < most) all.push_back(s.run(next));
    } catch (const out_of_range&) {}
    return all;
}

numbers sums(const dataset_of<tensor<std::int64_t, dyn>>& batches) {
    return batches.map([](const xt::xtensor<std::int64_t, 1>& b) {
        std::int64_t sum = 0;
        for (const auto x : b) sum = sum * 31 + x;
        return sum;
    });
}

TEST_CASE("pipeline: a restored iterator gives exactly what the saved one would have given") {
    const io_test::temporary_directory folder;
    for (const char* name : {"a.csv", "b.csv"}) {
        std::ofstream out(folder / name);
        out << "number,text\n";
        for (int i = 0; i < 9; ++i) out << i + name[0] * 100 << ",\"x\ny\"\n";
    }
    const auto n = dataset::range(30);
    const auto first = [](std::int64_t x, const std::string&) { return x; };
    const numbers pipelines[] = {
        n,
        n.shuffle(8, 3).repeat(3),
        n.repeat().shuffle(50, 3).skip(2).take(40),
        sums(n.shuffle(8, 3).batch<4>()).prefetch(3),
        n.map([](std::int64_t x) { return x * x; }, {.parallel = 3}).prefetch(2),
        n.filter([](std::int64_t x) { return x % 3 != 0; }).cache().repeat(2),
        n.shard(3, 1).concatenate(n.take(5)).repeat(2),
        n.interleave([](std::int64_t x) { return dataset::range(x, x + 3).shuffle(2, 5); }, 3, 2),
        dataset::zip(n.shuffle(9, 1), n.shuffle(9, 2)).map([](std::int64_t a, std::int64_t b) { return a * 100 + b; }),
        n.bucket_by_length([](std::int64_t x) { return x % 5; }, {2}, {2, 3})
            .map([](const xt::xtensor<std::int64_t, 1>& b) { return b(0); }),
        dataset::generator([i = std::int64_t(0)]() mutable {
            return i < 20 ? std::optional(i++) : std::nullopt;
        }).repeat(2),
        dataset::generator([i = std::int64_t(0)]() mutable { // a call that fails is not made again
            if (++i % 5 == 3) throw invalid_argument("three");
            return i < 20 ? std::optional(i) : std::nullopt;
        })
            .ignore_errors(),
        dataset::csv<std::int64_t, std::string>(folder / "?.csv").map(first).shuffle(4, 1),
        dataset::text_lines(folder / "?.csv", {.skip_header_lines = 1}).map([](const std::string& t) {
            return static_cast<std::int64_t>(t.size() * 7 + static_cast<unsigned char>(t[0]));
        }),
        n.map([](std::int64_t x) { return x % 4 == 1 ? throw invalid_argument("odd one") : x; }, {.parallel = 2})
            .ignore_errors()
            .prefetch(2),
    };
    int which = 0;
    for (const auto& data : pipelines)
        for (const int taken : {0, 1, 7, 19}) {
            INFO("pipeline " << which << ": " << data.source()->described() << ", " << taken << " taken");
            const graph_scope here{graph()};
            const auto next = data.make_one_shot_iterator().get_next();
            const session s, resumed;
            for (int i = 0; i < taken; ++i) try {
                    s.run(next);
                } catch (const out_of_range&) {}
            saver keep;
            const auto path = keep.save(s, folder / "model", which++);
            const auto expected = rest_of(s, next, 60);
            keep.restore(resumed, path);
            CHECK(rest_of(resumed, next, 60) == expected);
            if (taken == 0) continue; // it was not made when the state was saved
            keep.restore(s, path);    // an iterator that is in use goes back
            CHECK(rest_of(s, next, 60) == expected);
        }
}

TEST_CASE("pipeline: state goes to an initializer, and not to another pipeline") {
    const io_test::temporary_directory folder;
    std::string path;
    {
        const graph_scope here{graph()};
        const auto it = dataset::range(10).make_initializable_iterator({.name = "it"});
        const auto next = it.get_next();
        const session s, resumed;
        s.run(it.initializer());
        s.run(next);
        path = saver().save(s, folder / "model", 1);
        saver().restore(resumed, path);
        CHECK_THROWS_AS(resumed.run(next), failed_precondition);
        resumed.run(it.initializer()); // goes on
        CHECK(resumed.run(next) == 1);
        resumed.run(it.initializer()); // begins anew
        CHECK(resumed.run(next) == 0);
    }
    {
        const graph_scope here{graph()};
        const auto it = dataset::range(11).make_initializable_iterator({.name = "it"});
        const session s;
        saver().restore(s, path);
        for (int attempt = 0; attempt < 2; ++attempt) // the state is not dropped in silence
            CHECK_THROWS_WITH(s.run(it.initializer()), contains("the saved state is of the pipeline range(0, 10, 1)"));
    }
    const graph_scope here{graph()};
    const auto next = dataset::range(11).make_one_shot_iterator({.name = "it"}).get_next();
    const session s;
    saver().restore(s, path);
    CHECK_THROWS_WITH(s.run(next),
                      contains("the saved state is of the pipeline range(0, 10, 1), this one is range(0, 11, 1)"));
}

TEST_CASE("pipeline: a program that is started again goes on with the seeds and random numbers of the first") {
    const io_test::temporary_directory folder;
    if (detail::has_zlib()) {
        std::string text;
        for (int i = 0; i < 40; ++i) text += std::to_string(i * i) + "\n";
        std::ofstream(folder / "squares.csv.gz", std::ios::binary) << detail::gzip_stream(text);
    }
    const auto noisy = [](auto x) {
        return x * std::int64_t(1000) + cast<std::int64_t>(random_uniform<float>({.maxval = 1000.f}));
    };
    const auto noisy_loop = [](auto x) { // each turn draws
        return while_loop([](auto i, auto) { return i < 3; },
                          [](auto i, auto sum) {
                              return std::tuple(i + 1, sum * std::int64_t(7) + cast<std::int64_t>(random_uniform<float>(
                                                                                   {.maxval = 100.f})));
                          },
                          constant(0), x);
    };
    const auto n = [] { return dataset::range(20); };
    const auto sum = [](const xt::xtensor<std::int64_t, 1>& b) {
        std::int64_t all = 0;
        for (const auto x : b) all = all * 31 + x;
        return all;
    };
    const std::function<numbers()> pipelines[] = {
        [&] { return n().shuffle(8).repeat(3); },
        [&] { return n().repeat(2).shuffle(9).prefetch(2); },
        [&] { return n().map(noisy).repeat(3); },
        [&] { return n().map(noisy, {.parallel = 3}).repeat(2).prefetch(2); },
        [&] { return n().map([&](auto x) { return std::get<1>(noisy_loop(x)); }).repeat(2); },
        [&] {
            return n().interleave([&](std::int64_t x) { return dataset::range(x, x + 4).shuffle(3).repeat(2); }, 3, 2);
        },
        [&] { return n().shuffle(5).map(noisy).cache().repeat(2); },
        [&] {
            return dataset::zip(n().shuffle(9), n().shuffle(9))
                .map([](std::int64_t a, std::int64_t b) { return a * 100 + b; })
                .repeat(2);
        },
        [&] {
            return n()
                .map([](std::int64_t x) {
                    return xt::xtensor<std::int64_t, 1>({static_cast<std::size_t>(x % 4 + 1)}, x);
                })
                .shuffle(6)
                .padded_batch<3>()
                .map([](const xt::xtensor<std::int64_t, 2>& b) {
                    std::int64_t all = 0;
                    for (const auto x : b) all = all * 31 + x;
                    return all;
                });
        },
        [&] {
            return detail::has_zlib()
                       ? dataset::csv<std::int64_t>(folder / "squares.csv.gz").shuffle(7).batch<3>().map(sum)
                       : n();
        },
    };
    int which = 0;
    for (const auto& make : pipelines)
        for (const int taken : {1, 13, 25}) {
            const auto first = make(), again = make(); // as in two programs: drawn seeds differ
            INFO(first.source()->described() << ", " << taken << " taken");
            std::string path;
            std::vector<std::int64_t> expected;
            {
                const graph_scope here{graph()};
                const auto next = first.make_one_shot_iterator({.name = "it"}).get_next();
                const session s;
                for (int i = 0; i < taken; ++i) try {
                        s.run(next);
                    } catch (const out_of_range&) {}
                path = saver().save(s, folder / "model", which++);
                expected = rest_of(s, next, 60);
            }
            const graph_scope here{graph()};
            const auto next = again.make_one_shot_iterator({.name = "it"}).get_next();
            const session resumed;
            saver().restore(resumed, path);
            if (taken == 13) path = saver().save(resumed, folder / "model", which++); // saved again before it is read
            CHECK(rest_of(resumed, next, 60) == expected);
        }
}

TEST_CASE(
    "pipeline: random numbers of a map differ between elements, epochs and iterations, and follow the graph's seed") {
    const auto drawn = [](std::uint64_t seed) {
        const graph_scope here{graph()};
        current_graph().set_seed(seed);
        const auto it =
            dataset::range(4)
                .map([](auto x) {
                    return x * std::int64_t(0) + cast<std::int64_t>(random_uniform<float>({.maxval = 1e6f}));
                })
                .repeat(2)
                .make_initializable_iterator();
        const auto next = it.get_next();
        const session s;
        std::vector<std::int64_t> all;
        for (int i = 0; i < 2; ++i) {
            s.run(it.initializer());
            const auto some = rest_of(s, next, 20);
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    };
    const auto all = drawn(5);
    CHECK(std::set(all.begin(), all.end()).size() == 16);
    CHECK(drawn(5) == all);
    CHECK(drawn(6) != all);
}

TEST_CASE("pipeline: a state is saved while a function of the pipeline blocks, or an element never comes") {
    const io_test::temporary_directory folder;
    const auto is_open = std::make_shared<std::atomic<bool>>(true);
    const auto blocked = std::make_shared<std::atomic<int>>(0);
    const auto wait = [is_open, blocked] {
        if (*is_open) return;
        ++*blocked;
        blocked->notify_all();
        is_open->wait(false);
    };
    const auto numbers_of = dataset::generator([wait, i = std::int64_t(0)]() mutable {
        wait();
        return i < 12 ? std::optional(i++) : std::nullopt;
    });
    const auto slow = [wait](std::int64_t x) {
        wait();
        return x * 3;
    };
    const numbers pipelines[] = {
        numbers_of,
        sums(numbers_of.shuffle(3, 1).batch<2>()).prefetch(2),
        dataset::range(12).map(slow),
        dataset::range(12).map(slow, {.parallel = 2}).prefetch(1),
        numbers_of.prefetch(1).map(slow, {.parallel = 2}),
    };
    int which = 0;
    for (const auto& data : pipelines) {
        INFO(data.source()->described());
        const graph_scope here{graph()};
        const auto next = data.make_one_shot_iterator().get_next();
        const session s, resumed;
        s.run(next);
        const int before = *blocked;
        *is_open = false;
        auto step = std::async(std::launch::async, [&] { return rest_of(s, next, 60); });
        blocked->wait(before);
        const auto path = saver().save(s, folder / "model", which++);
        *is_open = true;
        is_open->notify_all();
        const auto expected = step.get();
        saver().restore(resumed, path);
        const auto got = rest_of(resumed, next, 60);
        REQUIRE(got.size() <= expected.size()); // some were taken before the save
        CHECK(std::equal(got.rbegin(), got.rend(), expected.rbegin()));
        CHECK(!got.empty());
    }
    const graph_scope here{graph()};
    const auto next =
        dataset::range(1).repeat().filter([](std::int64_t) { return false; }).make_one_shot_iterator().get_next();
    const session s;
    CHECK_THROWS_AS(s.run(next, {.timeout = std::chrono::milliseconds(5)}), deadline_exceeded);
    auto step = std::async(std::launch::async, [&] { s.run(next, {.timeout = std::chrono::seconds(2)}); });
    for (int i = 0; i < 20; ++i) saver().save(s, folder / "endless", i);
    CHECK_THROWS_AS(step.get(), deadline_exceeded);
}

TEST_CASE("pipeline: a lock that is not released in time is not taken") {
    detail::pull_lock lock;
    lock.lock();
    CHECK(!lock.lock_to_save(std::chrono::milliseconds(1)));
    CHECK(!lock.is_awaited());
    lock.unlock();
    CHECK(lock.lock_to_save(std::chrono::milliseconds(1)));
    lock.unlock();
}

TEST_CASE("pipeline: a limit of memory names the stage and the bytes, and the next pulls go on") {
    const auto n = dataset::range(1000); // 8 bytes an element
    const auto count = [](const auto& data) {
        std::size_t elements = 0;
        for (const auto& x : data) static_cast<void>(x), ++elements;
        return elements;
    };
    CHECK(count(n.shuffle(100, 1).batch<10>().prefetch(4).memory_limit(800 + 80 + 80 + 5 * 80)) == 100);
    const auto refused = [&](const auto& data, const std::string& text) {
        CHECK_THROWS_AS(count(data), resource_exhausted);
        CHECK_THROWS_WITH(count(data), contains(text));
    };
    refused(n.shuffle(100, 1).memory_limit(799), "shuffle(100) needs 8 bytes more; the memory_limit of the pipeline is "
                                                 "799 bytes, of which its elements hold 792");
    refused(n.batch<10>().memory_limit(79), "batch(10) needs 8 bytes more");
    refused(n.batch<10>().memory_limit(159), "batch(10) needs 80 bytes more"); // the batch beside its elements
    refused(n.cache().memory_limit(100), "cache needs 8 bytes more");
    const auto texts = n.map([](std::int64_t) { return std::string(1000, 'x'); });
    refused(texts.prefetch(1).memory_limit(500), "prefetch(1) needs");
    refused(texts.prefetch(1).memory_limit(1 << 20).memory_limit(500), "limit of the pipeline is 500 bytes");
    refused(n.bucket_by_length([](std::int64_t x) { return x; }, {500}, {600, 600}).memory_limit(100),
            "bucket_by_length needs 8 bytes more");
    refused(texts.shuffle(4, 1).memory_limit(2000), "shuffle(4) needs");
    refused(n.map([](std::int64_t x) { return x; }, {.parallel = 4}).memory_limit(20), "map needs 8 bytes more");
    CHECK(count(n.cache().repeat(2).memory_limit(8000)) == 2000);
    CHECK_THROWS_AS(count(n.cache().repeat(2).memory_limit(7999)), resource_exhausted);

    const auto it =
        n.batch<4>().memory_limit(40).source()->iterate({}); // room for four elements, not for the batch beside them
    detail::element_arrays element;
    for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(it->next(element, {environment::real()}), resource_exhausted);
}

TEST_CASE("pipeline: records of damaged files are resumed behind the damage") {
    const io_test::temporary_directory folder;
    const std::string one = detail::tf_record("one");
    auto lost = one; // the checksum of the length is wrong: nobody knows where the next record begins
    lost[0] = 'x';
    std::ofstream(folder / "a.tfrecord", std::ios::binary) << one << lost << one;
    std::ofstream(folder / "b.tfrecord", std::ios::binary) << one;
    std::ofstream(folder / "c.bin", std::ios::binary) << "Hab"; // a record is cut off, or the footer
    const dataset_of<tensor<std::string>> files[] = {
        dataset::tfrecord(folder / "?.tfrecord"),
        dataset::fixed_length_records(folder / "c.bin", 4, {.header_bytes = 1, .footer_bytes = 1}),
        dataset::fixed_length_records(folder / "c.bin", 4, {.header_bytes = 1, .footer_bytes = 4}),
        dataset::fixed_length_records(folder / "c.bin", 1, {.header_bytes = 1, .footer_bytes = 1})};
    const auto pulled = [](detail::element_iterator& it) {
        detail::element_arrays element;
        try {
            return it.next(element, {environment::real()}) ? element[0].value<std::string>() : std::string("end");
        } catch (const data_loss&) {
            return std::string("damage");
        }
    };
    for (const auto& data : files)
        for (int taken = 0; taken < 4; ++taken) {
            INFO(data.source()->described() << ", " << taken << " taken");
            const auto it = data.source()->iterate({}), resumed = data.source()->iterate({});
            for (int i = 0; i < taken; ++i) pulled(*it);
            detail::iterator_archive to;
            it->save(to);
            const auto parts = to.parts();
            detail::iterator_archive from(parts);
            resumed->restore(from, {environment::real()});
            for (int i = taken; i < 5; ++i) CHECK(pulled(*resumed) == pulled(*it));
        }
}

TEST_CASE("pipeline: a damaged state is refused, and a damaged element is an error") {
    const auto data = dataset::range(3).shuffle(4, 1).map([](std::int64_t x) { return x; });
    const auto saved = [](std::int64_t elements) { // of a shuffle with one element that has no components
        detail::iterator_archive to;
        to.put(std::int64_t(0)); // calls of the map
        to.put(detail::element_arrays());
        for (const std::int64_t n : {std::int64_t(7), std::int64_t(0), std::int64_t(0), elements}) to.put(n);
        to.put(detail::element_arrays());
        to.put(std::int64_t(0)); // the place in the range
        return to.parts();
    };
    const auto restored = [&](std::int64_t elements) {
        const auto parts = saved(elements);
        detail::iterator_archive from(parts);
        auto it = data.source()->iterate({});
        it->restore(from, {environment::real()});
        return it;
    };
    for (const std::int64_t elements :
         {std::int64_t(-1), std::int64_t(3), std::int64_t(1) << 40, std::int64_t(1) << 62})
        CHECK_THROWS_AS(restored(elements), invalid_argument);
    const auto it = restored(1);
    detail::element_arrays element;
    int given = 0, refused = 0;
    for (int i = 0; i < 4; ++i) try {
            given += it->next(element, {environment::real()});
        } catch (const invalid_argument& problem) {
            CHECK_THAT(problem.what(), contains("an element has 1 components, this one 0"));
            ++refused;
        }
    CHECK((given == 3 && refused == 1));
}

} // namespace test_data_pipeline
