// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/core/small_vector.hpp>

namespace rill { inline namespace RILL_ABI {

/// A list of input numbers.
using input_list = small_vector<std::int32_t, 4>;

/// The way a region op runs its bodies (graph/region.hpp), and the roles of its inputs. The inputs are the operands, then the captures
/// of the bodies, then the variables that the bodies write.
struct region_attributes {
    enum class form : std::uint8_t {
        choose, // runs the body that operand 0 numbers; the last one for a number out of range
        repeat, // runs body 1 while body 0 returns true; all operands are loop-carried
        scan,   // runs body 0 per slice along axis 0 of the operands after the first `carried`, which are loop-carried
        call    // runs body 0 once
    };
    form how = form::call;
    int operands = 0, captures = 0, written = 0;
    int carried = 0;        // loop-carried operands of a scan
    bool reverse = false;   // a scan runs from the last slice to the first
    std::int64_t most = -1; // maximum iterations of a loop; -1: no limit
    bool recompute = false; // gradients recompute the values of the bodies instead of storing them
    bool effects = false;   // a body draws random numbers or has side effects
    /// The values that a loop keeps for its gradient lie in host memory until the gradient reads them.
    bool swap_memory = false;

    /// Returns true if the counts add up to `inputs` and none is negative: a loaded file may hold anything.
    bool counts(std::size_t inputs) const;
    /// Returns the numbers of the inputs that the bodies write. Precondition: `counts`.
    input_list writes() const;
    /// Returns how many operands are loop-carried; 0 unless the op is a loop.
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
        visit("swap_memory", use.swap_memory);
    }
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/op/region_attributes.ipp>
#endif
