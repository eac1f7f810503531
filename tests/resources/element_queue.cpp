// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/element_queue.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <rill/core/host_array.hpp>
#include <rill/runtime/step_gate.hpp>

#include "seeds.hpp"

using namespace rill;
using detail::element_queue;
using detail::queue_traits;

namespace test_ops_queue_element_queue {

/// A call on a queue: at once, or told later.
struct call final : async_context {
    const step_context* step() const override { return &of; }
    completion defer(std::function<bool()> how) override {
        give_up = std::move(how);
        return [this](std::exception_ptr p, std::vector<any_array> out) {
            CHECK(!told);
            told = true;
            problem = std::move(p);
            outputs = std::move(out);
        };
    }
    template <class F> void run(const F& f) {
        try {
            if (f(*this, outputs.data())) told = true;
        } catch (...) {
            told = true;
            problem = std::current_exception();
        }
    }
    bool failed_with(error_code code) const {
        try {
            if (problem) std::rethrow_exception(problem);
        } catch (const error& e) {
            return e.code() == code;
        }
        return false;
    }

    step_context of = {};
    std::function<bool()> give_up;
    bool told = false, given_up = false;
    std::exception_ptr problem;
    std::vector<any_array> outputs{any_array()};
};

any_array number(std::int64_t n) { return to_any_array<std::int64_t>(n); }
any_array numbers(const std::vector<std::int64_t>& n) {
    return detail::owned_copy(to_any_array<std::int64_t>(n, dims{static_cast<index_t>(n.size())}));
}
std::vector<std::int64_t> values(const any_array& a) {
    const auto all = a.elements<std::int64_t>();
    return {all.begin(), all.end()};
}
queue_traits of_numbers(index_t capacity) {
    queue_traits t;
    t.kind = "FIFOQueue";
    t.components = {{dtype::int64, {}}};
    t.capacity = capacity;
    return t;
}
std::shared_ptr<element_queue> made(const queue_traits& t) {
    t.check();
    return std::make_shared<element_queue>(t, "q", default_allocator());
}

TEST_CASE("element_queue: a batch is taken as elements come, and goes back if the queue closes") {
    const auto q = made(of_numbers(2));
    call many, one, late;
    many.run([&](async_context& w, any_array* out) { return q->dequeue_many(4, false, w, out); });
    one.run([&](async_context& w, any_array* out) { return q->dequeue(w, out); });
    call put[3];
    for (int i = 0; i < 3; ++i)
        put[i].run([&](async_context& w, any_array*) { return q->enqueue({number(i)}, false, w); });
    CHECK(put[2].told); // the batch has taken two already
    CHECK(!many.told);
    CHECK(q->size() == 0);
    call close;
    close.run([&](async_context& w, any_array*) { return q->close(false, w); });
    CHECK(close.told);
    CHECK(many.failed_with(error_code::out_of_range));
    CHECK(values(one.outputs[0]) == std::vector<std::int64_t>{0}); // the one behind gets what went back
    late.run([&](async_context& w, any_array* out) { return q->dequeue_many(5, true, w, out); });
    CHECK(values(late.outputs[0]) == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("element_queue: closing waits for what waits to go in, or tells it off") {
    for (const bool cancel : {false, true}) {
        const auto q = made(of_numbers(1));
        call first, second, close, third, take, again;
        first.run([&](async_context& w, any_array*) { return q->enqueue({number(1)}, false, w); });
        second.run([&](async_context& w, any_array*) { return q->enqueue({number(2)}, false, w); });
        CHECK(!second.told);
        close.run([&](async_context& w, any_array*) { return q->close(cancel, w); });
        CHECK(close.told == cancel);
        CHECK(second.failed_with(error_code::cancelled) == cancel);
        again.run([&](async_context& w, any_array*) { return q->close(false, w); });
        CHECK(again.failed_with(error_code::cancelled));
        third.run([&](async_context& w, any_array*) { return q->enqueue({number(3)}, false, w); });
        take.run([&](async_context& w, any_array* out) { return q->dequeue(w, out); });
        CHECK(values(take.outputs[0]) == std::vector<std::int64_t>{1});
        CHECK(third.failed_with(error_code::cancelled));
        CHECK(close.told);
        CHECK(q->is_closed());
        CHECK(q->size() == (cancel ? 0 : 1));
    }
}

TEST_CASE("element_queue: who is given up has come to nothing, and lets those behind go on") {
    const auto q = made(of_numbers(2));
    call many, one, put;
    many.run([&](async_context& w, any_array* out) { return q->dequeue_many(3, false, w, out); });
    one.run([&](async_context& w, any_array* out) { return q->dequeue(w, out); });
    put.run([&](async_context& w, any_array*) { return q->enqueue({number(7)}, false, w); });
    CHECK(!one.told);
    CHECK(many.give_up());
    CHECK(values(one.outputs[0]) == std::vector<std::int64_t>{7});
    CHECK(!one.give_up());
    CHECK(!many.told);
}

TEST_CASE("element_queue: what queue runners wait to enqueue is saved, and waits again") {
    const auto gate = std::make_shared<detail::step_gate>(environment::real());
    const auto q = made(of_numbers(2));
    call many, other, one;
    many.of.gate = one.of.gate = gate.get();
    many.run([&](async_context& w, any_array*) { return q->enqueue({numbers({1, 2, 3, 4})}, true, w); });
    other.run([&](async_context& w, any_array*) { return q->enqueue({number(9)}, false, w); });
    one.run([&](async_context& w, any_array*) { return q->enqueue({number(5)}, false, w); });
    CHECK((!many.told && !other.told && !one.told));
    const auto parts = q->saved_parts();
    const auto part = [](const std::vector<named_array>& all, const std::string& name) {
        const auto at = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == name; });
        return at == all.end() ? std::vector<std::int64_t>() : values(at->value);
    };
    CHECK(part(parts, "0") == std::vector<std::int64_t>{1, 2, 3, 4, 5});
    CHECK(part(parts, "waiting") == std::vector<std::int64_t>{3});
    const auto resumed = made(of_numbers(2));
    for (int time = 0; time < 2; ++time) { // the second time over what is there
        resumed->restore_parts(parts);
        CHECK(resumed->size() == 2);
        const auto again = resumed->saved_parts();
        CHECK(part(again, "0") == part(parts, "0"));
        CHECK(part(again, "waiting") == part(parts, "waiting"));
    }
    std::vector<std::int64_t> got;
    for (int i = 0; i < 6; ++i) {
        call take;
        take.run([&](async_context& w, any_array* out) { return resumed->dequeue(w, out); });
        CHECK(take.told == (i < 5)); // the other's step waits itself
        if (take.told)
            got.push_back(values(take.outputs[0])[0]);
        else
            CHECK(take.give_up());
    }
    CHECK(got == std::vector<std::int64_t>{1, 2, 3, 4, 5});
    CHECK(part(resumed->saved_parts(), "waiting").empty());
    for (const std::int64_t wrong : {-1, 6}) {
        auto hostile = parts;
        for (auto& p : hostile)
            if (p.name == "waiting") p.value = to_any_array<std::int64_t>(wrong);
        CHECK_THROWS_WITH(made(of_numbers(2))->check_parts(hostile), contains("of another queue"));
    }
    call close; // cancels them as it does runners' own
    resumed->restore_parts(parts);
    close.run([&](async_context& w, any_array*) { return resumed->close(true, w); });
    CHECK(resumed->size() == 2);
    CHECK(part(resumed->saved_parts(), "waiting").empty());
}

TEST_CASE("element_queue: a reserve stays until it is closed") {
    auto t = of_numbers(-1);
    t.random = true;
    t.reserve = 2;
    const auto q = made(t);
    call put, a, b, close;
    put.run([&](async_context& w, any_array*) { return q->enqueue({numbers({1, 2, 3})}, true, w); });
    a.run([&](async_context& w, any_array* out) { return q->dequeue(w, out); });
    b.run([&](async_context& w, any_array* out) { return q->dequeue_many(2, false, w, out); });
    CHECK(a.told);
    CHECK(!b.told);
    close.run([&](async_context& w, any_array*) { return q->close(false, w); });
    CHECK(b.told);
    auto all = values(b.outputs[0]);
    all.push_back(values(a.outputs[0])[0]);
    std::ranges::sort(all);
    CHECK(all == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("element_queue: a full queue by priority waits, drops the lowest, or refuses") {
    for (const std::string full : {"wait", "drop_lowest", "refuse"}) {
        auto t = of_numbers(2);
        t.priority = true;
        t.when_full = full;
        const auto q = made(t);
        call put[4], take;
        for (const int n : {3, 1, 2, 8})
            put[n % 4].run([&](async_context& w, any_array*) { return q->enqueue({number(n)}, false, w); });
        CHECK(q->size() == 2);
        if (full == "refuse") CHECK(put[2].failed_with(error_code::resource_exhausted));
        if (full == "wait") CHECK(!put[2].told);
        take.run([&](async_context& w, any_array* out) { return q->dequeue_many(2, false, w, out); });
        CHECK(values(take.outputs[0]) ==
              (full == "drop_lowest" ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 3}));
        call more;
        more.run([&](async_context& w, any_array* out) { return q->dequeue_many(3, false, w, out); });
        CHECK(more.failed_with(error_code::invalid_argument)); // it never holds as many
    }
}

TEST_CASE("element_queue: what it is and what goes in is checked") {
    CHECK_THROWS_AS(of_numbers(0).check(), invalid_argument);
    CHECK_THROWS_AS(of_numbers(-2).check(), invalid_argument);
    auto t = of_numbers(3);
    t.reserve = 3;
    CHECK_THROWS_WITH(t.check(), contains("min_after_dequeue is 3"));
    t = of_numbers(3);
    t.components.clear();
    CHECK_THROWS_AS(t.check(), invalid_argument);
    const auto q = made(of_numbers(3));
    call c;
    const std::vector<any_array> two{number(1), number(2)}, wrong{to_any_array<float>(1.f)}, shaped{numbers({1, 2})};
    CHECK_THROWS_WITH(q->enqueue(two, false, c), contains("1 components, not 2"));
    CHECK_THROWS_WITH(q->enqueue(wrong, false, c),
                      contains("FIFOQueue 'q'") && contains("int64 []") && contains("float32 []"));
    CHECK_THROWS_AS(q->enqueue(shaped, false, c), invalid_argument);
    CHECK_THROWS_AS(q->enqueue({number(1)}, true, c), invalid_argument);
    CHECK_THROWS_AS(q->dequeue_many(-1, false, c, nullptr), invalid_argument);
}

/// Several clients call a queue in an order that a seed draws, close it, give calls up. Every item is taken once, or left, or was not
/// put in; whoever could go on does; producers' items leave in order where the queue has one.
void run_schedule(std::uint64_t seed) {
    seeds::draws next(seed);
    auto t = of_numbers(next(3) == 0 ? -1 : static_cast<index_t>(1 + next(4)));
    t.random = next(3) == 0;
    t.priority = !t.random && next(3) == 0;
    if (t.random && t.capacity != 1)
        t.reserve = static_cast<index_t>(next(t.capacity < 0 ? 3 : static_cast<std::size_t>(t.capacity)));
    const auto q = made(t);
    struct client {
        std::unique_ptr<call> now;
        std::vector<std::int64_t> putting;
        bool takes = false;
    };
    std::vector<client> clients(2 + next(6));
    std::map<std::int64_t, bool> in; // items that are in for sure, or may be: of calls given up
    std::vector<std::int64_t> out;
    std::int64_t last = 0;
    bool closed = false;
    const auto collect = [&](client& c) {
        if (!c.now || !c.now->told) return;
        if (c.takes && !c.now->problem)
            for (const auto n : values(c.now->outputs[0])) out.push_back(n);
        for (const auto n : c.putting) in[n] = !c.now->problem;
        c = {};
    };
    for (int step = 0; step < 60; ++step) {
        auto& c = clients[next(clients.size())];
        collect(c);
        if (c.now) {
            if (next(4) == 0) {
                const bool gone = c.now->give_up();
                REQUIRE(gone != c.now->told);
                if (gone) {
                    for (const auto n : c.putting) in[n] = false;
                    c = {};
                } else {
                    collect(c);
                }
            }
            continue;
        }
        c.now = std::make_unique<call>();
        const auto what = next(closed ? 6 : 13);
        if (what < 3) {
            c.takes = true;
            const auto n =
                static_cast<index_t>(next(t.priority && t.capacity > 0 ? static_cast<std::size_t>(t.capacity) + 1 : 5));
            c.now->run([&](async_context& w, any_array* to) {
                return what == 0 ? q->dequeue(w, to) : q->dequeue_many(n, what == 2, w, to);
            });
        } else if (what < 11) {
            const bool many = what % 2 == 0;
            for (std::size_t k = many ? next(4) : 1; k > 0; --k) c.putting.push_back(++last);
            c.now->run([&](async_context& w, any_array*) {
                return many ? q->enqueue({numbers(c.putting)}, true, w) : q->enqueue({number(last)}, false, w);
            });
        } else {
            closed = true;
            c.now->run([&](async_context& w, any_array*) { return q->close(what == 12, w); });
        }
        collect(c);
    }
    // the end: nobody waits any more, what is left comes out
    call end;
    end.run([&](async_context& w, any_array*) { return q->close(true, w); });
    for (auto& c : clients) {
        if (c.now && !c.now->told) {
            REQUIRE(!closed); // a closed queue answers everybody, but who waits to close a full one
        }
        collect(c);
        REQUIRE(!c.now);
    }
    while (q->size() > 0) {
        call rest;
        rest.run([&](async_context& w, any_array* to) { return q->dequeue(w, to); });
        REQUIRE(rest.told);
        out.push_back(values(rest.outputs[0])[0]);
    }
    REQUIRE(q->size() == 0);
    std::set<std::int64_t> once(out.begin(), out.end());
    REQUIRE(once.size() == out.size());
    for (const auto n : out) REQUIRE(in.contains(n));
    for (const auto& [n, sure] : in)
        if (sure) REQUIRE(once.contains(n));
}

TEST_CASE("element_queue: no schedule loses an item, doubles one, or leaves anybody waiting", "[random]") {
    seeds::each(3000, run_schedule);
}

TEST_CASE("element_queue: threads put in and take out, wait and give up") {
    auto t = of_numbers(8);
    const auto q = made(t);
    struct shared_call final : async_context {
        completion defer(std::function<bool()> how) override {
            give_up = std::move(how);
            return [state = state](std::exception_ptr p, std::vector<any_array> out) {
                if (!p && !out.empty())
                    for (const auto n : values(out[0])) state->got.push_back(n);
                state->failed = p != nullptr;
                state->told.store(true, std::memory_order_release);
            };
        }
        struct common {
            std::atomic<bool> told{false};
            bool failed = false;
            std::vector<std::int64_t> got;
        };
        std::shared_ptr<common> state = std::make_shared<common>();
        std::function<bool()> give_up;
    };
    constexpr int producers = 4, each = 2000;
    std::vector<std::vector<std::int64_t>> got(4);
    std::vector<std::thread> all;
    std::atomic<int> left{producers};
    for (int p = 0; p < producers; ++p)
        all.emplace_back([&, p] {
            for (int i = 0; i < each;) {
                shared_call c;
                if (q->enqueue({number(p * each + i)}, false, c)) {
                    ++i;
                    continue;
                }
                for (int spin = 0; spin < 50 && !c.state->told.load(std::memory_order_acquire); ++spin)
                    std::this_thread::yield();
                if (c.state->told.load(std::memory_order_acquire) || !c.give_up()) {
                    while (!c.state->told.load(std::memory_order_acquire)) std::this_thread::yield();
                    ++i;
                }
            }
            if (--left == 0) {
                shared_call c;
                if (!q->close(false, c))
                    while (!c.state->told.load(std::memory_order_acquire)) std::this_thread::yield();
            }
        });
    for (auto& mine : got)
        all.emplace_back([&] {
            try {
                for (;;) {
                    shared_call c;
                    any_array out;
                    if (q->dequeue_many(3, true, c, &out)) {
                        for (const auto n : values(out)) mine.push_back(n);
                        continue;
                    }
                    for (int spin = 0; spin < 50 && !c.state->told.load(std::memory_order_acquire); ++spin)
                        std::this_thread::yield();
                    if (!c.state->told.load(std::memory_order_acquire) && c.give_up()) continue;
                    while (!c.state->told.load(std::memory_order_acquire)) std::this_thread::yield();
                    if (c.state->failed) return;
                    mine.insert(mine.end(), c.state->got.begin(), c.state->got.end());
                }
            } catch (const out_of_range&) {}
        });
    for (auto& th : all) th.join();
    std::vector<std::int64_t> together;
    for (const auto& mine : got) together.insert(together.end(), mine.begin(), mine.end());
    std::ranges::sort(together);
    REQUIRE(together.size() == static_cast<std::size_t>(producers * each));
    for (std::size_t i = 0; i < together.size(); ++i) REQUIRE(together[i] == static_cast<std::int64_t>(i));
}

} // namespace test_ops_queue_element_queue
