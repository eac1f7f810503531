// SPDX-License-Identifier: BSD-3-Clause
// Random graphs: what a plan computes (pruned, shared, ordered, in place, on several threads) is what its nodes give one by one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "random_graph.hpp"
#include "seeds.hpp"
#include "without_emitter.hpp"

using namespace rill;

namespace test_random_graphs {

using random_graph::made, random_graph::random, random_graph::build, random_graph::below, random_graph::pick;

/// Every node on its own: its inputs are fed.
std::map<std::pair<const node*, int>, any_array> one_by_one(const graph& g, const made& m) {
    std::map<std::pair<const node*, int>, any_array> value;
    const session s(g, {.intra_op_threads = 1});
    for (std::size_t i = 0; i < m.feeds.size(); ++i) value[{m.values[i].node(), 0}] = m.feeds[i];
    for (const auto* n : g.nodes()) {
        if (n->op->role() == op_role::placeholder) continue;
        std::map<std::pair<const node*, int>, bool> fed;
        std::vector<feed_value> feeds;
        for (const auto& e : n->inputs)
            if (std::exchange(fed[{e.from, e.port}], true) == false)
                feeds.push_back(feed(any_tensor(e), value.at({e.from, e.port})));
        for (int port = 0; port < static_cast<int>(n->outputs.size()); ++port)
            value[{n, port}] = s.run(any_tensor(endpoint{n, port}), feeds);
    }
    return value;
}

/// The same number within rounding (a product that takes over a transpose adds in another order), or both no numbers.
bool same(const any_array& a, const any_array& b) {
    if (a.type() != b.type()) return false;
    for (index_t i = 0; i < a.size(); ++i) {
        const double x = a.elements<double>()[static_cast<std::size_t>(i)],
                     y = b.elements<double>()[static_cast<std::size_t>(i)];
        const double rounding = 1e-10 * std::max({1.0, std::abs(x), std::abs(y)});
        if (!(x == y || std::abs(x - y) <= rounding || (std::isnan(x) && std::isnan(y)))) return false;
    }
    return true;
}

struct tally {
    int wrong = 0, not_finite = 0, values = 0;
};

/// Compares runs of random graphs on one and on several threads with their nodes one by one.
tally compare(std::uint64_t rounds, index_t scale) {
    tally t;
    seeds::each(rounds, [&](std::uint64_t seed) {
        random r(static_cast<random::result_type>(seed));
        const graph g;
        const graph_scope here(g);
        const made m = build(r, scale);
        const auto reference = one_by_one(g, m);
        std::vector<feed_value> feeds;
        for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
        const std::vector<any_tensor> last(m.values.end() - 5, m.values.end());
        for (const int threads : {1, 3}) {
            const session s(g, {.inter_op_threads = threads, .intra_op_threads = threads});
            const auto all = s.run(m.values, feeds);
            const auto few = s.run(last, feeds); // pruned, and laid out in memory in another way
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto& wanted = reference.at({m.values[i].node(), m.values[i].end().port});
                t.wrong += !same(all[i], wanted);
                if (i + 5 >= all.size()) t.wrong += !same(few[i + 5 - all.size()], wanted);
                for (const double x : wanted.elements<double>()) t.not_finite += !std::isfinite(x);
                ++t.values;
            }
        }
        CHECK(t.wrong == 0);
    });
    return t;
}

TEST_CASE("random graphs: plans compute what their nodes give one by one, on any number of threads", "[random]") {
    const auto t = compare(2500, 1);
    if (!seeds::all()) return;
    CHECK(t.not_finite > 1000); // NaN and infinity take part
    CHECK(t.values > 20000);
}

TEST_CASE("random graphs: the same where the work is enough for branches to run at once", "[random]") {
    const auto t = compare(60, 100);
    if (seeds::all()) CHECK(t.values > 500);
}

/// One more number, or truth value, of numbers of one element.
any_tensor next_number(random& r, const std::vector<any_tensor>& numbers, const std::vector<any_tensor>& truths) {
    const any_tensor a = pick(r, numbers), b = pick(r, numbers);
    const any_tensor c = truths.empty() ? a > b : pick(r, truths);
    switch (below(r, 20)) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / (abs(b) + 1.0);
    case 4: return maximum(a, b);
    case 5: return a * 0.5 + b;
    case 6: return tanh(a);
    case 7: return sin(a);
    case 8: return exp(minimum(a, b * 0.0 + 1.0));
    case 9: return tan(a);
    case 10: return pow(abs(a) + 0.5, tanh(b));
    case 11: return a > b;
    case 12: return less_equal(a, b);
    case 13: return logical_not(c);
    case 14: return logical_and(c, a > b);
    case 15:
    case 16: return select(c, a, b);
    case 17: return tan(select(c, a, b));
    case 18: return cast<float>(c);
    default: return cast<float>(cast<double>(a) * 0.75);
    }
}

/// A program over numbers of one element: a line of equal steps, then whatever is drawn, in loops too. Its values are numbers and truth
/// values.
made build_numbers(random& r) {
    made m;
    std::vector<any_tensor> numbers, truths;
    const dims shape = below(r, 3) == 0 ? dims{1} : dims{};
    for (int i = 0; i < 3; ++i) {
        numbers.push_back(any_placeholder("x" + std::to_string(i), dtype::float32, shape));
        any_array value(dtype::float32, shape);
        *static_cast<float*>(value.mutable_data()) = static_cast<float>(below(r, 4001)) / 1000 - 2;
        m.feeds.push_back(value);
    }
    m.values = numbers;
    any_tensor line = numbers[0];
    for (int k = below(r, 40); k > 0; --k) line = line * 0.5 + numbers[1];
    numbers.push_back(line);
    const auto draw = [&r](int count, std::vector<any_tensor>& of, std::vector<any_tensor>& is_true) {
        for (int k = 0; k < count; ++k) {
            const any_tensor v = next_number(r, of, is_true);
            (v.dtype() == dtype::boolean ? is_true : of).push_back(v);
        }
    };
    draw(10 + below(r, 15), numbers, truths);
    if (below(r, 3) == 0) // a loop that is one kernel
        numbers.push_back(fold(
            [&](const any_tensor& state, const any_tensor& slice) {
                auto inside = numbers, is_true = truths;
                inside.insert(inside.end(), {state, slice, slice});
                draw(5 + below(r, 15), inside, is_true);
                return tanh(inside.back()) + state * 0.5;
            },
            numbers.back(), any_tensor(constant({0.3f, -0.7f, 0.5f}))));
    draw(5 + below(r, 15), numbers, truths);
    for (const auto* all : {&numbers, &truths})
        for (const auto& v : *all)
            if (below(r, 4) == 0) m.values.push_back(v);
    m.values.push_back(numbers.back());
    for (const auto& d : gradients({numbers.back()}, {numbers.begin(), numbers.begin() + 3}))
        if (d) m.values.push_back(d);
    return m;
}

/// What a graph's values are, as numbers.
std::vector<double> numbers_of(const graph& g, const made& m, double scale) {
    std::vector<feed_value> feeds;
    for (std::size_t i = 0; i < m.feeds.size(); ++i) {
        any_array value(dtype::float32, m.feeds[i].shape());
        *static_cast<float*>(value.mutable_data()) = m.feeds[i].value<float>() * static_cast<float>(scale);
        feeds.push_back(feed(m.values[i], value));
    }
    std::vector<double> all;
    for (const auto& v : session(g, {.intra_op_threads = 0}).run(m.values, feeds))
        all.push_back(v.dtype() == dtype::boolean ? v.value<bool>() : v.value<float>());
    return all;
}

/// The values of programs by seed in a file, which one run writes and others compare with. RILL_WRITE_VALUES and RILL_READ_VALUES name it.
class values_by_seed {
public:
    values_by_seed() {
        if (const char* path = std::getenv("RILL_WRITE_VALUES")) {
            out_.open(path, std::ios::binary);
            REQUIRE(out_.is_open());
        }
        const char* path = std::getenv("RILL_READ_VALUES");
        if (!path) return;
        std::ifstream in(path, std::ios::binary);
        std::uint64_t head[2]; // a seed and the number of its values
        while (in.read(reinterpret_cast<char*>(head), sizeof head)) {
            auto& values = read_[head[0]];
            values.resize(head[1]);
            in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(sizeof(double) * head[1]));
        }
        REQUIRE(!read_.empty());
    }
    void write(std::uint64_t seed, const std::vector<double>& values) {
        if (!out_.is_open()) return;
        const std::uint64_t head[2] = {seed, values.size()};
        out_.write(reinterpret_cast<const char*>(head), sizeof head);
        out_.write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(sizeof(double) * values.size()));
        REQUIRE(out_.good());
    }
    bool reads() const { return !read_.empty(); }
    /// Returns the values that were written for a seed, which must be as many as here.
    const std::vector<double>& of(std::uint64_t seed, std::size_t count) {
        const auto& found = read_[seed];
        REQUIRE(found.size() == count);
        return found;
    }

private:
    std::ofstream out_;
    std::map<std::uint64_t, std::vector<double>> read_;
};

TEST_CASE("random graphs: of one element, on every level as without machine code, and as on level 1", "[random]") {
    int compared = 0;
    values_by_seed others;
    seeds::each(1000, [&](std::uint64_t seed) {
        random r(static_cast<random::result_type>(seed));
        const graph g;
        const graph_scope here(g);
        const made m = build_numbers(r);
        const auto found = numbers_of(g, m, 1);
        const without_emitter plain;
        const auto wanted = numbers_of(g, m, 1);
        // numbers that small changes of what is fed move far may differ as far
        const auto above = numbers_of(g, m, 1 + 1e-5), below = numbers_of(g, m, 1 - 1e-5);
        others.write(seed, wanted);
        const auto compare_with = [&](const std::vector<double>& right) {
            for (std::size_t i = 0; i < found.size(); ++i) {
                const double moved = std::abs(above[i] - wanted[i]) + std::abs(below[i] - wanted[i]);
                if (!std::isfinite(right[i]) || !std::isfinite(moved)) continue;
                ++compared;
                const bool same =
                    std::abs(found[i] - right[i]) <= 10 * moved + 1e-5 * std::max(1.0, std::abs(right[i]));
                INFO("value " << i << ": " << found[i] << " and " << right[i]);
                if (!same) CHECK(same);
            }
        };
        compare_with(wanted);
        if (others.reads()) compare_with(others.of(seed, found.size()));
    });
    if (seeds::all()) CHECK(compared > (others.reads() ? 16000 : 8000));
}

} // namespace test_random_graphs
