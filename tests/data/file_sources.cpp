// SPDX-License-Identifier: BSD-3-Clause
#include <rill/data/file_sources.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <tuple>
#include <vector>

#include <unistd.h>

#include <rill/data/dataset.hpp>
#include <rill/io/idx.hpp>
#include <rill/io/npy.hpp>
#include <rill/io/tf_record.hpp>
#include <rill/io/zlib.hpp>

#include "catch.hpp"
#include "io/in_child.hpp"
#include "io/temporary.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_data_file_sources {

const io_test::temporary_directory& folder() {
    static const io_test::temporary_directory made;
    return made;
}

std::string file(const std::string& name, const std::string& bytes) {
    const auto path = folder() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

template <class Data> std::string message_of(const Data& make) {
    try {
        for (const auto& x : make()) (void)x;
    } catch (const error& problem) {
        return std::string(to_string(problem.code())) + ": " + problem.what();
    }
    return "none";
}

std::vector<std::string> texts(const dataset_of<tensor<std::string>>& data) {
    std::vector<std::string> all;
    for (const auto& t : data) all.push_back(t);
    return all;
}

TEST_CASE("file_sources: CSV with a header or without, quotes, line ends, several files, gzip") {
    const auto sum = [](const auto& data) {
        double all = 0;
        std::string names;
        for (const auto& [a, name] : data) all += static_cast<double>(a), names += name + "|";
        return names + std::to_string(static_cast<int>(all));
    };
    const struct {
        std::string text, result;
        csv_dataset_options options = {};
    } rows[] = {
        {"x,name\n1,a\n2,b\n", "a|b|3"},
        {"1,a\n2,b", "a|b|3"},
        {"\xef\xbb\xbfx,name\r\n1,a\r\n\r\n2,b\r\n", "a|b|3"},
        {"\xef\xbb\xbf"
         "1,a\r2,b\r",
         "a|b|3"},
        {"1,\"a,\"\"b\"\"\"\n2,\"c\nd\"\n 3 ,\n", "a,\"b\"|c\nd||6"},
        {"5,6\n1,7\n", "7|1", {.header = true}},
        {"1;a\"\n", "a\"|1", {.delimiter = ';', .quotes = false}},
        {"", "0"},
    };
    for (const auto& row : rows) {
        CHECK(sum(dataset::csv<float, std::string>(file("row.csv", row.text), row.options)) == row.result);
        if (detail::has_zlib())
            CHECK(sum(dataset::csv<float, std::string>(file("row.csv.gz", detail::gzip_stream(row.text)),
                                                       row.options)) == row.result);
    }
    const auto some_gone = dataset::csv<float, std::string>(
        std::vector<std::string>{file("row.csv", "x,name\n1,a\n") + ".gone", file("row.csv", "x,name\n1,a\n")});
    CHECK(some_gone.names() == std::vector<std::string>{"x", "name"});
    CHECK_THROWS_AS(sum(some_gone), not_found);
    CHECK(sum(some_gone.ignore_errors()) == "a|1");
    file("part-0.csv", "a,b\n1,x\n");
    file("part-1.csv", "a,b\n2,y\n");
    const auto both = dataset::csv<float, std::string>(folder() / "part-?.csv");
    CHECK(sum(both) == "x|y|3");
    CHECK(both.shuffle(3, 1).batch<2>().names() == std::vector<std::string>{"a", "b"});
    CHECK(glob(folder() / "part-[0-9].csv").size() == 2);
    CHECK_THROWS_AS(glob(folder() / "*.none"), not_found);
}

TEST_CASE("file_sources: CSV records keep their values, with quotes or without, and are kept in any number") {
    std::string text = "a,\"b, c\",d\n";
    for (int i = 0; i < 500; ++i) {
        const auto n = std::to_string(i);
        text +=
            i % 7 == 3 ? "\"" + n + "\",\"line\n" + n + "\",-" + n + ".5\n" : n + ",line " + n + ", -" + n + ".5\t\n";
    }
    const auto path = file("kept.csv", text);
    const auto data = dataset::csv<std::int64_t, std::string, double>(path);
    CHECK(data.names() == std::vector<std::string>{"a", "b, c", "d"});
    std::vector<std::tuple<std::int64_t, std::string, double>> all;
    for (auto row : data.shuffle(500, 3)) all.push_back(std::move(row)); // all records at once
    REQUIRE(all.size() == 500);
    std::sort(all.begin(), all.end());
    bool right = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [a, b, d] = all[i];
        right = right && a == static_cast<std::int64_t>(i) && d == -(static_cast<double>(i) + 0.5) &&
                b == (i % 7 == 3 ? "line\n" : "line ") + std::to_string(i);
    }
    CHECK(right);
    std::int64_t batched = 0;
    for (const auto& [a, b, d] : data.batch<32>()) batched += a(a.size() - 1);
    CHECK(batched == 31 + 63 + 95 + 127 + 159 + 191 + 223 + 255 + 287 + 319 + 351 + 383 + 415 + 447 + 479 + 499);
}

TEST_CASE("file_sources: bad CSV names file, line and column") {
    const struct {
        std::string text, message;
    } rows[] = {
        {"1,2\n3\n", ".csv:2: column 2: 1 fields, 2 expected"},
        {"1,2\n3,4,5\n", ".csv:2: column 3: 3 fields, 2 expected"},
        {"1,2\n\n3,x\n", ".csv:3: column 2: 'x' is not a valid int32"},
        {"1,2\n3,1e99\n", "column 2: '1e99' is not a valid int32"},
        {"1,2\n3,\n", "column 2: '' is not a valid int32"},
        {"1,2\n\"3,4\n5", ".csv:2: column 1: the quotes of the field are not closed"},
        {"1,2\n\"3\"x,4\n", ".csv:2: column 1: a delimiter is expected behind the closing quote, not 'x,4'"},
        {"1,2\n3,4\"\n", ".csv:2: column 2: a quote is expected only around the field"},
        {std::string("1,2\n3,\0\n", 8), "a NUL byte is not text"},
        {std::string("1,2\n") + std::string(1000000, ',') + "\n", "1000001 fields, 2 expected"},
    };
    for (const auto& row : rows) {
        const auto path = file("bad.csv", row.text + "\n7,8\n");
        const auto data = dataset::csv<float, int>(path);
        const auto message = message_of([&] { return data; });
        CHECK(message.find("invalid argument: ") == 0);
        CHECK_THAT(message, contains(row.message));
        CHECK(message.find(path) != std::string::npos);
        INFO(row.message);
        float sum = 0;
        for (const auto [a, b] : data.ignore_errors()) sum += a;
        CHECK((sum == 8 || (sum == 1 && row.text.find("\"3,4") != std::string::npos))); // an open quote takes the rest
    }
    const auto csv = [](const std::string& path) { return dataset::csv<float>(path); };
    CHECK(message_of([&] { return csv(folder() / "none.csv"); }).find("not found: ") == 0);
    CHECK(message_of([&] { return csv(folder().path()); }).find("data loss: open") == 0);
    if (detail::has_zlib()) {
        const auto whole = detail::gzip_stream("1\n2\n3\n");
        auto cut = whole.substr(0, whole.size() - 5), damaged = whole;
        damaged[14] = static_cast<char>(damaged[14] ^ 64);
        CHECK(message_of([&] { return csv(file("cut.gz", cut)); }).find("cut.gz': its compressed bytes are cut off") !=
              std::string::npos);
        CHECK(message_of([&] { return csv(file("bad.gz", damaged)); }).find("data loss: ") == 0);
        for (const char* name : {"cut.gz", "bad.gz"}) { // the damage is met once, then the file is at its end
            const auto count = std::make_shared<std::atomic<std::int64_t>>(0);
            for (const auto x : csv(folder() / name).ignore_errors(count)) (void)x;
            CHECK(*count == 1);
        }
    }
    for (const char delimiter : {'"', '\n', '\r', '\0'})
        CHECK_THAT(message_of([&] { return dataset::csv<int>(file("a.csv", "1"), {.delimiter = delimiter}); }),
                   contains("the delimiter of CSV is"));
    const auto tabs =
        file("tabs.csv", "a\tb\n\t\n\n \nc\td\n"); // a line of empty fields is a record, a blank one is not
    std::string all;
    for (const auto& [a, b] :
         dataset::csv<std::string, std::string>(tabs, {.header = false, .delimiter = '\t'}).take(2))
        all += a + "|" + b + ";";
    CHECK(all == "a|b;|;");
}

TEST_CASE("file_sources: a line that is too long is an error, and the next one is read") {
    detail::byte_stream lines(file("long.txt", "abcdefgh\nxy\rz\r"));
    std::string line;
    CHECK_THROWS_WITH(lines.read_line(line, 4), contains("the line at byte 0 has more than 4 bytes"));
    CHECK((lines.read_line(line, 4) && line == "xy"));
    CHECK((lines.read_line(line, 4) && line == "z"));
    CHECK_FALSE(lines.read_line(line, 4));
}

TEST_CASE("file_sources: a file that may not be read is named") {
    namespace fs = std::filesystem;
    const auto path = file("secret.csv", "1\n");
    fs::permissions(folder().path(), fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
    fs::permissions(path, fs::perms::none);
    const int status = io_test::in_child([&] {
        constexpr uid_t nobody = 65534; // root may read every file
        if (geteuid() == 0 && setuid(nobody) != 0) return 1;
        const auto is_named = [&](const auto& make) {
            const auto message = message_of(make);
            return message.starts_with("permission denied: ") && message.find(path) != std::string::npos;
        };
        if (!is_named([&] { return dataset::csv<int>(path, {.header = false}); })) return 2;
        return is_named([&] { return dataset::tfrecord(path); }) ? 0 : 3;
    });
    CHECK(status == 0);
    fs::permissions(path, fs::perms::owner_all);
}

TEST_CASE("file_sources: damaged CSV, gzip and TFRecord files end in errors that name them", "[random]") {
    std::string csv = "a,b\n", records;
    for (int i = 0; i < 20; ++i) {
        csv += std::to_string(i) + ",\"text, " + std::to_string(i * i) + "\"\r\n";
        records += detail::tf_record(std::string(static_cast<std::size_t>(i), 'r'));
    }
    const auto gzip = detail::has_zlib() ? detail::gzip_stream(csv) : csv;
    seeds::each(200, [&](std::uint64_t seed) {
        seeds::draws draw(seed);
        const auto which = draw(3);
        auto bytes = which == 0 ? csv : which == 1 ? gzip : records;
        for (std::size_t i = 0, n = 1 + draw(4); i < n; ++i) switch (const auto at = draw(bytes.size()); draw(4)) {
            case 0: bytes.erase(at, 1 + draw(9)); break;
            case 1: bytes.insert(at, 1, "\",\n\0\r\x1f"[draw(6)]); break;
            default: bytes[at] = static_cast<char>(draw(256));
            }
        const auto path = file("damaged", bytes);
        const auto source =
            which == 2 ? dataset::tfrecord(path).source() : dataset::csv<int, std::string>(path).source();
        const auto it = source->iterate({});
        detail::element_arrays element;
        int pulls = 0;
        for (bool more = true; more; ++pulls) {
            REQUIRE(pulls < 200); // each pull takes a record, or what it skips
            try {
                more = it->next(element, {environment::real()});
            } catch (const error& problem) {
                CHECK((problem.code() == error_code::data_loss || problem.code() == error_code::invalid_argument));
                CHECK_THAT(problem.what(), contains("damaged"));
            }
        }
    });
}

TEST_CASE("file_sources: csv_line writes what is read") {
    const std::vector<std::vector<std::string>> rows{{"a", "b c", ""},
                                                     {" a", "b ", "\t"},
                                                     {"x,y", "\"", "\"\"z"},
                                                     {"l\nm", "n\n", "\n"},
                                                     {"\xef\xbb\xbfname", "", "1"}};
    std::string text;
    for (const auto& row : rows) text += csv_line(row) + "\n";
    std::vector<std::vector<std::string>> read;
    for (const auto& [a, b, c] :
         dataset::csv<std::string, std::string, std::string>(file("written.csv", text), {.header = false}))
        read.push_back({a, b, c});
    CHECK(read == rows);
    CHECK(csv_line({"plain", "1.5"}, ';') == "plain;1.5");
    CHECK(csv_line({""}) == "\"\"");
    CHECK_THROWS_WITH(csv_line({"a", std::string(1, '\0')}), contains("field 2 has a NUL byte"));
}

TEST_CASE("file_sources: patterns of names") {
    const std::string many(60, 'a');
    std::string stars;
    for (int i = 0; i < 30; ++i) stars += "*a";
    const struct {
        std::string name, pattern;
        bool fits;
    } rows[] = {
        {"", "", true},
        {"", "*", true},
        {"a", "", false},
        {"part-1.csv", "part-?.csv", true},
        {"part-12.csv", "part-?.csv", false},
        {"part-1.csv", "*.csv", true},
        {"a.csv.gz", "*.csv", false},
        {"x.csv.csv", "*.csv", true},
        {"b3", "[a-c][!1-2]", true},
        {"b2", "[a-c][!1-2]", false},
        {"]", "[]]", true},
        {"[a", "[a", true},
        {many, stars, true},
        {many, stars + "b", false}, // in no time
    };
    for (const auto& row : rows) {
        INFO(row.name << " " << row.pattern);
        CHECK(detail::matches_pattern(row.name, row.pattern) == row.fits);
    }
}

TEST_CASE("file_sources: lines, records of fixed length, TFRecord, and their damage") {
    CHECK(texts(dataset::text_lines(file("lines.txt", "head\na\r\n\nb\0c\n" + std::string()),
                                    {.skip_header_lines = 1})) == std::vector<std::string>{"a", "", "b"});
    const auto fixed = file("fixed.bin", "HHabcdefF");
    CHECK(texts(dataset::fixed_length_records(fixed, 3, {.header_bytes = 2, .footer_bytes = 1})) ==
          std::vector<std::string>{"abc", "def"});
    CHECK_THROWS_WITH(texts(dataset::fixed_length_records(fixed, 4)),
                      contains("fixed.bin': a record at byte 8 is cut off: 1 bytes of 4 are there"));
    CHECK_THROWS_AS(dataset::fixed_length_records(fixed, 0), invalid_argument);
    for (const fixed_length_options& o :
         {fixed_length_options{20, 1}, fixed_length_options{9, 1}, fixed_length_options{8, 2}}) {
        const auto data = dataset::fixed_length_records(fixed, 3, o); // the file ends within header or footer
        CHECK_THROWS_AS(texts(data), data_loss);
        CHECK(texts(data.ignore_errors()).empty());
    }
    CHECK(texts(dataset::whole_files({fixed, fixed})) == std::vector<std::string>{"HHabcdefF", "HHabcdefF"});
    const std::string first = detail::tf_record("one"), second = detail::tf_record(std::string(300, 'x')),
                      third = detail::tf_record("");
    const auto all = first + second + third;
    CHECK(texts(dataset::tfrecord(file("all.tfrecord", all))) ==
          std::vector<std::string>{"one", std::string(300, 'x'), ""});
    const auto flipped = [&](std::size_t at) {
        auto bytes = all;
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        return bytes;
    };
    const struct {
        std::string bytes, message;
        std::size_t left; // when bad ones are left out
    } rows[] = {
        {all.substr(0, all.size() - 1), "a record's checksum at byte 347 is cut off", 2},
        {all.substr(0, first.size() + 100), "a record at byte 31 is cut off: 88 bytes of 300 are there", 1},
        {all.substr(0, first.size() + 5), "a record's length at byte 19 is cut off", 1},
        {flipped(first.size() + 20), "record 1 at byte 19: its checksum is wrong", 2},
        {flipped(first.size() + 1), "record 1 at byte 19: the checksum of its length is wrong", 1},
    };
    for (const auto& row : rows) {
        const auto data = dataset::tfrecord(file("bad.tfrecord", row.bytes));
        const auto message = message_of([&] { return data; });
        CHECK(message.find("data loss: ") == 0);
        CHECK_THAT(message, contains("bad.tfrecord': " + row.message));
        CHECK(texts(data.ignore_errors()).size() == row.left);
    }
    const auto small = first + third;
    for (std::size_t bit = 0; bit < small.size() * 8; ++bit) { // checksums find each flipped bit
        auto changed = small;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        const auto data = dataset::tfrecord(file("bad.tfrecord", changed));
        CHECK_THROWS_AS(texts(data), data_loss);
        CHECK(texts(data.ignore_errors()).size() < 2);
    }
}

TEST_CASE("file_sources: NPY and IDX") {
    any_array images(dtype::uint8, dims{3, 2, 2}), labels(dtype::uint8, dims{3});
    for (int i = 0; i < 12; ++i) static_cast<std::uint8_t*>(images.mutable_data())[i] = static_cast<std::uint8_t>(i);
    for (int i = 0; i < 3; ++i) static_cast<std::uint8_t*>(labels.mutable_data())[i] = static_cast<std::uint8_t>(i);
    write_idx(folder() / "images", images);
    write_idx(folder() / "labels", labels);
    write_npy(folder() / "images.npy", images);
    write_npy(folder() / "labels.npy", labels);
    int sum = 0;
    for (const auto& [image, label] :
         dataset::idx<tensor<std::uint8_t, 2, 2>, std::uint8_t>(folder() / "images", folder() / "labels"))
        sum += image(1, 1) * label;
    CHECK(sum == 7 + 22);
    for (const auto& [image, label] :
         dataset::npy<tensor<std::uint8_t, dyn, 2>, std::uint8_t>(folder() / "images.npy", folder() / "labels.npy"))
        sum -= image(1, 1) * label;
    CHECK(sum == 0);
    CHECK_THROWS_WITH((dataset::idx<tensor<std::uint8_t, 3>>(folder() / "images")), contains("uint8 [2, 2]"));
}

} // namespace test_data_file_sources
