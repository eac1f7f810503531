// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/memory_space.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/recorded_loop.hpp>
#include <rill/runtime/control_flow/loop_state_buffers.hpp>
#include <rill/runtime/control_flow/loops/induction_variable.hpp>
#include <rill/runtime/control_flow/stacked_outputs.hpp>
#include <rill/runtime/control_flow/typed_region_kernel.hpp>
#include <rill/runtime/segment/known_replays.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A kernel that runs a while loop or a scan. A while loop ends when its condition is false. A scan runs its body for each slice. For zero
/// slices it needs no bound body and returns the initial state.
///
/// A loop whose bodies a device can capture as a whole runs without the host from its second run on: a scan is one range of captured steps, a
/// while loop a recorded_loop. If a kernel reports an error, the host runs the loop again, iteration by iteration, and tells where it was.
class loop_kernel final : public typed_region_kernel {
public:
    loop_kernel(const subgraph::item& it, std::span<const tensor_type> inputs, allocator& from)
        : typed_region_kernel(it, inputs), allocator_(from), parts_(static_cast<std::size_t>(use_.state())),
          most_(scans() ? inputs[parts_].shape[0] : use_.most) {}

    /// Returns the maximum number of iterations, which is the length of a scan; -1 if there is no limit.
    std::int64_t most() const { return most_; }

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<memory>(*this);
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        auto& m = static_cast<memory&>(own);
        if (!m.captured || (args.step && args.step->trace)) return run(m, args, {});
        if (const auto k = m.captured->is_warm ? replay(m, args) : std::nullopt) return *k;
        const auto k = run(m, args, {});
        if (k > 0 && !m.captured->is_warm) {
            m.captured->is_warm = true;
            note_addresses(m, args);
            m.captured->known.note(); // the next run at these addresses comes second
        }
        return k;
    }

    /// Returns the outputs of a scan. For a while loop it returns the final state, then the stacked results beyond the state.
    std::vector<any_array> run_dynamic(std::span<const any_array> inputs, const step_context* context) const override {
        if (scans()) return typed_region_kernel::run_dynamic(inputs, context);
        auto outputs = arrays_of(state_types(), space_);
        array_slots slots(inputs, outputs);
        vector<stacked_outputs> stacked;
        for (auto r = parts_; r < bodies_[1].types().size(); ++r)
            stacked.emplace_back(bodies_[1].types()[r], allocator_, output_space(r));
        memory own(*this);
        note_iterations(context, run(own, slots.args(context), stacked));
        for (auto& s : stacked) outputs.push_back(std::move(s).take());
        return outputs;
    }

private:
    /// The replays of a loop, and the memory in which a device counts iterations.
    struct captured_loop {
        explicit captured_loop(const memory_space& space) : memory(*space.blocks, sizeof(loop_progress)) {}
        loop_progress* progress() const { return static_cast<loop_progress*>(memory.data()); }

        known_replays known;
        memory_block memory;
        bool is_warm = false; // an iteration has run: its kernels are loaded
    };
    struct memory : static_region_kernel::memory {
        explicit memory(const loop_kernel& of) : state(of.state_types(), of.allocator_, of.space_) {
            if (!of.scans()) condition.emplace(of.bodies_[0]);
            if (!of.scans() || of.most_ > 0) step.emplace(of.bodies_.back());
            if (of.counter_) counter.emplace(*of.counter_);
            for (auto a = of.parts_; a < static_cast<std::size_t>(of.use_.operands); ++a) {
                const bool is_needed = of.is_swapped_input(a) && step;
                slices.push_back(is_needed ? memory_block(*of.space_->blocks, slice_bytes(of.inputs_[a], 1))
                                           : memory_block());
            }
            if (of.can_capture()) captured.emplace(*of.space_);
        }
        std::optional<region_frame> condition, step;
        loop_state_buffers state;
        std::optional<induction_variable::run> counter;
        vector<memory_block> slices; // per sliced operand: the current slice of a swapped one
        std::optional<captured_loop> captured;
    };
    /// Copies from the loop's memory to the host's, which may end after the call. The destructor waits for them.
    class copies_to_host {
    public:
        explicit copies_to_host(const memory_space* from) : from_(from) {}
        copies_to_host(const copies_to_host&) = delete;
        ~copies_to_host() {
            try {
                wait();
            } catch (...) {} // the device has failed: the run reports it
        }
        void start(const void* from, void* host, std::size_t bytes) {
            if (bytes == 0) return;
            last_ = from_->to_host(*from_, from, host, bytes);
            is_open_ = true;
        }
        void wait() {
            if (std::exchange(is_open_, false)) from_->wait(*from_, last_); // and for all earlier ones
        }

    private:
        const memory_space* from_;
        std::uint64_t last_ = 0;
        bool is_open_ = false;
    };

    /// Runs the loop. `stacked` receives the results of a while loop beyond its state; a scan writes them into its outputs.
    std::int64_t run(memory& m, const kernel_args& args, std::span<stacked_outputs> stacked) const {
        m.state.begin(args);
        std::int64_t k = 0;
        if (m.step) {
            const body_runs steps(*m.step, args);
            copies_to_host swapped(space_);
            std::optional<body_runs> conditions;
            if (m.counter) {
                m.counter->begin(args);
                m.state.set(counter_->part(), m.counter->value());
            } else if (m.condition) {
                conditions.emplace(*m.condition, args);
            }
            try {
                for (; most_ < 0 || k < most_; ++k) {
                    check_cancellation(args);
                    if (m.condition && !evaluate_condition(m)) break;
                    run_body(m, args, stacked, swapped, k, [](region_frame& f) { f.run(); });
                }
            } catch (...) {
                rethrow_from_iteration(k);
            }
            swapped.wait();
            if (m.counter) m.state.set(counter_->part(), m.counter->last());
        }
        m.state.end(args);
        return k;
    }

    bool evaluate_condition(memory& m) const {
        if (m.counter) return m.counter->next();
        feed_condition(m);
        m.condition->run();
        return *static_cast<const bool*>(m.condition->result(0));
    }

    void feed_condition(memory& m) const {
        for (std::size_t i = 0; i < parts_; ++i) m.condition->feed(i, m.state.at(i));
    }

    /// Runs an iteration; `run` runs the body, or starts its kernels.
    template <class Run>
    void run_body(memory& m, const kernel_args& args, std::span<stacked_outputs> stacked, copies_to_host& swapped,
                  std::int64_t k, const Run& run) const {
        const auto& b = bodies_.back();
        const auto slice = static_cast<std::size_t>(use_.reverse ? most_ - 1 - k : k);
        for (auto a = parts_; a < static_cast<std::size_t>(use_.operands); ++a) {
            const auto bytes = slice_bytes(inputs_[a], 1);
            const void* from = args.in<std::byte>(static_cast<int>(a)) + slice * bytes;
            if (is_swapped_input(a) && bytes > 0) {
                void* const here = m.slices[a - parts_].data();
                space_->from_host(*space_, from, here, bytes);
                from = here;
            }
            m.step->feed(a, from);
        }
        const auto row = [&](std::size_t r) {
            return args.out<std::byte>(static_cast<int>(r)) + slice * slice_bytes(b.types()[r], 0);
        };
        const auto end = scans() ? b.types().size() : parts_ + stacked.size();
        for (auto r = parts_; r < end; ++r)
            if (!is_swapped_output(r)) m.step->want(r, scans() ? row(r) : stacked[r - parts_].next());
        advance(b, *m.step, m.state, parts_, args, run);
        for (auto r = parts_; r < end; ++r)
            if (is_swapped_output(r)) {
                // the device goes on: what it computes next overwrites the value after the copy
                if (!scans() && stacked[r - parts_].is_full()) swapped.wait(); // it moves
                void* const to = scans() ? row(r) : stacked[r - parts_].next();
                swapped.start(m.step->result(r), to, slice_bytes(b.types()[r], 0));
                if (!scans()) stacked[r - parts_].keep();
            } else {
                m.step->deliver(r, scans() ? row(r) : stacked[r - parts_].keep());
            }
    }

    // ---- captured loops ----------------------------------------------------------------------------------------------------

    /// Returns true if the device can capture all iterations.
    bool can_capture() const {
        constexpr std::int64_t most_nodes =
            4096; // of a scan: an iteration has its steps, and perhaps a copy of each result
        const auto is_whole = [&](const bound_region& b) { return b.captured().space == space_; };
        if (!space_ || bodies_.empty() || swaps() || !detail::all_of(bodies_, is_whole) ||
            bodies_.back().captured().copied >= 0)
            return false;
        const auto nodes = bodies_.back().captured().steps + static_cast<std::int64_t>(bodies_.back().types().size());
        if (scans()) return space_->capture && most_ > 0 && most_ <= most_nodes / nodes;
        return space_->capture_loop && bodies_[0].captured().copied >= 0;
    }
    void note_addresses(memory& m, const kernel_args& args) const {
        auto& all = m.captured->known.addresses;
        all.clear();
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            all.push_back(const_cast<void*>(args.in<void>(static_cast<int>(i))));
        for (std::size_t r = 0; r < outputs_.size(); ++r) all.push_back(args.out<void>(static_cast<int>(r)));
    }
    /// Runs the loop by a replay. Returns the number of iterations; nothing if the host must start them.
    std::optional<std::int64_t> replay(memory& m, const kernel_args& args) const {
        check_cancellation(args);
        const body_runs steps(*m.step, args);
        std::optional<body_runs> conditions;
        if (m.condition) conditions.emplace(*m.condition, args);
        note_addresses(m, args);
        const auto* const start =
            m.captured->known.find([&] { return scans() ? capture_scan(m, args) : capture_while(m, args); });
        if (!start) return {};
        return scans() ? replay_scan(m, *start) : replay_while(m, args, *start);
    }

    std::function<void()> capture_scan(memory& m, const kernel_args& args) const {
        return space_->capture(*space_, [&] {
            copies_to_host none(space_);
            m.state.begin(args);
            for (std::int64_t k = 0; k < most_; ++k) run_body(m, args, {}, none, k, [](region_frame& f) { f.start(); });
            m.state.end(args);
        });
    }
    std::optional<std::int64_t> replay_scan(memory& m, const std::function<void()>& start) const {
        m.step->clear_errors();
        start();
        return m.step->take_errors() ? std::nullopt : std::optional(most_);
    }

    /// Moves the state to the node's outputs, where it lies between two captured iterations. Parts that no iteration changes stay in the inputs.
    void move_to_outputs(memory& m, const kernel_args& args) const {
        for (std::size_t i = 0; i < parts_; ++i)
            if (!bodies_[1].is_loop_invariant(i)) m.state.move_to_output(i, args);
    }
    std::function<void()> capture_while(memory& m, const kernel_args& args) const {
        m.state.begin(args);
        move_to_outputs(m, args);
        feed_condition(m); // its result may be a part of the state, whose address is then fed
        recorded_loop loop;
        loop.condition = [&] {
            feed_condition(m);
            m.condition->start();
        };
        loop.iteration = [&] {
            advance(bodies_[1], *m.step, m.state, parts_, args, [](region_frame& f) { f.start(); });
            move_to_outputs(m, args);
        };
        loop.decision = {.holds = static_cast<const bool*>(m.condition->copied()),
                         .condition = m.condition->errors(),
                         .iteration = m.step->errors(),
                         .progress = m.captured->progress()};
        return space_->capture_loop(*space_, loop);
    }
    std::optional<std::int64_t> replay_while(memory& m, const kernel_args& args,
                                             const std::function<void()>& start) const {
        constexpr std::int64_t most_at_once = 256; // the host then looks whether the run was cancelled
        m.condition->clear_errors();
        m.step->clear_errors();
        m.state.begin(args);
        move_to_outputs(m, args);
        auto* const progress = m.captured->progress();
        std::int64_t k = 0;
        loop_progress now{.goes_on = true};
        for (; now.goes_on && k != most_; k += now.done) {
            check_cancellation(args);
            const auto left = most_ < 0 ? most_at_once : std::min(most_at_once, most_ - k);
            now = {.most = static_cast<std::int32_t>(left)};
            space_->from_host(*space_, &now, progress, sizeof now);
            start();
            copy_to_host(*space_, progress, &now, sizeof now);
        }
        if (now.has_failed) {
            m.condition->take_errors();
            if (m.step->take_errors() || k != most_)
                return {}; // after the last iteration the host evaluates no condition
        }
        m.state.end(args);
        return k;
    }

    bool scans() const { return use_.how == region_attributes::form::scan; }
    std::span<const tensor_type> state_types() const { return std::span(inputs_).first(parts_); }
    /// Returns the size in bytes of one slice along the first `axes` axes.
    static std::size_t slice_bytes(const tensor_type& t, int axes) {
        std::size_t bytes = size_of(t.type);
        for (int i = axes; i < t.shape.rank; ++i) bytes *= static_cast<std::size_t>(t.shape[i]);
        return bytes;
    }

    allocator& allocator_;
    std::size_t parts_; // number of state values
    std::int64_t most_;
};

}}} // namespace rill::RILL_ABI::detail
