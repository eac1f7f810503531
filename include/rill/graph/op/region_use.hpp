// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/core/small_vector.hpp>

namespace rill { inline namespace RILL_ABI {

/// Numbers of inputs.
using input_list = small_vector<std::int32_t, 4>;

/// How a node runs its bodies (graph/region.hpp), and which of its inputs are what: operands, then what the bodies take from
/// outside, then the variables that they write.
struct region_use {
    enum class form : std::uint8_t {
        choose, // the body that operand 0 numbers; the last for any other number
        repeat, // body 1 while body 0 says so; operands are the state
        scan,   // body 0 for each slice along axis 0 of the operands behind the first `carried`, which are the state
        call    // body 0
    };
    form how = form::call;
    int operands = 0, captures = 0, written = 0;
    int carried = 0;        // of a scan
    bool reverse = false;   // a scan from the last slice to the first
    std::int64_t most = -1; // iterations of a loop; -1: no limit
    bool recompute = false; // gradients compute the values within again, and nothing is kept for them
    bool effects = false;   // a body draws random numbers, or does more than compute its results

    /// The counts of a node that has so many inputs: a file may say anything.
    bool counts(std::size_t inputs) const;
    /// Returns the inputs that the bodies write. Precondition: `counts`.
    input_list writes() const;
    /// How many of the operands are the state of a loop: 0 of what is none.
    int state() const { return how == form::repeat ? operands : how == form::scan ? carried : 0; }
    static void fields(auto& use, auto& visit) {
        visit("operands", use.operands);
        visit("captures", use.captures);
        visit("written", use.written);
        visit("carried", use.carried);
        visit("reverse", use.reverse);
        visit("most", use.most);
        visit("recompute", use.recompute);
        visit("effects", use.effects);
    }
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/op/region_use.ipp>
#endif
