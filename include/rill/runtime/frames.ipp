// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/frames.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <rill/runtime/bound_body.hpp>
#include <rill/runtime/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// ---- what is known beforehand --------------------------------------------------------------------------------------------

RILL_COLD frames_plan::frames_plan(const plan_key& key, const session_options& options,
                                   const std::shared_ptr<resource_store>& resources, const device_type& otherwise)
    : results_(key.fetches) {
    const flow_graph g({key.fetches, key.targets, key.feeds, key.within, key.raised});
    for (const auto& f : g.frames()) loops_.push_back({f.parent, 0, 0, f.enter ? f.enter->op->flow().parallel_iterations : 1});
    std::unordered_map<const node*, int> number;
    for (const auto* n : g.nodes()) {
        number.emplace(n, static_cast<int>(steps_.size()));
        add_step(g, n);
    }
    for (const auto* n : g.nodes()) {
        const int to = number.at(n);
        const auto take = [&](const endpoint& e, int input) {
            const int feed = static_cast<int>(std::ranges::find(key.feeds, e) - key.feeds.begin());
            const auto& args = steps_[to].arguments;
            if (g.fed(e) && steps_[to].flow.what == flow_use::form::merges)
                connect(feed_step(feed), 0, to, input); // it counts as an input that comes
            else if (g.fed(e))
                steps_[to].fed[input] = feed;
            else if (!steps_[to].runs || g.frame_of(e.from) != flow_graph::outside ||
                     std::ranges::find(args, input) != args.end())
                connect(number.at(e.from), e.port, to, input);
        };
        if (!steps_[to].flow) compile(g, steps_[to], options, resources, otherwise);
        for (std::size_t i = 0; i < n->inputs.size(); ++i) take(g.of(n->inputs[i]), static_cast<int>(i));
        if (const auto back = g.back(n)) take(g.of(back), 1);
        for (const auto* c : g.waits(n))
            connect(number.at(c), static_cast<int>(steps_[number.at(c)].next.size()) - 1, to, none);
    }
    for (std::size_t r = 0; r < results_.size(); ++r) {
        const auto e = g.of(results_[r]);
        steps_[number.at(e.from)].fetched[e.port] = static_cast<int>(r);
    }
}

RILL_INLINE frames_plan::~frames_plan() = default;

RILL_COLD void frames_plan::add_step(const flow_graph& g, const node* n) {
    step s;
    s.origin = n;
    s.flow = n->op->flow();
    s.frame = s.gives = g.frame_of(n);
    if (s.flow.what == flow_use::form::enters) {
        s.frame = loops_[s.gives].parent;
        ++loops_[s.gives].enters;
    }
    if (s.flow.what == flow_use::form::leaves) s.frame = g.frame_of(g.of(n->inputs[0]).from);
    s.place = loops_[s.frame].steps++;
    s.next.resize(n->outputs.size() + 1);
    s.fetched.assign(n->outputs.size(), none);
    s.begins = bool(g.back(n));
    s.fed.assign(n->inputs.size() + (s.begins ? 1 : 0), none);
    steps_.push_back(std::move(s));
}

/// A plan of one node, whose feeds are the inputs that others compute. Variables and constants it reads itself.
RILL_COLD void frames_plan::compile(const flow_graph& g, step& s, const session_options& options,
                                    const std::shared_ptr<resource_store>& resources, const device_type& otherwise) {
    static const region alone; // nothing lies in it: what the node waits for has run
    const node* n = s.origin;
    plan_key key;
    key.within = &alone;
    for (std::size_t port = 0; port < n->outputs.size(); ++port) key.fetches.push_back({n, static_cast<int>(port)});
    if (n->outputs.empty()) key.targets.push_back(n);
    const auto writes = n->op->writes();
    for (std::size_t i = 0; i < n->inputs.size(); ++i) {
        const auto& e = n->inputs[i];
        const auto role = e.from->op->role();
        const bool written = std::ranges::find(writes, static_cast<std::int16_t>(i)) != writes.end();
        if (written && role != op_role::variable)
            throw unimplemented(n->op->label() + ": '" + n->name + "' writes a variable after '" + e.from->name +
                                "', among primitives of control flow: let it write the variable itself, with a control "
                                "dependency (" + place_of(*n) + ")");
        if (written || role == op_role::constant || (role == op_role::variable && !g.fed(g.of(e)))) continue;
        if (std::ranges::find(key.feeds, e) != key.feeds.end()) continue;
        key.feeds.push_back(e);
        s.arguments.push_back(static_cast<int>(i));
    }
    s.runs = std::make_shared<plan>(key, options, resources, otherwise);
}

RILL_COLD void frames_plan::connect(int from, int port, int to, int input) {
    std::vector<int> way; // the loops between them, the innermost first
    for (int f = steps_[to].frame; f != steps_[from].gives; f = loops_[f].parent) way.push_back(f);
    for (; !way.empty(); way.pop_back()) {
        from = brought(from, port, way.back());
        port = input == none ? 1 : 0;
    }
    steps_[from].next[port].push_back({to, input});
    ++(input == none ? steps_[to].controls : steps_[to].data);
}

/// A step that brings what a value is, or that its node has run, into a loop.
RILL_COLD int frames_plan::brought(int from, int port, int into) {
    const bool waits = port + 1 == static_cast<int>(steps_[from].next.size());
    for (const auto& e : steps_[from].next[port])
        if (!steps_[e.to].origin && steps_[e.to].gives == into) return e.to;
    step s;
    s.flow.what = flow_use::form::enters;
    s.flow.constant = true;
    s.frame = steps_[from].gives;
    s.gives = into;
    s.place = loops_[s.frame].steps++;
    s.next.resize(2);
    s.fetched.assign(1, none);
    s.fed.assign(1, none);
    ++(waits ? s.controls : s.data);
    ++loops_[into].enters;
    steps_[from].next[port].push_back({static_cast<int>(steps_.size()), waits ? none : 0});
    steps_.push_back(std::move(s));
    return static_cast<int>(steps_.size()) - 1;
}

/// A step that gives what was fed.
RILL_COLD int frames_plan::feed_step(int feed) {
    step s;
    s.flow.what = flow_use::form::loop_condition; // which passes on what it gets
    s.place = loops_[0].steps++;
    s.next.resize(2);
    s.fetched.assign(1, none);
    s.fed.assign(1, feed);
    steps_.push_back(std::move(s));
    return static_cast<int>(steps_.size()) - 1;
}

RILL_COLD void frames_plan::close() const noexcept {
    for (const auto& s : steps_)
        if (s.runs) s.runs->close();
}

// ---- a run ---------------------------------------------------------------------------------------------------------------

class frames_run {
public:
    frames_run(const frames_plan& p, std::span<const any_array> feeds, const step_context& context)
        : plan_(p), feeds_(feeds), context_(context), results_(p.results().size()), here_(results_.size(), unknown) {}

    std::vector<any_array> run() {
        frame root;
        root.iterations.emplace_back(plan_.loops()[0].steps);
        for (std::size_t s = 0; s < plan_.steps().size(); ++s)
            if (const auto& st = plan_.steps()[s]; st.frame == 0 && st.data == 0 && st.controls == 0 && !st.is_source())
                ready_.push_back({static_cast<int>(s), &root, 0, false});
        root.iterations[0].running = static_cast<int>(ready_.size());
        while (!ready_.empty()) {
            const auto next = ready_.front();
            ready_.pop_front();
            context_.check();
            run(next);
        }
        for (std::size_t r = 0; r < results_.size(); ++r)
            if (here_[r] != live) {
                const auto& e = plan_.results()[r];
                const auto what = "fetch: '" + name_of(e) + "' ";
                if (here_[r] == dead)
                    throw invalid_argument(what + "is dead: it lies in a branch that was not taken, or comes from a loop "
                                                  "that never began; a merge of both ways is live (" +
                                           place_of(*e.from) + ")");
                throw internal(what + "was never computed (" + place_of(*e.from) + ")");
            }
        return std::move(results_);
    }

private:
    using step = frames_plan::step;
    using form = flow_use::form;
    enum state : char { unknown, live, dead };

    /// What comes along an edge.
    struct token {
        any_array value;
        bool is_live = true;
    };
    /// What a step has got of one iteration.
    struct inbox {
        std::vector<any_array> values;
        int came = 0, waited = 0, dead = 0;
        int from = frames_plan::none; // of a merge: the input that is live
        bool started = false;
    };
    struct iteration {
        explicit iteration(int steps) : boxes(static_cast<std::size_t>(steps)) {}
        vector<inbox> boxes;
        int running = 0; // steps, and loops within
    };
    /// A loop that is under way.
    struct frame {
        int of = 0;
        frame* parent = nullptr;
        std::int64_t at = 0; // the parent's iteration
        std::deque<iteration> iterations;
        std::int64_t first = 0;                         // of those
        int entered = 0;
        vector<std::pair<int, token>> constants;        // what has entered, with its step
        std::vector<int> dead_leaves;                   // in the last iteration
        vector<std::pair<int, token>> waiting;          // for an iteration to begin: there are as many as may be

        std::int64_t last() const { return first + static_cast<std::int64_t>(iterations.size()) - 1; }
        iteration& in(std::int64_t k) { return iterations[static_cast<std::size_t>(k - first)]; }
    };
    struct task {
        int step;
        frame* in;
        std::int64_t at;
        bool is_dead;
    };

    const step& step_of(int s) const { return plan_.steps()[s]; }

    /// A value, or that a step has run, comes to all who take it.
    void send(int from, int port, const token& t, frame& f, std::int64_t at) {
        const auto& s = step_of(from);
        if (!f.parent && port < static_cast<int>(s.fetched.size()) && s.fetched[port] >= 0) {
            results_[s.fetched[port]] = t.value;
            here_[s.fetched[port]] = t.is_live ? live : dead;
        }
        for (const auto& e : s.next[port]) arrive(e, t, f, at);
    }
    void send_all(int from, const std::vector<token>& all, bool is_live, frame& f, std::int64_t at) {
        const auto ports = step_of(from).next.size() - 1;
        for (std::size_t p = 0; p < ports; ++p)
            send(from, static_cast<int>(p), p < all.size() ? all[p] : token{{}, is_live}, f, at);
        send(from, static_cast<int>(ports), {{}, is_live}, f, at);
    }
    void arrive(const frames_plan::edge& e, const token& t, frame& f, std::int64_t at) {
        const auto& s = step_of(e.to);
        auto& it = f.in(at);
        auto& box = it.boxes[static_cast<std::size_t>(s.place)];
        ++(e.input < 0 ? box.waited : box.came);
        box.dead += !t.is_live;
        bool is_dead = box.dead > 0, complete = box.came == s.data;
        if (s.flow.what == form::merges) {
            if (e.input >= 0 && t.is_live) {
                if (box.from >= 0) two_live(s);
                box.from = e.input;
                box.values.assign(1, t.value);
            }
            // a loop that is never entered has no iteration to come
            const bool never = s.begins && e.input == 0 && !t.is_live;
            is_dead = box.from < 0;
            complete = box.from >= 0 || complete || never;
        } else if (e.input >= 0) {
            if (box.values.empty()) box.values.resize(s.fed.size());
            box.values[static_cast<std::size_t>(e.input)] = t.value;
        }
        if (!complete || box.waited < s.controls || std::exchange(box.started, true)) return;
        ++it.running;
        ready_.push_back({e.to, &f, at, is_dead});
    }
    [[noreturn]] static void two_live(const step& s) {
        throw internal("merge: '" + s.origin->name + "' has two live inputs (" + place_of(*s.origin) + ")");
    }

    void run(const task& t) {
        try {
            switch (step_of(t.step).flow.what) {
            case form::enters: enter(t); break;
            case form::leaves: leave(t); break;
            case form::next_iteration: go_on(t); break;
            default: send_all(t.step, t.is_dead ? std::vector<token>() : computed(t), !t.is_dead, *t.in, t.at);
            }
        } catch (...) {
            if (t.in->parent) rethrow_from_iteration(t.at);
            throw;
        }
        --t.in->in(t.at).running;
        tidy(*t.in);
    }

    any_array value(const task& t, int input) {
        const auto& s = step_of(t.step);
        const auto i = static_cast<std::size_t>(input);
        return s.fed[i] >= 0 ? feeds_[s.fed[i]] : t.in->in(t.at).boxes[static_cast<std::size_t>(s.place)].values[i];
    }
    token passed(const task& t) {
        const auto& s = step_of(t.step);
        return {t.is_dead || (s.data == 0 && s.fed[0] < 0) ? any_array() : value(t, 0), !t.is_dead};
    }

    std::vector<token> computed(const task& t) {
        const auto& s = step_of(t.step);
        std::vector<token> out;
        if (s.flow.what == form::switches) {
            const bool way = value(t, 1).value<bool>();
            for (const bool port : {false, true}) out.push_back({port == way ? value(t, 0) : any_array(), port == way});
        } else if (s.flow.what == form::merges) {
            const auto& box = t.in->in(t.at).boxes[static_cast<std::size_t>(s.place)];
            any_array index(dtype::int32, {});
            *static_cast<std::int32_t*>(index.mutable_data()) = box.from;
            out = {{box.values[0]}, {std::move(index)}};
        } else if (s.flow) {
            out.push_back(passed(t));
        } else {
            std::vector<any_array> in;
            for (const int a : s.arguments) in.push_back(value(t, a));
            for (auto& v : run_plan(*s.runs, in, &context_)) out.push_back({std::move(v)});
        }
        return out;
    }

    void enter(const task& t) {
        const auto& s = step_of(t.step);
        auto& f = entered(s.gives, *t.in, t.at);
        ++f.entered;
        const auto v = passed(t);
        if (s.flow.constant) {
            f.constants.push_back({t.step, v});
            for (auto k = f.first; k <= f.last(); ++k) send_all(t.step, {v}, v.is_live, f, k);
        } else {
            send_all(t.step, {v}, v.is_live, f, 0);
        }
        tidy(f);
    }
    frame& entered(int of, frame& parent, std::int64_t at) {
        auto& f = frames_[{of, &parent, at}];
        if (!f) {
            f = std::make_unique<frame>();
            f->of = of;
            f->parent = &parent;
            f->at = at;
            f->iterations.emplace_back(plan_.loops()[of].steps);
            ++parent.in(at).running;
        }
        return *f;
    }
    void leave(const task& t) {
        auto& f = *t.in;
        if (!t.is_dead)
            send_all(t.step, {passed(t)}, true, *f.parent, f.at);
        else if (t.at == f.last())
            f.dead_leaves.push_back(t.step);
    }
    void go_on(const task& t) {
        auto& f = *t.in;
        if (t.is_dead) return;
        const auto v = passed(t);
        if (t.at == f.last()) {
            if (static_cast<int>(f.iterations.size()) >= plan_.loops()[f.of].parallel) {
                f.waiting.push_back({t.step, v});
                return;
            }
            begin_iteration(f);
        }
        send_all(t.step, {v}, true, f, t.at + 1);
    }
    void begin_iteration(frame& f) {
        f.dead_leaves.clear();
        f.iterations.emplace_back(plan_.loops()[f.of].steps);
        const auto k = f.last();
        for (const auto& [from, v] : f.constants) send_all(from, {v}, v.is_live, f, k);
    }

    /// Iterations that are over go, those that wait for them begin, and so does what waits for the loop.
    void tidy(frame& f) {
        if (!f.parent) return;
        while (!f.iterations.empty() && f.iterations.front().running == 0 && f.entered == plan_.loops()[f.of].enters) {
            const auto more = std::exchange(f.waiting, {});
            if (!more.empty()) begin_iteration(f);
            for (const auto& [from, v] : more) send_all(from, {v}, true, f, f.last());
            f.iterations.pop_front();
            ++f.first;
        }
        if (!f.iterations.empty()) return;
        auto& parent = *f.parent;
        const auto at = f.at;
        for (const int s : f.dead_leaves) send_all(s, {}, false, parent, at);
        frames_.erase({f.of, &parent, at});
        --parent.in(at).running;
        tidy(parent);
    }

    const frames_plan& plan_;
    std::span<const any_array> feeds_;
    const step_context& context_;
    std::vector<any_array> results_;
    std::vector<state> here_;
    std::deque<task> ready_;
    std::map<std::tuple<int, frame*, std::int64_t>, std::unique_ptr<frame>> frames_;
};

RILL_INLINE std::vector<any_array> frames_plan::run(std::span<const any_array> feeds, const step_context& context) const {
    return frames_run(*this, feeds, context).run();
}

}}} // namespace rill::RILL_ABI::detail
