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
#include <rill/runtime/control_flow/loops/lower_loop.hpp>
#include <rill/runtime/control_flow/stacked_outputs.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

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

RILL_COLD std::shared_ptr<const static_region_kernel>
bind_scalar_loop(const region_attributes& use, std::span<const bound_region> bodies,
                 std::span<const tensor_type> inputs, std::span<const tensor_type> outputs, allocator& memory) {
    const auto make = find_kernel(cpu_device().name, scalar_loop::name, dtype::invalid);
    auto lowered = make ? lower_loop(use, bodies, inputs) : std::nullopt;
    if (!lowered) return {};
    return detail::make_shared<scalar_while_kernel>(use, lowered->loop, std::move(lowered->invariants), inputs, outputs,
                                                    *make, memory);
}

}}} // namespace rill::RILL_ABI::detail
