// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An array of the caller's that a large fetched value may be written into as it is computed, rather than copied to later.
struct fetch_place {
    void* array = nullptr;
    void* (*make)(void* array, const tensor_type& type) = nullptr; // makes room; null: this value is copied after all
};

}}} // namespace rill::RILL_ABI::detail
