// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/interpreter.hpp>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include <rill/core/error.hpp>
#include <rill/device/cpu/repeat.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD block_interpreter::block_interpreter(program_ptr p) : program_(std::move(p)) {
    const auto& code = program_->code;
    for (const auto& i : code) {
        const auto found = the_kernels().blocks.find(instruction_key(*program_, i));
        if (!found || !found->forward)
            throw unimplemented(
                "no kernel of " + instruction_key(*program_, i) +
                " is in this program: call the typed function somewhere, or include <rill/all_kernels.hpp>");
        run_.push_back(found->forward);
    }
    // one buffer per scalar and instruction; a value lives from its instruction to its last use
    const auto first = static_cast<std::size_t>(program_->first_scalar());
    offset_.resize(program_->scalars.size() + code.size());
    for (std::size_t i = 0; i < offset_.size(); ++i) {
        offset_[i] = bytes_;
        bytes_ += block_elements * size_of(program_->type_of(static_cast<int>(first + i)));
    }
}

RILL_INLINE void block_interpreter::begin(std::byte* scratch, const void* const* scalars, std::int64_t most) const {
    for (std::size_t s = 0; s < program_->scalars.size(); ++s) {
        const std::size_t size = size_of(program_->scalars[s]);
        std::memcpy(scratch + offset_[s], scalars[s], size);
        detail::repeat(scratch + offset_[s], size, static_cast<std::size_t>(most) * size);
    }
}

RILL_INLINE void block_interpreter::run(const block_args& a, std::byte* scratch) const {
    const auto& p = *program_;
    const int leaves = p.first_scalar();
    const auto value = [&](int v) -> const void* { return v < leaves ? a.leaf[v] : scratch + offset_[v - leaves]; };
    for (std::size_t i = 0; i < run_.size(); ++i) {
        const void* args[max_args];
        for (std::size_t k = 0; k < p.code[i].args.size(); ++k) args[k] = value(p.code[i].args[k]);
        void* to = scratch + offset_[p.scalars.size() + i];
        run_[i]({args, nullptr, &to, nullptr, a.n});
    }
    // results are written last: memory may be shared with a leaf
    for (std::size_t r = 0; r < p.results.size(); ++r)
        if (a.result[r])
            std::memmove(a.result[r], value(p.results[r]),
                         static_cast<std::size_t>(a.n) * size_of(p.type_of(p.results[r])));
}

}} // namespace rill::RILL_ABI
