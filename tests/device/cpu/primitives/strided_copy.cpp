// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/strided_copy.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("strided_copy: transposes of any extents, collapsed or not") {
    for (const index_t rows : {1, 2, 17, 40})
        for (const index_t columns : {1, 3, 16, 33}) {
            std::vector<int> from(static_cast<std::size_t>(rows * columns)), to(from.size(), -1);
            std::iota(from.begin(), from.end(), 0);
            detail::strided_layout l;
            l.push(columns, 1, rows);
            l.push(rows, columns, 1);
            l.collapse();
            detail::strided_copy(from.data(), to.data(), l, 0);
            for (index_t r = 0; r < rows; ++r)
                for (index_t c = 0; c < columns; ++c)
                    REQUIRE(to[static_cast<std::size_t>(c * rows + r)] ==
                            from[static_cast<std::size_t>(r * columns + c)]);
        }
    detail::strided_layout dense;
    const auto strides = detail::dense_strides(dims{2, 3, 4});
    CHECK(strides[0] == 12);
    for (int i = 0; i < 3; ++i)
        dense.push(dims{2, 3, 4}[i], strides[static_cast<std::size_t>(i)], strides[static_cast<std::size_t>(i)]);
    dense.collapse();
    CHECK(dense.rank == 1); // one straight copy
    CHECK(dense.extent[0] == 24);
}

TEST_CASE("strided_copy: any order of four axes") {
    const dims shape{3, 5, 4, 18};
    const auto from = detail::dense_strides(shape);
    std::vector<int> values(static_cast<std::size_t>(shape.size()));
    std::iota(values.begin(), values.end(), 0);
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    do {
        dims permuted;
        for (const auto axis : order) permuted.push(shape[static_cast<int>(axis)]);
        const auto to = detail::dense_strides(permuted);
        detail::strided_layout l;
        for (std::size_t i = 0; i < 4; ++i) l.push(permuted[static_cast<int>(i)], from[order[i]], to[i]);
        l.collapse();
        std::vector<int> out(values.size(), -1);
        detail::strided_copy(values.data(), out.data(), l, 0);
        bool right = true;
        for (index_t flat = 0; flat < shape.size(); ++flat) {
            index_t rest = flat, at = 0;
            for (std::size_t i = 4; i-- > 0;) {
                const index_t extent = permuted[static_cast<int>(i)];
                at += rest % extent * from[order[i]];
                rest /= extent;
            }
            right = right && out[static_cast<std::size_t>(flat)] == at;
        }
        CHECK(right);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("strided_copy: into a part of a larger array, and nothing beside it") {
    const std::vector<int> from{1, 2, 3, 4, 5, 6};
    std::vector<int> to(15, 0);
    detail::strided_layout l;
    l.push(2, 3, 5);
    l.push(3, 1, 1);
    l.collapse();
    detail::strided_copy(from.data(), to.data() + 1, l, 0);
    CHECK(to == std::vector<int>{0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0});
    detail::strided_layout one;
    detail::strided_copy(from.data() + 5, to.data(), one, 0);
    CHECK(to[0] == 6);
}

TEST_CASE("strided_copy: adds into a part of a larger array, row by row and element by element") {
    const std::vector<float> from{1, 2, 3, 4, 5, 6};
    std::vector<float> to(15, 1);
    detail::strided_layout rows;
    rows.push(2, 3, 5);
    rows.push(3, 1, 1);
    detail::strided_add(from.data(), to.data() + 1, rows, 0);
    CHECK(to == std::vector<float>{1, 2, 3, 4, 1, 1, 5, 6, 7, 1, 1, 1, 1, 1, 1});
    detail::strided_layout backwards;
    backwards.push(3, 1, -2);
    detail::strided_add(from.data(), to.data() + 14, backwards, 0);
    CHECK(to == std::vector<float>{1, 2, 3, 4, 1, 1, 5, 6, 7, 1, 4, 1, 3, 1, 2});
    detail::strided_add(from.data(), to.data(), detail::strided_layout(), 0);
    CHECK(to[0] == 2);
}
