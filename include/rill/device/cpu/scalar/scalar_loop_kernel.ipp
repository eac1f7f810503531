// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/scalar/scalar_loop_kernel.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <rill/core/allocator.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/cpu/scalar/scalar_frame_layout.hpp>
#include <rill/device/loop_code.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Copies a number of `element` bytes.
inline void copy_number(void* to, const void* from, std::size_t element) {
    switch (element) {
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    default: std::memcpy(to, from, element);
    }
}

/// The kernel that scalar_loop_kernel returns.
class scalar_loop_runner {
public:
    scalar_loop_runner(const scalar_loop& loop, const scalar_code& code, kernel_request& request)
        : scalar_loop_runner(loop, code, scalar_frame_layout(code), request) {}

    void operator()(const kernel_args& a) const;

private:
    struct transfer { // an operand of the node, and its place in the frame
        int operand;
        std::size_t element;
        number_place where;
        int lanes;
    };
    using memories = std::array<std::byte*, number_place::next + 1>;

    scalar_loop_runner(const scalar_loop& loop, const scalar_code& code, scalar_frame_layout layout,
                       kernel_request& request);

    static std::byte* at(const memories& memory, const number_place& p) {
        return memory[p.in] + p.at * number_place::line;
    }
    /// Fills in the arguments of all calls for one choice of current and next memory.
    void bind(const memories& memory, block_args* args, void** operands) const;

    placed_calls calls_;
    vector<transfer> parts_, slices_, stays_, stacked_;
    number_place goes_on_;
    std::size_t lines_ = 0, flips_ = 0, args_at_ = 0, operands_at_ = 0; // in scratch memory, twice (but lines_ once)
    int count_ = 0;                                                     // the output of the iteration count
    bool conditional_, reverse_;
};

RILL_COLD scalar_loop_runner::scalar_loop_runner(const scalar_loop& loop, const scalar_code& code,
                                                 scalar_frame_layout layout, kernel_request& request)
    : calls_(code, layout), conditional_(loop.conditional), reverse_(loop.reverse) {
    const auto parts = static_cast<int>(loop.next.size());
    for (std::size_t v = 0; v < code.values.size(); ++v) {
        const auto& value = code.values[v];
        if (value.where != scalar_code::home::input || value.lanes == 0) continue;
        const auto number = static_cast<int>(value.number);
        const transfer t{number < parts ? number : number - parts + 1, value.element(), layout[static_cast<int>(v)],
                         value.lanes};
        (number < parts ? parts_ : number < parts + loop.slices ? slices_ : stays_).push_back(t);
    }
    if (conditional_) goes_on_ = layout[code.results[0]];
    const std::size_t first = (conditional_ ? 1 : 0) + loop.next.size();
    for (std::size_t s = 0; s < loop.stacked.size(); ++s) {
        const int v = code.results[first + s];
        stacked_.push_back({parts + static_cast<int>(s), code.values[v].element(), layout[v], 1});
    }
    count_ = parts + static_cast<int>(loop.stacked.size());
    lines_ = layout.lines(number_place::scratch) * number_place::line;
    flips_ = layout.lines(number_place::current) * number_place::line;
    args_at_ = lines_ + 2 * flips_;
    operands_at_ = args_at_ + 2 * calls_.size() * sizeof(block_args);
    request.scratch_bytes = operands_at_ + 2 * calls_.operands() * sizeof(void*);
}

RILL_INLINE void scalar_loop_runner::bind(const memories& memory, block_args* args, void** operands) const {
    const auto* place = calls_.places();
    for (const auto& c : calls_) {
        *args++ = {operands, c.scalars, operands + c.reads, c.masks, c.lanes};
        for (std::uint32_t k = 0; k < c.operands; ++k, ++place)
            *operands++ = place->in == number_place::nowhere ? nullptr : at(memory, *place);
    }
}

RILL_INLINE void scalar_loop_runner::operator()(const kernel_args& a) const {
    auto* const scratch = a.scratch<std::byte>();
    auto* const flips = scratch + lines_;
    // `next` of one iteration is `current` of the following one
    const memories memory[] = {{scratch, calls_.constants(), nullptr, flips, flips + flips_},
                               {scratch, calls_.constants(), nullptr, flips + flips_, flips}};
    const std::size_t n = calls_.size();
    auto* const args = reinterpret_cast<block_args*>(scratch + args_at_);
    auto* const operands = reinterpret_cast<void**>(scratch + operands_at_);
    for (const std::size_t odd : {0, 1}) bind(memory[odd], args + odd * n, operands + odd * calls_.operands());

    const std::int64_t most = *a.in<std::int64_t>(0);
    auto& count = *a.out<std::int64_t>(count_);
    count = 0;
    const auto slice = [&](const memories& to, number_place::memory in, std::int64_t k) {
        for (const auto& s : slices_)
            splat_number(at(to, {in, s.where.at}),
                         a.in<std::byte>(s.operand) + (reverse_ ? -k : k) * static_cast<std::ptrdiff_t>(s.element),
                         s.element, s.lanes);
    };
    for (const auto& p : parts_) splat_number(at(memory[0], p.where), a.out<void>(p.operand), p.element, p.lanes);
    for (const auto& s : stays_) splat_number(at(memory[0], s.where), a.in<void>(s.operand), s.element, s.lanes);
    if (most > 0) slice(memory[0], number_place::current, 0);

    const std::size_t condition = conditional_ ? calls_.before_result() : 0;
    const auto* const call = calls_.begin();
    for (; count < most; ++count) {
        const std::size_t odd = static_cast<std::size_t>(count & 1);
        const memories& here = memory[odd];
        const block_args* const given = args + odd * n;
        if (a.step) a.step->check();
        std::size_t k = 0;
        for (; k < condition; ++k) call[k].run(given[k]);
        if (conditional_ && !*reinterpret_cast<const bool*>(at(here, goes_on_))) break;
        // written early, so that the stores are done when the next iteration reads them
        if (count + 1 < most) slice(here, number_place::next, count + 1);
        for (; k < n; ++k) call[k].run(given[k]);
        for (const auto& s : stacked_)
            copy_number(a.out<std::byte>(s.operand) +
                            (reverse_ ? -count : count) * static_cast<std::ptrdiff_t>(s.element),
                        at(here, s.where), s.element);
    }
    const memories& last = memory[count & 1];
    for (const auto& p : parts_) copy_number(a.out<void>(p.operand), at(last, p.where), p.element);
}

/// The kernel of a loop that has a compiled form.
class compiled_loop_runner {
public:
    compiled_loop_runner(const scalar_loop& loop, loop_code code, kernel_request& request)
        : code_(std::move(code)), parts_(static_cast<std::size_t>(loop.parts())), reverse_(loop.reverse) {
        for (int i = 0; i < loop.slices; ++i)
            slices_.push_back(element_of(loop.inputs[parts_ + static_cast<std::size_t>(i)]));
        for (const auto& from : loop.stacked) stacked_.push_back(element_of(loop.type_of(from)));
        request.scratch_bytes = (code_.operands.size() + parts_ + slices_.size() + stacked_.size()) * sizeof(void*);
    }

    void operator()(const kernel_args& a) const {
        void** const operands = a.scratch<void*>();
        void** const state = operands + code_.operands.size();
        void** const slices = state + parts_;
        void** const stacked = slices + slices_.size();
        const int first = static_cast<int>(parts_) - 1; // the group's input that is input 0 of the node: the limit
        for (std::size_t i = 0; i < code_.operands.size(); ++i) {
            const auto& o = code_.operands[i];
            const void* const constant = o.constant.type == dtype::invalid ? nullptr : o.constant.bytes.data();
            operands[i] = const_cast<void*>(o.input < 0 ? constant : a.in<void>(o.input - first));
        }
        for (std::size_t i = 0; i < parts_; ++i) state[i] = a.out<void>(static_cast<int>(i));
        for (std::size_t i = 0; i < slices_.size(); ++i)
            slices[i] = const_cast<void*>(a.in<void>(static_cast<int>(i) + 1));
        for (std::size_t i = 0; i < stacked_.size(); ++i) stacked[i] = a.out<void>(static_cast<int>(parts_ + i));

        const std::int64_t most = *a.in<std::int64_t>(0);
        auto& count = *a.out<std::int64_t>(static_cast<int>(parts_ + stacked_.size()));
        for (count = 0; count < most;) {
            if (a.step) a.step->check();
            const std::int64_t asked = std::min(most - count, code_.most);
            const std::int64_t ran = code_.run({operands, state, slices, stacked, asked});
            count += ran;
            if (ran < asked) break;
            advance(slices, slices_, ran);
            advance(stacked, stacked_, ran);
        }
    }

private:
    static std::int64_t element_of(dtype type) { return static_cast<std::int64_t>(size_of(type)); }
    void advance(void** at, const std::vector<std::int64_t>& elements, std::int64_t iterations) const {
        for (std::size_t i = 0; i < elements.size(); ++i)
            at[i] = static_cast<std::byte*>(at[i]) + (reverse_ ? -iterations : iterations) * elements[i];
    }

    loop_code code_;
    std::size_t parts_;
    std::vector<std::int64_t> slices_, stacked_; // bytes of an element
    bool reverse_;
};

RILL_COLD kernel scalar_loop_kernel(const scalar_loop& loop, kernel_request& request) {
    if (auto code = find_loop_code(loop); code.run) return kernel(compiled_loop_runner(loop, std::move(code), request));
    return kernel(scalar_loop_runner(loop, make_scalar_code(loop), request));
}

}}} // namespace rill::RILL_ABI::detail
