// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fused_numbers.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/cpu/fused_stages.hpp>
#include <rill/device/cpu/number_code.hpp>
#include <rill/device/numbers.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

template <class E> void spread_as(std::byte* to, const std::byte* from, int lanes) {
    E value;
    std::memcpy(&value, from, sizeof(E));
    for (int i = 0; i < lanes; ++i) std::memcpy(to + static_cast<std::size_t>(i) * sizeof(E), &value, sizeof(E));
}
/// So many copies of a number beside one another.
inline void spread_number(void* to, const void* from, std::size_t element, int lanes) {
    auto* const t = static_cast<std::byte*>(to);
    const auto* const f = static_cast<const std::byte*>(from);
    switch (element) {
    case 1: return spread_as<std::uint8_t>(t, f, lanes);
    case 2: return spread_as<std::uint16_t>(t, f, lanes);
    case 4: return spread_as<std::uint32_t>(t, f, lanes);
    case 8: return spread_as<std::uint64_t>(t, f, lanes);
    default: return spread_as<std::array<std::uint64_t, 2>>(t, f, lanes);
    }
}

/// The same as a call among others: of a number that some function reads more copies of than there are.
template <class E> void spread_block(const block_args& a) {
    spread_as<E>(static_cast<std::byte*>(a.result[0]), static_cast<const std::byte*>(a.leaf[0]), static_cast<int>(a.n));
}
inline block_function spread_function(std::size_t element) {
    switch (element) {
    case 1: return &spread_block<std::uint8_t>;
    case 2: return &spread_block<std::uint16_t>;
    case 4: return &spread_block<std::uint32_t>;
    case 8: return &spread_block<std::uint64_t>;
    default: return &spread_block<std::array<std::uint64_t, 2>>;
    }
}

/// Where a number is: in memory that is counted by lines.
struct number_place {
    enum memory : std::uint32_t { scratch, constant, nowhere };
    static constexpr std::size_t line = 64; // bytes

    std::uint32_t in = nowhere, at = 0;
};

/// Gives numbers their places: one is another's after the last call that reads it.
class number_layout {
public:
    explicit number_layout(const number_code& code)
        : code_(code), place_(code.values.size()), last_(code.values.size()) {
        for (std::size_t k = 0; k < code.calls.size(); ++k)
            for (const int r : reads(code.calls[k])) last_[r] = k;
        for (const int r : code.results) last_[r] = code.calls.size();
        for (std::size_t v = 0; v < code.values.size(); ++v)
            if (code.values[v].where != number_code::home::computed && code.values[v].lanes > 0) put(v);
    }

    std::span<const int> reads(const number_code::call& c) const {
        return std::span(code_.operands).subspan(c.first_operand, c.reads);
    }
    std::span<const int> writes(const number_code::call& c) const {
        return std::span(code_.operands).subspan(c.first_operand + c.reads, c.writes);
    }
    number_place operator[](int value) const { return value < 0 ? number_place() : place_[value]; }
    /// As many lines as a memory has.
    std::uint32_t lines(number_place::memory in) const { return lines_[in]; }

    /// Places of what the k-th call writes; those of what nobody reads after it are free then.
    void advance(std::size_t k) {
        const auto& c = code_.calls[k];
        for (const int w : writes(c))
            if (w >= 0) put(static_cast<std::size_t>(w));
        for (const int r : reads(c)) {
            auto& last = last_[r];
            if (last != k || place_[r].in != number_place::scratch) continue;
            last = code_.calls.size(); // an operand may come twice
            free_[lines_of(static_cast<std::size_t>(r))].push_back(place_[r].at);
        }
    }

private:
    std::uint32_t lines_of(std::size_t v) const {
        const std::size_t bytes = code_.values[v].element * static_cast<std::size_t>(code_.values[v].lanes);
        return static_cast<std::uint32_t>((bytes + number_place::line - 1) / number_place::line);
    }
    void put(std::size_t v) {
        const auto in =
            code_.values[v].where == number_code::home::constant ? number_place::constant : number_place::scratch;
        const auto lines = lines_of(v);
        auto& free = free_[lines];
        if (in == number_place::scratch && !free.empty()) {
            place_[v] = {in, free.back()};
            free.pop_back();
        } else {
            place_[v] = {in, std::exchange(lines_[in], lines_[in] + lines)};
        }
    }

    const number_code& code_;
    std::vector<number_place> place_;
    std::vector<std::size_t> last_;
    std::array<std::uint32_t, number_place::nowhere> lines_{};
    std::map<std::uint32_t, std::vector<std::uint32_t>> free_; // by their lines
};

/// What fused_numbers makes.
class number_kernel {
public:
    number_kernel(const number_code& code, kernel_request& request);
    number_kernel(number_kernel&&) = default; // calls_ and scalars_ point into other members: a copy would share them

    void operator()(const kernel_args& a) const;

private:
    struct call {
        block_function run;
        int lanes;
        std::uint32_t reads, operands; // the first are read, the others written
        const void* const* scalars;
        const std::uint32_t* masks;
    };
    struct transfer { // of an input or an output
        int number;
        number_place where;
        std::size_t element;
        int lanes;
    };
    struct alignas(number_place::line) line {
        std::byte bytes[number_place::line];
    };

    void add_call(call c, std::span<const int> operands, const number_layout& layout);
    void place_constants(const number_code& code, const number_layout& layout);

    vector<call> calls_;
    vector<number_place> places_; // of the operands of all calls
    std::vector<std::uint32_t> masks_;
    vector<scalar_value> numbers_;
    vector<const void*> scalars_; // in numbers_
    std::vector<line> constants_;
    vector<transfer> loads_, stores_;
    std::size_t table_at_ = 0, widest_ = 0;
    bool may_divide_ = false;
};

RILL_COLD number_kernel::number_kernel(const number_code& code, kernel_request& request)
    : masks_(code.masks), numbers_(code.constants), may_divide_(code.may_divide) {
    for (const auto s : code.scalars) scalars_.push_back(numbers_[s].bytes.data());
    number_layout layout(code);
    for (std::size_t v = 0; v < code.values.size(); ++v)
        if (const auto& value = code.values[v]; value.where == number_code::home::input && value.lanes > 0)
            loads_.push_back({static_cast<int>(value.number), layout[static_cast<int>(v)], value.element, value.lanes});
    for (std::size_t k = 0; k < code.calls.size(); ++k) {
        const auto& c = code.calls[k];
        layout.advance(k);
        add_call({c.run, c.lanes, c.reads, 0, scalars_.data() + c.first_scalar, masks_.data() + c.first_mask},
                 std::span(code.operands).subspan(c.first_operand, c.reads + c.writes), layout);
        for (const int w : layout.writes(c)) {
            if (w < 0 || code.values[w].lanes == c.lanes) continue;
            add_call({spread_function(code.values[w].element), code.values[w].lanes, 1, 0, nullptr, nullptr},
                     std::array{w, w}, layout);
        }
    }
    for (std::size_t r = 0; r < code.results.size(); ++r) {
        const auto& value = code.values[code.results[r]];
        stores_.push_back({static_cast<int>(r), layout[code.results[r]], value.element, 1});
    }
    place_constants(code, layout);
    table_at_ = layout.lines(number_place::scratch) * number_place::line;
    request.scratch_bytes = table_at_ + pointer_table<void*>::bytes_aside(widest_);
    request.microseconds = 0.01 * static_cast<double>(calls_.size());
}

RILL_COLD void number_kernel::add_call(call c, std::span<const int> operands, const number_layout& layout) {
    c.operands = static_cast<std::uint32_t>(operands.size());
    calls_.push_back(c);
    for (const int o : operands) places_.push_back(layout[o]);
    widest_ = std::max(widest_, operands.size());
}

RILL_COLD void number_kernel::place_constants(const number_code& code, const number_layout& layout) {
    constants_.resize(layout.lines(number_place::constant));
    for (std::size_t v = 0; v < code.values.size(); ++v)
        if (const auto& value = code.values[v]; value.where == number_code::home::constant && value.lanes > 0)
            spread_number(constants_[layout[static_cast<int>(v)].at].bytes, code.constants[value.number].bytes.data(),
                          value.element, value.lanes);
}

RILL_INLINE void number_kernel::operator()(const kernel_args& a) const {
    auto* const scratch = a.scratch<std::byte>();
    const auto bytes = [](std::uint32_t lines) { return lines * number_place::line; };
    for (const auto& l : loads_) spread_number(scratch + bytes(l.where.at), a.in<void>(l.number), l.element, l.lanes);
    // the constants are only read
    std::byte* const memory[] = {scratch, const_cast<std::byte*>(reinterpret_cast<const std::byte*>(constants_.data())),
                                 nullptr};
    pointer_table<void*> table(widest_, scratch + table_at_);
    void** const operand = table;
    block_args args{operand, nullptr, nullptr, nullptr, 0};
    const auto* place = places_.data();
    for (const auto& c : calls_) {
        for (std::uint32_t k = 0; k < c.operands; ++k, ++place) operand[k] = memory[place->in] + bytes(place->at);
        args.scalar = c.scalars;
        args.result = operand + c.reads;
        args.mask = c.masks;
        args.n = c.lanes;
        c.run(args);
    }
    for (const auto& s : stores_) std::memcpy(a.out<void>(s.number), memory[s.where.in] + bytes(s.where.at), s.element);
    if (may_divide_ && (sticky_errors() & integer_division_by_zero)) {
        sticky_errors() &= ~integer_division_by_zero;
        throw invalid_argument("integer division by zero");
    }
}

RILL_COLD kernel fused_numbers(const fused_chain& chain, kernel_request& request) {
    return kernel(number_kernel(number_code_of(chain, request.outputs.size()), request));
}

}}} // namespace rill::RILL_ABI::detail
