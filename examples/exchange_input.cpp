// SPDX-License-Identifier: BSD-3-Clause
// Data in the formats of other programs: exchange_input write DIR makes rows.tfrecord, rows.csv and rows.npy; exchange_input read DIR takes those of
// others, from the same names. Without arguments it does both.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <rill/io/npy.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

const std::vector<std::string> names{"plain", "comma, quote \" and\nline", "", "\xc3\xa4\xc3\xb6\xc3\xbc"};

void write(const std::string& directory) {
    xt::xtensor<float, 2> values({4, 3});
    for (std::size_t i = 0; i < values.size(); ++i) values.flat(i) = static_cast<float>(i) / 4;
    write_npy(directory + "/rows.npy", to_any_array<float>(values));

    tf_record_writer records(directory + "/rows.tfrecord");
    std::ofstream table(directory + "/rows.csv", std::ios::binary);
    table << csv_line({"name", "value", "number"}) << '\n';
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i) - 1;
        records.write(example_bytes({{"name", {.texts = {names[i]}}},
                                     {"values", {.floats = {values(i, 0), values(i, 1), values(i, 2)}}},
                                     {"number", {.numbers = {number}}}}));
        table << csv_line({names[i], std::to_string(values(i, 0)), std::to_string(number)}) << '\n';
    }
    records.close();
}

void read(const std::string& directory) {
    const graph_scope here{graph()};
    const auto bytes = dataset::tfrecord(directory + "/rows.tfrecord").batch<8>().make_one_shot_iterator().get_next();
    const auto [text, floats, integer] =
        parse_example(bytes, fixed_len_feature<std::string>("name"), fixed_len_feature<float, 3>("values"),
                      fixed_len_feature<std::int64_t>("number"));
    const session s;
    const auto [texts, values, numbers] = s.run(std::tuple(text, floats, integer));
    expect(texts.size() == names.size(), "four Examples");
    std::size_t i = 0;
    for (const auto& row : dataset::npy<tensor<float, 3>>(directory + "/rows.npy")) {
        for (std::size_t k = 0; k < 3; ++k)
            expect(row(k) == static_cast<float>(i * 3 + k) / 4 && values(i, k) == row(k), "the numbers of the array");
        ++i;
    }
    expect(i == 4, "four rows of the array");
    i = 0;
    for (const auto& [name, value, number] : dataset::csv<std::string, float, std::int64_t>(directory + "/rows.csv")) {
        expect(name == names[i] && texts(i) == name, "the names, with quotes and line ends");
        expect(value == static_cast<float>(i * 3) / 4 && number == static_cast<std::int64_t>(i) - 1 &&
                   numbers(i) == number,
               "the numbers of the table");
        ++i;
    }
    expect(i == 4, "four rows of the table");
    std::printf("%s: %zu rows as Examples, as table and as array\n", directory.c_str(), i);
}

} // namespace

int main(int argc, char** argv) try {
    const std::string what = argc > 2 ? argv[1] : "", path = argc > 2 ? argv[2] : "exchange_input_run";
    std::filesystem::create_directories(path);
    if (what != "read") write(path);
    if (what != "write") read(path);
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
