// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A caller's array for a large fetched value. The run may compute the value there instead of copying it afterwards.
struct fetch_place {
    void* array = nullptr;
    void* (*make)(void* array, const tensor_type& type) = nullptr; // resizes it; null: the value is copied
};

}}} // namespace rill::RILL_ABI::detail
