// SPDX-License-Identifier: BSD-3-Clause
// Word count as a graph over several processes. Each worker splits its verses into words and counts them (map). Words travel by their
// hash to the worker that adds them up (shuffle, reduce). One session run does it all; the most frequent long words are sorted there too.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;

namespace {

using words = tensor<std::string, dyn>;
using numbers = tensor<int, dyn>;

const std::string between_words = " .,:;?!()'-\t";
constexpr int least_bytes = 5; // of a word that counts

std::vector<std::string> read_verses() {
#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif
    std::ifstream in(RILL_EXAMPLE_DATA "/genesis_exodus.txt");
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line.substr(line.find(' ') + 1)); // without "Ge1:1"
    return all;
}

/// Counts words as a loop does.
std::map<std::string, int> count_plainly(const std::vector<std::string>& verses) {
    std::map<std::string, int> counts;
    for (const auto& verse : verses) {
        std::string word;
        for (const char c : verse + " ") {
            if (between_words.find(c) == std::string::npos) {
                word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
                continue;
            }
            if (word.size() >= least_bytes) ++counts[word];
            word.clear();
        }
    }
    return counts;
}

/// The graph of a count over so many workers. Each feeds its verses, maps and reduces.
struct word_count {
    std::vector<placeholder<std::string, dyn>> verses;
    words all;
    numbers counts;
    words frequent; // the ten most frequent
    numbers how_often;

    explicit word_count(int workers) {
        const auto on = [](int task) { return device_scope("/job:worker/task:" + std::to_string(task)); };
        std::vector<std::vector<words>> sent;
        std::vector<std::vector<numbers>> sent_counts;
        for (int w = 0; w < workers; ++w) {
            const auto here = on(w);
            verses.emplace_back("verses_" + std::to_string(w));
            const auto [places, pieces, shape] = string_split(verses.back(), between_words);
            const words lower = string_lower(pieces);
            const words kept = boolean_mask(lower, string_length(lower) >= least_bytes);
            const auto [found, ids, count] = unique_with_counts(kept);
            const auto reducer = string_to_hash_bucket_fast(found, workers);
            sent.push_back(dynamic_partition(found, reducer, workers));
            sent_counts.push_back(dynamic_partition(numbers(count), reducer, workers));
        }
        std::vector<words> reduced;
        std::vector<numbers> totals;
        for (int r = 0; r < workers; ++r) {
            const auto here = on(r);
            std::vector<words> come;
            std::vector<numbers> come_counts;
            for (int w = 0; w < workers; ++w) {
                come.push_back(sent[static_cast<std::size_t>(w)][static_cast<std::size_t>(r)]);
                come_counts.push_back(sent_counts[static_cast<std::size_t>(w)][static_cast<std::size_t>(r)]);
            }
            const auto [found, ids] = unique(words(concat(come, 0)));
            reduced.push_back(found);
            totals.push_back(unsorted_segment_sum(numbers(concat(come_counts, 0)), ids, size(found)));
        }
        const auto here = on(0);
        all = concat(reduced, 0);
        counts = concat(totals, 0);
        const auto [largest, at] = top_k<10>(counts);
        how_often = largest;
        frequent = gather(all, at);
    }
};

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    const auto make_cluster = [](const std::vector<std::string>& at) {
        return cluster_spec{{"worker", {at.begin(), at.end() - 1}}, {"client", {at.back()}}};
    };
    if (argc > 2) { // a worker that is started below: its task, and the addresses of all
        server node(make_cluster({argv + 2, argv + argc}), "worker", std::atoi(argv[1]));
        node.join();
        return 0;
    }
    const auto verses = read_verses();
    const auto wanted = count_plainly(verses);
    for (const int workers : {1, 2, 4}) {
        const auto at = free_addresses(workers + 1);
        std::vector<std::unique_ptr<child_process>> processes;
        for (int w = 0; w < workers; ++w) processes.push_back(start_task(argv[0], {std::to_string(w)}, at));
        const server node(make_cluster(at), "client", 0);
        const graph g;
        const graph_scope here(g);
        const word_count model(workers);
        const session s({.target = node.target()});
        std::vector<feed_value> shares;
        for (std::size_t w = 0; w < model.verses.size(); ++w) {
            const auto from = static_cast<std::ptrdiff_t>(verses.size() * w / model.verses.size()),
                       end = static_cast<std::ptrdiff_t>(verses.size() * (w + 1) / model.verses.size());
            shares.push_back(
                feed(model.verses[w], std::vector<std::string>(verses.begin() + from, verses.begin() + end)));
        }
        const auto fetches = std::tuple(model.all, model.counts, model.frequent, model.how_often);
        s.run(fetches, shares); // waits until all have started, and registers the graph there
        const auto begin = std::chrono::steady_clock::now();
        const auto [all, counts, frequent, how_often] = s.run(fetches, shares);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;

        std::map<std::string, int> got;
        for (std::size_t i = 0; i < all.size(); ++i) got[all(i)] += counts(i);
        std::printf("%d worker%s: %zu words, %.1f ms; most frequent:", workers, workers > 1 ? "s" : "", all.size(),
                    took.count());
        for (std::size_t i = 0; i < 5; ++i) std::printf(" %s %d", frequent(i).c_str(), how_often(i));
        std::printf("\n");
        expect(all.size() == wanted.size() && got == wanted, "every word is counted as a plain loop does");
    }
}
