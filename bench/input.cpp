// SPDX-License-Identifier: BSD-3-Clause
// Input: MB/s of CSV, TFRecord and NPY files beside a parse in plain C++, the cost of an element of a pipeline, and training steps that read
// a dataset beside steps that are fed arrays.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include <rill/core/crc32c.hpp>
#include <rill/io/npy.hpp>
#include <rill/io/wire.hpp>
#include <rill/rill.hpp>

using namespace rill;

namespace {

/// Files in a folder that is removed at the end of the program.
class files {
public:
    static const files& all() {
        static const files one;
        return one;
    }
    files(const files&) = delete;
    ~files() { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::int64_t bytes(const std::string& name) const {
        return static_cast<std::int64_t>(std::filesystem::file_size(folder_ / name));
    }

private:
    files()
        : folder_(std::filesystem::temp_directory_path() /
                  ("rill-bench-input-" + std::to_string(detail::random_bits()))) {
        std::filesystem::create_directories(folder_);
        std::ofstream csv(path("rows.csv"));
        tf_record_writer records(path("rows.tfrecord"));
        for (int i = 0; i < 20'000; ++i) {
            for (int k = 0; k < 4; ++k) csv << static_cast<float>((i * 37 + k * 11) % 1013) / 16 << ',';
            csv << i % 7 << '\n';
            records.write(std::string(static_cast<std::size_t>(100 + i % 200), static_cast<char>(i)));
        }
        records.close();
        any_array array(dtype::float32, dims{20'000, 64});
        std::fill_n(static_cast<float*>(array.mutable_data()), array.size(), 0.5f);
        write_npy(path("rows.npy"), array);
    }

    const std::filesystem::path folder_;
};

std::string content(const std::string& name) {
    std::ifstream in(files::all().path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

template <class F> void read_file(benchmark::State& state, const char* name, const F& read) {
    const auto bytes = files::all().bytes(name);
    for (auto _ : state) benchmark::DoNotOptimize(read(files::all().path(name)));
    state.SetBytesProcessed(state.iterations() * bytes);
}

void csv_dataset(benchmark::State& state) {
    read_file(state, "rows.csv", [](const std::string& path) {
        double sum = 0;
        for (const auto& [a, b, c, d, e] : dataset::csv<float, float, float, float, int>(path))
            sum += double(a) + double(d) + e;
        return sum;
    });
}
BENCHMARK(csv_dataset);

void csv_matrix(benchmark::State& state) {
    read_file(state, "rows.csv",
              [](const std::string& path) { return read_csv<float>(path, {.header = false}).values(0, 0); });
}
BENCHMARK(csv_matrix);

/// The fields of well-formed lines, by std::from_chars.
void csv_plain(benchmark::State& state) {
    read_file(state, "rows.csv", [](const std::string&) {
        const auto text = content("rows.csv");
        double sum = 0;
        const char* const end = text.data() + text.size();
        for (const char* at = text.data(); at < end; ++at) {
            float x = 0;
            at = std::from_chars(at, end, x).ptr; // then a delimiter or a line end
            sum += x;
        }
        return sum;
    });
}
BENCHMARK(csv_plain);

void tfrecord_dataset(benchmark::State& state) {
    read_file(state, "rows.tfrecord", [](const std::string& path) {
        std::size_t sum = 0;
        for (const auto& record : dataset::tfrecord(path)) sum += record.size();
        return sum;
    });
}
BENCHMARK(tfrecord_dataset);

/// The same checks on bytes in memory.
void tfrecord_plain(benchmark::State& state) {
    read_file(state, "rows.tfrecord", [](const std::string&) {
        const auto bytes = content("rows.tfrecord");
        std::size_t sum = 0;
        for (std::size_t at = 0; at + 16 <= bytes.size();) {
            std::uint64_t length = 0;
            std::uint32_t crc = 0, head = 0;
            std::memcpy(&length, bytes.data() + at, 8);
            std::memcpy(&head, bytes.data() + at + 8, 4);
            std::memcpy(&crc, bytes.data() + at + 12 + length, 4);
            const std::string_view payload(bytes.data() + at + 12, length);
            sum += payload.size() + (crc != detail::masked_crc(detail::crc32c(payload))) +
                   (head != detail::masked_crc(detail::crc32c(std::string_view(bytes.data() + at, 8))));
            at += 16 + length;
        }
        return sum;
    });
}
BENCHMARK(tfrecord_plain);

void npy_dataset(benchmark::State& state) {
    read_file(state, "rows.npy", [](const std::string& path) {
        float sum = 0;
        for (const auto& row : dataset::npy<tensor<float, 64>>(path).batch<100>()) sum += row(0, 0);
        return sum;
    });
}
BENCHMARK(npy_dataset);

void npy_plain(benchmark::State& state) {
    read_file(state, "rows.npy", [](const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        std::vector<float> values(20'000 * 64);
        in.seekg(128);
        in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
        return values[0];
    });
}
BENCHMARK(npy_plain);

/// An element through map, shuffle, batch and prefetch; "items" are elements.
void pipeline_element(benchmark::State& state) {
    constexpr std::int64_t batch = 100;
    const graph g;
    const graph_scope here(g);
    const auto next = dataset::range(1 << 20)
                          .map([](std::int64_t x) { return static_cast<float>(x) * 0.5f; })
                          .shuffle(1000, 7)
                          .repeat()
                          .batch<batch>(drop_remainder)
                          .prefetch(2)
                          .make_one_shot_iterator()
                          .get_next();
    const session s;
    const auto step = s.make_callable(std::tuple(next));
    for (auto _ : state) benchmark::DoNotOptimize(step());
    state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(pipeline_element)->UseRealTime();

/// A training step of a network for the handwriting of examples/digits.cpp, with its batch as a tensor.
template <class X, class Y> operation training_step(const X& x, const Y& label) {
    const auto hidden = relu(dense<64, 128>("hidden", x));
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(dense<128, 10>("logits", hidden), label));
    return adam(0.001f).minimize(loss);
}

xt::xtensor<float, 2> pictures() {
    xt::xtensor<float, 2> all({1797, 64});
    for (std::size_t i = 0; i < all.size(); ++i) all.flat(i) = static_cast<float>(i * 37 % 17) / 16;
    return all;
}
xt::xtensor<int, 1> classes() {
    xt::xtensor<int, 1> all(std::array<std::size_t, 1>{1797}); // ({1797}) would hold the one number 1797
    for (std::size_t i = 0; i < all.size(); ++i) all(i) = static_cast<int>(i * 7 % 10);
    return all;
}

void digits_fed(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 32, 64> x("x");
    const placeholder<int, 32> label("label");
    const auto train = training_step(x, label);
    const session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(train, x, label);
    const auto all = pictures();
    const auto all_labels = classes();
    xt::xtensor<float, 2> xs({32, 64});
    xt::xtensor<int, 1> ys(std::array<std::size_t, 1>{32});
    std::size_t at = 0;
    for (auto _ : state) { // a program that mixes its arrays by hand
        for (std::size_t i = 0; i < 32; ++i, at = (at + 769) % 1797) {
            std::copy_n(&all(at, 0), 64, &xs(i, 0));
            ys(i) = all_labels(at);
        }
        step(xs, ys);
    }
}
BENCHMARK(digits_fed)->UseRealTime();

void digits_dataset(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    const auto [x, label] = dataset::from_tensor_slices(pictures(), classes())
                                .as<tensor<float, 64>, int>()
                                .shuffle(1797, 7)
                                .repeat()
                                .batch<32>(drop_remainder)
                                .prefetch(2)
                                .make_one_shot_iterator()
                                .get_next();
    const auto train = training_step(x, label);
    const session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(train);
    for (auto _ : state) step();
}
BENCHMARK(digits_dataset)->UseRealTime();

} // namespace
