// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rill/resources/element_slots.hpp>
#include <rill/resources/element_source.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An iterator of a graph. A step pulls its element itself where that takes no waiting. Otherwise a task pulls, and the step waits in a line.
/// An element that a step has stopped waiting for goes to the next one.
class RILL_EXPORT iterator_state final : public resource {
public:
    static constexpr auto kind = "iterator";

    iterator_state(std::string name, std::vector<tensor_type> components)
        : name_(std::move(name)), components_(std::move(components)) {}

    static std::string described_as(const std::vector<tensor_type>& components) {
        return "Iterator of " + tuple_text(components);
    }
    std::string described() const override { return described_as(components_); }
    const std::vector<tensor_type>& components() const noexcept { return components_; }
    std::string named() const { return "iterator '" + name_ + "'"; }

    /// Begins an iteration. The first one goes on from a restored state if there is one. Throws invalid_argument if the components or the
    /// restored state do not fit, and changes nothing then.
    void initialize(element_source_ptr source, std::vector<any_array> inputs);
    /// Gives the next element: in `out` at once, or completes `wait` later. Throws out_of_range at the end, failed_precondition before
    /// `initialize`.
    void get_next(async_context& wait, const step_context* step, any_array* out);
    /// Returns the pipeline's text and the state of its iterators. Waits for the element that is being pulled.
    RILL_INLINE std::vector<named_array> saved_parts() const override;
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;
    RILL_INLINE void check_parts(std::span<const named_array> parts) const override;
    RILL_INLINE void abandon() noexcept override;

private:
    struct waiter {
        completion tell;
    };
    using waiter_ptr = std::shared_ptr<waiter>;
    /// An iteration; a new one replaces it as a whole.
    struct iteration {
        element_source_ptr source;
        std::vector<any_array> inputs;
        std::unique_ptr<element_iterator> iterator;
    };

    std::shared_ptr<iteration> begin(element_source_ptr source, std::vector<any_array> inputs) const;
    /// Restores an iterator, and returns the elements that were pulled for steps which gave up.
    std::deque<pulled_element> restore_into(iteration& to, std::span<const named_array> parts) const;
    element_arrays checked(element_arrays element) const;
    std::exception_ptr end_of_input() const;
    bool give_up(const waiter_ptr& w);
    void start_task(environment& env);
    void serve_waiters(environment& env);
    void finish_pull();

    const std::string name_;
    const std::vector<tensor_type> components_;
    mutable std::mutex mutex_;
    std::shared_ptr<iteration> iteration_;
    std::deque<waiter_ptr> waiting_;
    std::deque<pulled_element> kept_;   // pulled for steps that gave up
    std::vector<named_array> restored_; // waits for `initialize`
    bool is_pulling_ = false, has_task_ = false;
    std::atomic<bool> abandoned_{false};                  // the task's element is not wanted any more
    mutable std::unique_ptr<environment::signal> pulled_; // made by those who wait for the end of a pull
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <rill/core/algorithm.hpp>
#include <rill/core/executor.hpp>
#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::shared_ptr<iterator_state::iteration> iterator_state::begin(element_source_ptr source,
                                                                           std::vector<any_array> inputs) const {
    require_components(named(), source->components(), components_);
    auto made = std::make_shared<iteration>(iteration{std::move(source), std::move(inputs), nullptr});
    made->iterator = made->source->iterate({0, made->inputs});
    return made;
}

RILL_COLD std::deque<pulled_element> iterator_state::restore_into(iteration& to,
                                                                  std::span<const named_array> parts) const {
    iterator_archive from(parts);
    if (const auto was = from.text(); was != to.source->described())
        throw invalid_argument(named() + ": the saved state is of the pipeline " + was + ", this one is " +
                               to.source->described());
    std::deque<pulled_element> kept;
    for (auto n = from.count(); n > 0; --n) kept.push_back(restore_pulled(from));
    to.iterator->restore(from, {environment::real()});
    return kept;
}

RILL_COLD void iterator_state::initialize(element_source_ptr source, std::vector<any_array> inputs) {
    auto fresh = begin(std::move(source), std::move(inputs));
    std::deque<pulled_element> kept; // the old ones are destroyed without the lock, as is the old iteration
    const std::lock_guard lock(mutex_);
    if (!restored_.empty()) {
        kept = restore_into(*fresh, restored_); // if it fails, the state waits for the next attempt
        restored_.clear();
    }
    kept_.swap(kept);
    iteration_.swap(fresh);
}

RILL_INLINE element_arrays iterator_state::checked(element_arrays element) const {
    require_component_count(element, components_.size());
    for (std::size_t i = 0; i < element.size(); ++i)
        if (element[i].dtype() != components_[i].type || !rules::compatible(element[i].shape(), components_[i].shape))
            throw invalid_argument(named() + ": component " + std::to_string(i) + " is " + to_string(components_[i]) +
                                   ", the dataset gave " + to_string(element[i].type()));
    return element;
}

RILL_COLD std::exception_ptr iterator_state::end_of_input() const {
    return std::make_exception_ptr(out_of_range(named() + ": end of the input"));
}

RILL_INLINE void iterator_state::get_next(async_context& wait, const step_context* step, any_array* out) {
    environment& env = step ? step->env() : environment::real();
    std::unique_lock lock(mutex_);
    if (!iteration_) throw failed_precondition(named() + " has not been initialized: run its initializer first");
    pulled_element got;
    if (waiting_.empty() && !is_pulling_ && !kept_.empty()) {
        got = std::move(kept_.front());
        kept_.pop_front();
    } else if (waiting_.empty() && !is_pulling_ &&
               (!iteration_->source->may_wait() || iteration_->iterator->is_ready())) {
        is_pulling_ = true;
        const auto of = iteration_;
        lock.unlock();
        try {
            got = pull(*of->iterator, {env, step});
        } catch (...) {
            lock.lock();
            finish_pull();
            if (!waiting_.empty()) start_task(env);
            throw;
        }
        lock.lock();
        finish_pull();
        if (!waiting_.empty()) start_task(env);
    } else {
        const auto mine = std::make_shared<waiter>();
        mine->tell =
            wait.defer([self = std::weak_ptr(std::static_pointer_cast<iterator_state>(shared_from_this())), mine] {
                const auto of = self.lock();
                return of && of->give_up(mine);
            });
        waiting_.push_back(mine);
        abandoned_ = false;
        if (!is_pulling_) start_task(env);
        return;
    }
    lock.unlock();
    element_arrays element;
    if (!got.give(element)) std::rethrow_exception(end_of_input());
    element = checked(std::move(element));
    std::move(element.begin(), element.end(), out);
}

RILL_INLINE bool iterator_state::give_up(const waiter_ptr& w) {
    const std::lock_guard lock(mutex_);
    const bool waited = std::erase(waiting_, w) > 0;
    if (waiting_.empty()) abandoned_ = true;
    return waited;
}

RILL_INLINE void iterator_state::finish_pull() {
    is_pulling_ = false;
    if (pulled_) pulled_->notify();
}

/// Posts the task that pulls for the line, unless there is one.
RILL_INLINE void iterator_state::start_task(environment& env) {
    if (std::exchange(has_task_, true)) return;
    env.post([self = std::static_pointer_cast<iterator_state>(shared_from_this()), &env] { self->serve_waiters(env); });
}

RILL_INLINE void iterator_state::serve_waiters(environment& env) {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty() && !is_pulling_) {
        is_pulling_ = true;
        abandoned_ = false;
        const auto of = iteration_;
        pulled_element got;
        bool has_element = true;
        if (!kept_.empty()) {
            got = std::move(kept_.front());
            kept_.pop_front();
        } else {
            lock.unlock();
            try {
                const executor::blocked_thread here; // the pipeline may wait
                got = pull(*of->iterator, {env, nullptr, &abandoned_});
                if (!got.problem && !got.is_end) got.arrays = checked(std::move(got.arrays));
            } catch (const cancelled&) {
                has_element = false; // nobody wanted it
            } catch (...) {
                got.problem = std::current_exception();
            }
            lock.lock();
        }
        finish_pull();
        if (!has_element || of != iteration_) continue; // of an iteration that was replaced
        if (waiting_.empty()) {
            if (!got.is_end) kept_.push_back(std::move(got));
            continue;
        }
        const auto w = waiting_.front();
        waiting_.pop_front();
        lock.unlock();
        w->tell(got.is_end ? end_of_input() : got.problem, std::move(got.arrays));
        lock.lock();
    }
    has_task_ = false;
}

RILL_COLD std::vector<named_array> iterator_state::saved_parts() const {
    std::unique_lock lock(mutex_);
    if (!pulled_) pulled_ = environment::real().make_signal();
    while (is_pulling_) pulled_->wait(lock, environment::time_point::max());
    if (!iteration_) return restored_;
    iterator_archive to;
    to.put(iteration_->source->described());
    to.put(static_cast<std::int64_t>(kept_.size()));
    for (const auto& k : kept_) save_pulled(to, k);
    iteration_->iterator->save(to);
    return to.parts();
}

RILL_COLD void iterator_state::check_parts(std::span<const named_array> parts) const {
    std::shared_ptr<iteration> fresh; // destroyed without the lock
    const std::lock_guard lock(mutex_);
    if (!iteration_) return; // `initialize` compares them with its dataset
    fresh = begin(iteration_->source, iteration_->inputs);
    restore_into(*fresh, parts);
}

RILL_COLD void iterator_state::restore_parts(std::span<const named_array> parts) {
    std::shared_ptr<iteration> fresh;
    std::deque<pulled_element> kept;
    const std::lock_guard lock(mutex_);
    if (!iteration_) {
        restored_.assign(parts.begin(), parts.end());
        return;
    }
    fresh = begin(iteration_->source, iteration_->inputs);
    kept = restore_into(*fresh, parts);
    kept_.swap(kept);
    iteration_.swap(fresh);
}

RILL_COLD void iterator_state::abandon() noexcept {
    std::deque<waiter_ptr> told;
    {
        const std::lock_guard lock(mutex_);
        told.swap(waiting_);
        abandoned_ = true;
    }
    for (const auto& w : told)
        w->tell(std::make_exception_ptr(cancelled(named() + " is gone: its container was reset")), {});
}

}}} // namespace rill::RILL_ABI::detail
#endif
