// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/session_hooks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <rill/core/algorithm.hpp>
#include <rill/core/log.hpp>
#include <rill/core/number_text.hpp>
#include <rill/core/real_number.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A timer that tells when an action is due.
class due_timer {
public:
    explicit due_timer(const every& when)
        : when_(when), env_(when.environment ? *when.environment : environment::real()), time_(env_.now()) {}

    void start(std::int64_t step) {
        step_ = step;
        time_ = env_.now();
    }
    bool is_due(std::int64_t step) const {
        return (when_.steps > 0 && step - step_ >= when_.steps) ||
               (when_.time.count() > 0 && env_.now() - time_ >= when_.time);
    }
    std::int64_t steps_since(std::int64_t step) const { return step - step_; }
    double seconds_since() const { return std::chrono::duration<double>(env_.now() - time_).count(); }

private:
    every when_;
    environment& env_;
    std::int64_t step_ = 0;
    environment::time_point time_;
};

class stop_hook final : public session_hook {
public:
    explicit stop_hook(std::int64_t last) : last_(last) {}
    void after_run(const step_info& info, const std::vector<any_array>&) override {
        if (info.step() >= last_) info.request_stop();
    }

private:
    std::int64_t last_;
};

class checkpoint_hook final : public session_hook {
public:
    checkpoint_hook(const std::string& directory, const every& when, std::shared_ptr<saver> with)
        : prefix_(joined_path(directory, checkpoint_base)), timer_(when),
          saver_(with ? std::move(with) : std::make_shared<saver>()) {}
    void after_create_session(const session&) override { started_ = false; }
    void after_run(const step_info& info, const std::vector<any_array>&) override {
        saver_->check();
        step_ = info.step();
        if (!std::exchange(started_, true)) timer_.start(step_);
        if (!timer_.is_due(step_)) return;
        saver_->save_later(info.session(), prefix_, step_);
        saved_ = step_;
        timer_.start(step_);
    }
    void end(const session& s) override {
        saver_->wait();
        if (step_ != saved_) saver_->save(s, prefix_, step_);
    }

private:
    std::string prefix_;
    due_timer timer_;
    std::shared_ptr<saver> saver_;
    bool started_ = false;
    std::int64_t step_ = -1, saved_ = -1;
};

class summary_hook final : public session_hook {
public:
    summary_hook(std::shared_ptr<event_writer> log, const any_tensor& summary, const every& when)
        : log_(std::move(log)), summary_(summary), timer_(when) {}
    std::vector<any_tensor> before_run(std::int64_t step) override {
        asked_ = first_ || timer_.is_due(step + 1);
        return asked_ ? std::vector<any_tensor>{summary_} : std::vector<any_tensor>();
    }
    void after_run(const step_info& info, const std::vector<any_array>& values) override {
        if (!asked_) return;
        first_ = false;
        timer_.start(info.step());
        log_->add(values[0].value<std::string>(), info.step());
    }
    void end(const session&) override { log_->flush(); }

private:
    std::shared_ptr<event_writer> log_;
    any_tensor summary_;
    due_timer timer_;
    bool asked_ = false, first_ = true;
};

class nan_hook final : public session_hook {
public:
    nan_hook(const any_tensor& loss, bool fail) : loss_(loss), fail_(fail) {}
    std::vector<any_tensor> before_run(std::int64_t) override { return {loss_}; }
    void after_run(const step_info& info, const std::vector<any_array>& values) override {
        if (!std::isnan(real_number(values[0], "nan_guard: the loss"))) return;
        const std::string text = "the loss '" + loss_.name() + "' is NaN after step " + std::to_string(info.step());
        if (fail_) throw failed_precondition(text);
        log_message(log_level::warning, text);
        info.request_stop();
    }

private:
    any_tensor loss_;
    bool fail_;
};

class counter_hook final : public session_hook {
public:
    counter_hook(const every& when, std::shared_ptr<event_writer> log) : timer_(when), log_(std::move(log)) {}
    void after_create_session(const session&) override { started_ = false; }
    void after_run(const step_info& info, const std::vector<any_array>&) override {
        if (!std::exchange(started_, true)) return timer_.start(info.step());
        if (!timer_.is_due(info.step())) return;
        const double rate =
            static_cast<double>(timer_.steps_since(info.step())) / std::max(timer_.seconds_since(), 1e-9);
        timer_.start(info.step());
        log_message(log_level::info, "global_step/sec: " + number_text(rate, number_form::general, 6));
        if (log_) log_->scalar("global_step/sec", rate, info.step());
    }

private:
    due_timer timer_;
    std::shared_ptr<event_writer> log_;
    bool started_ = false;
};

class number_hook final : public session_hook {
public:
    number_hook(std::vector<std::pair<std::string, any_tensor>> shown, const every& when, std::int64_t of_steps)
        : shown_(std::move(shown)), timer_(when), of_steps_(of_steps) {}
    std::vector<any_tensor> before_run(std::int64_t step) override {
        asked_ = first_ || timer_.is_due(step + 1);
        std::vector<any_tensor> all;
        if (asked_)
            for (const auto& [name, tensor] : shown_) all.push_back(tensor);
        return all;
    }
    void after_run(const step_info& info, const std::vector<any_array>& values) override {
        if (!asked_) return;
        first_ = false;
        timer_.start(info.step());
        std::string text = "step " + std::to_string(info.step());
        for (std::size_t i = 0; i < shown_.size(); ++i)
            text += ", " + shown_[i].first + " = " +
                    number_text(real_number(values[i], "logging_hook: the value"), number_form::general, 6);
        log_message(log_level::info, text);
        if (of_steps_ <= 0) return;
        constexpr std::int64_t width = 30;
        const auto done = std::clamp<std::int64_t>(info.step() * width / of_steps_, 0, width);
        const std::string bar(static_cast<std::size_t>(done), '#'), rest(static_cast<std::size_t>(width - done), '.');
        std::fprintf(stderr, "\r[%s%s] %s%s", bar.c_str(), rest.c_str(), text.c_str(), done == width ? "\n" : "");
    }

private:
    std::vector<std::pair<std::string, any_tensor>> shown_;
    due_timer timer_;
    std::int64_t of_steps_;
    bool asked_ = false, first_ = true;
};

} // namespace detail

RILL_COLD hook_ptr stop_at_step(std::int64_t last) { return std::make_shared<detail::stop_hook>(last); }
RILL_COLD hook_ptr checkpoint_saver_hook(const std::string& directory, const every& when, std::shared_ptr<saver> with) {
    return std::make_shared<detail::checkpoint_hook>(directory, when, std::move(with));
}
RILL_COLD hook_ptr summary_saver_hook(std::shared_ptr<event_writer> log, const any_tensor& summary, const every& when) {
    if (!log || !summary) throw invalid_argument("summary_saver_hook: a writer and a summary are expected");
    return std::make_shared<detail::summary_hook>(std::move(log), summary, when);
}
RILL_COLD hook_ptr nan_guard(const any_tensor& loss, bool fail) {
    if (!loss) throw invalid_argument("nan_guard: a loss is expected");
    return std::make_shared<detail::nan_hook>(loss, fail);
}
RILL_COLD hook_ptr step_counter_hook(const every& when, std::shared_ptr<event_writer> log) {
    return std::make_shared<detail::counter_hook>(when, std::move(log));
}
RILL_COLD hook_ptr logging_hook(std::vector<std::pair<std::string, any_tensor>> shown, const every& when,
                                std::int64_t of_steps) {
    return std::make_shared<detail::number_hook>(std::move(shown), when, of_steps);
}

}} // namespace rill::RILL_ABI
