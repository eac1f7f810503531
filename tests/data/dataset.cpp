// SPDX-License-Identifier: BSD-3-Clause
// Also the nodes of iterators: iterator, make_iterator, iterator_get_next.
#include <rill/data/dataset.hpp>

#include <chrono>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <thread>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_dataset {

using numbers = std::vector<std::int64_t>;

numbers all_of(const dataset_of<tensor<std::int64_t>>& data) {
    numbers all;
    for (const auto x : data) all.push_back(x);
    return all;
}

/// The numbers of batches, in order, and their sizes.
numbers flat(const dataset_of<tensor<std::int64_t, dyn>>& data) {
    numbers all;
    for (const auto& batch : data) {
        all.insert(all.end(), batch.begin(), batch.end());
        all.push_back(-1);
    }
    return all;
}

TEST_CASE("dataset: transformations of numbers") {
    const auto ten = dataset::range(10);
    CHECK(all_of(ten) == numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(all_of(dataset::range(7, 0, -3)) == numbers{7, 4, 1});
    CHECK(all_of(dataset::range(3, 3)).empty());
    constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
    CHECK(all_of(dataset::range(low, high, high)) == numbers{low, -1, high - 1});
    CHECK(all_of(dataset::range(high, low, low)) == numbers{high, -1});
    CHECK(all_of(dataset::range(low, high).take(1)) == numbers{low});
    CHECK_THROWS_WITH(dataset::range(0, 3, 0), contains("the step is 0"));
    CHECK(all_of(ten.map([](std::int64_t x) { return x * x; }).take(4)) == numbers{0, 1, 4, 9});
    CHECK(all_of(ten.map([](auto x) { return x * x; }).take(4)) == numbers{0, 1, 4, 9}); // a function of tensors
    CHECK(all_of(ten.filter([](auto x) { return x % 3 == 0; })) == numbers{0, 3, 6, 9});
    CHECK(all_of(ten.skip(8).repeat(2)) == numbers{8, 9, 8, 9});
    CHECK(all_of(ten.shard(3, 1)) == numbers{1, 4, 7});
    CHECK(all_of(ten.take(2).concatenate(ten.skip(9))) == numbers{0, 1, 9});
    CHECK(all_of(ten.take(0).repeat()).empty()); // without an element there is no end to wait for
    CHECK(flat(ten.take(5).batch<2>()) == numbers{0, 1, -1, 2, 3, -1, 4, -1});
    CHECK(flat(ten.take(5).batch<2>(drop_remainder)) == numbers{0, 1, -1, 2, 3, -1});
    const auto twice = [](std::int64_t x) { return dataset::range(x, x + 2); };
    CHECK(all_of(ten.take(3).flat_map(twice)) == numbers{0, 1, 1, 2, 2, 3});
    CHECK(all_of(dataset::range(0, 30, 10).interleave([](std::int64_t x) { return dataset::range(x, x + 3); }, 2)) ==
          numbers{0, 10, 1, 11, 2, 12, 20, 21, 22});
    const auto pairs = dataset::zip(ten, ten.skip(7).map([](std::int64_t x) { return static_cast<float>(x); }));
    numbers sums;
    for (const auto [a, b] : pairs) sums.push_back(a + static_cast<std::int64_t>(b));
    CHECK(sums == numbers{7, 9, 11});
}

TEST_CASE("dataset: shuffle draws each element once, by its seed, anew in each epoch") {
    const auto data = dataset::range(50).shuffle(20, 7);
    const auto a = all_of(data), two = all_of(data.repeat(2));
    CHECK(a == all_of(data));
    CHECK(a != all_of(dataset::range(50).shuffle(20, 8)));
    CHECK(std::set<std::int64_t>(a.begin(), a.end()).size() == 50);
    CHECK(numbers(two.begin(), two.begin() + 50) == a);
    const numbers second(two.begin() + 50, two.end());
    CHECK(second != a);
    CHECK(std::set<std::int64_t>(second.begin(), second.end()).size() == 50);
    CHECK_FALSE(std::is_sorted(a.begin(), a.end()));
}

TEST_CASE("dataset: cache reads once, prefetch and parallel maps keep the order") {
    const auto calls = std::make_shared<std::atomic<int>>(0);
    const auto counted = dataset::range(100).map([calls](std::int64_t x) { return ++*calls, x; });
    const auto expected = all_of(dataset::range(100));
    const auto cached = counted.cache();
    CHECK(all_of(cached) == expected);
    CHECK(all_of(cached) == expected);
    CHECK(*calls == 100);
    CHECK(all_of(counted.prefetch(3)) == expected);
    const auto furthest = std::make_shared<std::atomic<std::int64_t>>(-1);
    CHECK(all_of(dataset::range(100).map(
              [furthest](std::int64_t x) {
                  for (auto seen = furthest->load(); seen < x && !furthest->compare_exchange_weak(seen, x);) {}
                  if (x % 7 == 0) // lets later elements overtake it, where other threads have time for them
                      for (int i = 0; i < 10'000 && *furthest == x; ++i) std::this_thread::yield();
                  return x;
              },
              {.parallel = 4})) == expected);
}

TEST_CASE("dataset: padded batches and buckets") {
    const auto words = dataset::range(1, 6).map([](std::int64_t n) {
        return xt::xtensor<float, 1>(std::array{static_cast<std::size_t>(n)}, static_cast<float>(n));
    });
    std::vector<std::size_t> widths;
    for (const auto& b : words.padded_batch<2>()) widths.push_back(b.shape(1));
    CHECK(widths == std::vector<std::size_t>{2, 4, 5});
    const auto first = *words.padded_batch<2>().begin();
    CHECK((first(0, 0) == 1 && first(0, 1) == 0 && first(1, 1) == 2));
    std::vector<std::vector<std::size_t>> shapes;
    const auto length = [](const xt::xtensor<float, 1>& x) { return x.size(); };
    for (const auto& b : words.bucket_by_length(length, {3}, {2, 2})) shapes.push_back({b.shape(0), b.shape(1)});
    CHECK(shapes == std::vector<std::vector<std::size_t>>{{2, 2}, {2, 4}, {1, 5}});
    CHECK_THROWS_WITH(*words.batch<2>().begin(), contains("can't be batched") && contains("padded_batch"));
}

TEST_CASE("dataset: slices, tensors and generators") {
    const xt::xtensor<float, 2> x{{1, 2}, {3, 4}, {5, 6}};
    const auto data = dataset::from_tensor_slices(x, std::vector<int>{7, 8, 9});
    static_assert(std::is_same_v<decltype(data), const dataset_of<tensor<float, dyn>, tensor<int>>>);
    float sum = 0;
    for (const auto& [row, label] : data) sum += row(1) * static_cast<float>(label);
    CHECK(sum == 2 * 7 + 4 * 8 + 6 * 9);
    const auto whole = dataset::from_tensors(constant({{1, 2}, {3, 4}}));
    static_assert(std::is_same_v<decltype(whole), const dataset_of<tensor<int, 2, 2>>>);
    CHECK((*whole.begin())(1, 1) == 4);
    CHECK_THROWS_WITH(dataset::from_tensor_slices(x, std::vector<int>{1}), contains("float32 [3, 2]"));

    const auto counting = dataset::generator([i = 0]() mutable { return i < 3 ? std::optional(i++) : std::nullopt; });
    static_assert(std::is_same_v<decltype(counting), const dataset_of<tensor<int>>>);
    std::vector<int> seen;
    for (const int i : counting.repeat(2)) seen.push_back(i);
    CHECK(seen == std::vector<int>{0, 1, 2, 0, 1, 2});
    const std::vector<std::tuple<std::string, double>> list{{"a", 1}, {"b", 2}};
    std::string text;
    for (const auto& [name, number] : dataset::generator(list)) text += name + std::to_string(static_cast<int>(number));
    CHECK(text == "a1b2");
    const dataset_of<float, int> written = dataset::from_tensor_slices(std::vector<float>{1}, std::vector<int>{2});
    CHECK(std::get<1>(*written.begin()) == 2);
    CHECK_THROWS_WITH((data.as<tensor<float, 3>, int>()), contains("not (float32 [3], int32 [])"));
    CHECK((*data.as<tensor<float, 2>, int>().batch<2>(drop_remainder).begin(), true));
}

TEST_CASE("dataset: a function that throws ends the pull, and the next one goes on") {
    const auto odd_ones = [](std::int64_t x) {
        if (x % 2 == 0) throw invalid_argument("even: " + std::to_string(x));
        return x;
    };
    for (const int parallel : {1, 3}) {
        const auto data = dataset::range(6).map(odd_ones, {.parallel = parallel});
        CHECK_THROWS_WITH(all_of(data), "even: 0");
        const auto count = std::make_shared<std::atomic<std::int64_t>>(0);
        CHECK(all_of(data.ignore_errors(count)) == numbers{1, 3, 5});
        CHECK(*count == 3);
        const auto ahead = data.prefetch(2);
        CHECK_THROWS_AS(all_of(ahead), invalid_argument);
        CHECK(flat(data.ignore_errors().batch<2>()) == numbers{1, 3, -1, 5, -1});
    }
}

TEST_CASE("dataset: an error of one part ends the whole element of a zip, and the next parts belong together") {
    const auto numbered = dataset::range(4), broken = numbered.map([](std::int64_t x) {
        if (x == 1) throw invalid_argument("a bad element");
        return x * 10;
    });
    using pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
    const auto read = [](const auto& data) {
        pairs all;
        for (const auto [a, b] : data) all.emplace_back(a, b);
        return all;
    };
    const auto count = std::make_shared<std::atomic<std::int64_t>>(0);
    CHECK(read(dataset::zip(broken, numbered).ignore_errors(count)) == pairs{{0, 0}, {20, 2}, {30, 3}});
    CHECK(read(dataset::zip(numbered, broken).ignore_errors(count)) == pairs{{0, 0}, {2, 20}, {3, 30}});
    CHECK(read(dataset::zip(broken, broken).ignore_errors(count)) == pairs{{0, 0}, {20, 20}, {30, 30}});
    CHECK(*count == 3);
    CHECK_THROWS_WITH(read(dataset::zip(numbered, broken)), "a bad element");
    CHECK(read(dataset::zip(broken, numbered.take(1)).ignore_errors()) == pairs{{0, 0}}); // the shortest ends it
}

TEST_CASE("dataset: iterators of a graph") {
    const graph_scope here{graph()};
    const auto x = dataset::range(3).map([](std::int64_t v) { return static_cast<float>(v); });
    const auto once = x.make_one_shot_iterator().get_next();
    static_assert(std::is_same_v<decltype(once), const tensor<float>>);
    const auto again = x.make_initializable_iterator();
    const auto next = again.get_next();
    const auto any = make_iterator<float, int>();
    const auto first = any.make_initializer(dataset::zip(x, x.map([](float v) { return static_cast<int>(v) + 1; })));
    const auto second = any.make_initializer(dataset::zip(x.skip(2), dataset::generator(std::vector<int>{40})));
    const auto [a, b] = any.get_next();
    const session s, other;
    CHECK(s.run(once) == 0);
    CHECK(s.run(once * 2.f) == 2);
    CHECK(s.run(once) == 2);
    CHECK_THROWS_AS(s.run(once), out_of_range);
    CHECK_THROWS_WITH(s.run(once), contains("end of the input") && contains("get_next"));
    CHECK(other.run(once) == 0); // each session has its own
    CHECK_THROWS_WITH(s.run(next), contains("has not been initialized"));
    for (int round = 0; round < 2; ++round) {
        s.run(again.initializer());
        for (const float v : {0.f, 1.f, 2.f}) CHECK(s.run(next) == v);
        CHECK_THROWS_AS(s.run(next), out_of_range);
    }
    s.run(first);
    CHECK(s.run(std::tuple(a, b)) == std::tuple(0.f, 1));
    s.run(second);
    CHECK(s.run(std::tuple(a, b)) == std::tuple(2.f, 40));
    placeholder<std::int64_t> handle("handle");
    const auto fed = dataset_iterator<float>::from_handle(handle).get_next();
    s.run(again.initializer());
    CHECK(s.run(fed, feed(handle, s.run(again.handle()))) == 0);
    CHECK_THROWS_WITH(s.run(fed, feed(handle, s.run(any.handle()))), contains("(float32 [], int32 [])"));
    placeholder<float, dyn> values("values");
    const auto from_graph = dataset::from_tensor_slices(values * 2.f).make_initializable_iterator();
    const auto value = from_graph.get_next();
    s.run(from_graph.initializer(), feed(values, {3.f, 4.f}));
    CHECK(s.run(value) == 6);
    CHECK(s.run(value) == 8);
    CHECK_THROWS_WITH(dataset::from_tensor_slices(values).make_one_shot_iterator(),
                      contains("make_initializable_iterator"));
}

TEST_CASE("dataset: a step that waits for an element can be cancelled, and nothing is lost") {
    const graph_scope here{graph()};
    const auto gate = std::make_shared<std::atomic<bool>>(false);
    const auto slow = dataset::generator([gate, i = 0]() mutable {
        gate->wait(false);
        return i < 5 ? std::optional(i++) : std::nullopt;
    });
    const auto endless = dataset::range(1).repeat().filter([](std::int64_t) { return false; });
    const auto next = slow.make_one_shot_iterator().get_next();
    const auto ahead =
        slow.map([](int x) { return x; }, {.parallel = 2}).prefetch(2).make_one_shot_iterator().get_next();
    const auto never = endless.make_one_shot_iterator().get_next();
    const auto never_ahead = endless.batch<2>().prefetch(1).make_one_shot_iterator().get_next();
    {
        const session s;
        CHECK_THROWS_AS(s.run(next, {.timeout = 10ms}), deadline_exceeded);
        CHECK_THROWS_AS(s.run(ahead, {.timeout = 10ms}), deadline_exceeded);
        CHECK_THROWS_AS(s.run(never, {.timeout = 10ms}), deadline_exceeded);
        CHECK_THROWS_AS(s.run(never_ahead, {.timeout = 10ms}), deadline_exceeded);
        *gate = true;
        gate->notify_all();
        for (int i = 0; i < 5; ++i) CHECK(s.run(next) == i);
        for (int i = 0; i < 5; ++i) CHECK(s.run(ahead) == i);
        CHECK_THROWS_AS(s.run(next), out_of_range);
        CHECK_THROWS_AS(s.run(ahead), out_of_range);
    }
    const session s; // a reader that goes away in the middle
    CHECK(s.run(ahead) == 0);
}

TEST_CASE("dataset: a token cancels a step in the middle of an epoch, and nothing is lost") {
    const auto gate = std::make_shared<std::atomic<bool>>(false), waits = std::make_shared<std::atomic<bool>>(false);
    const auto slow = dataset::generator([gate, waits, i = 0]() mutable {
        if (i == 2) {
            *waits = true;
            waits->notify_all();
            gate->wait(false);
        }
        return i < 5 ? std::optional(i++) : std::nullopt;
    });
    const auto slow_function = [gate, waits](std::int64_t x) {
        if (x == 2) {
            *waits = true;
            waits->notify_all();
            gate->wait(false);
        }
        return static_cast<int>(x);
    };
    const auto mapped = dataset::range(5).map(slow_function, {.parallel = 2});
    const dataset_of<tensor<int>> pipelines[] = {slow, slow.map([](int x) { return x; }), slow.prefetch(2), mapped,
                                                 mapped.prefetch(2)};
    for (const auto& data : pipelines) {
        *gate = *waits = false;
        const graph_scope here{graph()};
        const auto next = data.make_one_shot_iterator().get_next();
        const session s;
        CHECK(s.run(next) == 0);
        CHECK(s.run(next) == 1);
        const cancellation_token token;
        std::thread other([&] {
            waits->wait(false);
            token.cancel();
        });
        CHECK_THROWS_AS(s.run(next, {.cancel = token}), cancelled);
        other.join();
        CHECK_THROWS_AS(s.run(next, {.cancel = token}), cancelled); // it is cancelled before it begins
        *gate = true;
        gate->notify_all();
        for (const int i : {2, 3, 4}) CHECK(s.run(next) == i);
    }
    const graph_scope here{graph()};
    const auto calls = std::make_shared<std::atomic<int>>(0);
    const auto never = dataset::range(1).repeat().filter([calls](std::int64_t) {
        if (++*calls == 1000) calls->notify_all();
        return false;
    });
    const auto next = never.make_one_shot_iterator().get_next();
    const session s;
    const cancellation_token token;
    std::thread other([&] {
        for (int n = *calls; n < 1000; n = *calls) calls->wait(n);
        token.cancel();
    });
    CHECK_THROWS_AS(s.run(next, {.cancel = token}), cancelled); // of a pipeline that never gives an element
    other.join();
}

TEST_CASE("dataset: a step that waits for the source of a parallel map can be cancelled") {
    const auto gate = std::make_shared<std::atomic<bool>>(false);
    const auto slow = dataset::generator([gate, i = 0]() mutable {
        if (i == 2) gate->wait(false);
        return i < 5 ? std::optional(i++) : std::nullopt;
    });
    const graph_scope here{graph()};
    const auto next = slow.map([](int x) { return x; }, {.parallel = 2}).make_one_shot_iterator().get_next();
    const session s;
    CHECK(s.run(next) == 0);
    CHECK_THROWS_AS(s.run(next, {.timeout = 10ms}), deadline_exceeded); // 1 is made, and a third element is asked for
    *gate = true;
    gate->notify_all();
    for (const int i : {1, 2, 3, 4}) CHECK(s.run(next) == i);
}

TEST_CASE("dataset: several steps at once take one element each") {
    const graph_scope here{graph()};
    const auto next = dataset::range(200)
                          .map([](std::int64_t x) { return x; }, {.parallel = 2})
                          .prefetch(4)
                          .make_one_shot_iterator()
                          .get_next();
    const session s;
    std::mutex mutex;
    numbers seen;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            try {
                for (;;) {
                    const auto x = s.run(next);
                    const std::lock_guard lock(mutex);
                    seen.push_back(x);
                }
            } catch (const out_of_range&) {}
        });
    for (auto& t : threads) t.join();
    std::sort(seen.begin(), seen.end());
    CHECK(seen == all_of(dataset::range(200)));
}

} // namespace test_dataset
