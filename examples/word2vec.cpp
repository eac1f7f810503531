// SPDX-License-Identifier: BSD-3-Clause
// Words as vectors: a skip-gram model guesses the words around a word, by noise-contrastive estimation. It reads the text that
// mapreduce.cpp counts. Then the nearest words of some are printed, and words of a kind must be near one another.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif

namespace {

/// Returns the words of a text in small letters. Words with digits, as the numbers of verses, are left out.
std::vector<std::string> words_of(std::istream& in) {
    const auto is = [](int (*kind)(int)) { return [=](char c) { return kind(static_cast<unsigned char>(c)) != 0; }; };
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        if (std::any_of(word.begin(), word.end(), is(std::isdigit))) continue;
        std::string plain;
        for (const char c : word)
            if (std::isalpha(static_cast<unsigned char>(c)))
                plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (!plain.empty()) words.push_back(plain);
    }
    return words;
}

/// A word, and others of its kind. A model that has learnt nothing finds one of them nearby once in fifteen times.
struct kinship {
    std::string word;
    std::vector<std::string> kin;
};
const kinship kinships[] = {
    {"abraham", {"isaac", "jacob", "joseph", "laban", "abram", "sarah", "sarai"}},
    {"brother", {"sister", "father", "mother", "brethren", "wife", "son", "servant"}},
    {"seven", {"three", "four", "five", "six", "twenty", "forty", "fifty"}},
    {"thy", {"my", "his", "her", "our", "your", "thine"}},
    {"day", {"month", "year", "time", "night", "morrow", "days"}},
};

} // namespace

int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : RILL_EXAMPLE_DATA "/genesis_exodus.txt");
    const auto words = words_of(file);
    std::map<std::string, int> counts;
    for (const auto& word : words) ++counts[word];
    constexpr index_t vocabulary = 500, width = 32;
    std::vector<std::pair<int, std::string>> frequent; // the most frequent come first, as the sampler expects
    for (const auto& [word, count] : counts) frequent.emplace_back(-count, word);
    std::sort(frequent.begin(), frequent.end());
    expect(frequent.size() >= vocabulary, "a text of 500 different words");
    frequent.resize(vocabulary - 1);
    std::map<std::string, int> ids; // 0: a rare word
    for (const auto& [count, word] : frequent) ids.try_emplace(word, static_cast<int>(ids.size()) + 1);
    std::vector<int> text;
    for (const auto& word : words) text.push_back(ids.contains(word) ? ids.at(word) : 0);
    std::printf("%zu words, %zu of them different\n", words.size(), counts.size());

    default_graph().set_seed(1);
    placeholder<int, dyn> centre("centre"), around("around");
    const variable<float, vocabulary, width> table("words", random_uniform({.minval = -1.f, .maxval = 1.f}));
    const variable<float, vocabulary, width> weights("weights", truncated_normal({.stddev = 0.15f}));
    const variable<float, vocabulary> biases("biases", zeros());
    const auto loss = reduce_mean(nce_loss<32>(weights, biases, around, embedding_lookup(table, centre)));
    const auto train = adam(1e-2f).minimize(loss);
    placeholder<int, dyn> chosen("chosen");
    const tensor unit = table * rsqrt(reduce_sum<1>(square(table), keep_dims));
    const auto [nearness, nearest] = top_k<5>(matmul(embedding_lookup(unit, chosen), transpose(unit)));

    session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), centre, around);
    std::mt19937 random(5);
    float first = 0, mean = 0;
    for (int i = 1; i <= 5000; ++i) {
        std::vector<int> from, to;
        for (int k = 0; k < 256; ++k) { // a word and one at most two words away
            const int at = std::uniform_int_distribution<int>(2, static_cast<int>(text.size()) - 3)(random);
            const int by = std::uniform_int_distribution<int>(1, 2)(random) * (random() % 2 == 0 ? 1 : -1);
            from.push_back(text[static_cast<std::size_t>(at)]);
            to.push_back(text[static_cast<std::size_t>(at + by)]);
        }
        const auto [l] = step(from, to);
        mean = i == 1 ? l : 0.98f * mean + 0.02f * l;
        if (i == 50) first = mean;
        if (i % 1000 == 0) std::printf("step %4d: loss %.3f\n", i, static_cast<double>(mean));
    }
    std::vector<int> asked;
    std::vector<const kinship*> of;
    for (const kinship& k : kinships)
        if (ids.contains(k.word)) { // another text may lack it
            asked.push_back(ids.at(k.word));
            of.push_back(&k);
        }
    const auto [ids_near, how_near] = s.run(std::tuple(nearest, nearness), feed(chosen, asked));
    int kin_found = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        bool found = false;
        std::printf("%s:", of[i]->word.c_str());
        for (std::size_t k = 1; k < 5; ++k) { // the first is the word itself
            const int id = ids_near(i, k);
            const std::string near = id == 0 ? "?" : frequent[static_cast<std::size_t>(id) - 1].second;
            std::printf(" %s", near.c_str());
            found |= std::ranges::find(of[i]->kin, near) != of[i]->kin.end();
        }
        std::printf("\n");
        kin_found += found;
        expect(ids_near(i, 0) == asked[i] && how_near(i, 0) > 0.999f, "each word is nearest to itself");
    }
    expect(mean < 0.6f * first, "the loss falls");
    if (argc == 1) expect(kin_found >= 4, "four of five words have one of their kind nearby");
}
