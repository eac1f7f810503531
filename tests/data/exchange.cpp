// SPDX-License-Identifier: BSD-3-Clause
// Files of NumPy, Python's csv and gzip, Pillow and TensorFlow: tests/data/input_files.py wrote them. tests/house/check_input.py is the other way.
#include <rill/data/dataset.hpp>
#include <rill/io/tensor_message.hpp>
#include <rill/io/zlib.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/input/parse_example.hpp>

#include "catch.hpp"
#include "io/stored.hpp"

using namespace rill;

namespace test_data_exchange {

TEST_CASE("exchange: a TFRecord file of Examples, to the byte") {
    int k = 0;
    for (const auto& bytes : dataset::tfrecord(io_test::stored("examples.tfrecord"))) {
        const auto features = parse_example_bytes(bytes);
        REQUIRE(features.size() == 3);
        CHECK(features.at("x").floats == std::vector{static_cast<float>(k) + 0.5f, -static_cast<float>(k)});
        CHECK(features.at("label").numbers == std::vector{std::int64_t(k) - 1});
        std::vector<std::string> words;
        for (int i = 0; i < k; ++i) words.push_back("word" + std::to_string(i));
        CHECK(features.at("words").texts == words);
        if (k > 0) CHECK(example_bytes(features) == bytes); // of an empty list TensorFlow keeps the kind
        ++k;
    }
    CHECK(k == 3);
    const graph_scope here{graph()};
    const auto batch = dataset::tfrecord(io_test::stored("examples.tfrecord")).batch<3>();
    const auto [x, label] = parse_example(batch.make_one_shot_iterator().get_next(), fixed_len_feature<float, 2>("x"),
                                          fixed_len_feature<std::int64_t>("label"));
    const session s;
    const auto [xs, labels] = s.run(std::tuple(x, label));
    CHECK((xs(2, 0) == 2.5f && labels(0) == -1 && labels(2) == 1));
}

TEST_CASE("exchange: TensorProtos as bytes, as lists, and with a last element that repeats") {
    std::vector<std::string> all;
    for (const auto& bytes : dataset::tfrecord(io_test::stored("tensors.tfrecord"))) all.push_back(bytes);
    REQUIRE(all.size() == 4);
    const auto floats = parse_tensor_bytes(all[0]), longs = parse_tensor_bytes(all[1]),
               texts = parse_tensor_bytes(all[2]), truths = parse_tensor_bytes(all[3]);
    CHECK((floats.shape() == dims{2, 3} && floats.elements<float>()[5] == 5.f));
    CHECK((longs.shape() == dims{2} && longs.elements<std::int64_t>()[0] == -1 &&
           longs.elements<std::int64_t>()[1] == std::int64_t(1) << 40));
    CHECK((texts.elements<std::string>()[0] == "a" && texts.elements<std::string>()[1] == "bc"));
    CHECK((truths.shape() == dims{3} && truths.elements<bool>()[0] && truths.elements<bool>()[2]));
    CHECK(tensor_bytes(floats) == all[0]);
    CHECK(tensor_bytes(texts) == all[2]);
}

TEST_CASE("exchange: arrays of NumPy") {
    int k = 0;
    for (const auto& row : dataset::npy<tensor<float, 3>>(io_test::stored("numbers.npy"))) {
        CHECK((row(0) == static_cast<float>(k) / 4 && row(2) == static_cast<float>(k + 2) / 4));
        k += 3;
    }
    CHECK(k == 12);
    std::vector<int> all; // big-endian, in Fortran's order
    for (const auto& row : dataset::npy<tensor<int, 2>>(io_test::stored("columns.npy")))
        all.insert(all.end(), row.begin(), row.end());
    CHECK(all == std::vector{0, 1, 2, 3, 4, 5});
}

TEST_CASE("exchange: CSV of Python, with quotes, line ends in fields and other delimiters") {
    std::vector<std::string> files{"quoted.csv", "tabs.csv"};
    if (detail::has_zlib())
        files.emplace_back("quoted.csv.gz");
    else
        WARN("skipped: zlib was not found, and quoted.csv.gz is not read");
    for (const auto& name : files) {
        INFO(name);
        const csv_dataset_options options{.delimiter = name == "tabs.csv" ? '\t' : ','};
        const auto data = dataset::csv<std::string, double, int>(io_test::stored(name), options);
        CHECK(data.names() == std::vector<std::string>{"name", "weight", "count"});
        std::vector<std::tuple<std::string, double, int>> rows;
        for (const auto& row : data) rows.push_back(row);
        REQUIRE(rows.size() == 4);
        CHECK(rows[0] == std::tuple("plain", 1.5, 3));
        CHECK(rows[1] == std::tuple("comma, quote \" and\nline", -0.25, -7));
        CHECK(rows[2] == std::tuple("", 1e-3, 0));
        CHECK(rows[3] == std::tuple("\xc3\xa4\xc3\xb6\xc3\xbc", 1e300, 2147483647));
    }
}

} // namespace test_data_exchange
