// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/dense.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD index_t dense_inputs(const tensor_type& x, const std::source_location& where) {
    const auto refuse = [&](const char* why) {
        throw invalid_argument(std::string("dense: ") + why + "; it is " + to_string(x) + at_place(where));
    };
    if (x.shape.rank < 2) refuse("the input must have two dimensions or more, [.., in]");
    const index_t in = rules::extent_along(x.shape, -1);
    if (in == dyn) refuse("the input's last extent must be known when the layer is made");
    return in;
}

}}} // namespace rill::RILL_ABI::detail
