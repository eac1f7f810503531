// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/einsum.hpp>

#include <rill/ops/linalg/matmul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_einsum {

static_assert(std::is_same_v<decltype(einsum<"bij,bjk->bik">(tensor<float, dyn, 2, 3>(), tensor<float, 5, dyn, 4>())),
                             tensor<float, 5, 2, 4>>);
static_assert(std::is_same_v<decltype(einsum<"ij, jk">(tensor<int, 2, 3>(), tensor<int, 3, 4>())), tensor<int, 2, 4>>);
static_assert(
    std::is_same_v<decltype(einsum<"...i,i->...">(tensor<float, 4, 2, 3>(), tensor<float, 3>())), tensor<float, 4, 2>>);
static_assert(
    std::is_same_v<decltype(tensordot<1>(tensor<float, 4, 3>(), tensor<float, 3, 2, 5>())), tensor<float, 4, 2, 5>>);
static_assert(!einsum_parses<"ij,jk->il", 2, 2> && !einsum_parses<"ii->i", 2> && !einsum_parses<"ij->i", 2, 2>);
static_assert(!einsum_fits<"ij,jk", extents<2, 3>, extents<4, 5>> &&
              einsum_fits<"ij,jk", extents<2, dyn>, extents<4, 5>>);

/// The sum over all values of all labels, the plain way.
std::vector<double> summed(const einsum_equation& e, const std::vector<any_array>& at, const dims& result) {
    std::string labels;
    std::vector<index_t> extents;
    for (int i = 0; i < e.operands; ++i)
        for (std::size_t k = 0; k < e.term(i).size(); ++k)
            if (labels.find(e.term(i)[k]) == std::string::npos) {
                labels += e.term(i)[k];
                extents.push_back(at[static_cast<std::size_t>(i)].shape()[static_cast<int>(k)]);
            }
    std::vector<double> y(static_cast<std::size_t>(result.size()));
    index_t total = 1;
    for (const index_t n : extents) total *= n;
    for (index_t flat = 0; flat < total; ++flat) {
        std::vector<index_t> place(labels.size());
        index_t rest = flat;
        for (std::size_t k = 0; k < labels.size(); ++k) place[k] = rest % extents[k], rest /= extents[k];
        const auto element = [&](std::string_view term, const dims& shape) {
            index_t at_flat = 0;
            for (std::size_t k = 0; k < term.size(); ++k)
                at_flat = at_flat * shape[static_cast<int>(k)] + place[labels.find(term[k])];
            return static_cast<std::size_t>(at_flat);
        };
        double term = 1;
        for (int i = 0; i < e.operands; ++i) {
            const any_array& a = at[static_cast<std::size_t>(i)];
            term *= a.elements<double>()[element(e.term(i), a.shape())];
        }
        y[element(e.term(e.operands), result)] += term;
    }
    return y;
}

TEST_CASE("einsum: values and gradients, to second order") {
    struct row {
        const char* equation;
        std::vector<dims> shapes;
        dims result;
    };
    const row rows[] = {
        {"ij,jk->ik", {{2, 3}, {3, 4}}, {2, 4}},
        {"ij,kj->ki", {{2, 3}, {4, 3}}, {4, 2}},
        {"ji,jk", {{3, 2}, {3, 4}}, {2, 4}},
        {"bij,bjk->bik", {{2, 2, 3}, {2, 3, 2}}, {2, 2, 2}},
        {"bhqd,bkhd->bhqk", {{1, 2, 2, 3}, {1, 3, 2, 3}}, {1, 2, 2, 3}},
        {"abc,cdb->da", {{2, 3, 2}, {2, 2, 3}}, {2, 2}},
        {"i,j->ji", {{2}, {3}}, {3, 2}},
        {"i,i->", {{4}, {4}}, {}},
        {"i,i->i", {{4}, {4}}, {4}},
        {"ij,k->i", {{2, 3}, {2}}, {2}},
        {"ij->j", {{2, 3}}, {3}},
        {"ijk->kij", {{2, 3, 2}}, {2, 2, 3}},
        {"ba", {{2, 3}}, {3, 2}},
        {",i->i", {{}, {3}}, {3}},
        {"ij,jk,kl->il", {{2, 2}, {2, 3}, {3, 2}}, {2, 2}},
        {"a,ab,b->", {{2}, {2, 3}, {3}}, {}},
        {"...ij,...jk->...ik", {{2, 1, 2, 3}, {2, 1, 3, 2}}, {2, 1, 2, 2}},
        {"...i,ij", {{2, 3}, {3, 2}}, {2, 2}},
        {"ij,jk->ik", {{2, 0}, {0, 3}}, {2, 3}},
        {"ij,jk->ik", {{0, 2}, {2, 3}}, {0, 3}},
    };
    for (const row& r : rows) {
        INFO(r.equation);
        const graph g;
        const graph_scope here(g);
        const session s(g);
        std::vector<any_tensor> x;
        std::vector<any_array> at;
        for (std::size_t i = 0; i < r.shapes.size(); ++i) {
            x.push_back(any_placeholder("x" + std::to_string(i), dtype::float64, rules::of_rank(r.shapes[i].rank)));
            at.push_back(op_test::point_array<double>({-1, 1}, r.shapes[i], static_cast<int>(i)));
        }
        any_tensor y;
        einsum_equation e;
        const auto rank = [&](std::size_t i) { return r.shapes[i].rank; };
        if (x.size() == 1)
            y = einsum(r.equation, x[0]), e = parse_einsum(r.equation, std::array{rank(0)});
        else if (x.size() == 2)
            y = einsum(r.equation, x[0], x[1]), e = parse_einsum(r.equation, std::array{rank(0), rank(1)});
        else
            y = einsum(r.equation, x[0], x[1], x[2]),
            e = parse_einsum(r.equation, std::array{rank(0), rank(1), rank(2)});
        const any_array got = op_test::run(s, y, x, at);
        CHECK(got.shape() == r.result);
        CHECK(op_test::far_apart(op_test::reals(got), summed(e, at, r.result), 1e-14) == "");
        op_test::gradient_check{s, x, at}.check(y, 2);
        op_test::check_reads(s, g, x, at);
    }
}

TEST_CASE("einsum, tensordot: typed, and of integers") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<int, 2, 3> a("a");
    const placeholder<int, 3, 2> b("b");
    const auto at = op_test::make_array<int>({2, 3}, {1, 2, 3, 4, 5, 6}),
               by = op_test::make_array<int>({3, 2}, {1, 0, 0, 1, 2, 2});
    const std::vector<int> wanted{7, 8, 16, 17};
    CHECK(op_test::list(s.run(einsum<"ij,jk->ik">(a, b), feed(a, at), feed(b, by))) == wanted);
    CHECK(op_test::list(s.run(tensordot<1>(a, b), feed(a, at), feed(b, by))) == wanted);
    const auto numbers = [&](const any_tensor& y) {
        const any_array got = s.run(y, feed(a, at), feed(b, by));
        return std::vector<int>(got.elements<int>().begin(), got.elements<int>().end());
    };
    CHECK(numbers(tensordot(a, b, {0, 1}, {1, 0})) == std::vector<int>{1 + 6 + 5 + 12});
    CHECK(numbers(tensordot(a, b, {0}, {-1})) == numbers(einsum("ij,ki->jk", a, b)));
}

TEST_CASE("einsum: what does not parse, or does not fit") {
    const graph_scope here{graph()};
    const auto a = any_placeholder("a", dtype::float32, {2, 3}), b = any_placeholder("b", dtype::float32, {4, 5}),
               n = any_placeholder("n", dtype::float32);
    CHECK_THROWS_WITH(einsum("ij,jk->ik", a, b), contains("einsum: \"ij,jk->ik\": two axes with one label"));
    CHECK_THROWS_WITH(einsum("ij->il", a), contains("a label of the result is in no operand"));
    CHECK_THROWS_WITH(einsum("ii->i", a), contains("a label occurs twice"));
    CHECK_THROWS_WITH(einsum("ij,kl,mn", a, b), contains("not as many terms as operands"));
    CHECK_THROWS_WITH(einsum("ij", a, b), contains("not as many terms as operands"));
    CHECK_THROWS_WITH(einsum("i?->i", a), contains("a label is not a letter"));
    CHECK_THROWS_WITH(einsum("ijk->i", a), contains("as many axes as its term"));
    CHECK_THROWS_WITH(einsum("...i->i", n), contains("known rank"));
    CHECK_THROWS_WITH(einsum("0j,...->j", a, a), contains("labels beside an ellipsis are letters"));
    CHECK_THROWS_WITH(tensordot(a, b, {0}, {0}), contains("different extents"));
    CHECK_THROWS_WITH(tensordot(a, b, {0, 0}, {0, 1}), contains("an axis is named twice"));
    CHECK_THROWS_WITH(tensordot(a, b, {2}, {0}), contains("an axis is out of range"));
    const op_ptr made = make_op(einsum_op{"ij,jk->ik"});
    CHECK(make_op("Einsum", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("Einsum", 1, bytes_of_fields(*make_op(einsum_op{"ij,kj->ik"})))->equals(*made));
}

} // namespace test_ops_linalg_einsum
