// SPDX-License-Identifier: BSD-3-Clause
// Examples from CSV files by readers and queues: one thread, five threads, five readers. Each way gives the same examples, and ends by itself.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

using example = std::tuple<float, float, int>;

/// Five files of 20 examples, each with a header.
std::vector<std::string> write_files(const std::string& folder, std::multiset<example>& all) {
    std::vector<std::string> files;
    for (int f = 0; f < 5; ++f) {
        files.push_back(folder + "/part-" + std::to_string(f) + ".csv");
        std::ofstream out(files.back());
        out << "x1,x2,target\n";
        for (int i = f * 20; i < f * 20 + 20; ++i) {
            all.emplace(static_cast<float>(i) / 2, i % 7 == 0 ? -1.f : static_cast<float>(i), i % 3);
            out << static_cast<float>(i) / 2 << ',' << (i % 7 == 0 ? "" : std::to_string(i)) << ',' << i % 3 << '\n';
        }
    }
    return files;
}

std::multiset<example> read_all(const std::vector<std::string>& files, int readers, int threads) {
    const graph_scope here{graph()};
    const auto names = string_input_producer(files, {.num_epochs = 1, .shuffle = false});
    const random_shuffle_queue<tensor<float>, tensor<float>, tensor<int>> examples(
        {.capacity = 30, .min_after_dequeue = 5, .seed = 7});
    std::vector<operation> puts;
    for (int r = 0; r < readers; ++r) {
        const text_line_reader reader({.skip_header_lines = 1});
        const auto [key, line] = reader.read(names);
        const auto [x1, x2, target] =
            decode_csv<float, float, int>(line, {required, -1.f, required}); // a missing x2 is -1
        const auto put = examples.enqueue(x1, x2, target);
        puts.insert(puts.end(), static_cast<std::size_t>(threads), put);
    }
    add_queue_runner(examples, puts);
    const auto [x1s, x2s, targets] = examples.dequeue_up_to(8);

    const session s;
    const coordinator c;
    auto running = start_queue_runners(s, c);
    std::multiset<example> seen;
    try {
        for (;;) {
            const auto [a, b, t] = s.run(std::tuple(x1s, x2s, targets));
            for (std::size_t i = 0; i < a.size(); ++i) seen.emplace(a(i), b(i), t(i));
        }
    } catch (const out_of_range&) {} // every file is read
    c.request_stop();
    c.join(running);
    return seen;
}

} // namespace

int main() {
    const std::string folder = (std::filesystem::temp_directory_path() / "rill-csv-pipeline").string();
    std::filesystem::create_directories(folder);
    std::multiset<example> all;
    const auto files = write_files(folder, all);
    const struct {
        const char* name;
        int readers, threads;
    } ways[] = {{"one thread", 1, 1}, {"five threads", 1, 5}, {"five readers", 5, 1}};
    for (const auto& way : ways) {
        const auto seen = read_all(files, way.readers, way.threads);
        std::printf("%s: %zu examples\n", way.name, seen.size());
        expect(seen == all, "every example once");
    }
    std::multiset<example> from_dataset; // the same by a dataset, of two workers that share the files
    for (int worker = 0; worker < 2; ++worker)
        for (const auto& [x1, line, target] :
             dataset::csv<float, std::string, int>(folder + "/part-*.csv").shard(2, worker))
            from_dataset.emplace(x1, line.empty() ? -1.f : std::stof(line), target);
    expect(from_dataset == all, "every example once, of one of two workers");
    std::filesystem::remove_all(folder);
}
