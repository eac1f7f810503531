// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/eager/eager_variable.hpp>

#include <memory>
#include <string>

#include <rill/core/shared.hpp>
#include <rill/resources/resource_store.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD eager_state::eager_state(const std::string& name, const any_array& first, const dims& shape)
    : name_(checked_shape(name, first.shape(), shape)),
      state_(detail::make_shared<variable_state>(first.type(), default_allocator(), nullptr)) {
    write(first);
}

RILL_COLD any_array eager_state::read() const {
    auto version = state_->read();
    const auto& [type, shape] = state_->type();
    const void* const data = version->data();
    return {type, shape, data, std::move(version)};
}

RILL_COLD void eager_state::write(const any_array& value) {
    checked_shape(name_, value.shape(), state_->type().shape);
    if (value.dtype() != state_->type().type)
        throw invalid_argument("eager_variable: '" + name_ + "' is " + to_string(state_->type()) + ", the value " +
                               to_string(value.type()));
    std::shared_ptr<element_block> mine;
    variable_state::writer writer(*state_, mine, variable_write::initialises, false);
    copy_elements(value.dtype(), value.data(), writer.data(), value.size());
    writer.commit();
}

}}} // namespace rill::RILL_ABI::detail
