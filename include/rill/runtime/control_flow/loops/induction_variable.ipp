// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/loops/induction_variable.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include <rill/core/shared.hpp>
#include <rill/device/loop_code.hpp>
#include <rill/passes/split_into_stages.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::shared_ptr<const induction_variable> induction_variable::find(const subgraph::item& it) {
    if (needs_dynamic_execution(*it.origin)) return {}; // a dynamic node runs complete bodies
    auto lowered = lower_induction_variable(it);
    if (!lowered) return {};
    auto code = find_loop_code(lowered->of.loop);
    if (!code.run) return {};
    const auto at = lowered->part;
    body rest = (*it.origin->bodies)[1];
    rest.results[at] = rest.arguments[at];
    return detail::make_shared<induction_variable>(at, std::move(code), std::move(lowered->of.invariants),
                                                   std::move(rest));
}

RILL_INLINE void induction_variable::run::begin(const kernel_args& args) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
        const auto& o = of_.code_.operands[i];
        if (o.input < 0) {
            operands_[i] = o.constant.type == dtype::invalid ? nullptr : o.constant.bytes.data();
            continue;
        }
        const auto& from = of_.invariants_[static_cast<std::size_t>(o.input) - 1]; // input 0 is the state value
        operands_[i] = from.input >= 0 ? args.in<void>(from.input) : from.constant.data();
    }
    const int part = static_cast<int>(of_.part_);
    std::memcpy(next_.data(), args.in<void>(part), size_of(type_of(of_.rest_.arguments[of_.part_]).type));
}

RILL_INLINE bool induction_variable::run::next() {
    value_ = next_;
    void* state = next_.data();
    return of_.code_.run({operands_.data(), &state, nullptr, nullptr, 1}) == 1;
}

}}} // namespace rill::RILL_ABI::detail
