// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/slicing.hpp>

#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_ops_array_slicing {

constexpr index_t all = slice_range::all;

/// What the range takes of 0, 1, …, n - 1, as Python says it: one index after the other, those that exist.
std::vector<index_t> taken(slice_range r, index_t n) {
    std::vector<index_t> out;
    const auto bound = [&](index_t at, index_t left_out) {
        if (at == all) return left_out;
        if (at < 0) at += n;
        return std::clamp(at, r.step > 0 ? index_t(0) : index_t(-1), r.step > 0 ? n : n - 1);
    };
    const index_t from = bound(r.begin, r.step > 0 ? 0 : n - 1), to = bound(r.end, r.step > 0 ? n : -1);
    for (index_t i = from; r.step > 0 ? i < to : i > to; i += r.step) out.push_back(i);
    return out;
}

TEST_CASE("slicing: every small range takes what Python's would") {
    for (const index_t n : {0, 1, 2, 5})
        for (const index_t step : {1, 2, 3, 7, -1, -2, -7})
            for (const index_t begin : {all, index_t(-7), index_t(-2), index_t(0), index_t(1), index_t(4), index_t(9)})
                for (const index_t end : {all, index_t(-7), index_t(-1), index_t(0), index_t(3), index_t(9)}) {
                    INFO(begin << ":" << end << ":" << step << " of " << n);
                    const auto wanted = taken({begin, end, step}, n);
                    const auto got = rules::take(begin, end, step, n);
                    CHECK(got.count == static_cast<index_t>(wanted.size()));
                    if (!wanted.empty()) CHECK(got.first == wanted[0]);
                }
    constexpr index_t least = std::numeric_limits<index_t>::min(), most = std::numeric_limits<index_t>::max();
    CHECK(rules::take(all, all, least, 5).count == 1);
    CHECK(rules::take(all, all, most, 5).count == 1);
    CHECK(rules::take(most, all, 1, 5).count == 0);
    CHECK(rules::take(-most, most, 1, 5).count == 5);
}

TEST_CASE("slicing: shapes") {
    static_assert(rules::slice(dims{4, dyn}, {{1, all, 2}}).shape == dims{2, dyn});
    static_assert(rules::slice(dims{4, dyn}, {{}, {}}).shape == dims{4, dyn});
    static_assert(rules::slice(dims{4, dyn}, {{}, {0, 2, 1}}).shape == dims{4, dyn});
    static_assert(!rules::slice(dims{4}, {{}, {}}).ok() && !rules::slice(dims{4}, {{0, 1, 0}}).ok());
    CHECK(rules::slice(dims::unknown(), {{}}).shape == dims::unknown());
    rules::slicing uneven{{}};
    uneven.end = {};
    CHECK_FALSE(detail::checked_slice(dims{4}, uneven).ok());
}

TEST_CASE("slicing: where the elements lie") {
    const auto l = detail::layout_of_slice(dims{4, 5}, {{3, all, -2}, {1, 4, 1}}, true);
    CHECK(l.begin == 3 * 5 + 1);
    CHECK(l.layout.rank == 2);
    CHECK(l.layout.extent[0] == 2);
    CHECK(l.layout.from[0] == -10);
    CHECK(l.layout.to[0] == 3);
    CHECK(detail::layout_of_slice(dims{4, 5}, {{4, all, 1}}, true).empty);
}

} // namespace test_ops_array_slicing
