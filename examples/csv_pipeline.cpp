// SPDX-License-Identifier: BSD-3-Clause
// Examples from CSV files by readers and queues: one thread, five threads, five readers; then by a dataset that two processes share. Each way gives
// the same examples, and ends by itself.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <rill/rill.hpp>

#include "child_process.hpp"
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

/// Writes one of two workers' share of the examples to a file.
void work(const std::string& folder, int worker) {
    std::ofstream out(folder + "/share-" + std::to_string(worker));
    for (const auto& [x1, x2, target] : dataset::csv<float, std::string, int>(folder + "/part-*.csv").shard(2, worker))
        out << x1 << ' ' << (x2.empty() ? "-1" : x2) << ' ' << target << '\n';
}

/// Reads the examples with two processes.
std::multiset<example> read_by_processes(const std::string& program, const std::string& folder) {
    {
        child_process first(program, {folder, "0"}), second(program, {folder, "1"});
        expect(first.wait() == 0 && second.wait() == 0, "both processes end by themselves");
    }
    std::multiset<example> seen;
    for (const char* name : {"/share-0", "/share-1"}) {
        std::ifstream in(folder + name);
        std::size_t examples = 0;
        float x1 = 0, x2 = 0;
        for (int target = 0; in >> x1 >> x2 >> target; ++examples) seen.emplace(x1, x2, target);
        expect(examples == 50, "each process has its half");
    }
    return seen;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3) { // started below
        work(argv[1], std::stoi(argv[2]));
        return 0;
    }
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
    if (has_child_processes) {
        const auto seen = read_by_processes(argv[0], folder);
        std::printf("two processes: %zu examples\n", seen.size());
        expect(seen == all, "every example once, in one of two processes");
    }
    std::filesystem::remove_all(folder);
}
