// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/into.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void refuse_room(const dims& shape, const std::string& has) {
    throw invalid_argument("into: a value of shape " + to_string(shape) + " does not fit into " + has);
}

}}} // namespace rill::RILL_ABI::detail
