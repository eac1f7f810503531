// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/string_to_hash_bucket_fast.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

namespace test_ops_string_string_to_hash_bucket_fast {

/// The first n bytes of a text in which every byte differs from its neighbours.
std::string text_of(std::size_t n) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += static_cast<char>(i * 7 + i / 13);
    return all;
}

TEST_CASE("string_to_hash_bucket_fast: TensorFlow's buckets, for texts of every length class") {
    // by tf.strings.to_hash_bucket_fast of TensorFlow 2.21, with 2^63 - 1 buckets
    const std::vector<std::pair<std::size_t, std::int64_t>> wanted{
        {0, 1936946117179621456},   {1, 4494688008148699989},   {2, 3713569988169443241},   {3, 7836721383716570152},
        {4, 365121004050576997},    {5, 2251359278607051727},   {7, 1123016345076934235},   {8, 6649577755799664552},
        {9, 4162435510252670196},   {15, 2844180455495194743},  {16, 1717468623941451249},  {17, 4694438057276340687},
        {24, 1769314023358862864},  {31, 2601656127335827209},  {32, 6279823126636249623},  {33, 3848765475953034611},
        {48, 8525572422214061555},  {63, 7215117798870175849},  {64, 8909586285916097609},  {65, 8293857964441149958},
        {100, 6762884783914890794}, {127, 2411668298103468528}, {128, 8893524802819773610}, {129, 5184924672097702353},
        {200, 3322060416066931969}, {1000, 5531974843515350376}};
    constexpr auto buckets = std::numeric_limits<std::int64_t>::max();
    std::vector<std::string> texts;
    std::vector<std::int64_t> values;
    for (const auto& [size, value] : wanted) {
        texts.push_back(text_of(size));
        values.push_back(value);
    }
    const auto n = static_cast<index_t>(texts.size());
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<std::string, dyn> x("x");
    const any_tensor any = any_placeholder("any", dtype::string);
    const any_array at = text_test::array({n}, texts);
    static_assert(std::is_same_v<decltype(string_to_hash_bucket_fast(x, 3)), tensor<std::int64_t, dyn>>);
    CHECK(op_test::difference<std::int64_t>(op_test::run(s, string_to_hash_bucket_fast(x, buckets), {x}, {at}), {n},
                                            values) == "");
    CHECK(op_test::difference<std::int64_t>(op_test::run(s, string_to_hash_bucket_fast(any, buckets), {any}, {at}), {n},
                                            values) == "");
    static_assert(detail::fingerprint::of("") == 0x9ae16a3b2f90404f);
}

TEST_CASE("string_to_hash_bucket_fast: refusals, and by name") {
    const graph g;
    const graph_scope here(g);
    CHECK_THROWS_WITH(string_to_hash_bucket_fast(any_placeholder("n", dtype::float32), 2),
                      contains("string_to_hash_bucket_fast: what is hashed must be string, not float32"));
    CHECK_THROWS_WITH(string_to_hash_bucket_fast(any_placeholder("t", dtype::string), 0),
                      contains("there are 0 buckets; 1 or more are needed"));
    const op_ptr made = make_op(string_to_hash_bucket_fast_op{7});
    CHECK(make_op("StringToHashBucketFast", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_string_string_to_hash_bucket_fast
