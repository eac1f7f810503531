// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/core/vector.hpp>
#include <rill/device/registry.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs a program that no compiled kernel exists for, or none for so good a processor: a block at a time, one compiled one-op
/// loop per instruction.
class block_interpreter {
public:
    explicit block_interpreter(program_ptr p);

    /// A compiled loop for one instruction.
    struct loop {
        block_function run = nullptr;
        int level = -1;
        int scalar = -1; // one of the program's that it spreads itself
        int lanes = 1;   // elements that it works on at a time
    };
    /// The best there is; `run` is null if there is none. `spreads`: it may be one that spreads a scalar itself.
    static loop find_loop(const program& p, const program::instruction& i, bool spreads = true);
    /// The same, or an error that says what is missing.
    static loop need_loop(const program& p, const program::instruction& i);

    /// Whether the loops of its ops are there for instruction sets so much better than `level` that so many elements are computed
    /// faster one op at a time than by one loop of the program's own compiled for that.
    static bool faster_than(const program& p, int level, index_t elements);

    /// Scratch memory for one run.
    std::size_t scratch_bytes() const { return bytes_; }

    /// Spreads the scalars; once a run, before the first block.
    void begin(std::byte* scratch, const void* const* scalars, std::int64_t most = block_elements) const;

    void run(const block_args& a, std::byte* scratch) const;

private:
    static constexpr std::size_t max_args = 8;

    /// Where a value is: in a leaf, in scratch memory, or where a result goes (in scratch memory, if nobody wants it).
    struct place {
        enum class in : std::uint8_t { leaf, scratch, result } where = in::scratch;
        std::uint32_t number = 0; // of the leaf or result
        std::size_t at = 0;       // in scratch memory
    };
    struct step {
        block_function run;
        int scalar = -1; // one the loop spreads itself
        std::uint32_t args = 0;
        place arg[max_args];
        place to;
    };

    void find_loops();
    void place_values();

    program_ptr program_;
    detail::vector<step> steps_;
    detail::vector<place> value_; // per value
    detail::vector<char> spread_; // per scalar: a loop needs it as a block
    std::size_t bytes_ = 0;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/interpreter.ipp>
#endif
