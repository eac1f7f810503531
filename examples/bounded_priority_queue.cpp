// SPDX-License-Identifier: BSD-3-Clause
// A bounded queue by priority, twice: by hand, from variables, a mutex and branches of the graph, as one would write an op that the
// library lacks; and priority_queue, which it has. A random history of calls goes through both, and has the same end in each.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr index_t capacity = 8;
constexpr std::int64_t none = 1'000'000; // of a place that is free: above every priority

/// True at one of the places.
tensor<bool, capacity> is_at(const tensor<int>& place) { return equal(constant({0, 1, 2, 3, 4, 5, 6, 7}), place); }

/// Places in variables. Full, it drops the lowest priority, that is the largest number; several calls at once take turns.
class queue_by_hand {
public:
    explicit queue_by_hand(const tensor<std::int64_t>& number, const tensor<int>& item)
        : priorities_("priorities", fill<capacity>(none)), items_("items", fill<capacity>(0)), lock_("lock") {
        insert_ = lock_.critical([&] {
            const tensor last = argmax<0>(tensor(priorities_)); // a free place, or the lowest of all
            const auto goes_in = number < gather<0>(priorities_, last);
            const tensor here(logical_and(is_at(last), goes_in), "here");
            const tensor p(select(here, number, tensor(priorities_)), "p");
            const tensor x(select(here, item, tensor(items_)), "x");
            return group(priorities_.assign(p), items_.assign(x));
        });
        take_ = lock_.critical([&] {
            const tensor first = argmin<0>(tensor(priorities_));
            const tensor priority(gather<0>(priorities_, first), "priority");
            const tensor value(gather<0>(items_, first), "value");
            const tensor p(select(is_at(first), fill<capacity>(none), tensor(priorities_)), "left");
            tensor<std::int64_t> out;
            tensor<int> taken;
            {
                const control_dependencies after(priorities_.assign(p));
                out = tensor(priority, "out");
                taken = tensor(value, "taken");
            }
            return std::tuple(out, taken);
        });
    }

    const operation& insert() const { return insert_; }
    /// Priority and item of the first; `none` if there is none.
    const std::tuple<tensor<std::int64_t>, tensor<int>>& take() const { return take_; }
    operation start() const { return group(priorities_.initializer(), items_.initializer()); }

private:
    variable<std::int64_t, capacity> priorities_;
    variable<int, capacity> items_;
    mutex lock_;
    operation insert_;
    std::tuple<tensor<std::int64_t>, tensor<int>> take_;
};

} // namespace

int main() {
    placeholder<std::int64_t> number("number");
    placeholder<int> item("item");
    const queue_by_hand by_hand(number, item);
    const priority_queue<tensor<int>> built_in({.capacity = capacity, .when_full = when_full::drop_lowest});
    const auto insert = built_in.enqueue(number, item);
    const auto take = built_in.dequeue();
    const auto held = built_in.size();
    const session s;
    s.run(by_hand.start());

    std::mt19937 random(7);
    std::vector<int> numbers(4000);
    for (int i = 0; i < 4000; ++i) numbers[static_cast<std::size_t>(i)] = i;
    std::shuffle(numbers.begin(), numbers.end(), random); // no two are equal: which of them goes first would be open
    int taken = 0, refused = 0;
    for (int i = 0; i < 4000; ++i) {
        if (random() % 3 > 0) {
            const std::int64_t n = numbers[static_cast<std::size_t>(i)];
            s.run(by_hand.insert(), feed(number, n), feed(item, i));
            s.run(insert, feed(number, n), feed(item, i));
            continue;
        }
        const auto [p, x] = s.run(by_hand.take());
        if (s.run(held) == 0) {
            expect(p == none, "both are empty");
            ++refused;
            continue;
        }
        const auto [q, y] = s.run(take);
        expect(p == q && x == y, "both give the same");
        ++taken;
    }
    std::printf("%d elements left both in the same order; both were empty %d times\n", taken, refused);

    // several threads: nothing is lost, nothing comes twice
    while (s.run(held) > 0) s.run(take);
    while (std::get<0>(s.run(by_hand.take())) != none) {}
    std::vector<std::thread> all;
    std::vector<std::vector<int>> got(2);
    for (int k = 0; k < 2; ++k)
        all.emplace_back([&, k] {
            for (int i = 0; i < 100; ++i) {
                s.run(by_hand.insert(), feed(number, std::int64_t(k) * 100 + i), feed(item, k * 100 + i));
                const auto [p, x] = s.run(by_hand.take());
                got[static_cast<std::size_t>(k)].push_back(x);
                expect(p != none, "there is at least one's own");
            }
        });
    for (auto& t : all) t.join();
    std::vector<int> together(got[0]);
    together.insert(together.end(), got[1].begin(), got[1].end());
    std::sort(together.begin(), together.end());
    for (int i = 0; i < 200; ++i) expect(together[static_cast<std::size_t>(i)] == i, "each element comes out once");
    std::printf("two threads: %zu elements, each once\n", together.size());
}
