// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/runtime/control_flow/loop_state_buffers.hpp>
#include <rill/runtime/control_flow/loops/induction_variable.hpp>
#include <rill/runtime/control_flow/stacked_outputs.hpp>
#include <rill/runtime/control_flow/typed_region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A kernel that runs a while loop or a scan. A while loop ends when its condition is false. A scan runs its body for each slice. For zero
/// slices it needs no bound body and returns the initial state.
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
        return run(static_cast<memory&>(own), args, {});
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
        }
        std::optional<region_frame> condition, step;
        loop_state_buffers state;
        std::optional<induction_variable::run> counter;
        vector<memory_block> slices; // per sliced operand: the current slice of a swapped one
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
                    run_body(m, args, stacked, swapped, k);
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
        for (std::size_t i = 0; i < parts_; ++i) m.condition->feed(i, m.state.at(i));
        m.condition->run();
        return *static_cast<const bool*>(m.condition->result(0));
    }

    void run_body(memory& m, const kernel_args& args, std::span<stacked_outputs> stacked, copies_to_host& swapped,
                  std::int64_t k) const {
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
        advance(b, *m.step, m.state, parts_, args);
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
