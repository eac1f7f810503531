// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A caller's array into which a run may compute a large fetched value, instead of copying it there afterwards.
struct fetch_place {
    void* array = nullptr;
    void* (*make)(void* array, const tensor_type& type) = nullptr; // resizes it; null: the value is copied
};

}}} // namespace rill::RILL_ABI::detail
