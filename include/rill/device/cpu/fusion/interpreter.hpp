// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/core/vector.hpp>
#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI {

/// An interpreter of programs without a compiled kernel, or with one for a much lower instruction-set level.
/// It runs a block at a time, one compiled one-op loop per instruction.
class block_interpreter {
public:
    explicit block_interpreter(program_ptr p);

    /// A compiled loop for one instruction.
    struct loop {
        block_function run = nullptr;
        int level = -1;
        int scalar = -1; // index of the program's scalar that the loop broadcasts itself, or -1
        int lanes = 1;   // elements per iteration
    };
    /// Returns the loop of the highest level, or one whose `run` is null. `spreads` permits loops that broadcast a scalar themselves.
    static loop find_loop(const program& p, const program::instruction& i, bool spreads = true);
    /// Returns the same as find_loop, or throws unimplemented with the missing kernel's name.
    static loop need_loop(const program& p, const program::instruction& i);

    /// Returns true if one-op loops are estimated to beat the program's own loop, compiled for `level`, on this many elements.
    /// One-op loops win only with a sufficiently higher instruction-set level.
    static bool faster_than(const program& p, int level, index_t elements);

    /// Returns the bytes of scratch memory for one run.
    std::size_t scratch_bytes() const { return bytes_; }

    /// Broadcasts the scalars into scratch buffers of `most` elements; call once per run, before the first block.
    void begin(std::byte* scratch, const void* const* scalars, std::int64_t most = block_elements) const;

    void run(const block_args& a, std::byte* scratch) const;

private:
    static constexpr std::size_t max_args = 8;

    /// The location of a value: a leaf, scratch memory, or a result (scratch memory if the caller does not want the result).
    struct place {
        enum class in : std::uint8_t { leaf, scratch, result } where = in::scratch;
        std::uint32_t number = 0; // index of the leaf or result
        std::size_t at = 0;       // offset in scratch memory
    };
    struct step {
        block_function run;
        int scalar = -1; // index of the scalar that the loop broadcasts itself, or -1
        std::uint32_t args = 0;
        place arg[max_args];
        place to;
    };

    void find_loops();
    void place_values();

    program_ptr program_;
    detail::vector<step> steps_;
    detail::vector<place> value_; // per value
    detail::vector<char> spread_; // per scalar: a loop reads it as a broadcast block
    std::size_t bytes_ = 0;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/interpreter.ipp>
#endif
