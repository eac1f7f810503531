// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/kernel_list.hpp>

#include <rill/all_kernels.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_kernel_list {

template <class Op, class... T> void check_primitive() {
    static_assert(detail::listed_primitive<Op, T...>);
    const std::string& key = key_of<structure<Op, elementwise_result<Op, T...>, leaf<T>...>>();
    INFO(key);
    CHECK(the_kernels().blocks.find(key));
}
template <class T, class... Op> void check_unary(detail::op_list<Op...>) {
    (
        [] {
            if constexpr (op_takes<Op, T>) check_primitive<Op, T>();
        }(),
        ...);
}
template <class T, class... Op> void check_binary(detail::op_list<Op...>) {
    (
        [] {
            if constexpr (op_takes<Op, T>) check_primitive<Op, T, T>();
        }(),
        ...);
}
template <class T, class... Op> void check_nodes(detail::op_list<Op...>) {
    const auto one = [](std::string_view name, dtype type) {
        INFO(name);
        CHECK(the_kernels().factories.find(detail::kernel_key(name, type)));
    };
    static_assert((detail::listed_kernel<Op, T> && ...));
    if constexpr (std::is_void_v<T>)
        (one(Op::name, dtype::invalid), ...);
    else
        (one(Op::name, dtype_of<T>), ...);
}

TEST_CASE("kernel list: what is listed can be run, whether or not this program uses it", "[kernels]") {
    check_unary<float>(detail::listed_unary{});
    check_unary<double>(detail::listed_unary{});
    check_unary<std::int32_t>(detail::listed_unary{});
    check_unary<std::int64_t>(detail::listed_unary{});
    check_unary<bool>(detail::listed_unary{});
    check_binary<float>(detail::listed_binary{});
    check_binary<double>(detail::listed_binary{});
    check_binary<std::int32_t>(detail::listed_binary{});
    check_binary<std::int64_t>(detail::listed_binary{});
    check_binary<bool>(detail::listed_binary{});
    check_primitive<select_op, bool, double, double>();
    check_nodes<float>(detail::listed_numeric{});
    check_nodes<std::int64_t>(detail::listed_numeric{});
    check_nodes<double>(detail::listed_floating{});
    check_nodes<void>(detail::listed_untyped{});
    for (const char* how : {"Sum/float64", "Prod/int32", "Max/int64", "Min/float32", "All/bool", "Any/bool"}) {
        INFO(how);
        CHECK(the_kernels().combiners.find(how));
    }
}

TEST_CASE("kernel list: expressions of one op are compiled with their adjoints", "[kernels]") {
    const auto scaled = the_kernels().blocks.find(key_of<structure<mul_op, float, scalar_leaf<float>, leaf<float>>>());
    REQUIRE(scaled);
    CHECK(scaled->adjoint);
    const auto product = the_kernels().blocks.find(key_of<structure<mul_op, double, leaf<double>, leaf<double>>>());
    REQUIRE(product);
    CHECK(product->adjoint_of_one);
    STATIC_REQUIRE(
        !detail::listed_expression<structure<mul_op, float, structure<neg_op, float, leaf<float>>, leaf<float>>>);
    STATIC_REQUIRE(!detail::listed_expression<structure<mul_op, std::int8_t, leaf<std::int8_t>, leaf<std::int8_t>>>);
    STATIC_REQUIRE(!detail::listed_kernel<matmul_op, std::uint8_t>);
}

} // namespace test_kernel_list
