// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/prepared_run.hpp>

#include <utility>

#include <rill/runtime/plan/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE step_result::step_result(plan& p) noexcept : plan_(&p) {}
RILL_COLD step_result::step_result(std::vector<any_array> values) : step_(std::make_unique<execution_state>()) {
    step_->values = std::move(values);
}
RILL_INLINE step_result::step_result(step_result&&) noexcept = default;
RILL_INLINE step_result::~step_result() {
    if (step_ && plan_) plan_->release(std::move(step_));
}
RILL_INLINE void step_result::begin(std::span<const any_array> feeds) { step_ = plan_->acquire(feeds); }
RILL_INLINE void step_result::run(std::span<const fetch_place> places, const step_context& context) {
    if (step_->of)
        for (std::size_t i = 0; i < places.size(); ++i)
            if (places[i].make) step_->of->place(*step_->memory, i, places[i]);
    plan_->run(*step_, context);
}
RILL_INLINE const tensor_type& step_result::type(std::size_t i) const {
    return step_->of ? step_->of->fetch_type(i) : value(i).type();
}
RILL_INLINE const void* step_result::data(std::size_t i) const {
    return step_->of ? step_->of->fetch_data(*step_->memory, i) : value(i).data();
}
RILL_INLINE bool step_result::placed(std::size_t i) const { return step_->of && step_->of->placed(*step_->memory, i); }

RILL_COLD const any_array& step_result::value(std::size_t i) const {
    return step_->is_staged ? plan_->fetched(*step_, i) : step_->values[i];
}

}}} // namespace rill::RILL_ABI::detail
