// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/absent_value.hpp>

#include <cstddef>
#include <cstring>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD any_array stand_in(const tensor_type& declared, const memory_space* space) {
    dims shape{};
    if (declared.shape.known_rank())
        for (int i = 0; i < declared.shape.rank; ++i) shape.push(declared.shape[i] == dyn ? 1 : declared.shape[i]);
    any_array zeros(declared.type, shape);
    if (declared.type != dtype::string) std::memset(zeros.mutable_data(), 0, zeros.type().bytes());
    return space ? copied_to(zeros, space) : zeros;
}

}}} // namespace rill::RILL_ABI::detail
