// SPDX-License-Identifier: BSD-3-Clause
// Every elementwise op of the catalogue on the device beside the CPU: values and gradients, for each common element type, of arrays, of rows
// that are repeated, and of many elements. RILL_TEST_PART=k of RILL_TEST_PARTS compiles every n-th op.
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <rill/expr/tracer.hpp>
#include <rill/ops/catalogue.hpp>

#include "common.hpp"

#ifndef RILL_TEST_PARTS
#define RILL_TEST_PARTS 1
#define RILL_TEST_PART 0
#endif

namespace gpu_test {

/// An elementwise op over operands of these types.
struct elementwise {
    std::string name;
    const elementwise_info* op;
    std::vector<dtype> operands;
    dtype result;
};

template <class Op, class... A> elementwise compiled(std::tuple<A...>*) {
    compile_primitive<Op, A...>();
    return {std::string(Op::name), &info_of<Op>, {dtype_of<A>...}, dtype_of<elementwise_result<Op, A...>>};
}
template <class Op, class T> elementwise compiled() {
    if constexpr (requires { typename Op::template operands<T>; }) {
        return compiled<Op>(static_cast<typename Op::template operands<T>*>(nullptr));
    } else {
        constexpr int operands = detail::operands_of<Op, T>();
        using all = std::conditional_t<operands == 1, std::tuple<T>,
                                       std::conditional_t<operands == 2, std::tuple<T, T>, std::tuple<T, T, T>>>;
        return compiled<Op>(static_cast<all*>(nullptr));
    }
}

/// Returns true if this program compiles an op: its name decides.
template <class Op> constexpr bool is_of_part() {
    unsigned sum = 0;
    for (const char c : std::string_view(Op::name)) sum = sum * 31 + static_cast<unsigned char>(c);
    return sum % RILL_TEST_PARTS == RILL_TEST_PART;
}

/// Compiles the ops of this part, and returns them.
std::vector<elementwise> all_elementwise() {
    std::vector<elementwise> all;
    catalogue::each([&]<class Op>(std::type_identity<Op>) {
        types::common::each([&]<class T>(std::type_identity<T>) {
            if constexpr (!detail::node_op_struct<Op> && op_takes<Op, T>)
                if constexpr (is_of_part<Op>()) all.push_back(compiled<Op, T>());
        });
    });
    return all;
}

/// Returns an array of numbers of a type. Divisors of integers are above 0.
any_array drawn_array(std::mt19937& r, dtype type, const dims& shape, bool positive) {
    any_array a(type, shape);
    for (index_t i = 0; i < shape.size(); ++i) {
        static constexpr double all[] = {1, 0.25, 2.5, 7, 1e-3, 40, 1, 3, -1, -0.75, -3, 0};
        const double value = all[r() % (positive ? 8 : std::size(all))];
        const auto n = type == dtype::boolean ? scalar_value(value > 0.5)
                                              : detail::scalar_of(type, positive ? std::ceil(value) : value);
        std::memcpy(static_cast<std::byte*>(a.mutable_data()) + static_cast<std::size_t>(i) * size_of(type),
                    n.bytes.data(), size_of(type));
    }
    return a;
}

double number_at(const any_array& a, index_t i) {
    double value = 0;
    types::common::each([&]<class T>(std::type_identity<T>) {
        if (a.type().type == dtype_of<T>) value = static_cast<double>(static_cast<const T*>(a.data())[i]);
    });
    return value;
}

/// Returns what differs between the values of an op and its gradients on the device and on the CPU; empty if nothing does.
std::string difference(const elementwise& e, const std::vector<dims>& shapes) {
    std::mt19937 r(7);
    const graph g;
    const graph_scope here(g);
    tracer t(e.operands, {});
    std::vector<int> args;
    std::vector<any_tensor> xs;
    endpoint_list inputs;
    std::vector<feed_value> feeds;
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
        args.push_back(t.leaf(static_cast<int>(i)));
        xs.push_back(any_placeholder("x" + std::to_string(i), e.operands[i], shapes[i]));
        inputs.push_back(xs.back());
        feeds.push_back(feed(xs.back(), drawn_array(r, e.operands[i], shapes[i], e.op->divides && i > 0)));
    }
    const auto body = t.finish_op(t.emit(*e.op, e.result, args));
    std::vector<any_tensor> fetched{any_tensor(detail::add_program(g, body, t.scalars(), inputs))};
    try {
        if (is_differentiable(e.result))
            for (const auto& d : gradients({fetched[0]}, xs))
                if (d) fetched.push_back(d);
    } catch (const unimplemented&) { // an op without a gradient
    }
    const auto run = [&](const std::string& type) {
        const by_default there(type);
        return session(g, {}).run(fetched, feeds);
    };
    const auto wanted = run("cpu"), got = run(device_type_name());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const dtype type = wanted[i].type().type;
        const double tolerance = type == dtype::float32 ? 2e-4 : type == dtype::float64 ? 1e-9 : 0;
        for (index_t k = 0; k < wanted[i].size(); ++k) {
            const double a = number_at(got[i], k), b = number_at(wanted[i], k);
            if (apart(a, b) > tolerance)
                return std::string(i == 0 ? "its value" : "a gradient") + " at " + std::to_string(k) + " is " +
                       std::to_string(a) + ", on the CPU " + std::to_string(b);
        }
    }
    return {};
}

} // namespace gpu_test

int main() {
    using namespace gpu_test;
    begin();
    for (const auto& e : all_elementwise()) {
        std::string problem;
        const dims line{257}, rows{3, 85}, row{85}, many{(1 << 20) + 5};
        const std::vector<std::vector<dims>> all{
            {line, line, line}, {rows, row, rows}, {row, rows, row}, {many, many, many}};
        for (const auto& shapes : all)
            if (problem.empty()) problem = difference(e, shapes);
        expect(problem.empty(),
               e.name + " of " + std::string(to_string(e.operands[0])) + (problem.empty() ? "" : ": " + problem));
    }
    return end();
}
