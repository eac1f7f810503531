// SPDX-License-Identifier: BSD-3-Clause
// Also the nodes of readers: reader, reader_read, reader_counts.
#include <rill/data/input_producers.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include <rill/io/tf_record.hpp>
#include <rill/ops/input/decode_csv.hpp>
#include <rill/ops/input/reader.hpp>
#include <rill/train/coordinator.hpp>
#include <rill/train/saver.hpp>
#include <rill/train/start_queue_runners.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_data_input_producers {

std::vector<std::string> write_files(const io_test::temporary_directory& folder, int count) {
    std::vector<std::string> names;
    for (int f = 0; f < count; ++f) {
        names.push_back(folder / ("part-" + std::to_string(f) + ".csv"));
        std::ofstream out(names.back());
        out << "x,y\n";
        for (int i = 0; i < 5; ++i) out << f * 5 + i << "," << (f * 5 + i) * 2 << "\n";
    }
    return names;
}

TEST_CASE("reader: lines of files that a queue names, counts, reset, and where it is in a checkpoint") {
    const io_test::temporary_directory folder;
    const auto names = write_files(folder, 2);
    const graph_scope here{graph()};
    const fifo_queue<tensor<std::string>> files;
    const text_line_reader reader({.skip_header_lines = 1});
    const auto [key, line] = reader.read(files);
    const auto [x, y] = decode_csv<int, int>(line, {0, 0});
    const auto [keys, some] = reader.read_up_to(files, 3);
    const auto put = files.enqueue_many(constant(names)), end = files.close();
    const auto produced = reader.num_records_produced(), finished = reader.num_work_units_completed();
    const session s;
    CHECK_THROWS_AS(s.run(line, {.timeout = 10ms}), deadline_exceeded);
    s.run(put);
    const auto [k, xv, yv] = s.run(std::tuple(key, x, y));
    CHECK(k == names[0] + ":2");
    CHECK((xv == 0 && yv == 0));
    const auto three = s.run(some);
    CHECK((three.size() == 3 && three(2) == "3,6"));
    CHECK(s.run(produced) == 4);
    const session resumed;
    saver keep;
    keep.restore(resumed, keep.save(s, folder / "model", 1));
    for (const session* each : {&s, &resumed}) {
        CHECK(each->run(some).size() == 1); // of this file only
        CHECK(each->run(x) == 5);
        CHECK(each->run(finished) == 1);
        CHECK(each->run(some).size() == 3);
        each->run(end);
        CHECK(each->run(x) == 9);
        CHECK_THROWS_AS(each->run(x), out_of_range);
        CHECK(each->run(produced) == 10);
        each->run(reader.reset());
        CHECK(each->run(produced) == 0);
    }
}

TEST_CASE("reader: the other kinds, and files that can't be read") {
    const io_test::temporary_directory folder;
    const auto file = [&](const char* name, const std::string& bytes) {
        std::ofstream(folder / name, std::ios::binary) << bytes;
        return folder / name;
    };
    const graph_scope here{graph()};
    const fifo_queue<tensor<std::string>> files;
    placeholder<std::string> name("name");
    const auto put = files.enqueue(name);
    const auto whole = std::get<1>(whole_file_reader().read(files)),
               only_name = std::get<1>(identity_reader().read(files));
    const tf_record_reader records;
    const auto record = std::get<1>(records.read(files));
    const auto three = std::get<1>(records.read_up_to(files, 3));
    const auto [key, fixed] = fixed_length_record_reader({.record_bytes = 2, .header_bytes = 1}).read(files);
    const session s;
    const auto read = [&](const auto& what, const std::string& path) {
        s.run(put, feed(name, path));
        return s.run(what);
    };
    CHECK(read(whole, file("a", std::string("x\ny\0z", 5))) == std::string("x\ny\0z", 5));
    CHECK(read(only_name, "nothing is opened") == "nothing is opened");
    CHECK(read(record, file("b", detail::tf_record("one") + detail::tf_record("two"))) == "one");
    CHECK(s.run(record) == "two");
    CHECK(read(fixed, file("c", "Habcd")) == "ab");
    CHECK(s.run(key) == folder / "c" + ":1");
    CHECK_THROWS_WITH(read(whole, folder / "none"), contains("none'") && contains("node 'read"));
    CHECK_THROWS_AS(read(whole, folder.path()), data_loss); // a directory
    CHECK(read(whole, folder / "c") == "Habcd");            // the reader goes on
    auto damaged = detail::tf_record("one");
    damaged[13] = 'X';
    CHECK_THROWS_WITH(read(record, file("d", damaged + detail::tf_record("two"))),
                      contains("record 0 at byte 0: its checksum is wrong"));
    CHECK(s.run(record) == "two");
    CHECK(read(three, file("e", detail::tf_record("one") + damaged + detail::tf_record("two"))).size() == 1);
    CHECK_THROWS_AS(s.run(three), data_loss); // after the records before it
    CHECK(s.run(three)(0) == "two");
}

TEST_CASE("reader: the file of a restored place is opened by the next read, if its step may open it") {
    struct no_files final : file_access {
        void check(const std::string& path) const override {
            throw permission_denied("'" + path + "' may not be opened");
        }
    };
    struct no_wait final : async_context {
        completion defer(std::function<bool()>) override { throw internal("there is nothing to wait for"); }
    };
    int opened = 0;
    const auto reader = detail::make_shared<detail::reader_state>(
        "r", "names", [&](const std::string&) -> std::unique_ptr<detail::reader_file> { return ++opened, nullptr; });
    const std::vector<named_array> parts{
        {"path", to_any_array<std::string>(std::string("/secret"))},
        {"numbers", to_any_array<std::int64_t>(std::vector<std::int64_t>{1, 5, 2, 3, 4, 0}, dims{dyn})}};
    reader->restore_parts(parts);
    const auto saved = reader->saved_parts(); // a checkpoint before the next read has the same place
    CHECK(saved.at(1).value.elements<std::int64_t>()[1] == 5);
    any_array out[2];
    no_wait wait;
    const no_files none;
    CHECK_THROWS_WITH(reader->read(nullptr, -1, &none, wait, out), contains("'/secret' may not be opened"));
    CHECK(opened == 0);
}

TEST_CASE("reader: damaged records are left out and counted where its options say so") {
    const io_test::temporary_directory folder;
    auto bytes = detail::tf_record("one") + detail::tf_record("two") + detail::tf_record("three");
    bytes[19 + 13] ^= 1; // within the second record
    std::ofstream(folder / "a.tfrecord", std::ios::binary) << bytes;
    const graph_scope here{graph()};
    const fifo_queue<tensor<std::string>> files;
    const tf_record_reader strict, lenient({.skip_errors = true});
    const auto first = std::get<1>(strict.read(files)), second = std::get<1>(lenient.read(files));
    const auto put = files.enqueue_many(constant(std::vector<std::string>{folder / "a.tfrecord"}));
    const auto skipped = lenient.num_records_skipped();
    const session s, resumed;
    s.run(put);
    CHECK(s.run(first) == "one");
    CHECK_THROWS_AS(s.run(first), data_loss);
    CHECK(s.run(first) == "three");
    CHECK(s.run(strict.num_records_skipped()) == 0);
    s.run(put);
    CHECK(s.run(second) == "one");
    CHECK(s.run(second) == "three");
    CHECK(s.run(skipped) == 1);
    saver().restore(resumed, saver().save(s, folder / "model", 1));
    CHECK(resumed.run(skipped) == 1);
}

TEST_CASE("reader: files that can't be opened are skipped and counted where errors are") {
    const io_test::temporary_directory folder;
    for (const char* name : {"a.txt", "c.txt"}) std::ofstream(folder / name) << name << '\n';
    const graph_scope here{graph()};
    const fifo_queue<tensor<std::string>> files;
    const text_line_reader strict, lenient({.skip_errors = true});
    const auto first = std::get<1>(strict.read(files)), second = std::get<1>(lenient.read(files));
    const auto put = files.enqueue_many(
        constant(std::vector<std::string>{folder / "a.txt", folder / "missing", folder / ".", folder / "c.txt"}));
    const auto close = files.close();
    const auto skipped = lenient.num_records_skipped();
    const session s;
    s.run(put);
    CHECK(s.run(first) == "a.txt");
    CHECK_THROWS_AS(s.run(first), not_found);
    CHECK_THROWS_AS(s.run(first), data_loss); // a folder
    CHECK(s.run(first) == "c.txt");
    s.run(put);
    s.run(close);
    CHECK(s.run(second) == "a.txt");
    CHECK(s.run(second) == "c.txt");
    CHECK(s.run(skipped) == 2);
    CHECK_THROWS_AS(s.run(second), out_of_range);
}

TEST_CASE("reader: any number of empty files in a row") {
    const io_test::temporary_directory folder;
    std::ofstream(folder / "empty.txt");
    std::ofstream(folder / "last.txt") << "line";
    std::vector<std::string> names(30'000, folder / "empty.txt");
    names.push_back(folder / "last.txt");
    const graph_scope here{graph()};
    const fifo_queue<tensor<std::string>> files;
    const auto line = std::get<1>(text_line_reader().read(files));
    const session s;
    s.run(files.enqueue_many(constant(names)));
    CHECK(s.run(line) == "line");
}

TEST_CASE("input producers: one reader or several, some threads, all records once an epoch") {
    const io_test::temporary_directory folder;
    const auto names = write_files(folder, 4);
    const struct {
        int readers, threads;
        bool shuffled;
    } ways[] = {{1, 1, false}, {1, 3, false}, {3, 1, false}, {1, 2, true}};
    for (const auto& way : ways) {
        const graph_scope here{graph()};
        const auto files = string_input_producer(names, {.num_epochs = 2, .seed = 3});
        std::vector<std::tuple<tensor<int>, tensor<int>>> rows;
        for (int r = 0; r < way.readers; ++r) {
            const auto [key, line] = text_line_reader({.skip_header_lines = 1}).read(files);
            rows.push_back(decode_csv<int, int>(line, {0, 0}));
        }
        const auto [xs, ys] =
            way.shuffled
                ? shuffle_batch<7>(rows[0], {.capacity = 20, .min_after_dequeue = 5, .num_threads = way.threads})
            : way.readers == 1 ? fifo_batch<7>(rows[0], {.num_threads = way.threads})
                               : batch_join<7>(rows, {.num_threads = way.threads});
        const session s;
        const coordinator c;
        auto threads = start_queue_runners(s, c);
        std::multiset<int> seen;
        try {
            for (;;) {
                const auto [x, y] = s.run(std::tuple(xs, ys));
                for (std::size_t i = 0; i < x.size(); ++i) {
                    CHECK(y(i) == 2 * x(i));
                    seen.insert(x(i));
                }
            }
        } catch (const out_of_range&) {}
        c.request_stop();
        c.join(threads);
        CHECK(seen.size() == 40);
        for (int i = 0; i < 20; ++i) CHECK(seen.count(i) == 2);
    }
}

TEST_CASE("input producers: slices and numbers, epoch by epoch, and a tensor that ends") {
    const graph_scope here{graph()};
    const std::vector<int> xs{1, 2, 3};
    const std::vector<std::string> names{"a", "b", "c"};
    const auto [x, name] = slice_input_producer(std::tuple(xs, names), {.num_epochs = 2, .shuffle = false});
    const auto shuffled = slice_input_producer(std::tuple(xs), {.num_epochs = 4, .seed = 3});
    const auto number = range_input_producer(3, {.num_epochs = 2, .shuffle = false}).dequeue();
    const auto limited = limit_epochs(constant(5), 2);
    CHECK_THROWS_WITH(range_input_producer(0), contains("the limit is 0"));
    CHECK_THROWS_WITH(limit_epochs(constant(5), 0), contains("the number of epochs is 0"));
    const session s;
    s.run(local_variables_initializer());
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    std::string seen;
    for (int i = 0; i < 6; ++i) {
        const auto [v, n] = s.run(std::tuple(x, name));
        seen += n + std::to_string(v) + std::to_string(s.run(number));
    }
    CHECK(seen == "a10b21c32a10b21c32");
    CHECK_THROWS_AS(s.run(x), out_of_range);
    CHECK_THROWS_AS(s.run(number), out_of_range);
    std::vector<int> all;
    for (int i = 0; i < 12; ++i) all.push_back(s.run(shuffled));
    CHECK_THROWS_AS(s.run(shuffled), out_of_range);
    bool is_shuffled = false;
    for (int e = 0; e < 4; ++e) {
        auto epoch = std::vector(all.begin() + e * 3, all.begin() + e * 3 + 3);
        is_shuffled = is_shuffled || epoch != xs;
        std::sort(epoch.begin(), epoch.end());
        CHECK(epoch == xs);
    }
    CHECK(is_shuffled);
    CHECK((s.run(limited) == 5 && s.run(limited) == 5));
    CHECK_THROWS_AS(s.run(limited), out_of_range);
    c.request_stop();
    c.join(threads);
}

TEST_CASE("fifo_batch: drop_remainder leaves the last elements out, and gives batches of a known size") {
    const graph_scope here{graph()};
    const auto texts =
        string_input_producer(std::vector<std::string>{"a", "b", "c"}, {.num_epochs = 3, .shuffle = false});
    CHECK_THROWS_WITH(fifo_batch<4>(std::tuple(texts.dequeue()), {.num_threads = 0}), contains("num_threads is 0"));
    const auto batch = fifo_batch<4>(std::tuple(texts.dequeue()), drop_remainder);
    static_assert(std::is_same_v<decltype(batch), const tensor<std::string, 4>>);
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    std::string seen;
    for (int i = 0; i < 2; ++i)
        for (const auto& text : s.run(batch)) seen += text;
    CHECK(seen == "abcabcab");
    CHECK_THROWS_AS(s.run(batch), out_of_range);
    c.request_stop();
    c.join(threads);
}

} // namespace test_data_input_producers
