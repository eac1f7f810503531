// SPDX-License-Identifier: BSD-3-Clause
// k-means: points go to the nearest of a few centers, centers move to the mean of their points (unsorted_segment_mean), until nothing
// changes. A plain C++ loop beside it must end with the same groups.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr index_t groups = 4;
constexpr std::size_t count = 400;

/// Points [count, 2] around four corners, 100 for each, in mixed order.
xt::xtensor<float, 2> sample() {
    std::mt19937 random(11);
    std::normal_distribution<float> noise(0.f, 0.6f);
    constexpr float corners[groups][2] = {{-2, -2}, {-2, 2}, {2, -2}, {3, 3}};
    auto points = xt::xtensor<float, 2>::from_shape({count, 2});
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < 2; ++k) points(i, k) = corners[i % groups][k] + noise(random);
    return points;
}

/// One step of the loop, the plain way: returns the sum of squared distances, and moves the centers.
double step_by_hand(const xt::xtensor<float, 2>& points, std::vector<float>& centers, std::vector<int>& nearest) {
    std::vector<double> sums(groups * 2), sizes(groups);
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
        float best = INFINITY;
        for (std::size_t c = 0; c < groups; ++c) {
            const float dx = points(i, 0) - centers[2 * c], dy = points(i, 1) - centers[2 * c + 1];
            if (const float d = dx * dx + dy * dy; d < best) best = d, nearest[i] = static_cast<int>(c);
        }
        const auto c = static_cast<std::size_t>(nearest[i]);
        total += static_cast<double>(best);
        sums[2 * c] += static_cast<double>(points(i, 0)), sums[2 * c + 1] += static_cast<double>(points(i, 1)),
            ++sizes[c];
    }
    for (std::size_t c = 0; c < groups; ++c)
        for (std::size_t k = 0; k < 2; ++k)
            if (sizes[c] > 0) centers[2 * c + k] = static_cast<float>(sums[2 * c + k] / sizes[c]);
    return total;
}

} // namespace

int main() {
    const auto points = sample();
    graph g;
    graph_scope here(g);
    placeholder<float, count, 2> x("points");
    variable<float, groups, 2> centers("centers", fill<groups, 2>(0.f));

    // [count, 1, 2] - [groups, 2] is [count, groups, 2]: each point beside each center
    const auto apart = x(all, new_axis, all) - centers;
    const tensor distances = reduce_sum<2>(square(apart));
    const tensor nearest = argmin<1>(distances);
    const tensor total = reduce_sum(reduce_min<1>(distances));
    const auto sizes = unsorted_segment_sum<groups>(ones_like(nearest), nearest);
    const auto means = unsorted_segment_mean<groups>(x, nearest);
    // a center without points stays where it is
    const auto moved = select(expand_dims<1>(sizes) > 0, means, centers);
    const tensor update = centers.assign(moved);

    session s;
    std::vector<float> by_hand;
    for (std::size_t i = 0; i < groups; ++i) by_hand.insert(by_hand.end(), {points(i, 0), points(i, 1)});
    s.run(centers.assign(by_hand));
    std::vector<int> groups_by_hand(count), found;
    auto step = s.make_callable(std::tuple(total, nearest, update), x);
    double before = INFINITY;
    int steps = 0;
    for (bool changed = true; changed && steps < 100; ++steps) {
        const auto [now, ids, at] = step(points);
        const std::vector<int> last = std::exchange(found, std::vector<int>(ids.begin(), ids.end()));
        changed = found != last;
        const double wanted = step_by_hand(points, by_hand, groups_by_hand);
        std::printf("step %2d  sum of squared distances %8.3f\n", steps, static_cast<double>(now));
        expect(std::abs(static_cast<double>(now) - wanted) < 1e-3 * wanted, "the plain loop has the same distances");
        expect(found == groups_by_hand, "and the same groups");
        expect(static_cast<double>(now) <= before * 1.0001, "the distances never grow");
        before = static_cast<double>(now);
    }
    const auto end = s.run(centers);
    for (std::size_t c = 0; c < groups; ++c) {
        const auto size = std::count(found.begin(), found.end(), static_cast<int>(c));
        std::printf("center (%6.3f, %6.3f) of %ld points\n", static_cast<double>(end(c, 0)),
                    static_cast<double>(end(c, 1)), static_cast<long>(size));
        expect(size > 90 && size < 110, "each corner has its group");
    }
    expect(steps < 100, "the groups stop changing");
    std::size_t right = 0;
    for (std::size_t i = 0; i < count; ++i) right += found[i] == static_cast<int>(i % groups);
    std::printf("%zu of %zu points are in the group of their corner\n", right, count);
    expect(right > count * 95 / 100, "nearly all points are in the group of their corner");
}
