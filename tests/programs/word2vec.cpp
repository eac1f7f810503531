// SPDX-License-Identifier: BSD-3-Clause
// Words as vectors, by noise-contrastive estimation.
#include <cctype>
#include <fstream>
#include <map>

#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_word2vec {

constexpr int skip_window = 3, num_skips = 2;
constexpr index_t vocabulary_size = 700, embedding_size = 200, num_sampled = 64;

/// A text as ids: 0 for rare words, then the most frequent words.
class corpus {
public:
    std::vector<int> data;
    std::vector<std::string> id2word{"UNK"};
    std::map<std::string, int> word2id;

    corpus(const std::string& path, int max_vocabulary_size, int min_occurrence) {
        std::ifstream file(path);
        std::vector<std::string> words;
        std::map<std::string, int> counts;
        for (std::string word; file >> word;) {
            std::string plain;
            for (const char c : word)
                if (std::isalpha(static_cast<unsigned char>(c)))
                    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            if (plain.empty()) continue;
            words.push_back(plain);
            ++counts[plain];
        }
        std::vector<std::pair<int, std::string>> common;
        for (const auto& [word, count] : counts) common.emplace_back(-count, word);
        std::sort(common.begin(), common.end());
        for (const auto& [count, word] : common) {
            if (-count < min_occurrence || static_cast<int>(id2word.size()) == max_vocabulary_size) break;
            word2id[word] = static_cast<int>(id2word.size());
            id2word.push_back(word);
        }
        for (const auto& word : words) data.push_back(word2id.contains(word) ? word2id.at(word) : 0);
    }

    /// Draws words and words beside them.
    std::pair<std::vector<int>, xt::xtensor<int, 2>> next_batch(std::size_t batch_size) {
        std::vector<int> batch;
        xt::xtensor<int, 2> labels({batch_size, 1});
        const std::size_t span = 2 * skip_window + 1;
        while (batch.size() < batch_size) {
            if (data_index_ + span > data.size()) data_index_ = 0;
            std::vector<std::size_t> context{0, 1, 2, 4, 5, 6};
            std::shuffle(context.begin(), context.end(), random_);
            for (std::size_t j = 0; j < num_skips; ++j) {
                labels(batch.size(), 0) = data[data_index_ + context[j]];
                batch.push_back(data[data_index_ + skip_window]);
            }
            ++data_index_;
        }
        return {batch, labels};
    }

private:
    std::size_t data_index_ = 0;
    std::mt19937 random_{5};
};

TEST_CASE("programs: word2vec") {
    corpus text(example_data("genesis_exodus.txt"), vocabulary_size, 10);
    REQUIRE(text.id2word.size() == vocabulary_size);
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_steps = steps(1500, 3000000);
    const std::size_t batch_size = 128;

    placeholder<int, dyn> x("X");
    placeholder<int, dyn, 1> y("Y");
    const device_scope on("/cpu:0");
    const variable<float, vocabulary_size, embedding_size> embedding("embedding", random_normal());
    const auto x_embed = embedding_lookup(embedding, x);
    const variable<float, vocabulary_size, embedding_size> nce_weights("nce_weights", random_normal());
    const variable<float, vocabulary_size> nce_biases("nce_biases", zeros());
    const tensor loss_op = reduce_mean(nce_loss<num_sampled>(nce_weights, nce_biases, y, x_embed));
    const auto train_op = gradient_descent(0.1f).minimize(loss_op);
    const auto x_embed_norm = x_embed / sqrt(reduce_sum<1>(square(x_embed), keep_dims));
    const tensor embedding_norm = embedding / sqrt(reduce_sum<1>(square(embedding), keep_dims));
    const tensor cosine_sim_op = matmul(x_embed_norm, transpose(embedding_norm));

    session s;
    s.run(global_variables_initializer());
    std::vector<int> x_test;
    for (const char* word : {"god", "earth", "and", "father"}) x_test.push_back(text.word2id.at(word));
    float first = 0, average_loss = 0;
    for (int step = 1; step <= num_steps; ++step) {
        const auto [batch_x, batch_y] = text.next_batch(batch_size);
        const auto [loss] = s.run(std::tuple(loss_op, train_op), feed(x, batch_x), feed(y, batch_y));
        average_loss = step == 1 ? loss : 0.99f * average_loss + 0.01f * loss;
        if (step == 1) first = loss;
    }
    const auto sim = s.run(cosine_sim_op, feed(x, x_test));
    for (std::size_t i = 0; i < x_test.size(); ++i) {
        std::vector<int> nearest(static_cast<std::size_t>(vocabulary_size));
        std::iota(nearest.begin(), nearest.end(), 0);
        std::partial_sort(nearest.begin(), nearest.begin() + 9, nearest.end(), [&](int a, int b) {
            return sim(i, static_cast<std::size_t>(a)) > sim(i, static_cast<std::size_t>(b));
        });
        CHECK(nearest[0] == x_test[i]); // each word is the nearest to itself
    }
    INFO("loss " << first << " to " << average_loss << ", " << vocabulary_size << " words");
    CHECK(average_loss < 0.5f * first);
}

} // namespace test_programs_word2vec
