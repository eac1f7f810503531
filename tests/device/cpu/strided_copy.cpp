// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/strided_copy.hpp>

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
                    REQUIRE(to[static_cast<std::size_t>(c * rows + r)] == from[static_cast<std::size_t>(r * columns + c)]);
        }
    detail::strided_layout dense;
    const auto strides = detail::dense_strides(dims{2, 3, 4});
    CHECK(strides[0] == 12);
    for (int i = 0; i < 3; ++i) dense.push(dims{2, 3, 4}[i], strides[static_cast<std::size_t>(i)], strides[static_cast<std::size_t>(i)]);
    dense.collapse();
    CHECK(dense.rank == 1); // one straight copy
    CHECK(dense.extent[0] == 24);
}
