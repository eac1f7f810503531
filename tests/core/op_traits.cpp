// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/op_traits.hpp>

#include <complex>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace rill::test_op_traits { // as ops of the library

struct silent_op {};
struct spoken_op {
    static constexpr int version = 4;
    using domain_type = domains::real;
    using compiled_types = types::common;
    using brings = op_list<silent_op>;
};
struct moving_op {
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
};
template <class T> struct templated_op {};

/// The dtypes that a domain has.
template <class Domain> std::vector<dtype> all_of() {
    std::vector<dtype> all;
    for (int d = 1; d < dtype_count; ++d)
        detail::visit_dtype(static_cast<dtype>(d), [&]<class T>(std::type_identity<T>) {
            if (Domain::template has<T>) all.push_back(static_cast<dtype>(d));
        });
    return all;
}

} // namespace rill::test_op_traits

namespace test_foreign_op {
/// An op of a program's own: what rill::kernels holds can't be among it.
struct foreign_op : rill::test_op_traits::spoken_op {};
} // namespace test_foreign_op

TEST_CASE("op_traits: domains") {
    using rill::test_op_traits::all_of;
    const std::vector<dtype> floating{dtype::float32,    dtype::float64,  dtype::complex64,
                                      dtype::complex128, dtype::bfloat16, dtype::half};
    CHECK(all_of<domains::floating>() == floating);
    CHECK(all_of<domains::real_floating>() ==
          std::vector<dtype>{dtype::float32, dtype::float64, dtype::bfloat16, dtype::half});
    CHECK(all_of<domains::boolean>() == std::vector<dtype>{dtype::boolean});
    CHECK(all_of<domains::numeric>().size() == floating.size() + 8);
    CHECK(all_of<domains::real>().size() == floating.size() - 2 + 8);
    CHECK(all_of<domains::comparable>().size() == floating.size() + 8 + 1);
    CHECK(all_of<domains::every>().size() == dtype_count - 1);
    CHECK(all_of<domains::any>().size() == dtype_count - 2); // text is none
    CHECK(all_of<domains::untyped>().empty());
    STATIC_REQUIRE(domains::untyped::has<void>);
}

TEST_CASE("op_traits: what a struct leaves out gets the usual meaning") {
    using rill::test_op_traits::silent_op;
    STATIC_REQUIRE(detail::op_version<silent_op> == 1);
    STATIC_REQUIRE(op_takes<silent_op, float>);
    STATIC_REQUIRE(op_takes<silent_op, std::complex<double>>);
    STATIC_REQUIRE_FALSE(op_takes<silent_op, int>);
    STATIC_REQUIRE_FALSE(op_takes<silent_op, void>);
    STATIC_REQUIRE_FALSE(detail::is_compiled<silent_op, float>);
    STATIC_REQUIRE_FALSE(detail::op_brings<silent_op, silent_op>);
}

TEST_CASE("op_traits: what a struct says counts, kernels only where type and domain meet") {
    using rill::test_op_traits::moving_op, rill::test_op_traits::silent_op, rill::test_op_traits::spoken_op;
    STATIC_REQUIRE(detail::op_version<spoken_op> == 4);
    STATIC_REQUIRE(op_takes<spoken_op, int>);
    STATIC_REQUIRE_FALSE(op_takes<spoken_op, std::complex<float>>);
    STATIC_REQUIRE(detail::is_compiled<spoken_op, double>);
    STATIC_REQUIRE_FALSE(detail::is_compiled<test_foreign_op::foreign_op, double>);
    STATIC_REQUIRE_FALSE(detail::is_compiled<spoken_op, bool>);        // compiled_types has it, the domain has not
    STATIC_REQUIRE_FALSE(detail::is_compiled<spoken_op, std::int8_t>); // the other way round
    STATIC_REQUIRE(op_takes<moving_op, void>);
    STATIC_REQUIRE_FALSE(op_takes<moving_op, float>);
    STATIC_REQUIRE(detail::is_compiled<moving_op, void>);
    STATIC_REQUIRE(detail::op_brings<spoken_op, silent_op>);
    STATIC_REQUIRE_FALSE(detail::op_brings<spoken_op, moving_op>);
}

TEST_CASE("op_traits: lists are walked in order, and joined") {
    std::vector<dtype> seen;
    types::common::each([&]<class T>(std::type_identity<T>) { seen.push_back(dtype_of<T>); });
    CHECK(seen == std::vector<dtype>{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean});
    using all = joined_ops<op_list<int>, op_list<>, op_list<float, double>>;
    STATIC_REQUIRE(std::is_same_v<all, op_list<int, float, double>>);
    STATIC_REQUIRE(std::is_same_v<joined_ops<op_list<>>, op_list<>>);
    std::size_t size = 0;
    all::each([&]<class T>(std::type_identity<T>) { size += sizeof(T); });
    CHECK(size == sizeof(int) + sizeof(float) + sizeof(double));
}

TEST_CASE("op_traits: the names of structs tell them apart") {
    using namespace rill::test_op_traits;
    CHECK(std::string(detail::type_name<silent_op>()).find("silent_op") != std::string::npos);
    CHECK(detail::type_name<silent_op>() != detail::type_name<spoken_op>());
    CHECK(detail::type_name<templated_op<int>>() != detail::type_name<templated_op<float>>());
    CHECK(std::string(detail::type_name<templated_op<int>>()).find("templated_op<int>") != std::string::npos);
}
