// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/dataflow/dataflow_executor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/runtime/dataflow/dataflow_plan.hpp>
#include <rill/runtime/executor/run_plan.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class dataflow_executor final : public nested_run, parent_run {
public:
    dataflow_executor(const dataflow_plan& p, std::span<const any_array> feeds)
        : plan_(p), feeds_(feeds.begin(), feeds.end()), results_(p.results().size()),
          result_states_(results_.size(), unknown) {}

    std::optional<std::vector<any_array>> begin(parent_run& outer, std::size_t number, completion_queue& events,
                                                const step_context& context) override {
        parent_ = &outer;
        parent_number_ = number;
        events_ = &events;
        context_ = &context;
        auto& root = root_;
        root.iterations.emplace_back(plan_.loops()[0].steps);
        if (context_->trace) root.entry = context_->trace->inside;
        for (std::size_t s = 0; s < plan_.steps().size(); ++s)
            if (const auto& st = plan_.steps()[s]; st.frame == 0 && st.data == 0 && st.controls == 0 && !st.is_source())
                ready_.push_back({static_cast<int>(s), &root, 0, false});
        root.iterations[0].running = static_cast<int>(ready_.size());
        return run_ready();
    }

private:
    using step = dataflow_plan::step;
    using form = control_flow_kind::form;
    enum state : char { unknown, live, dead };

    /// Runs all ready steps. Returns the results, or nothing if a node waits.
    std::optional<std::vector<any_array>> run_ready() {
        while (!ready_.empty()) {
            const auto next = ready_.front();
            ready_.pop_front();
            context_->check();
            run(next);
        }
        if (!waiting_.empty()) return {};
        for (std::size_t r = 0; r < results_.size(); ++r)
            if (result_states_[r] != live) {
                const auto& e = plan_.results()[r];
                const auto what = "fetch: '" + name_of(e) + "' ";
                if (result_states_[r] == dead)
                    throw invalid_argument(what +
                                           "is dead: it lies in a branch that was not taken, or comes from a loop "
                                           "that never began; a merge of both ways is live (" +
                                           place_of(*e.from) + ")");
                throw internal(what + "was never computed (" + place_of(*e.from) + ")");
            }
        return std::move(results_);
    }

    /// A value that travels along an edge.
    struct token {
        any_array value;
        bool is_live = true;
    };
    /// The inputs of a step in one iteration that have arrived.
    struct inbox {
        std::vector<any_array> values;
        int came = 0, waited = 0, dead = 0;
        int from = dataflow_plan::none; // for a merge: its live input
        bool started = false;
    };
    struct iteration {
        explicit iteration(int steps) : boxes(static_cast<std::size_t>(steps)) {}
        vector<inbox> boxes;
        int running = 0; // number of running steps and nested loops
    };
    /// A running loop.
    struct frame {
        int of = 0;
        frame* parent = nullptr;
        std::int64_t at = 0; // iteration of the parent loop
        int entry = -1;      // index in the trace
        std::deque<iteration> iterations;
        std::int64_t first = 0; // number of the first of these iterations
        int entered = 0;
        vector<std::pair<int, token>> constants; // loop-invariant values, with their enters
        std::vector<int> dead_next;              // next_iteration steps that are dead in the last iteration
        std::vector<int> left;                   // exits that have returned a live value
        vector<std::pair<int, token>> waiting;   // values for an iteration beyond the maximum in parallel

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

    /// Sends a value, or the completion of a step, along all edges of a port.
    void send(int from, int port, const token& t, frame& f, std::int64_t at) {
        const auto& s = step_of(from);
        if (!f.parent && port < static_cast<int>(s.fetched.size()) && s.fetched[port] >= 0) {
            results_[s.fetched[port]] = t.value;
            result_states_[s.fetched[port]] = t.is_live ? live : dead;
        }
        for (const auto& e : s.next[port]) arrive(e, t, f, at);
    }
    void send_all(int from, const std::vector<token>& all, bool is_live, frame& f, std::int64_t at) {
        const auto ports = step_of(from).next.size() - 1;
        for (std::size_t p = 0; p < ports; ++p)
            send(from, static_cast<int>(p), p < all.size() ? all[p] : token{{}, is_live}, f, at);
        send(from, static_cast<int>(ports), {{}, is_live}, f, at);
    }
    void arrive(const dataflow_plan::edge& e, const token& t, frame& f, std::int64_t at) {
        const auto& s = step_of(e.to);
        auto& it = f.in(at);
        auto& box = it.boxes[static_cast<std::size_t>(s.place)];
        ++(e.input < 0 ? box.waited : box.came);
        box.dead += !t.is_live;
        bool is_dead = box.dead > 0, complete = box.came == s.data;
        if (s.flow.what == form::merges) {
            if (e.input >= 0 && t.is_live) {
                if (box.from >= 0) throw_both_inputs_live(s);
                box.from = e.input;
                box.values.assign(1, t.value);
            }
            is_dead = box.from < 0;
            complete = box.from >= 0 || complete || (s.begins && box.came > 0); // a loop merge: one per iteration
        } else if (e.input >= 0) {
            if (box.values.empty()) box.values.resize(s.fed.size());
            box.values[static_cast<std::size_t>(e.input)] = t.value;
        }
        if (!complete || box.waited < s.controls || std::exchange(box.started, true)) return;
        ++it.running;
        ready_.push_back({e.to, &f, at, is_dead});
    }
    [[noreturn]] static void throw_both_inputs_live(const step& s) {
        throw internal("merge: '" + s.origin->name + "' has two live inputs (" + place_of(*s.origin) + ")");
    }

    void run(const task& t) {
        const int entry = context_->trace ? begin_trace(t) : -1;
        try {
            switch (step_of(t.step).flow.what) {
            case form::enters: enter(t); break;
            case form::leaves: leave(t); break;
            case form::next_iteration: pass_to_next_iteration(t); break;
            default:
                if (t.is_dead)
                    send_all(t.step, {}, false, *t.in, t.at);
                else if (const auto all = computed(t))
                    send_all(t.step, *all, true, *t.in, t.at);
                else
                    return; // its outputs follow later
            }
        } catch (...) {
            rethrow_from(t);
        }
        if (entry >= 0) context_->trace->to.end(entry, 1);
        finish(t);
    }
    void finish(const task& t) {
        --t.in->in(t.at).running;
        tidy(*t.in);
    }
    /// Rethrows the current exception with the task's iteration added.
    [[noreturn]] static void rethrow_from(const task& t) {
        if (t.in->parent) rethrow_from_iteration(t.at);
        throw;
    }

    void nested_done(std::size_t number, std::vector<any_array> given) override {
        const auto at = waiting_.find(number);
        const task t = at->second.of;
        waiting_.erase(at);
        std::optional<std::vector<any_array>> all;
        try {
            send_all(t.step, tokens(given), true, *t.in, t.at);
            finish(t);
            all = run_ready();
        } catch (...) {
            parent_->rethrow_nested(parent_number_);
        }
        if (all) parent_->nested_done(parent_number_, std::move(*all)); // destroys *this
    }
    [[noreturn]] void rethrow_nested(std::size_t number) const override {
        try {
            rethrow_from(waiting_.at(number).of);
        } catch (...) {
            parent_->rethrow_nested(parent_number_);
            throw; // g++ 12 assumes that the call may return
        }
    }
    static std::vector<token> tokens(std::vector<any_array>& values) {
        std::vector<token> all;
        for (auto& v : values) all.push_back({std::move(v)});
        return all;
    }

    trace_scope scope_of(const frame& f, std::int64_t at) const {
        return {.to = context_->trace->to, .inside = f.entry, .iteration = f.parent ? at : context_->trace->iteration};
    }
    /// Begins the trace entry of a primitive. Returns -1 for other nodes, since their own plans trace them.
    int begin_trace(const task& t) const {
        const auto& s = step_of(t.step);
        if (t.is_dead || !s.origin || !s.flow) return -1;
        return context_->trace->to.begin(scope_of(*t.in, t.at).entry_of(s.origin->name, s.origin->op->name()));
    }
    void begin_trace(frame& f) const {
        auto e = scope_of(*f.parent, f.at).entry_of(plan_.loops()[f.of].name, "Loop");
        e.what = step_trace::kind::lasted;
        f.entry = context_->trace->to.begin(std::move(e));
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

    /// Returns the outputs of a step, or nothing if they follow later.
    std::optional<std::vector<token>> computed(const task& t) {
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
            auto inner = nested_run_of(*s.runs, in);
            if (!inner) {
                std::optional<traced_context> traced;
                if (context_->trace) traced.emplace(*context_, scope_of(*t.in, t.at));
                auto given = run_plan(*s.runs, in, traced ? &*traced : context_);
                return tokens(given);
            }
            const auto number = ++last_;
            auto& waiting = waiting_.try_emplace(number, t, std::move(inner)).first->second;
            if (context_->trace) waiting.traced.emplace(*context_, scope_of(*t.in, t.at));
            auto given = waiting.run->begin(*this, number, *events_, waiting.traced ? *waiting.traced : *context_);
            if (!given) return {};
            waiting_.erase(number);
            return tokens(*given);
        }
        return out;
    }

    void enter(const task& t) {
        const auto& s = step_of(t.step);
        auto& f = entered(s.output_frame, *t.in, t.at);
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
            if (context_->trace) begin_trace(*f);
            ++parent.in(at).running;
        }
        return *f;
    }
    void leave(const task& t) {
        auto& f = *t.in;
        if (t.is_dead) return;
        if (detail::contains(f.left, t.step))
            throw invalid_argument("exit: '" + step_of(t.step).origin->name +
                                   "' gives a value in more than one iteration: what leaves a loop comes from a "
                                   "switch by its condition (" +
                                   place_of(*step_of(t.step).origin) + ")");
        f.left.push_back(t.step);
        send_all(t.step, {passed(t)}, true, *f.parent, f.at);
    }
    void pass_to_next_iteration(const task& t) {
        auto& f = *t.in;
        if (t.is_dead && t.at == f.last()) return f.dead_next.push_back(t.step); // if another iteration begins
        const auto v = passed(t);
        if (t.at == f.last()) {
            if (static_cast<int>(f.iterations.size()) >= plan_.loops()[f.of].parallel) {
                f.waiting.push_back({t.step, v});
                return;
            }
            begin_iteration(f);
        }
        send_all(t.step, {v}, v.is_live, f, t.at + 1);
    }
    void begin_iteration(frame& f) {
        f.iterations.emplace_back(plan_.loops()[f.of].steps);
        const auto k = f.last();
        for (const auto& [from, v] : f.constants) send_all(from, {v}, v.is_live, f, k);
        for (const int from : std::exchange(f.dead_next, {})) send_all(from, {}, false, f, k);
    }

    /// Removes completed iterations, begins waiting ones, and ends the loop after its last iteration.
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
        for (const int s : plan_.loops()[f.of].leaves)
            if (!detail::contains(f.left, s)) send_all(s, {}, false, parent, at);
        if (context_->trace) context_->trace->to.end(f.entry, {.iterations = std::max<std::int64_t>(f.first - 1, 0)});
        frames_.erase({f.of, &parent, at});
        --parent.in(at).running;
        tidy(parent);
    }

    struct waiting_node {
        waiting_node(const task& t, std::unique_ptr<nested_run> r) : of(t), run(std::move(r)) {}
        task of;
        std::unique_ptr<nested_run> run;
        std::optional<traced_context> traced = {}; // set for traced runs
    };

    const dataflow_plan& plan_;
    const std::vector<any_array> feeds_;
    parent_run* parent_ = nullptr;
    std::size_t parent_number_ = 0;
    completion_queue* events_ = nullptr;
    const step_context* context_ = nullptr;
    std::vector<any_array> results_;
    std::vector<state> result_states_;
    frame root_;
    std::deque<task> ready_;
    std::size_t last_ = 0;
    std::map<std::size_t, waiting_node> waiting_; // nodes whose nested run has not ended
    std::map<std::tuple<int, frame*, std::int64_t>, std::unique_ptr<frame>> frames_;
};

RILL_COLD std::unique_ptr<nested_run> make_dataflow_executor(const dataflow_plan& p, std::span<const any_array> feeds) {
    return std::make_unique<dataflow_executor>(p, feeds);
}

}}} // namespace rill::RILL_ABI::detail
