// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/cpu/scalar/scalar_code.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Writes `lanes` adjacent copies of a number of `element` bytes.
void splat_number(void* to, const void* from, std::size_t element, int lanes);

/// Returns splat_number as a block function, for a number that some call reads more copies of than were written.
block_function splat_function(std::size_t element);

/// The place of a number: a memory, and its first line there.
struct number_place {
    /// The memories of a frame. A loop swaps `current` and `next` after each iteration.
    enum memory : std::uint32_t { scratch, constant, nowhere, current, next };
    static constexpr std::size_t line = 64; // bytes

    std::uint32_t in = nowhere, at = 0;
    friend bool operator==(const number_place&, const number_place&) = default;
};

/// An allocator of places: the place of a number is reused after the last call that reads it.
class scalar_frame_layout {
public:
    explicit scalar_frame_layout(const scalar_code& code);

    std::span<const int> reads(const scalar_code::call& c) const {
        return std::span(code_.operands).subspan(c.first_operand, c.reads);
    }
    std::span<const int> writes(const scalar_code::call& c) const {
        return std::span(code_.operands).subspan(c.first_operand + c.reads, c.writes);
    }
    number_place operator[](int value) const { return value < 0 ? number_place() : place_[value]; }
    /// Returns the size of a memory in lines. `next` is as large as `current` and must not be passed.
    std::uint32_t lines(number_place::memory in) const { return lines_[in]; }

    /// Allocates places for the results of the k-th call, then frees those of operands that no later call reads.
    void advance(std::size_t k);

private:
    std::uint32_t lines_of(std::size_t v) const;
    std::vector<std::uint32_t>& free_of(std::uint32_t lines);
    void put(std::size_t v);
    void put_loop_carried();

    const scalar_code& code_;
    std::vector<number_place> place_;
    std::vector<std::size_t> last_;
    std::array<std::uint32_t, number_place::next> lines_{};
    vector<std::vector<std::uint32_t>> free_; // free places, by size in lines
};

/// The calls of a scalar code with the places of their operands, and the constants in memory.
class placed_calls {
public:
    struct call {
        block_function run;
        int lanes;
        std::uint32_t reads, operands; // counts; operands that are read come first
        const void* const* scalars;
        const std::uint32_t* masks;
    };

    placed_calls(const scalar_code& code, scalar_frame_layout& layout);
    placed_calls(placed_calls&&) = default; // calls point into the vectors: a copy would share them

    std::size_t size() const noexcept { return calls_.size(); }
    const call* begin() const noexcept { return calls_.begin(); }
    const call* end() const noexcept { return calls_.end(); }
    const number_place* places() const noexcept { return places_.data(); } // places of the operands of all calls
    std::size_t operands() const noexcept { return places_.size(); }
    std::size_t most_operands() const noexcept { return widest_; } // maximum operands of one call
    /// Returns the number of calls that compute the first result, counted from the first call.
    std::size_t before_result() const noexcept { return before_result_; }
    /// Returns the constants, which must not be written.
    std::byte* constants() const noexcept {
        return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(constants_.data()));
    }

private:
    struct alignas(number_place::line) line_of_bytes {
        std::byte bytes[number_place::line];
    };

    void add_call(call c, std::span<const number_place> operands);
    void add_splat(std::size_t element, int lanes, const number_place& from, const number_place& to);
    void place_constants(const scalar_code& code, const scalar_frame_layout& layout);

    vector<call> calls_;
    vector<number_place> places_;
    std::vector<std::uint32_t> masks_;
    vector<scalar_value> numbers_;
    vector<const void*> scalars_; // point into numbers_
    std::vector<line_of_bytes> constants_;
    std::size_t widest_ = 0, before_result_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_frame_layout.ipp>
#endif
