// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/tensor_list.hpp>

#include <memory>
#include <span>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD any_array make_tensor_list(dtype type, std::vector<any_array> slices) {
    dims shape{static_cast<index_t>(slices.size())};
    if (!slices.empty())
        for (int i = 0; i < slices[0].shape().rank; ++i) shape.push(dyn);
    const auto owner = std::make_shared<const std::vector<any_array>>(std::move(slices));
    return any_array(type, shape, owner.get(), owner);
}

RILL_COLD const std::vector<any_array>* tensor_list_items(const any_array& a) {
    return is_tensor_list(a.type()) ? static_cast<const std::vector<any_array>*>(a.data()) : nullptr;
}

RILL_COLD void refuse_tensor_lists(std::span<const tensor_type> inputs) {
    if (detail::any_of(inputs, is_tensor_list))
        throw unimplemented("tensor list: extents differ between iterations; only scans read such values");
}

}}} // namespace rill::RILL_ABI::detail
