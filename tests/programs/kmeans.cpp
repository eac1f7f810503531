// SPDX-License-Identifier: BSD-3-Clause
// Digits in 25 clusters by the angle between them, each cluster with the label that most of its members have.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_kmeans {

/// The parts of TensorFlow's contrib.factorization.KMeans that the program uses: cosine distances, and centers that follow the mean of all
/// members they ever had.
template <index_t K, index_t Features> struct k_means {
    variable<float, K, Features> centers{"clusters", zeros()};
    variable<float, K> counts{"counts", zeros()};
    tensor<int, dyn> cluster_idx;
    tensor<float, dyn> scores;
    operation init_op, train_op;

    explicit k_means(const tensor<float, dyn, Features>& inputs) {
        const tensor unit = l2_normalize<1>(inputs);
        const tensor distances = 1.f - matmul(unit, transpose(tensor(l2_normalize<1>(centers))));
        cluster_idx = argmin<1>(distances);
        scores = reduce_min<1>(distances);
        const auto sums = unsorted_segment_sum<K>(unit, cluster_idx);
        const auto members = unsorted_segment_sum<K>(ones_like(scores), cluster_idx);
        const tensor seen = counts + members;
        const tensor moved = centers + (sums - expand_dims<1>(members) * centers) / maximum(expand_dims<1>(seen), 1.f);
        train_op = group(centers.assign(moved), counts.assign(seen));
        init_op = group(centers.assign(slice<K, Features>(random_shuffle(unit), {0, 0})));
    }
};

TEST_CASE("programs: kmeans") {
    const mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_steps = steps(50, 50);
    constexpr index_t k = 25, num_classes = 10;

    placeholder<float, dyn, 784> images("X");
    placeholder<float, dyn, num_classes> labels("Y");
    const k_means<k, 784> model(images);
    const tensor avg_distance = reduce_mean(model.scores);

    session s;
    s.run(global_variables_initializer());
    s.run(model.init_op, feed(images, data.train.images));
    const auto step = s.make_callable(std::tuple(avg_distance, model.cluster_idx, model.train_op), images);
    float first = 0, last = 0;
    xt::xtensor<int, 1> idx;
    for (int i = 1; i <= num_steps; ++i) {
        std::tie(last, idx) = step(data.train.images);
        if (i == 1) first = last;
    }
    std::vector<std::vector<float>> counts(k, std::vector<float>(num_classes));
    for (std::size_t i = 0; i < idx.size(); ++i)
        for (std::size_t c = 0; c < num_classes; ++c)
            counts[static_cast<std::size_t>(idx(i))][c] += data.train.labels(i, c);
    std::vector<int> labels_map;
    for (const auto& of : counts)
        labels_map.push_back(static_cast<int>(std::max_element(of.begin(), of.end()) - of.begin()));

    const auto cluster_label = embedding_lookup(constant(labels_map), model.cluster_idx);
    const auto correct_prediction = equal(cluster_label, argmax<1>(labels));
    const tensor accuracy_op = reduce_mean(cast<float>(correct_prediction));
    const float reached = s.run(accuracy_op, feed(images, data.test.images), feed(labels, data.test.labels));
    INFO("average distance " << first << " to " << last << ", accuracy " << reached);
    CHECK(last < first);
    CHECK(reached > 0.7f);
}

} // namespace test_programs_kmeans
