// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/op.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE op_ptr shared(const op* made) { return op_ptr(made); }

RILL_INLINE void attribute_hash::operator()(const char*, const dims& v) {
    add(static_cast<std::uint64_t>(v.rank));
    for (const auto e : v.extent) add(static_cast<std::uint64_t>(e));
}

RILL_INLINE void attribute_hash::operator()(const char*, const axis_list& v) {
    for (int i = 0; i < v.count; ++i) add(static_cast<std::uint64_t>(v[i]));
}

RILL_INLINE void attribute_hash::operator()(const char*, const fused_spec& v) {
    add(hash_bytes(v.body->key));
    for (const auto& l : v.leaves) add(static_cast<std::uint64_t>(l.input));
    for (const auto& s : v.scalars) add(hash_bytes({reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size()}));
}

} // namespace rill::inline RILL_ABI::detail
