// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/remote_session_core.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <rill/distributed/run_by_names.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A prepared run of a cluster.
class remote_run final : public prepared_run, public std::enable_shared_from_this<remote_run> {
public:
    remote_run(std::shared_ptr<client_session> session, client_session::prepared run, const rill::graph& of)
        : session_(std::move(session)), run_(std::move(run)), of_(of) {}

    ~remote_run() override { session_->release(run_); }

    RILL_INLINE step_result run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                const run_options* how) override;
    void start(std::vector<any_array> feeds, const run_options& how, completion done) override {
        // the tasks keep their parts until the step has ended
        session_->start(run_, feeds, how,
                        [self = shared_from_this(), done = std::move(done)](const std::exception_ptr& problem,
                                                                            std::vector<any_array> values) {
                            self->tell(done, problem, std::move(values));
                        });
    }
    RILL_INLINE std::string memory_report() override;

private:
    /// Posts the end of a step: `done` may compute and block, and the thread that brings messages or runs timers must not.
    void tell(const completion& done, const std::exception_ptr& problem, std::vector<any_array> values) const {
        std::shared_ptr<std::vector<any_array>> kept;
        try {
            kept = std::make_shared<std::vector<any_array>>(std::move(values));
            session_->runs_in().post([self = shared_from_this(), done, problem, kept] {
                done(with_places(problem, self->of_), std::move(*kept));
            });
        } catch (...) { // out of memory: here, then
            done(with_places(problem, of_), kept ? std::move(*kept) : std::move(values));
        }
    }

    const std::shared_ptr<client_session> session_;
    const client_session::prepared run_;
    const rill::graph of_;
};

RILL_COLD step_result remote_run::run(std::span<const any_array> feeds, std::span<const fetch_place>,
                                      const run_options* how) {
    struct ending {
        std::mutex mutex;
        std::unique_ptr<environment::signal> changed;
        bool is_over = false;
        std::exception_ptr problem;
        std::vector<any_array> values;
    };
    const auto end = std::make_shared<ending>();
    end->changed = session_->runs_in().make_signal();
    session_->start(run_, feeds, how ? *how : run_options{}, // copies borrowed feeds
                    [end](std::exception_ptr problem, std::vector<any_array> values) {
                        const std::lock_guard lock(end->mutex);
                        end->is_over = true;
                        end->problem = std::move(problem);
                        end->values = std::move(values);
                        end->changed->notify();
                    });
    std::unique_lock lock(end->mutex);
    while (!end->is_over) end->changed->wait(lock, environment::time_point::max());
    if (end->problem) std::rethrow_exception(with_places(end->problem, of_));
    return step_result(std::move(end->values));
}

RILL_COLD std::string remote_run::memory_report() {
    std::string text = "run " + std::to_string(run_.run) + ":";
    for (const auto& task : run_.tasks) text += " " + task;
    return text + "\n";
}

RILL_COLD remote_session_core::remote_session_core(const rill::graph& g, std::shared_ptr<client_session> session)
    : session_core(g), session_(std::move(session)) {}

RILL_COLD remote_session_core::~remote_session_core() { session_->close("the session is closed"); }

RILL_COLD std::shared_ptr<prepared_run> remote_session_core::find_run(const plan_key& key, run_options* how) {
    return run_of(key, how);
}

RILL_COLD std::shared_ptr<prepared_run> remote_session_core::run_of(const plan_key& key, run_options* how) const {
    session_->check_open();
    {
        const std::lock_guard lock(mutex_);
        if (auto known = runs_.find(key)) return known;
    }
    check_key(key);
    auto& env = session_->runs_in();
    const auto began = env.now();
    std::shared_ptr<prepared_run> made =
        detail::make_shared<remote_run>(session_, session_->prepare(graph(), key, how), graph());
    if (how && how->timeout != forever)
        how->timeout =
            std::max<std::chrono::nanoseconds>(how->timeout - (env.now() - began), std::chrono::nanoseconds(0));
    std::shared_ptr<prepared_run> gone; // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    return runs_.add(key, std::move(made), gone);
}

RILL_COLD void remote_session_core::close(const std::source_location& where) noexcept {
    session_->close(text_made_by([&] { return "the session is closed" + at_place(where); }, "closed"));
    const std::lock_guard lock(mutex_);
    runs_.clear();
}

RILL_COLD std::string remote_session_core::memory_report() {
    std::string text;
    const std::lock_guard lock(mutex_);
    runs_.each([&](const auto& r) { text += r->memory_report(); });
    return text;
}

RILL_COLD bool remote_session_core::first_time(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return done_once_.insert(what);
}

RILL_COLD std::vector<session_device> remote_session_core::devices() const { return session_->devices(); }

RILL_COLD std::vector<run_part> remote_session_core::partition(const plan_key& key) {
    check_key(key);
    return session_->parts(graph(), key);
}

RILL_COLD bool remote_session_core::has_value(const node* variable) const { return !variable_value(variable).empty(); }

RILL_COLD any_array remote_session_core::variable_value(const node* variable) const {
    plan_key key;
    key.fetches = {{variable, 0}};
    try {
        const auto read = run_of(key)->run({});
        const auto& type = read.type(0);
        return owned_copy(type.type, type.shape, read.data(0));
    } catch (const failed_precondition&) { // uninitialized
        return {};
    }
}

RILL_COLD std::vector<saved_resource> remote_session_core::saved_resources() const {
    return session_->saved_resources();
}

RILL_COLD void remote_session_core::restore_resource(const saved_resource& saved) { session_->restore_resource(saved); }

RILL_COLD void remote_session_core::keep_others_out(std::span<const node* const> variables) {
    plan_key key; // never run: it determines the tasks of the variables
    for (const auto* v : variables)
        if (const node* assign = v->owner->initializer(v)) key.targets.push_back(assign);
    fenced_ = session_->prepare(graph(), key);
    session_->fence(fenced_, true);
}

RILL_COLD void remote_session_core::let_others_in() {
    session_->fence(fenced_, false);
    session_->release(std::exchange(fenced_, {}));
}

RILL_COLD void remote_session_core::check_variable(const node* variable, const any_array& value) const {
    if (!variable->owner->initializer(variable))
        throw failed_precondition(
            error_at(*variable, variable->op->label(), "it has no initializer to restore it with"));
    if (value.type() != variable->outputs[0])
        throw invalid_argument(
            error_at(*variable, variable->op->label(),
                     "it is " + to_string(variable->outputs[0]) + ", the saved value is " + to_string(value.type())));
}

RILL_COLD void remote_session_core::restore_variable(const node* variable, const any_array& value) {
    check_variable(variable, value);
    const node* assign = variable->owner->initializer(variable);
    plan_key key;
    key.targets = {assign};
    key.feeds = {assign->inputs[1]};
    run_of(key)->run({&value, 1});
}

}}} // namespace rill::RILL_ABI::detail
