// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/loops/scalar_while_kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/device/device.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/device/scalar_loop.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/runtime/control_flow/loops/region_scalars.hpp>
#include <rill/runtime/control_flow/stacked_outputs.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A loop-invariant scalar: an input of the node, or a constant.
struct invariant_scalar {
    int input = -1;
    any_array constant;
};

class scalar_while_kernel final : public static_region_kernel {
public:
    scalar_while_kernel(const region_attributes& use, const scalar_loop& loop, vector<invariant_scalar> invariant,
                        std::span<const tensor_type> inputs, std::span<const tensor_type> outputs, kernel_factory make,
                        allocator& from)
        : use_(use), parts_(loop.next.size()), invariants_(std::move(invariant)), inputs_(inputs.begin(), inputs.end()),
          outputs_(outputs.begin(), outputs.end()), allocator_(from) {
        kernel_request request{};
        run_ = make(&loop, request);
        scratch_ = request.scratch_bytes;
        first_out_ = 1 + static_cast<std::size_t>(loop.slices) + invariants_.size();
        numbers_.resize(first_out_ + outputs_.size() + 1);
        std::iota(numbers_.begin(), numbers_.end(), 0);
    }

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<memory>(allocator_, scratch_, numbers_.size());
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        auto& m = static_cast<memory&>(own);
        place_operands(m, args);
        constexpr auto no_limit = std::numeric_limits<std::int64_t>::max();
        return run(m, args.step, !repeats() ? length() : use_.most < 0 ? no_limit : use_.most);
    }

    /// Returns the state or outputs, then the stacked outputs of a while loop.
    std::vector<any_array> run_dynamic(std::span<const any_array> inputs, const step_context* context) const override {
        const auto own = make_memory();
        const bool keeps = repeats() && outputs_.size() > parts_;
        auto outputs = arrays_of(std::span(outputs_).first(keeps ? parts_ : outputs_.size()));
        array_slots slots(inputs, outputs);
        const auto args = slots.args(context);
        if (!keeps) {
            note_iterations(context, run(*own, args));
            return outputs;
        }
        vector<stacked_outputs> histories;
        for (auto r = parts_; r < outputs_.size(); ++r)
            histories.emplace_back(tensor_type{outputs_[r].type, rules::slice(outputs_[r].shape)}, allocator_);
        auto& m = static_cast<memory&>(*own);
        place_operands(m, args);
        constexpr std::int64_t first = 64; // iterations of the first call, and capacity for their outputs
        std::int64_t k = 0;
        while (true) {
            const auto most = use_.most < 0 ? std::max(k, first) : std::min(std::max(k, first), use_.most - k);
            for (std::size_t h = 0; h < histories.size(); ++h)
                m.slots[first_out_ + parts_ + h] = histories[h].next(most);
            const auto ran = run(m, context, most, k);
            for (auto& h : histories) h.keep(ran);
            k += ran;
            if (ran < most || k == use_.most) break;
        }
        note_iterations(context, k);
        for (auto& h : histories) outputs.push_back(std::move(h).take());
        return outputs;
    }

private:
    struct memory : static_region_kernel::memory {
        memory(allocator& from, std::size_t bytes, std::size_t operands)
            : scratch(from, bytes), on{.scratch = scratch.data()}, slots(operands) {}
        std::int64_t most = 0, count = 0;
        memory_block scratch;
        execution_context on;
        std::vector<void*> slots; // the kernel's slots
    };

    bool repeats() const { return use_.how == region_attributes::form::repeat; }
    std::int64_t length() const { return inputs_[static_cast<std::size_t>(use_.carried)].shape[0]; }

    /// Returns the address of the first iteration's slice: the last slice in a reverse scan.
    void* first_slice(const void* array, dtype type) const {
        const auto number = use_.reverse ? std::max<std::int64_t>(length() - 1, 0) : 0;
        return const_cast<std::byte*>(static_cast<const std::byte*>(array)) +
               static_cast<std::size_t>(number) * size_of(type);
    }

    /// Sets the kernel's slots, and copies the initial state to the outputs, which the kernel updates. `run` sets the iteration limit.
    void place_operands(memory& m, const kernel_args& args) const {
        auto at = m.slots.begin();
        *at++ = &m.most;
        for (auto i = parts_; i < static_cast<std::size_t>(use_.operands); ++i)
            *at++ = first_slice(args.in<void>(static_cast<int>(i)), inputs_[i].type);
        for (const auto& s : invariants_)
            *at++ = const_cast<void*>(s.input >= 0 ? args.in<void>(s.input) : s.constant.data());
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const int number = static_cast<int>(i);
            if (i < parts_) {
                copy_elements(inputs_[i].type, args.in<void>(number), args.out<void>(number), 1);
                *at++ = args.out<void>(number);
            } else if (!repeats()) {
                *at++ = first_slice(args.out<void>(number), outputs_[i].type);
            }
        }
        m.slots.back() = &m.count;
    }

    std::int64_t run(memory& m, const step_context* step, std::int64_t most, std::int64_t before = 0) const {
        m.most = most;
        const auto* const n = numbers_.data();
        try {
            run_({m.slots.data(), n, n + first_out_, m.on, step});
        } catch (...) {
            rethrow_from_iteration(before + m.count);
        }
        return m.count;
    }

    region_attributes use_;
    std::size_t parts_, first_out_ = 0, scratch_ = 0;
    vector<invariant_scalar> invariants_;
    std::vector<tensor_type> inputs_, outputs_;
    std::vector<std::int32_t> numbers_; // slot numbers of the kernel's arguments
    kernel run_;
    allocator& allocator_;
};

/// A builder of the loop that bound bodies compute.
class scalar_loop_maker {
public:
    scalar_loop_maker(int operands, std::span<const tensor_type> inputs) : operands_(operands), inputs_(inputs) {
        for (int i = 0; i < operands; ++i) made_.inputs.push_back(inputs[static_cast<std::size_t>(i)].type);
    }

    /// Adds a body; returns the sources of its results, or nothing if it does more than compute scalars from scalars.
    std::optional<std::vector<scalar_loop::source>> add(const bound_region& b) {
        const auto numbers = numbers_of(b.steps().bound());
        if (!numbers) return {};
        const int first = static_cast<int>(made_.group.members.size());
        const auto source_of = [&](const scalar_loop::source& s) {
            if (s.member >= 0) return scalar_loop::source{first + s.member, s.index};
            return input(numbers->inputs[static_cast<std::size_t>(s.index)], b.of());
        };
        for (auto member : numbers->group.members) {
            for (auto& from : member.inputs) from = source_of(from);
            made_.group.members.push_back(std::move(member));
        }
        std::vector<scalar_loop::source> results;
        for (std::size_t r = 0; r < b.types().size(); ++r)
            results.push_back(source_of(numbers->fetches[static_cast<std::size_t>(b.fetch(r))]));
        return results;
    }

    scalar_loop& made() { return made_; }
    vector<invariant_scalar> invariant() && { return std::move(invariants_); }

private:
    scalar_loop::source input(const region_scalars::input& from, const body& b) {
        const auto arguments = static_cast<int>(b.arguments.size());
        if (from.feed >= 0 && from.feed < arguments) return {-1, from.feed};
        const int number = from.feed < 0 ? -1 : b.captured[static_cast<std::size_t>(from.feed - arguments)];
        const auto same = [&](const invariant_scalar& s) {
            return s.input == number && s.constant.data() == from.invariant.data();
        };
        auto at = detail::find_if(invariants_, same);
        if (at == invariants_.end()) {
            made_.inputs.push_back(number < 0 ? from.invariant.dtype()
                                              : inputs_[static_cast<std::size_t>(number)].type);
            invariants_.push_back({number, from.invariant});
            at = invariants_.end() - 1;
        }
        return {-1, operands_ + static_cast<int>(at - invariants_.begin())};
    }

    int operands_;
    std::span<const tensor_type> inputs_;
    scalar_loop made_;
    vector<invariant_scalar> invariants_;
};

RILL_COLD std::shared_ptr<const static_region_kernel>
bind_scalar_loop(const region_attributes& use, std::span<const bound_region> bodies,
                 std::span<const tensor_type> inputs, std::span<const tensor_type> outputs, allocator& memory) {
    const bool repeats = use.how == region_attributes::form::repeat;
    const auto make = find_kernel(cpu_device().name, scalar_loop::name, dtype::invalid);
    if (!make || use.written > 0 || use.effects || (!repeats && use.how != region_attributes::form::scan)) return {};
    const auto parts = static_cast<std::size_t>(use.state());
    const auto& results = bodies.back().types();
    if (!detail::all_of(inputs.first(parts), is_number) || !detail::all_of(results, is_number)) return {};

    scalar_loop_maker maker(use.operands, inputs);
    auto& loop = maker.made();
    if (repeats) {
        const auto condition = maker.add(bodies[0]);
        if (!condition) return {};
        loop.conditional = true;
        loop.condition = condition->front();
    }
    const auto given = maker.add(bodies.back());
    if (!given) return {};
    loop.slices = use.operands - static_cast<int>(parts);
    loop.reverse = use.reverse;
    loop.next.assign(given->begin(), given->begin() + static_cast<std::ptrdiff_t>(parts));
    loop.stacked.assign(given->begin() + static_cast<std::ptrdiff_t>(parts), given->end());
    return detail::make_shared<scalar_while_kernel>(use, loop, std::move(maker).invariant(), inputs, outputs, *make,
                                                    memory);
}

}}} // namespace rill::RILL_ABI::detail
