// SPDX-License-Identifier: BSD-3-Clause
#include <rill/data/pipeline.hpp>

#include <fstream>

#include <rill/data/dataset.hpp>
#include <rill/io/tf_record.hpp>
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
