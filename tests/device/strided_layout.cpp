// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/strided_layout.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_strided_layout {

inline detail::strided_layout made(std::initializer_list<std::array<index_t, 3>> rows) {
    detail::strided_layout l;
    for (const auto& [extent, from, to] : rows) l.push(extent, from, to);
    return l;
}
inline std::vector<std::array<index_t, 3>> rows_of(const detail::strided_layout& l) {
    std::vector<std::array<index_t, 3>> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(l.rank); ++i) all.push_back({l.extent[i], l.from[i], l.to[i]});
    return all;
}
inline std::vector<std::array<index_t, 3>> collapsed(std::initializer_list<std::array<index_t, 3>> rows) {
    auto l = made(rows);
    l.collapse();
    return rows_of(l);
}

} // namespace test_strided_layout

TEST_CASE("strided_layout: strides of dense tensors") {
    const auto s = detail::dense_strides(dims{2, 3, 4});
    CHECK(s[0] == 12);
    CHECK(s[1] == 4);
    CHECK(s[2] == 1);
    CHECK(detail::dense_strides(dims{}) == std::array<index_t, max_rank>{});
    CHECK(detail::dense_strides(dims{2, 0, 4})[0] == 0);
}

TEST_CASE("strided_layout: dimensions that both sides walk as one become one") {
    using test_strided_layout::collapsed;
    using rows = std::vector<std::array<index_t, 3>>;
    CHECK(collapsed({{2, 12, 12}, {3, 4, 4}, {4, 1, 1}}) == rows{{24, 1, 1}}); // one straight copy
    CHECK(collapsed({{2, 12, 1}, {3, 4, 2}}) == rows{{2, 12, 1}, {3, 4, 2}});  // one side does not
    CHECK(collapsed({{2, 10, 15}, {5, 2, 3}, {4, 30, 60}}) == rows{{10, 2, 3}, {4, 30, 60}});
    CHECK(collapsed({{5, 7, 1}}) == rows{{5, 7, 1}});
    CHECK(collapsed({{3, 0, 4}, {4, 0, 1}}) == rows{{12, 0, 1}});    // repeated: a stride of 0
    CHECK(collapsed({{3, -4, 4}, {4, -1, 1}}) == rows{{12, -1, 1}}); // backwards
}

TEST_CASE("strided_layout: extents of 1 fall away, wherever they stand") {
    using test_strided_layout::collapsed;
    using rows = std::vector<std::array<index_t, 3>>;
    CHECK(collapsed({{1, 99, 98}, {2, 3, 3}, {1, 97, 96}, {3, 1, 1}, {1, 0, 0}}) == rows{{6, 1, 1}});
    CHECK(collapsed({{1, 5, 5}, {1, 1, 1}}).empty());
    CHECK(collapsed({}).empty()); // a single element
}
