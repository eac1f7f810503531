// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/concat_parts.hpp>

#include <numeric>

#include "catch.hpp"

using namespace rill;

namespace test_ops_array_concat_parts {

std::vector<tensor_type> types_of(std::initializer_list<dims> shapes) {
    std::vector<tensor_type> all;
    for (const auto& s : shapes) all.push_back({dtype::int32, s});
    return all;
}

TEST_CASE("concat_parts: parts lie side by side along the axis, rows of each apart by the whole's") {
    const auto parts = detail::concat_parts(dims{2, 6, 5}, types_of({{2, 1, 5}, {2, 0, 5}, {2, 5, 5}}), 1, false);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].begin == 0);
    CHECK(parts[1].begin == 5);
    CHECK(parts[2].begin == 5);
    CHECK_FALSE(parts[0].empty);
    CHECK(parts[1].empty);
    CHECK_FALSE(parts[2].empty);
    const auto& l = parts[2].layout;
    REQUIRE(l.rank == 2); // 5 by 5 elements in one run
    CHECK(l.extent[0] == 2);
    CHECK(l.from[0] == 25);
    CHECK(l.to[0] == 30);
    CHECK(l.extent[1] == 25);
    CHECK(l.from[1] == 1);
    CHECK(l.to[1] == 1);
}

TEST_CASE("concat_parts: along the first axis each part is one straight copy, an axis may count from the end") {
    const auto parts = detail::concat_parts(dims{5, 3}, types_of({{2, 3}, {3, 3}}), -2, false);
    CHECK(parts[1].begin == 6);
    CHECK(parts[1].layout.rank == 1);
    CHECK(parts[1].layout.extent[0] == 9);
}

TEST_CASE("concat_parts: into the whole, and out of it again") {
    for (const int axis : {0, 1, 2}) {
        dims whole{2, 3, 4}, first = whole, second = whole;
        first[axis] = 1;
        second[axis] = whole[axis] - 1;
        const auto types = types_of({first, second});
        std::vector<std::vector<int>> from;
        int next = 0;
        for (const auto& t : types) {
            from.emplace_back(static_cast<std::size_t>(t.shape.size()));
            std::iota(from.back().begin(), from.back().end(), next);
            next += 100;
        }
        std::vector<int> joined(24, -1);
        const auto in = detail::concat_parts(whole, types, axis, false),
                   out = detail::concat_parts(whole, types, axis, true);
        for (std::size_t i = 0; i < 2; ++i) cpu::copy({}, from[i].data(), joined.data() + in[i].begin, in[i].layout);
        for (std::size_t i = 0; i < 24; ++i) { // by coordinates
            const index_t at[] = {static_cast<index_t>(i) / 12, static_cast<index_t>(i) / 4 % 3,
                                  static_cast<index_t>(i) % 4};
            const std::size_t p = at[axis] == 0 ? 0 : 1;
            index_t flat = 0;
            for (int a = 0; a < 3; ++a) flat = flat * types[p].shape[a] + at[a] - (a == axis && p == 1 ? 1 : 0);
            CHECK(joined[i] == from[p][static_cast<std::size_t>(flat)]);
        }
        for (std::size_t i = 0; i < 2; ++i) {
            std::vector<int> back(from[i].size(), -1);
            cpu::copy({}, joined.data() + out[i].begin, back.data(), out[i].layout);
            CHECK(back == from[i]);
        }
    }
}

} // namespace test_ops_array_concat_parts
