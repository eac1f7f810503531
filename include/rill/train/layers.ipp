// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/layers.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD index_t known_channels(const char* layer, const tensor_type& x, const std::source_location& where) {
    const index_t channels = rules::extent_along(x.shape, -1);
    if (channels == dyn)
        throw invalid_argument(std::string(layer) +
                               ": the number of channels must be known when the layer is made; the input is " +
                               to_string(x) + at_place(where));
    return channels;
}

}}} // namespace rill::RILL_ABI::detail
