// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/any_array.hpp>

#include <memory>
#include <string>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE any_array::any_array(rill::dtype type, const dims& shape, allocator& from)
    : type_{type, shape}, block_(std::make_shared<detail::element_block>(from, type, count())), data_(block_->data()) {}

RILL_COLD any_array::any_array(rill::dtype type, const dims& shape, const memory_space& space)
    : any_array(type, shape, *space.blocks) {
    space_ = &space;
}

RILL_INLINE index_t any_array::count() const {
    if (!type_.shape.complete())
        throw invalid_argument("any_array: the shape " + to_string(type_.shape) + " is not complete");
    for (int i = 0; i < type_.shape.rank; ++i)
        if (type_.shape[i] < 0)
            throw invalid_argument("any_array: an extent of " + to_string(type_.shape) + " is negative");
    if (!type_.countable())
        throw resource_exhausted("any_array: " + to_string(type_) + " is more than memory can hold");
    return type_.shape.size();
}

RILL_INLINE void any_array::refuse(rill::dtype asked) const {
    throw invalid_argument("any_array: asked for " + std::string(to_string(asked)) + ", holds " +
                           std::string(to_string(type_.type)));
}

RILL_INLINE void any_array::refuse_many() const {
    throw invalid_argument("any_array::value: one element expected, the shape is " + to_string(shape()));
}

RILL_COLD void any_array::refuse_space() const {
    throw failed_precondition("any_array: the host can't read elements in the memory of '" + space_->name +
                              "'; a fetch brings them to the host");
}

namespace detail {

RILL_INLINE any_array copied_to(const any_array& a, const memory_space* space) {
    if (a.empty() || !a.shape().complete()) return a;
    any_array copy = space ? any_array(a.dtype(), a.shape(), *space) : any_array(a.dtype(), a.shape());
    copy_between(a.space(), a.data(), space, copy.mutable_data(), a.dtype(), a.size());
    return copy;
}

RILL_INLINE any_array owned_copy(dtype type, const dims& shape, const void* data) {
    any_array copy(type, shape);
    copy_elements(type, data, copy.mutable_data(), copy.size());
    return copy;
}
RILL_INLINE any_array owned_copy(const any_array& a) { return copied_to(a, nullptr); }

} // namespace detail

}} // namespace rill::RILL_ABI
