// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/op/fields.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <rill/core/hash.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE bool same_array(const any_array& a, const any_array& b) {
    if (a.type() != b.type()) return false;
    if (a.data() == b.data() || a.empty() || a.size() == 0) return true;
    if (a.dtype() == dtype::string) {
        const auto x = a.elements<std::string>(), y = b.elements<std::string>();
        return std::equal(x.begin(), x.end(), y.begin());
    }
    return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0;
}

RILL_INLINE std::uint64_t hash_of(const any_array& a) {
    constexpr index_t most = 512; // bytes that enter the hash: same_array compares the rest
    std::uint64_t h = static_cast<std::uint64_t>(a.dtype());
    for (int i = 0; i < a.shape().rank; ++i) h = hash_combine(h, static_cast<std::uint64_t>(a.shape()[i]));
    if (a.empty() || a.size() == 0) return h;
    if (a.dtype() == dtype::string) return hash_bytes(a.elements<std::string>()[0], h);
    const auto bytes = static_cast<std::size_t>(std::min(most, a.size() * static_cast<index_t>(size_of(a.dtype()))));
    return hash_bytes({static_cast<const char*>(a.data()), bytes}, h);
}

RILL_INLINE std::uint64_t hash_of(const fused_spec& spec) {
    if (!spec.body) return 0;
    std::uint64_t h = hash_bytes(spec.body->key);
    for (const auto& l : spec.leaves) h = hash_combine(h, static_cast<std::uint64_t>(l.input));
    for (const auto& s : spec.scalars)
        h = hash_bytes({reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size()}, h);
    return h;
}

}}} // namespace rill::RILL_ABI::detail
