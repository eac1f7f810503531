// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/indexing.hpp>

#include <numeric>
#include <string>
#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("indexing: gather and scatter_add undo one another") {
    const std::vector<int> ids{2, 0, 2};
    for (const index_t inner : {1, 3, 50}) {
        const index_t outer = 2, extent = 4, count = 3;
        std::vector<float> table(static_cast<std::size_t>(outer * extent * inner)),
            slices(static_cast<std::size_t>(outer * count * inner));
        std::iota(table.begin(), table.end(), 1.f);
        gather_slices(table.data(), ids.data(), slices.data(), outer, extent, inner, count);
        const auto at = [&](const std::vector<float>& v, index_t o, index_t e, index_t i, index_t n) {
            return v[static_cast<std::size_t>((o * n + e) * inner + i)];
        };
        std::vector<float> back(table.size());
        scatter_add_slices(slices.data(), ids.data(), back.data(), outer, extent, inner, count);
        bool right = true;
        for (index_t o = 0; o < outer; ++o)
            for (index_t i = 0; i < inner; ++i) {
                for (index_t k = 0; k < count; ++k)
                    right = right &&
                            at(slices, o, k, i, count) == at(table, o, ids[static_cast<std::size_t>(k)], i, extent);
                for (index_t e = 0; e < extent; ++e)
                    right = right && at(back, o, e, i, extent) == at(table, o, e, i, extent) * (e == 2   ? 2.f
                                                                                                : e == 0 ? 1.f
                                                                                                         : 0.f);
            }
        CHECK(right);
    }
    const std::string words[] = {"a", "b"};
    std::string out[3];
    gather_slices(words, std::vector<std::int64_t>{1, 1, 0}.data(), out, 1, 2, 1, 3);
    CHECK(out[0] + out[1] + out[2] == "bba");
    half sum[] = {half(1.f), half(2.f)};
    const half more[] = {half(4.f), half(0.5f)};
    scatter_add_slices(more, std::vector<int>{1, 1}.data(), sum, 1, 2, 1, 2);
    CHECK(static_cast<float>(sum[1]) == 6.5f);
}

TEST_CASE("indexing: one_hot") {
    std::vector<int> out(8, 7);
    one_hot_rows(std::vector<std::int64_t>{1, -1, 2, 0}.data(), out.data(), 4, 2, 1, 5, -5);
    CHECK(out == std::vector<int>{-5, 5, -5, -5, -5, -5, 5, -5});
}

TEST_CASE("indexing: one_hot along a first axis") {
    std::vector<int> out(6, 7);
    one_hot_rows(std::vector<int>{1, -1}.data(), out.data(), 1, 3, 2, 1, 0);
    CHECK(out == std::vector<int>{0, 0, 1, 0, 0, 0});
}

TEST_CASE("indexing: rows of indices become places, and the first one outside is found") {
    const auto flat = [](const std::vector<int>& ids, index_t count, const dims& shape) {
        std::vector<std::int64_t> to(static_cast<std::size_t>(count), -7);
        const index_t refused = flatten_indices(ids.data(), to.data(), count, shape);
        if (refused >= 0) to = {refused};
        return to;
    };
    using places = std::vector<std::int64_t>;
    CHECK(flat({2, 0}, 2, {3}) == places{2, 0});
    CHECK(flat({1, 2, 0, 1}, 2, {2, 4}) == places{6, 1});
    CHECK(flat({1, 0, 1}, 1, {2, 2, 2}) == places{5});
    CHECK(flat({1, 0, 1, 2}, 1, {2, 2, 2, 3}) == places{17});
    CHECK(flat({}, 2, {}) == places{0, 0});
    CHECK(flat({1, 2, 0, 4}, 2, {2, 4}) == places{3});
    CHECK(flat({0, 0, -1, 9}, 2, {2, 4}) == places{2});
}

TEST_CASE("indexing: segments are combined, and gathered back") {
    const std::vector<int> ids{1, 1, -1, 3, 1};
    const auto combined = [&]<class C>(std::type_identity<C>, index_t inner, float empty) {
        const std::vector<float> x{5, 2, 9, 4, 3, 50, 20, 90, 40, 30};
        std::vector<float> to(static_cast<std::size_t>(4 * inner), -1.f);
        std::vector<std::uint8_t> seen(4, 9);
        combine_slices<C>(x.data(), ids.data(), to.data(), 5, 4, inner, empty, seen.data());
        return to;
    };
    using slices = std::vector<float>;
    CHECK(combined(std::type_identity<sum_combine>{}, 1, 0.f) == slices{0, 10, 0, 4});
    CHECK(combined(std::type_identity<prod_combine>{}, 1, 1.f) == slices{1, 30, 1, 4});
    CHECK(combined(std::type_identity<max_combine>{}, 1, -8.f) == slices{-8, 5, -8, 4});
    CHECK(combined(std::type_identity<min_combine>{}, 1, 8.f) == slices{8, 2, 8, 4});
    CHECK(combined(std::type_identity<sum_combine>{}, 2, 0.f) == slices{0, 0, 54, 36, 0, 0, 20, 90});
    slices back(10, 7);
    gather_segment_slices(slices{1, 2, 3, 4, 5, 6, 7, 8}.data(), ids.data(), back.data(), 2, 5);
    CHECK(back == slices{3, 4, 3, 4, 0, 0, 7, 8, 3, 4});
}

TEST_CASE("indexing: sums of many slices, in the order of a run first") {
    const auto sums_are_right = [](const std::vector<int>& ids, index_t segments) {
        std::vector<float> x, to(static_cast<std::size_t>(segments), -1.f), wanted(to.size());
        for (std::size_t i = 0; i < ids.size(); ++i) x.push_back(1.f / static_cast<float>(i + 3));
        for (std::size_t i = 0; i < ids.size();) {
            const int id = ids[i];
            float run = x[i];
            while (++i < ids.size() && ids[i] == id) run += x[i];
            if (id >= 0) wanted[static_cast<std::size_t>(id)] += run;
        }
        const std::vector<std::int64_t> wide(ids.begin(), ids.end());
        const auto n = static_cast<index_t>(ids.size());
        const bool right =
            combine_slices<sum_combine>(x.data(), ids.data(), to.data(), n, segments, 1, 0.f, nullptr) == -1 &&
            to == wanted;
        return right && to == wanted &&
               combine_slices<sum_combine>(x.data(), wide.data(), to.data(), n, segments, 1, 0.f, nullptr) == -1 &&
               to == wanted;
    };
    for (const std::size_t n : {0u, 1u, 63u, 64u, 65u, 128u, 129u, 1000u}) {
        std::vector<int> mixed, sorted, runs, sparse;
        for (std::size_t i = 0; i < n; ++i) {
            mixed.push_back(static_cast<int>(i * 7919 % 50));
            sorted.push_back(static_cast<int>(i * 50 / n));
            runs.push_back(static_cast<int>(i * i / 90 * 31 % 50));
            sparse.push_back(i % 70 == 7 ? -1 - static_cast<int>(i) : static_cast<int>(i % 50));
        }
        for (const auto& ids : {mixed, sorted, runs, sparse}) CHECK(sums_are_right(ids, 50));
    }
}

TEST_CASE("indexing: the first id that is not below the number of segments") {
    const auto refused = [](const std::vector<int>& ids, index_t segments, index_t inner) {
        const std::vector<float> x(ids.size() * 3, 1.f);
        std::vector<float> to(static_cast<std::size_t>(segments * inner));
        std::vector<std::uint8_t> seen(to.size());
        const auto n = static_cast<index_t>(ids.size());
        const auto at = combine_slices<sum_combine>(x.data(), ids.data(), to.data(), n, segments, inner, 0.f, nullptr);
        const auto of_extremes =
            combine_slices<max_combine>(x.data(), ids.data(), to.data(), n, segments, inner, 0.f, seen.data());
        return at == of_extremes ? at : -2;
    };
    std::vector<int> ids(200);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i % 9);
    for (const index_t inner : {1, 3}) {
        CHECK(refused(ids, 9, inner) == -1);
        CHECK(refused(ids, 8, inner) == 8);
        for (const std::size_t at : {0u, 63u, 64u, 130u, 199u}) {
            auto bad = ids;
            bad[at] = std::numeric_limits<int>::max();
            bad[199] = 9;
            CHECK(refused(bad, 9, inner) == static_cast<index_t>(at));
        }
        CHECK(refused({0}, 0, inner) == 0);
        CHECK(refused({-3, -1}, 0, inner) == -1);
    }
}

TEST_CASE("indexing: slices chosen by rows of indices") {
    const auto check = [](const dims& shape, index_t inner, index_t count, auto id) {
        using I = decltype(id);
        std::vector<float> table(static_cast<std::size_t>(shape.size() * inner));
        std::iota(table.begin(), table.end(), 1.f);
        std::vector<I> ids;
        std::vector<float> wanted;
        for (index_t k = 0; k < count; ++k) {
            index_t at = 0;
            for (int j = 0; j < shape.rank; ++j) {
                ids.push_back(static_cast<I>((k * 37 + j * 11) % shape[j]));
                at = at * shape[j] + static_cast<index_t>(ids.back());
            }
            for (index_t i = 0; i < inner; ++i) wanted.push_back(table[static_cast<std::size_t>(at * inner + i)]);
        }
        std::vector<float> to(wanted.size());
        CHECK(gather_rows(table.data(), ids.data(), to.data(), count, shape, inner) == -1);
        CHECK(to == wanted);
        for (const std::size_t bad : {std::size_t(0), ids.size() / 2, ids.size() - 1})
            for (const I value : {I(-1), static_cast<I>(shape[static_cast<int>(bad) % shape.rank]),
                                  std::numeric_limits<I>::min(), std::numeric_limits<I>::max()}) {
                auto outside = ids;
                outside[bad] = value;
                CHECK(gather_rows(table.data(), outside.data(), to.data(), count, shape, inner) ==
                      static_cast<index_t>(bad));
            }
    };
    for (const index_t count : {1, 1024, 2500}) {
        check({10}, 1, count, int());
        check({10, 7}, 1, count, int());
        check({10, 7}, 3, count, std::int64_t());
        check({10, 7, 2}, 1, count, std::int64_t());
        check({2, 3, 4, 5}, 2, count, int());
    }
    const std::string words[] = {"a", "b"};
    std::string out[2];
    CHECK(gather_rows(words, std::vector<int>{1, 0}.data(), out, 2, {2}, 1) == -1);
    CHECK(out[0] + out[1] == "ba");
    float all[] = {1, 2, 3, 4};
    float to[4] = {};
    CHECK(gather_rows(all, static_cast<const int*>(nullptr), to, 2, {}, 2) == -1); // rows without indices: the table
    CHECK(to[3] == 2.f);
}

TEST_CASE("indexing: where extremes are") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x{1, 3, 3, 0, 0, 2, nan, 5, 1};
    std::vector<std::int64_t> at(9);
    arg_extreme<max_combine>(x.data(), at.data(), 3, 3, 1);
    CHECK(std::vector(at.begin(), at.begin() + 3) == std::vector<std::int64_t>{1, 2, 0});
    arg_extreme<min_combine>(x.data(), at.data(), 3, 3, 1);
    CHECK(std::vector(at.begin(), at.begin() + 3) == std::vector<std::int64_t>{0, 0, 0});
    arg_extreme<max_combine>(x.data(), at.data(), 1, 3, 3); // down the columns
    CHECK(std::vector(at.begin(), at.begin() + 3) == std::vector<std::int64_t>{2, 2, 0});
    const std::vector<half> halves{half(1.f), half(2.f)};
    arg_extreme<max_combine>(halves.data(), at.data(), 1, 2, 1);
    CHECK(at[0] == 1);
}
