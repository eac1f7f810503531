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

/// An iterator of a graph. A step pulls its element itself if it need not wait. Otherwise a task pulls, and the step waits in a line. An
/// element whose step has stopped waiting goes to the next step.
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

    /// Begins an iteration. The first one continues from a restored state if there is one. Throws invalid_argument if the components or the
    /// restored state do not fit, and then changes nothing.
    void initialize(element_source_ptr source, std::vector<any_array> inputs);
    /// Returns the next element in `out`, in a memory (null: the host's), or completes `wait` later. Throws out_of_range at the end,
    /// failed_precondition before `initialize`.
    void get_next(async_context& wait, const step_context* step, any_array* out, const memory_space* space = nullptr);
    /// Returns the pipeline's text and the state of its iterators. An element that is being pulled counts as not delivered yet. Throws
    /// deadline_exceeded if the pipeline stays in one call for 30 s, such as a file read.
    RILL_INLINE std::vector<named_array> saved_parts() const override;
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;
    RILL_INLINE void check_parts(std::span<const named_array> parts) const override;
    RILL_INLINE void abandon() noexcept override;

private:
    struct waiter {
        completion tell;
        const memory_space* space; // where it wants the element
    };
    using waiter_ptr = std::shared_ptr<waiter>;
    /// An iteration; a new one replaces it as a whole.
    struct iteration {
        const element_source_ptr source;
        const std::vector<any_array> inputs;
        std::uint64_t number = 0; // number of earlier iterations
        std::shared_ptr<const seed_table> seeds;
        std::unique_ptr<element_iterator> iterator;
        std::atomic<bool> abandoned{false}; // the element that is being pulled is no longer wanted
        pull_lock lock; // held by the thread that pulls, and by the one that saves; taken before mutex_
        const held_locks locks{lock};

        iteration(element_source_ptr from, std::vector<any_array> values)
            : source(std::move(from)), inputs(std::move(values)) {}
        void begin() { iterator = source->iterate({.inputs = inputs, .iteration = number, .seeds = seeds}); }
    };

    std::shared_ptr<iteration> make_iteration(element_source_ptr source, std::vector<any_array> inputs) const;
    void replace_iteration(std::shared_ptr<iteration>& by);
    /// Begins an iteration at a saved position. Returns the elements that were pulled for steps that gave up.
    std::deque<pulled_element> restore_into(iteration& to, std::span<const named_array> parts) const;
    element_arrays checked(element_arrays element) const;
    std::exception_ptr end_of_input() const;
    bool give_up(const waiter_ptr& w);
    void start_task(environment& env);
    void serve_waiters(environment& env);

    const std::string name_;
    const std::vector<tensor_type> components_;
    mutable std::mutex mutex_;
    std::shared_ptr<iteration> iteration_;
    std::deque<waiter_ptr> waiting_;
    std::deque<pulled_element> kept_;   // pulled for steps that gave up
    std::vector<named_array> restored_; // waits for `initialize`
    std::uint64_t begun_ = 0;           // iterations
    bool is_pulling_ = false, has_task_ = false;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <rill/core/algorithm.hpp>
#include <rill/core/executor.hpp>
#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::shared_ptr<iterator_state::iteration>
iterator_state::make_iteration(element_source_ptr source, std::vector<any_array> inputs) const {
    require_components(named(), source->components(), components_);
    return std::make_shared<iteration>(std::move(source), std::move(inputs));
}

RILL_COLD std::deque<pulled_element> iterator_state::restore_into(iteration& to,
                                                                  std::span<const named_array> parts) const {
    iterator_archive from(parts);
    if (const auto was = from.text(); was != to.source->described())
        throw invalid_argument(named() + ": the saved state is of the pipeline " + was + ", this one is " +
                               to.source->described());
    to.number = static_cast<std::uint64_t>(from.number());
    auto table = std::make_shared<seed_table>();
    table->drawn = to.source->seeds();
    if (from.count() != table->drawn.size())
        throw invalid_argument(named() + ": the saved state has another number of seeds than the pipeline " +
                               to.source->described());
    for (std::size_t i = 0; i < table->drawn.size(); ++i)
        table->saved.push_back(static_cast<std::uint64_t>(from.number()));
    if (!table->drawn.empty()) to.seeds = std::move(table);
    std::deque<pulled_element> kept;
    for (auto n = from.count(); n > 0; --n) {
        auto element = restore_pulled(from);
        if (!element.problem && !element.is_end) element.arrays = checked(std::move(element.arrays));
        kept.push_back(std::move(element));
    }
    to.begin();
    to.iterator->restore(from, {environment::real()});
    return kept;
}

RILL_COLD void iterator_state::initialize(element_source_ptr source, std::vector<any_array> inputs) {
    auto fresh = make_iteration(std::move(source), std::move(inputs));
    std::deque<pulled_element> kept; // the old elements and the old iteration are destroyed without the lock
    std::unique_lock lock(mutex_);
    if (restored_.empty()) { // a function of the program may make the first elements: it is called without the lock
        fresh->number = begun_++;
        lock.unlock();
        fresh->begin();
        lock.lock();
    }
    if (!restored_.empty()) {
        kept = restore_into(*fresh, restored_); // if it fails, the state waits for the next attempt
        restored_.clear();
        begun_ = fresh->number + 1;
    }
    kept_.swap(kept);
    replace_iteration(fresh);
}

/// Replaces the iteration. A pull of the old one ends at its next check.
RILL_COLD void iterator_state::replace_iteration(std::shared_ptr<iteration>& by) {
    if (iteration_) iteration_->abandoned = true;
    iteration_.swap(by);
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

RILL_INLINE void iterator_state::get_next(async_context& wait, const step_context* step, any_array* out,
                                          const memory_space* space) {
    environment& env = step ? step->env() : environment::real();
    std::shared_ptr<iteration> of; // destroyed after the lock is released
    std::unique_lock lock(mutex_);
    if (!iteration_) throw failed_precondition(named() + " has not been initialized: run its initializer first");
    pulled_element got;
    if (waiting_.empty() && !is_pulling_ && !kept_.empty()) {
        got = std::move(kept_.front());
        kept_.pop_front();
    } else if (waiting_.empty() && !is_pulling_ &&
               (!iteration_->source->may_wait() || iteration_->iterator->is_ready())) {
        is_pulling_ = true;
        of = iteration_;
        lock.unlock();
        std::unique_lock pulling(of->lock);
        try {
            got = pull(*of->iterator, {env, step, nullptr, &of->locks, space});
        } catch (...) {
            lock.lock();
            is_pulling_ = false;
            if (!waiting_.empty()) start_task(env);
            throw;
        }
        lock.lock();
        is_pulling_ = false;
        if (!waiting_.empty()) start_task(env);
    } else {
        const auto mine = std::make_shared<waiter>();
        mine->space = space;
        mine->tell =
            wait.defer([self = std::weak_ptr(std::static_pointer_cast<iterator_state>(shared_from_this())), mine] {
                const auto state = self.lock();
                return state && state->give_up(mine);
            });
        waiting_.push_back(mine);
        iteration_->abandoned = false;
        if (!is_pulling_) start_task(env);
        return;
    }
    lock.unlock();
    element_arrays element;
    if (!got.give(element)) std::rethrow_exception(end_of_input());
    element = checked(std::move(element));
    bring_to(space, element);
    std::move(element.begin(), element.end(), out);
}

RILL_INLINE bool iterator_state::give_up(const waiter_ptr& w) {
    const std::lock_guard lock(mutex_);
    const bool waited = std::erase(waiting_, w) > 0;
    if (waiting_.empty() && iteration_) iteration_->abandoned = true;
    return waited;
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
        auto of = iteration_;
        of->abandoned = false;
        pulled_element got;
        bool has_element = true;
        std::unique_lock pulling(of->lock, std::defer_lock);
        if (!kept_.empty()) {
            got = std::move(kept_.front());
            kept_.pop_front();
        } else {
            const auto* const space = waiting_.front()->space;
            lock.unlock();
            pulling.lock();
            try {
                const executor::blocked_thread here; // the pipeline may wait
                got = pull(*of->iterator, {env, nullptr, &of->abandoned, &of->locks, space});
                if (!got.problem && !got.is_end) got.arrays = checked(std::move(got.arrays));
            } catch (const cancelled&) {
                has_element = false; // no step wanted it
            } catch (...) {
                got.problem = std::current_exception();
            }
            lock.lock();
        }
        is_pulling_ = false;
        if (!has_element || of != iteration_) { // its iteration was replaced: destroy the element without the lock
            lock.unlock();
            if (pulling) pulling.unlock();
            of = nullptr;
            lock.lock();
            continue;
        }
        if (waiting_.empty()) {
            if (!got.is_end) kept_.push_back(std::move(got));
            continue;
        }
        const auto w = waiting_.front();
        waiting_.pop_front();
        lock.unlock();
        if (pulling) pulling.unlock();
        of = nullptr;
        try {
            bring_to(w->space, got.arrays);
        } catch (...) {
            got = {.problem = std::current_exception()};
        }
        w->tell(got.is_end ? end_of_input() : got.problem, std::move(got.arrays));
        lock.lock();
    }
    has_task_ = false;
}

RILL_COLD std::vector<named_array> iterator_state::saved_parts() const {
    for (;;) {
        std::shared_ptr<iteration> of;
        {
            const std::lock_guard lock(mutex_);
            of = iteration_;
            if (!of) return restored_;
        }
        if (!of->lock.lock_to_save())
            throw deadline_exceeded(
                named() + " can't be saved: its pipeline has been in one call for 30 s: " + of->source->described());
        const std::unique_lock saving(of->lock, std::adopt_lock);
        iterator_archive to;
        to.put(of->source->described());
        to.put(static_cast<std::int64_t>(of->number));
        const auto drawn = of->source->seeds();
        to.put(static_cast<std::int64_t>(drawn.size()));
        for (const auto seed : drawn)
            to.put(static_cast<std::int64_t>(iterate_request{.seeds = of->seeds}.seed_of(seed)));
        {
            const std::lock_guard lock(mutex_);
            if (of != iteration_) continue; // the iteration was replaced meanwhile
            to.put(static_cast<std::int64_t>(kept_.size()));
            for (const auto& k : kept_) save_pulled(to, k);
        }
        try { // no mutex here: a stage may wait for its input, and steps that give up need the mutex
            of->iterator->save(to);
        } catch (const deadline_exceeded& late) {
            throw deadline_exceeded(named() + " can't be saved: " + late.what());
        }
        return to.parts();
    }
}

RILL_COLD void iterator_state::check_parts(std::span<const named_array> parts) const {
    std::shared_ptr<const iteration> of;
    {
        const std::lock_guard lock(mutex_);
        of = iteration_;
    }
    if (of)
        restore_into(*make_iteration(of->source, of->inputs),
                     parts); // else `initialize` compares them with its dataset
}

RILL_COLD void iterator_state::restore_parts(std::span<const named_array> parts) {
    std::shared_ptr<iteration> fresh;
    std::deque<pulled_element> kept;
    const std::lock_guard lock(mutex_);
    if (!iteration_) {
        restored_.assign(parts.begin(), parts.end());
        return;
    }
    fresh = make_iteration(iteration_->source, iteration_->inputs);
    kept = restore_into(*fresh, parts);
    begun_ = fresh->number + 1;
    kept_.swap(kept);
    replace_iteration(fresh);
}

RILL_COLD void iterator_state::abandon() noexcept {
    std::deque<waiter_ptr> told;
    {
        const std::lock_guard lock(mutex_);
        told.swap(waiting_);
        if (iteration_) iteration_->abandoned = true;
    }
    for (const auto& w : told)
        w->tell(std::make_exception_ptr(cancelled(named() + " is gone: its container was reset")), {});
}

}}} // namespace rill::RILL_ABI::detail
#endif
