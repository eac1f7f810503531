// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/row_chains.hpp>

#include <cstdint>
#include <map>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_row_chains {

/// The slices of each id, in order, by their chains.
template <class I> std::map<I, std::vector<index_t>> chains(const std::vector<I>& ids) {
    const auto count = static_cast<index_t>(ids.size());
    std::vector<index_t> room(detail::row_chains::bytes(count) / sizeof(index_t), 12345);
    const detail::row_chains rows(ids.data(), count, room.data());
    std::map<I, std::vector<index_t>> all;
    for (index_t k = 0; k < count; ++k)
        if (rows.is_first(k)) {
            auto& of = all[ids[static_cast<std::size_t>(k)]];
            CHECK(of.empty()); // one chain for each
            for (index_t at = k; at >= 0; at = rows.next(at)) of.push_back(at);
        }
    return all;
}
template <class I> std::map<I, std::vector<index_t>> wanted(const std::vector<I>& ids) {
    std::map<I, std::vector<index_t>> all;
    for (std::size_t k = 0; k < ids.size(); ++k) all[ids[k]].push_back(static_cast<index_t>(k));
    return all;
}

} // namespace test_row_chains

TEMPLATE_TEST_CASE("row_chains: slices of one id, in the order in which they come", "", std::int32_t, std::int64_t) {
    using test_row_chains::chains, test_row_chains::wanted;
    CHECK(chains(std::vector<TestType>{}).empty());
    for (const auto& ids : {std::vector<TestType>{7}, {1, 2, 3}, {3, 3, 3}, {2, 0, 2, 2, 0}, {0, 1 << 20, 0, 1 << 21}})
        CHECK(chains(ids) == wanted(ids));
    for (const TestType many : {1, 10, 1000, 100000}) { // few and many ids, spread and in runs
        std::vector<TestType> ids;
        for (TestType i = 0; i < 3000; ++i) ids.push_back(static_cast<TestType>(i * 7919 % many * (i % 3 ? 1 : 64)));
        CHECK(chains(ids) == wanted(ids));
    }
}
