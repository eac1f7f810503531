// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/monitored_session.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>

#include <rill/core/log.hpp>
#include <rill/train/start_queue_runners.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the number of signals that this process has received.
inline volatile std::sig_atomic_t& signals_seen() {
    static volatile std::sig_atomic_t seen = 0;
    return seen;
}

/// A guard that counts SIGINT and SIGTERM, so that they do not end the program.
class signal_watch {
public:
    explicit signal_watch(bool on) : on_(on), before_(signals_seen()) {
        if (!on_) return;
        const auto count = [](int) { signals_seen() = signals_seen() + 1; };
        interrupt_ = std::signal(SIGINT, count);
        terminate_ = std::signal(SIGTERM, count);
    }
    signal_watch(const signal_watch&) = delete;
    ~signal_watch() {
        if (!on_) return;
        if (interrupt_ != SIG_ERR) std::signal(SIGINT, interrupt_);
        if (terminate_ != SIG_ERR) std::signal(SIGTERM, terminate_);
    }
    bool came() const { return on_ && signals_seen() != before_; }

private:
    bool on_;
    std::sig_atomic_t before_;
    void (*interrupt_)(int) = SIG_DFL;
    void (*terminate_)(int) = SIG_DFL;
};

} // namespace detail

struct monitored_session::state {
    static constexpr auto pause = std::chrono::milliseconds(50); // between attempts

    state(const monitored_session_options& o, const graph& of)
        : options(o), env(o.session.environment ? *o.session.environment : environment::real()), g(of),
          signals(o.stop_at_signals), all(env) {}

    void open() {
        stop_threads();
        try {
            options.scaffold.saver->wait(); // a checkpoint that is being written is the newest one
        } catch (const error& problem) {
            log_message(log_level::warning, "monitored_session: " + std::string(problem.what()));
        }
        current = std::make_unique<rill::session>(g, options.session);
        const auto& how = options.scaffold;
        if (options.is_chief) {
            std::string restored;
            const auto core = detail::core_of(*current);
            core->keep_others_out(detail::saved_variables(g)); // drops gradients of the old state
            if (!has_begun) run_all(collections::round_resets); // awaits replicas that ended an earlier training
            has_begun = true;
            run_all(collections::round_closes); // workers of surviving servers wait for the restore
            if (!options.checkpoint_dir.empty()) restored = how.saver->restore_latest(*current, options.checkpoint_dir);
            if (!restored.empty()) {
                log_message(log_level::info, "monitored_session: restored '" + restored + "'");
            } else {
                current->run(*how.init);
                if (how.init_fn) how.init_fn(*current);
            }
            if (log && (!restored.empty() || runs > 0)) log->start(step() + 1); // steps after a restore run again
            run_all(collections::round_resets);
            core->let_others_in();
        } else {
            wait_for_chief();
        }
        current->run(*how.local_init);
        if (const auto without = uninitialised(); !without.empty())
            throw failed_precondition("monitored_session: variables without a value after the initializers" + without);
        threads = start_queue_runners(*current, all);
        for (const auto& h : hooks) h->after_create_session(*current);
    }
    std::string uninitialised() const {
        std::string names;
        for (const auto* n : detail::saved_variables(g)) {
            if (detail::core_of(*current)->has_value(n)) continue;
            const auto& device = requested_device(*n);
            names += (names.empty() ? ": '" : ", '") + n->name + "'" + (device.empty() ? "" : " on '" + device + "'");
        }
        return names;
    }
    /// Opens the session, and retries while a task does not answer. Throws deadline_exceeded with the last problem after chief_timeout.
    void open_in_time() {
        const auto end = env.now_plus(options.chief_timeout);
        for (;;) try {
                return open();
            } catch (const error& problem) {
                if (options.session.target.empty() || !is_of_lost_task(problem)) throw;
                if (env.now() > end)
                    throw deadline_exceeded("monitored_session: the session can't be opened: " +
                                            std::string(problem.what()));
                log_message(log_level::warning, "monitored_session: tries again after: " + std::string(problem.what()));
                wait_for_pause();
            }
    }
    static bool is_of_lost_task(const error& problem) {
        return problem.code() == error_code::aborted || problem.code() == error_code::unavailable;
    }
    void wait_for_pause(std::chrono::nanoseconds length = pause) const {
        const auto until = env.now_plus(length);
        std::mutex alone;
        std::unique_lock lock(alone);
        for (const auto nobody = env.make_signal(); env.now() < until;) nobody->wait(lock, until);
    }
    void wait_for_chief() const {
        const auto end = env.now_plus(options.chief_timeout);
        for (auto names = uninitialised(); !names.empty(); names = uninitialised()) {
            if (env.now() > end)
                throw deadline_exceeded("monitored_session: the chief has not initialised the variables" + names);
            wait_for_pause();
        }
    }
    void run_all(const char* collection) const {
        for (const auto& e : g.collection(collection)) current->run(any_tensor(e));
    }
    /// Tells other replicas that this one has ended.
    void leave() const {
        for (const auto& e : g.collection(collections::replica_leaves)) try {
                current->run(any_tensor(e));
            } catch (const error& problem) {
                log_message(log_level::warning, "monitored_session: " + std::string(problem.what()));
            }
    }
    std::int64_t step() const { return detail::find_global_step(g) ? global_step_of(*current) : runs; }
    /// Opens a new session after the loss of a task. Returns false for problems that a new session does not solve. A problem that recurs
    /// for chief_timeout is one of these.
    bool recovers_from(const error& problem) {
        if (closed || !is_of_lost_task(problem) || (options.checkpoint_dir.empty() && options.is_chief)) return false;
        if (losses++ == 0) {
            first_loss = env.now();
        } else {
            if (env.now() - first_loss > options.chief_timeout) return false;
            wait_for_pause(pause * (1 << std::min(losses, 6)));
        }
        log_message(log_level::warning, "monitored_session: opens a new session after: " + std::string(problem.what()));
        open_in_time();
        return true;
    }
    /// Returns the global step. Opens a new session if a task was lost meanwhile.
    std::int64_t step_or_recover() {
        for (;;) try {
                return step();
            } catch (const error& problem) {
                if (!recovers_from(problem)) throw;
            }
    }
    void stop_threads() {
        if (threads.empty()) return;
        all.request_stop();
        all.join(std::exchange(threads, {}));
        all.clear_stop();
    }

    const monitored_session_options options;
    environment& env;
    const graph g;
    detail::signal_watch signals;
    std::vector<hook_ptr> hooks;
    std::shared_ptr<event_writer> log; // null without summary_dir, and for workers other than the chief
    std::unique_ptr<rill::session> current;
    coordinator all;
    std::vector<coordinated_thread> threads;
    std::int64_t runs = 0;
    int losses = 0; // since the last step that was complete
    environment::time_point first_loss{};
    bool stop = false, failed = false, closed = false;
    bool has_begun = false; // as the chief
    int unwinding = std::uncaught_exceptions();
};

RILL_COLD monitored_session::monitored_session(const monitored_session_options& given,
                                               const monitored_session_options& complete) {
    auto options = complete;
    if (!given.target.empty()) options.session.target = given.target;
    if (!options.scaffold.saver) options.scaffold.saver = std::make_shared<saver>();
    state_ = std::make_unique<state>(options, current_graph());
    auto& s = *state_;
    if (options.is_chief) {
        if (!options.summary_dir.empty()) {
            s.log = std::make_shared<event_writer>(options.summary_dir);
            s.log->add_graph(s.g);
        }
        if (options.log_steps > 0)
            s.hooks.push_back(
                step_counter_hook({.steps = options.log_steps, .environment = options.session.environment}, s.log));
        if (s.log && options.scaffold.summary && options.summary_steps > 0)
            s.hooks.push_back(summary_saver_hook(s.log, options.scaffold.summary, {.steps = options.summary_steps}));
        if (!options.checkpoint_dir.empty()) {
            detail::remove_unfinished(options.checkpoint_dir, detail::checkpoint_base,
                                      options.scaffold.saver->files());
            s.hooks.push_back(checkpoint_saver_hook(
                options.checkpoint_dir,
                {.steps = options.save_steps, .time = options.save_every, .environment = options.session.environment},
                options.scaffold.saver));
        }
    }
    if (options.stop_at_step > 0) s.hooks.push_back(rill::stop_at_step(options.stop_at_step));
    s.hooks.insert(s.hooks.end(), options.hooks.begin(), options.hooks.end());
    for (const auto& h : s.hooks) h->begin();
    s.open_in_time();
    if (options.stop_at_step > 0 && s.step_or_recover() >= options.stop_at_step)
        s.stop = true; // an earlier run had ended
}

RILL_COLD monitored_session::~monitored_session() {
    auto& s = *state_;
    if (std::uncaught_exceptions() > s.unwinding) s.failed = true;
    try {
        close();
    } catch (const std::exception& problem) {
        log_message(log_level::error, "monitored_session: " + std::string(problem.what()));
    }
}

RILL_COLD bool monitored_session::should_stop() const {
    const auto& s = *state_;
    return s.stop || s.closed || s.signals.came() || s.all.should_stop();
}

RILL_COLD void monitored_session::request_stop() { state_->stop = true; }

RILL_COLD std::int64_t monitored_session::global_step() const { return state_->step_or_recover(); }

RILL_COLD const rill::session& monitored_session::session() const { return *state_->current; }

RILL_COLD bool
monitored_session::run_with_hooks(const std::function<std::vector<any_array>(const std::vector<any_tensor>&)>& step,
                                  bool quiet) {
    auto& s = *state_;
    if (s.stop || s.closed) throw failed_precondition("monitored_session::run: the session was asked to stop");
    for (;;) try {
            std::vector<any_tensor> more;
            std::vector<std::size_t> counts;
            const auto before = s.step();
            if (quiet && s.losses > 0 && s.options.stop_at_step > 0 && before >= s.options.stop_at_step) {
                s.stop = true; // the step that failed was the last one, or another worker has made it
                return false;
            }
            for (const auto& h : s.hooks) {
                const auto asked = h->before_run(before);
                counts.push_back(asked.size());
                more.insert(more.end(), asked.begin(), asked.end());
            }
            const auto values = step(more);
            ++s.runs;
            s.losses = 0;
            const step_info info(*s.current, s.step(), s.stop);
            auto at = values.begin();
            for (std::size_t i = 0; i < s.hooks.size(); ++i) {
                const auto end = at + static_cast<std::ptrdiff_t>(counts[i]);
                s.hooks[i]->after_run(info, std::vector<any_array>(at, end));
                at = end;
            }
            return true;
        } catch (const out_of_range&) {
            s.stop = true;
            s.leave();
            if (quiet) return false;
            throw;
        } catch (const error& problem) {
            if (s.recovers_from(problem)) continue;
            s.stop = s.failed = true;
            throw;
        } catch (...) {
            s.stop = s.failed = true;
            throw;
        }
}

RILL_COLD void monitored_session::close() {
    auto& s = *state_;
    if (std::exchange(s.closed, true)) return;
    std::exception_ptr problem;
    const auto attempt = [&](const auto& f) {
        try {
            f();
        } catch (...) {
            if (!problem) problem = std::current_exception();
        }
    };
    if (!s.failed)
        for (const auto& h : s.hooks) attempt([&] { h->end(*s.current); });
    if (!s.failed) s.leave();
    attempt([&] { s.stop_threads(); });
    if (s.current) s.current->close();
    if (problem) std::rethrow_exception(problem);
}

}} // namespace rill::RILL_ABI
