// SPDX-License-Identifier: BSD-3-Clause
// Random calls of several sessions that share a queue and a lock, with cancellations, deadlines and closes, in one thread and in virtual
// time: every step ends once, nothing is taken twice, nothing stays locked, and a seed always gives the same schedule. And random programs
// that are cut between devices: each schedule of their parts gives the bits of the whole run.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "catch.hpp"
#include "random_parts.hpp"
#include "seeds.hpp"
#include "virtual_environment.hpp"

using namespace rill;

namespace test_random_schedules {

/// The graph of all sessions, and the world of the current seed.
struct model {
    graph g;
    graph_scope here{g};
    virtual_environment* world = nullptr;
    std::vector<environment::timer>* slow = nullptr; // answers that come late

    fifo_queue<tensor<int>> queue = fifo_queue<tensor<int>>({.capacity = 3, .shared_name = "random_schedules/queue"});
    mutex lock = mutex("lock", {.shared_name = "random_schedules/lock"});
    variable<int> count{"count", 0};
    placeholder<int> n{"n"};

    operation init = count.initializer();
    operation put = queue.enqueue(n);
    tensor<int> take = queue.dequeue();
    std::tuple<tensor<int>, tensor<int>> take_two =
        while_loop([](auto k, auto) { return k < 2; },
                   [&](auto k, auto t) { return std::tuple(k + 1, t * 1000 + queue.dequeue()); }, 0, 0);
    tensor<int> ask = asked(n);
    tensor<int> bump = bumped();
    tensor<int> locked = with_lock();
    operation close = queue.close();
    operation cancel = queue.close({.cancel_pending_enqueues = true});
    tensor<int> size = queue.size();
    operation lock_and_free = acquired_and_released();

    template <class X> tensor<int> asked(const X& x) {
        const auto later = [this](int v, host_result<int> done) {
            const auto answer = [v, done] { done(v + 1); };
            switch (world->choose(5)) {
            case 0: return; // it never comes
            case 1: return done(v + 1);
            case 2:
                return slow->push_back(world->at(world->now() + std::chrono::milliseconds(world->choose(200)), answer));
            default: return world->post(answer);
            }
        };
        return host_call<int>(later, x);
    }
    tensor<int> bumped() {
        const control_dependencies after(asked(n));
        return count.assign_add(1);
    }
    operation acquired_and_released() {
        const control_dependencies after(lock.acquire());
        return lock.release();
    }
    tensor<int> with_lock() {
        const auto held = lock.acquire();
        const control_dependencies after(held);
        const tensor answer = asked(n);
        const control_dependencies then(answer);
        const control_dependencies released(lock.release());
        return tensor(answer * 1);
    }
};

enum call { put, take, take_two, ask, bump, locked, calls };
constexpr std::array<const char*, calls> names{"put", "take", "take_two", "ask", "bump", "locked"};

/// One schedule. Returns its log.
class schedule {
public:
    schedule(model& m, std::uint64_t seed) : m_(m), next_(seed), world_(seed) {
        m.world = &world_;
        m.slow = &slow_;
    }
    ~schedule() { session::reset(); }

    std::string run() {
        for (auto& s : sessions_)
            s = std::make_unique<one_session>(
                session_options{.inter_op_threads = 0,
                                .intra_op_threads = 0,
                                .progress_timeout = next_(2) ? forever : std::chrono::seconds(2),
                                .environment = &world_},
                m_);
        const std::size_t actions = 4 + next_(16);
        for (std::size_t i = 0; i < actions; ++i) {
            act();
            for (auto events = next_(6); events > 0; --events) world_.run_one();
        }
        for (std::size_t i = 0; i < 2000 && world_.run_one(); ++i) {}
        const int left = open() ? open()->of.run(m_.size) : 0;
        for (auto& s : sessions_) bumps_.push_back(s->closed ? -1 : s->of.run(m_.count));
        for (auto& s : sessions_) s->of.close();
        world_.run();
        check(left);
        return world_.log;
    }

private:
    struct one_session {
        session of;
        bool closed = false;
        std::size_t bumped = 0, bumps = 0; // steps that have ended well, and all
        one_session(const session_options& options, const model& m) : of(m.g, options) { of.run(m.init); }
    };
    struct step {
        call what;
        int value;
        int ends = 0;
        bool good = false;
        std::vector<int> got = {};
    };

    one_session* open() {
        for (auto& s : sessions_)
            if (!s->closed) return s.get();
        return nullptr;
    }

    run_options drawn_options() {
        run_options how;
        if (next_(4) == 0) how.timeout = std::chrono::milliseconds(next_(100));
        if (next_(3) == 0) {
            how.cancel.emplace();
            timers_.push_back(world_.at(world_.now() + std::chrono::milliseconds(next_(100)),
                                        [token = *how.cancel] { token.cancel(); }));
        }
        return how;
    }

    void act() {
        auto& s = *sessions_[next_(sessions_.size())];
        if (s.closed) return;
        switch (next_(24)) {
        case 0:
            s.closed = true;
            world_.note("close session");
            return s.of.close();
        case 1: return quietly(s, m_.close, "close");
        case 2: return quietly(s, m_.cancel, "close and cancel");
        case 3: // a call that blocks
            world_.note("size");
            CHECK(s.of.run(m_.size) <= 3);
            return;
        default: return start(s, static_cast<call>(next_(calls)));
        }
    }

    void quietly(one_session& s, const operation& what, const char* name) {
        world_.note(name);
        s.of.make_callable(what).with(drawn_options()).start([](std::exception_ptr, const auto&) {});
    }

    void start(one_session& s, call what) {
        const int value = ++last_;
        auto& mine = *steps_.emplace_back(std::make_unique<step>(step{what, value}));
        world_.note("start " + std::string(names[what]) + " " + std::to_string(value));
        const auto how = drawn_options();
        const auto end = [this, &s, &mine](const std::exception_ptr& problem, const auto& values) {
            ++mine.ends;
            mine.good = !problem;
            std::apply([&](const auto&... v) { (mine.got.push_back(v), ...); }, values);
            if (mine.what == bump) ++s.bumps, s.bumped += mine.good;
            world_.note("end " + std::to_string(mine.value) + " " + text_of(problem));
        };
        const auto call = [&](const auto& fetch) { s.of.make_callable(fetch).with(how).start(end); };
        const auto call_with = [&](const auto& fetch) { s.of.make_callable(fetch, m_.n).with(how).start(value, end); };
        switch (what) {
        case put: return call_with(m_.put);
        case take: return call(m_.take);
        case take_two: return call(std::get<1>(m_.take_two));
        case ask: return call_with(m_.ask);
        case bump: return call_with(m_.bump);
        default: return call_with(m_.locked);
        }
    }

    static std::string text_of(const std::exception_ptr& problem) {
        if (!problem) return "well";
        try {
            std::rethrow_exception(problem);
        } catch (const cancelled&) {
            return "cancelled";
        } catch (const deadline_exceeded&) {
            return "deadline";
        } catch (const out_of_range&) {
            return "closed";
        } // any other error fails the test
    }

    void check(int left) {
        std::multiset<int> taken;
        std::size_t puts = 0, failed_puts = 0, failed_takes = 0;
        for (const auto& s : steps_) {
            INFO(names[s->what] << " " << s->value);
            REQUIRE(s->ends == 1);
            puts += s->what == put && s->good;
            failed_puts += s->what == put && !s->good;
            failed_takes += !s->good ? (s->what == take ? 1 : s->what == take_two ? 2 : 0) : 0;
            if (!s->good) continue;
            if (s->what == take) taken.insert(s->got[0]);
            if (s->what == take_two) taken.insert({s->got[0] / 1000, s->got[0] % 1000});
            if (s->what == ask || s->what == locked) REQUIRE(s->got[0] == s->value + 1);
        }
        for (const int v : taken) {
            REQUIRE(taken.count(v) == 1);
            REQUIRE(steps_[static_cast<std::size_t>(v) - 1]->what == put);
        }
        // a step that fails after it has taken something loses it, and one that fails after it has put something in has done so
        const auto there = taken.size() + static_cast<std::size_t>(left);
        REQUIRE(there <= puts + failed_puts);
        if (left > 0 || open()) REQUIRE(there + failed_takes >= puts);
        for (std::size_t i = 0; i < sessions_.size(); ++i)
            if (bumps_[i] >= 0) {
                REQUIRE(static_cast<std::size_t>(bumps_[i]) >= sessions_[i]->bumped);
                REQUIRE(static_cast<std::size_t>(bumps_[i]) <= steps_.size());
            }
        slow_.clear();
        timers_.clear();
        const session after(m_.g, {.environment = &world_});
        after.run(m_.lock_and_free, {.timeout = std::chrono::seconds(1)}); // those that held the lock have ended
    }

    model& m_;
    seeds::draws next_;
    virtual_environment world_;
    std::vector<environment::timer> slow_, timers_;
    std::array<std::unique_ptr<one_session>, 2> sessions_;
    std::vector<std::unique_ptr<step>> steps_;
    std::vector<int> bumps_;
    int last_ = 0;
};

TEST_CASE("random schedules: every step ends once, and a seed gives one schedule", "[random]") {
    model m;
    std::map<std::string, std::size_t> ends;
    seeds::each(300, [&](std::uint64_t seed) {
        const std::string log = schedule(m, seed).run();
        REQUIRE(schedule(m, seed).run() == log);
        for (const auto* how : {"well", "cancelled", "deadline", "closed"})
            if (log.find(std::string(" ") + how + "\n") != std::string::npos) ++ends[how];
    });
    if (seeds::all())
        for (const auto* how : {"well", "cancelled", "deadline", "closed"}) CHECK(ends[how] > 0);
}

/// An environment that stands for one virtual environment after another: a session keeps its plans while the schedule changes.
class changing_environment final : public environment {
public:
    explicit changing_environment(virtual_environment& first) : now_in(&first) {}
    virtual_environment* now_in;

    time_point now() override { return now_in->now(); }
    std::size_t choose(std::size_t n) override { return now_in->choose(n); }
    std::uint64_t draw() override { return now_in->draw(); }
    void post(task f) override { now_in->post(std::move(f)); }
    timer at(time_point when, task f) override { return now_in->at(when, std::move(f)); }
    std::unique_ptr<signal> make_signal() override { return now_in->make_signal(); }
};

/// A random program, each of whose nodes is on one of four devices by chance, in a session that cuts it and in one that does not.
struct cut_program {
    graph g;
    graph_scope here{g};
    random_parts::program of;
    virtual_environment first_world{1};
    changing_environment world{first_world};
    session whole, cut;

    explicit cut_program(std::uint64_t seed)
        : of(seed, random_parts::drawn_devices(random_parts::cpus(2 + seed % 3), seed)),
          whole(g, random_parts::on_threads(0, false)), cut(g, options()) {}
    ~cut_program() { world.now_in = &first_world; } // the sessions close in it

    session_options options() {
        auto how = random_parts::on_threads(0, true);
        how.environment = &world;
        return how;
    }
};

TEST_CASE("random schedules: the parts of a cut run give the bits of the whole run in any order", "[random]") {
    constexpr std::uint64_t schedules = 10; // of each program
    std::unique_ptr<cut_program> made;
    std::uint64_t number = 0;
    seeds::each(60, [&](std::uint64_t seed) {
        if (const auto next = 1 + seed / schedules; !made || next != number) {
            made = nullptr; // before another graph is in scope
            made = std::make_unique<cut_program>(number = next);
        }
        virtual_environment world(seed);
        made->world.now_in = &world;
        const bool few = seed % 2 == 0;
        const auto wanted = made->of.outcomes(made->whole, few), found = made->of.outcomes(made->cut, few);
        world.run();
        made->world.now_in = &made->first_world; // `world` ends
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(random_parts::same_bits(found[i], wanted[i]));
    });
}

} // namespace test_random_schedules
