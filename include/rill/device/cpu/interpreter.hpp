// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/registry.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs a program that no compiled kernel exists for, a block at a time, one compiled one-op loop per instruction.
class block_interpreter {
public:
    explicit block_interpreter(program_ptr p);

    /// Scratch memory for one run.
    std::size_t scratch_bytes() const { return bytes_; }

    /// Spreads the scalars; once a run, before the first block.
    void begin(std::byte* scratch, const void* const* scalars, std::int64_t most = block_elements) const;

    void run(const block_args& a, std::byte* scratch) const;

private:
    static constexpr std::size_t max_args = 8;

    program_ptr program_;
    detail::vector<block_function> run_;
    std::vector<std::size_t> offset_;
    std::size_t bytes_ = 0;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/cpu/interpreter.ipp>
#endif
