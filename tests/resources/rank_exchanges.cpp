// SPDX-License-Identifier: BSD-3-Clause
// Exchanges by messages between threads that stand for processes.
#include <rill/resources/rank_exchanges.hpp>

#include <atomic>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <numeric>
#include <tuple>

#include <rill/resources/collective_call.hpp>
#include <rill/resources/collective_state.hpp>
#include <rill/resources/rank_plugin.hpp>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

namespace test_resources_rank_exchanges {

/// What lies between the ranks of a job: messages by sender, receiver and tag.
struct post_office {
    std::mutex mutex;
    std::map<std::tuple<index_t, index_t, int>, std::deque<std::vector<char>>> lying;
    std::atomic<std::size_t> bytes{0};
    std::atomic<bool> is_down{false};
    std::atomic<int> left{0}, left_clean{0};
};

class mailbox final : public rank_messages {
public:
    mailbox(post_office& all, index_t rank, index_t ranks, int tags) : all_(all), rank_(rank), ranks_(ranks), tags_(tags) {}
    index_t rank() const override { return rank_; }
    index_t ranks() const override { return ranks_; }
    int tags() const override { return tags_; }
    void* send(index_t to, int tag, const void* data, int bytes) override {
        if (all_.is_down) throw unavailable("the wire is cut");
        const auto* const from = static_cast<const char*>(data);
        const std::lock_guard lock(all_.mutex);
        all_.lying[{rank_, to, tag}].emplace_back(from, from + bytes);
        all_.bytes += static_cast<std::size_t>(bytes);
        return new waiting{-1, tag, nullptr, 0};
    }
    void* receive(index_t from, int tag, void* data, int bytes) override { return new waiting{from, tag, data, bytes}; }
    bool is_over(void* message) override {
        if (all_.is_down) throw unavailable("the wire is cut");
        auto* const m = static_cast<waiting*>(message);
        if (m->from >= 0) {
            const std::lock_guard lock(all_.mutex);
            auto& line = all_.lying[{m->from, rank_, m->tag}];
            if (line.empty()) return false;
            if (line.front().size() != static_cast<std::size_t>(m->bytes)) throw unavailable("a message of another length");
            std::memcpy(m->to, line.front().data(), line.front().size());
            line.pop_front();
        }
        delete m;
        return true;
    }
    void end(bool clean) override {
        ++all_.left;
        if (clean) ++all_.left_clean;
    }

private:
    struct waiting {
        index_t from;
        int tag;
        void* to;
        int bytes;
    };
    post_office& all_;
    const index_t rank_, ranks_;
    const int tags_;
};

any_array numbers(const std::vector<float>& values) {
    return owned_copy(dtype::float32, dims{static_cast<index_t>(values.size())}, values.data());
}
std::vector<float> list_of(const any_array& a) {
    const auto all = a.elements<float>();
    return {all.begin(), all.end()};
}

any_array sum_of(std::span<const any_array> values) {
    any_array sum = owned_copy(values[0]);
    auto* const to = static_cast<float*>(sum.mutable_data());
    for (const auto& v : values.subspan(1))
        for (index_t i = 0; i < v.size(); ++i) to[i] += v.elements<float>()[static_cast<std::size_t>(i)];
    return sum;
}
any_array joined(std::span<const any_array> values) {
    std::vector<float> all;
    for (const auto& v : values) {
        const auto own = list_of(v);
        all.insert(all.end(), own.begin(), own.end());
    }
    return numbers(all);
}

/// The ranks of a job.
struct job {
    explicit job(index_t ranks, int tags = 1 << 20) {
        for (index_t r = 0; r < ranks; ++r)
            all.push_back(std::make_shared<rank_exchanges>(
                [this, r, ranks, tags] { return std::make_unique<mailbox>(office, r, ranks, tags); }));
    }
    std::future<any_array> start(std::size_t rank, const std::string& name, const any_array& value, collective_call call) {
        const auto end = std::make_shared<std::promise<any_array>>();
        all[rank]->start(name, value, std::move(call), [end](const std::exception_ptr& problem, any_array result) {
            if (problem)
                end->set_exception(problem);
            else
                end->set_value(std::move(result));
        });
        return end->get_future();
    }
    std::future<any_array> sum(std::size_t rank, const std::string& name, const std::vector<float>& values) {
        return start(rank, name, numbers(values), {collective_kind::all_reduce, 0, "x", sum_of});
    }

    post_office office;
    std::vector<std::shared_ptr<rank_exchanges>> all;
};

TEST_CASE("rank_exchanges: sums, lists and broadcasts, begun in another order in each rank") {
    job j(3);
    std::vector<std::future<any_array>> sums, lists, sent;
    const auto start = [&](std::size_t r, int what) {
        const auto x = static_cast<float>(r);
        if (what == 0) sums.push_back(j.sum(r, "sum", {x + 1, 10 * x}));
        if (what == 1)
            lists.push_back(j.start(r, "list", numbers(std::vector<float>(r, x)), // rank 0 has none
                                    {collective_kind::all_gather, 0, "y", joined}));
        if (what == 2)
            sent.push_back(j.start(r, "sent", numbers({x}),
                                   {collective_kind::broadcast_from, 2, "z",
                                    [](std::span<const any_array> values) { return values[2]; }}));
    };
    for (int round = 0; round < 3; ++round) {
        for (std::size_t r = 0; r < 3; ++r)
            for (int k = 0; k < 3; ++k) start(r, (k + static_cast<int>(r) + round) % 3);
        for (auto& f : sums) CHECK(list_of(f.get()) == std::vector{6.f, 30.f});
        for (auto& f : lists) CHECK(list_of(f.get()) == std::vector{1.f, 2.f, 2.f});
        for (auto& f : sent) CHECK(list_of(f.get()) == std::vector{2.f});
        sums.clear();
        lists.clear();
        sent.clear();
    }
    CHECK(j.all[1]->rank() == 1);
    CHECK(j.all[1]->ranks() == 3);
    j.all.clear();
    CHECK(j.office.left_clean == 3);
}

TEST_CASE("rank_exchanges: a long sum has the bits of a sum in order of rank, and crosses twice") {
    constexpr index_t count = 50'001; // no multiple of the ranks
    job j(4);
    std::vector<any_array> values;
    for (int r = 0; r < 4; ++r) {
        std::vector<float> v(count);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = 1.f / static_cast<float>((i % 97 + 1) * static_cast<std::size_t>(r + 3));
        values.push_back(numbers(v));
    }
    std::vector<std::future<any_array>> sums;
    for (std::size_t r = 0; r < 4; ++r)
        sums.push_back(j.start(r, "long", values[r], {collective_kind::all_reduce, 0, "x", sum_of}));
    const auto wanted = list_of(sum_of(values));
    for (auto& f : sums) CHECK(list_of(f.get()) == wanted);
    const double whole = 4. * count * 4; // bytes of all values
    CHECK(static_cast<double>(j.office.bytes) < 2 * 0.75 * whole + 12 * 1024); // and 12 heads
}

TEST_CASE("rank_exchanges: one rank waits for nobody") {
    job j(1);
    CHECK(list_of(j.sum(0, "alone", {1, 2}).get()) == std::vector{1.f, 2.f});
    CHECK(list_of(j.sum(0, "long", std::vector<float>(20'000, 3.f)).get()) == std::vector<float>(20'000, 3.f));
}

TEST_CASE("rank_exchanges: ranks that do not make the same exchange all fail, and the next one is as before") {
    job j(2);
    for (int round = 0; round < 2; ++round) {
        auto a = j.start(0, "e", numbers({1}), {collective_kind::all_reduce, 0, "w", sum_of});
        auto b = j.start(1, "e", numbers({1}), {collective_kind::all_reduce, 0, "b", sum_of});
        for (auto* f : {&a, &b})
            CHECK_THROWS_WITH(f->get(), contains("'e'") && contains("rank 1 gives float32 [1] ('b', to all_reduce)") &&
                                            contains("rank 0 float32 [1] ('w', to all_reduce)"));
        auto c = j.sum(0, "e", {1}), d = j.sum(1, "e", {2});
        CHECK(list_of(c.get()) == std::vector{3.f});
        CHECK(list_of(d.get()) == std::vector{3.f});
    }
}

TEST_CASE("rank_exchanges: a message that fails ends all exchanges, also later ones") {
    job j(2);
    auto waits = j.sum(0, "first", {1});
    j.office.is_down = true;
    CHECK_THROWS_AS(waits.get(), unavailable);
    CHECK_THROWS_WITH(j.sum(0, "second", {1}).get(), contains("the wire is cut"));
    j.all.clear();
    CHECK(j.office.left == 2);
    CHECK(j.office.left_clean == 1); // rank 1 has begun nothing
}

TEST_CASE("rank_exchanges: what can't be is refused") {
    job j(1, 1); // one tag for all names
    CHECK_THROWS_AS(j.start(0, "e", numbers({1}), {collective_kind::broadcast_from, 1, "", joined}), invalid_argument);
    const std::string text = "a";
    CHECK_THROWS_WITH(j.start(0, "e", owned_copy(dtype::string, dims{}, &text), {}), contains("strings"));
    CHECK(list_of(j.sum(0, "e", {1}).get()) == std::vector{1.f});
    CHECK_THROWS_WITH(j.sum(0, "f", {1}), contains("'f'") && contains("'e'") && contains("another name"));
    CHECK_THROWS_WITH(rank_exchanges([]() -> std::unique_ptr<rank_messages> { throw unavailable("no job"); }),
                      contains("no job"));
    CHECK_THROWS_AS(rank_exchanges::of_plugin("no_such_engine"), not_found);
}

/// A step that waits, and is told on another thread.
class waiting_step final : public async_context {
public:
    completion defer(std::function<bool()> give_up) override {
        give_up_ = std::move(give_up);
        return [end = end_](const std::exception_ptr& problem, std::vector<any_array> outputs) {
            if (problem)
                end->set_exception(problem);
            else
                end->set_value(std::move(outputs));
        };
    }
    bool give_up() const { return give_up_(); }
    std::vector<any_array> outputs() const { return end_->get_future().get(); }

private:
    std::shared_ptr<std::promise<std::vector<any_array>>> end_ =
        std::make_shared<std::promise<std::vector<any_array>>>();
    std::function<bool()> give_up_;
};

TEST_CASE("collective_state: by the messages of a job, whose exchanges are not taken back") {
    job j(2);
    const auto a = std::make_shared<collective_state>("c", 2, j.all[0], "mail");
    const auto b = std::make_shared<collective_state>("c", 2, j.all[1], "mail");
    CHECK(a->described() == "collective of 2 ranks by 'mail'");
    waiting_step wrong, first, second, late, after, gone;
    const collective_call call{collective_kind::all_reduce, 0, "x", sum_of};
    CHECK_THROWS_WITH(a->exchange(1, numbers({1}), call, wrong, nullptr), contains("this process is rank 0"));
    CHECK_FALSE(a->exchange(0, numbers({1}), call, first, nullptr));
    CHECK_FALSE(b->exchange(1, numbers({2}), call, second, nullptr));
    CHECK(list_of(first.outputs()[0]) == std::vector{3.f});
    CHECK(list_of(second.outputs()[0]) == std::vector{3.f});
    CHECK_FALSE(first.give_up()); // it has ended
    CHECK_FALSE(a->exchange(0, numbers({1}), call, late, nullptr));
    CHECK(late.give_up());
    CHECK_FALSE(a->exchange(0, numbers({1}), call, after, nullptr));
    CHECK_THROWS_WITH(after.outputs(), contains("out of step"));
    j.all.clear();
    CHECK_THROWS_AS(b->exchange(1, numbers({1}), call, gone, nullptr), cancelled);
}

} // namespace test_resources_rank_exchanges
