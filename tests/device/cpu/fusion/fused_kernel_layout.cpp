// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/fused_kernel_layout.hpp>

#include <cstring>
#include <vector>

#include <rill/device/cpu/fusion/reducers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_fused_layout {
detail::fused_layout plan(const dims& space, std::initializer_list<dims> leaves, const dims& result) {
    std::vector<detail::fused_operand> operands;
    for (const auto& l : leaves) operands.push_back({{dtype::float32, l}});
    const detail::fused_operand out{{dtype::float32, result}};
    return detail::plan_fused(space, operands, std::span(&out, 1), false);
}
} // namespace test_fused_layout

TEST_CASE("fused_layout: dense operands are one loop") {
    const auto l = test_fused_layout::plan({100, 200, 3}, {{100, 200, 3}, {100, 200, 3}}, {100, 200, 3});
    CHECK(l.rank == 1);
    CHECK(l.all_direct());
    CHECK(l.rows * l.row_size == 16 * block_elements); // in long blocks
    CHECK(l.scratch == 0);
}

TEST_CASE("fused_layout: a stretched row is laid out once, a column block by block") {
    const auto l = test_fused_layout::plan({64, 100}, {{64, 100}, {100}, {64, 1}}, {64, 100});
    CHECK(l.leaves[0].direct);
    CHECK_FALSE(l.leaves[1].direct);
    CHECK(l.leaves[1].constant);
    CHECK_FALSE(l.leaves[2].constant);
    CHECK(l.rows == 10); // ten rows of a hundred fit into a block
}

TEST_CASE("fused_layout: an operand of one element may have more axes than the space, which has one element, too") {
    const auto none = detail::broadcast_strides(dims{}, dims{});
    CHECK(detail::broadcast_strides(dims{1}, dims{}) == none);
    CHECK(detail::broadcast_strides(dims{1, 1, 1}, dims{1}) == none);
    CHECK(detail::broadcast_strides(dims{3, 1}, dims{2, 3, 4})[1] == 1);
}

TEST_CASE("fused_layout: a result reduced over stepped dimensions is folded, never written in place") {
    const auto l = test_fused_layout::plan({50, 4000}, {{50, 4000}}, {1, 4000});
    CHECK_FALSE(l.results[0].direct);
    CHECK(test_fused_layout::plan({0, 5}, {{0, 5}}, {1, 5}).total == 0);
    CHECK(test_fused_layout::plan({}, {{}}, {}).total == 1);
}

TEST_CASE("fused_layout: dimensions are merged only where every operand walks them as one") {
    CHECK(test_fused_layout::plan({4, 5, 6}, {{4, 5, 6}, {1}}, {4, 5, 6}).rank == 1);
    CHECK(test_fused_layout::plan({4, 5, 6}, {{4, 5, 6}, {5, 6}}, {4, 5, 6}).rank == 2);
    CHECK(test_fused_layout::plan({4, 5, 6}, {{4, 5, 6}, {5, 1}}, {4, 5, 6}).rank == 3);
    CHECK(test_fused_layout::plan({4, 5, 6}, {{4, 5, 6}}, {4, 1, 6}).rank == 3);
    CHECK(test_fused_layout::plan({4, 1, 6}, {{4, 1, 6}}, {4, 1, 6}).rank == 1);
}

TEST_CASE("fused_layout: blocks cover every element once, and no block is larger than its buffers") {
    for (const dims& space : {dims{7}, dims{1024}, dims{5000}, dims{3, 1025}, dims{1025, 3}, dims{33, 7, 29},
                              dims{2, 3, 4, 5, 6, 7}, dims{1, 2000, 1, 3}})
        for (int axis = 0; axis < space.rank; ++axis) {
            dims narrow = space;
            narrow[axis] = 1;
            const auto l = test_fused_layout::plan(space, {space, narrow}, narrow);
            INFO(to_string(space) << " and " << to_string(narrow));
            index_t outer = 1, inner = 1;
            for (int i = 0; i < l.outer; ++i) outer *= l.extent[static_cast<std::size_t>(i)];
            for (int i = l.outer + 1; i < l.rank; ++i) inner *= l.extent[static_cast<std::size_t>(i)];
            CHECK(inner == l.row_size);
            CHECK(outer * l.extent[static_cast<std::size_t>(l.outer)] * l.row_size == space.size());
            CHECK(l.rows >= 1);
            CHECK((l.all_direct() || l.rows * l.row_size <= block_elements));
            for (const auto& w : l.leaves)
                if (!w.direct) CHECK(w.buffer + static_cast<std::size_t>(l.rows * l.row_size) * w.element <= l.scratch);
        }
}

TEST_CASE("fused_layout: a number that is taken as it is needs no buffer") {
    const detail::fused_operand all{{dtype::float32, dims{100'000}}}, one{{dtype::float32, dims{}}};
    const std::vector<detail::fused_operand> leaves{all, one};
    const std::vector<char> splat{0, 1};
    const auto as_elements = detail::plan_fused(all.type.shape, leaves, std::span(&all, 1), false);
    const auto as_it_is = detail::plan_fused(all.type.shape, leaves, std::span(&all, 1), false, splat);
    CHECK_FALSE(as_elements.leaves[1].direct);
    CHECK(as_it_is.all_direct());
    CHECK(as_it_is.leaves[1].stride[0] == 0);
    CHECK(as_it_is.scratch == 0);
    CHECK(as_it_is.rows > as_elements.rows);
}

TEST_CASE("fused_layout: a block is folded along the axes that its result lacks") {
    compile_reducer<combine::sum, float>();
    const auto sum = the_kernels().reducers.find("Sum/float32");
    REQUIRE(sum);
    const auto l = test_fused_layout::plan({3, 4, 5}, {{3, 4, 5}}, {3, 1, 5});
    std::vector<float> block(60), out(15, 1.f);
    for (std::size_t i = 0; i < 60; ++i) block[i] = static_cast<float>(i);
    detail::fold_block(reinterpret_cast<std::byte*>(out.data()), reinterpret_cast<std::byte*>(block.data()),
                       l.results[0], l, l.outer, l.extent[static_cast<std::size_t>(l.outer)], *sum);
    for (std::size_t i = 0; i < 15; ++i) {
        const std::size_t first = i / 5 * 20 + i % 5;
        CHECK(out[i] == 1.f + static_cast<float>(4 * first + 30));
    }
}

TEST_CASE("fused_layout: a view within long rows is read where it lies, and short rows are copied") {
    const auto plan = [](const dims& space, index_t whole) {
        const strided_view inside{1, {whole, 1}};
        const detail::fused_operand leaf{{dtype::float32, space}, &inside}, out{{dtype::float32, space}};
        return detail::plan_fused(space, std::span(&leaf, 1), std::span(&out, 1), false);
    };
    const auto wide = plan({20, 200}, 202);
    CHECK(wide.leaves[0].direct);
    CHECK(wide.row_size == 1);
    CHECK(wide.rows == 200);
    const auto narrow = plan({20, 10}, 12);
    CHECK_FALSE(narrow.leaves[0].direct);
    CHECK(narrow.results[0].direct);
}

TEST_CASE("fused_layout: rows of a block go to where a padded result has them, and one number surrounds them") {
    const dims space{3, 4};
    padded_view padding{{6 + 1, {6, 1}}, dims{5, 6}, dims{1, 1}, {}};
    const float around = 9;
    std::memcpy(padding.around.data(), &around, sizeof around);
    const detail::fused_operand leaf{{dtype::float32, space}}, out{{dtype::float32, space}, &padding.value};
    const auto l = detail::plan_fused(space, std::span(&leaf, 1), std::span(&out, 1), false);
    std::vector<float> block(12), padded(30, -1.f);
    for (std::size_t i = 0; i < 12; ++i) block[i] = static_cast<float>(i);
    auto* const to = reinterpret_cast<std::byte*>(padded.data());
    detail::write_padding(to, padding, space, sizeof(float));
    detail::scatter_rows(to + 7 * sizeof(float), reinterpret_cast<const std::byte*>(block.data()), l.results[0], l,
                         l.outer, l.extent[static_cast<std::size_t>(l.outer)]);
    for (std::size_t r = 0; r < 5; ++r)
        for (std::size_t c = 0; c < 6; ++c) {
            const bool inside = r >= 1 && r < 4 && c >= 1 && c < 5;
            CHECK(padded[r * 6 + c] == (inside ? static_cast<float>((r - 1) * 4 + c - 1) : 9.f));
        }
}
