// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/optimizer.hpp>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE endpoint add_slot(const any_tensor& of, const std::string& name, double first_value) {
    const auto& type = type_of(of.end());
    const colocate_with beside(of);
    const endpoint slot = add_variable(type, of.node()->name + "/" + name, {.trainable = false}, of.node()->where);
    any_array value(type.type, type.shape);
    const scalar_value one = scalar_of(type.type, first_value);
    for (index_t i = 0; i < value.size(); ++i)
        std::memcpy(static_cast<std::byte*>(value.mutable_data()) + static_cast<std::size_t>(i) * size_of(type.type), one.bytes.data(),
                    size_of(type.type));
    const endpoint initial{add_node(current_graph(), make_op(constant_op{value}), {}, of.node()->name + "/" + name + "/initial_value"), 0};
    const node* assign = add_node(current_graph(), make_op(assign_op{}), {slot, initial}, of.node()->name + "/" + name + "/initialize");
    current_graph().state().set_initializer(slot.from, assign);
    return slot;
}

} // namespace rill::inline RILL_ABI::detail
