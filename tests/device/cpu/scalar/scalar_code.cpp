// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/scalar/scalar_code.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <rill/expr/tracer.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sin.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_scalar_code {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"}, y{"y"};
    using home = detail::scalar_code::home;

    static const fused_spec* spec(const any_tensor& t) { return t.node()->op->fused(); }
    static std::size_t count(const detail::scalar_code& code, home where) {
        std::size_t n = 0;
        for (const auto& v : code.values) n += v.where == where && v.lanes > 0;
        return n;
    }
};

/// A node that is interpreted: x * 2 and then so many more products by 2.
endpoint doubled(const graph& g, const any_tensor& x, int times) {
    tracer t({dtype::float32}, {});
    int value = t.leaf(0);
    for (int i = 0; i <= times; ++i)
        value = t.emit(info_of<mul_op>, dtype::float32, {t.constant(scalar_value(2.f)), value});
    return detail::add_program(g, t.finish({value}), t.scalars(), {x});
}

} // namespace test_device_cpu_scalar_code

using test_device_cpu_scalar_code_fixture = test_device_cpu_scalar_code::fixture;

TEST_CASE_METHOD(test_device_cpu_scalar_code_fixture,
                 "scalar_code: a node of one kernel is one call, whose scalars are data") {
    const tensor a(x * 2.f + y, "a"), b(sin(a) * 2.f, "b");
    const auto code = detail::make_scalar_code({{{spec(a), {{-1, 0}, {-1, 1}}, {-1}}, {spec(b), {{0, 0}}, {0}}}}, 1);
    REQUIRE(code.calls.size() == 2);
    CHECK(code.calls[0].reads == 2);
    CHECK(code.calls[0].writes == 1);
    CHECK(code.calls[1].reads == 1);
    CHECK(code.operands[code.calls[1].first_operand] == code.operands[code.calls[0].first_operand + 2]);
    CHECK(code.constants.size() == 1); // of both nodes
    CHECK(code.results == std::vector<int>{code.operands[code.calls[1].first_operand + 1]});
    CHECK(count(code, home::input) == 2);
    CHECK(count(code, home::computed) == 2);
    CHECK_FALSE(code.may_divide);
    for (const int r : code.results) CHECK(code.values[static_cast<std::size_t>(r)].lanes == code.calls[1].lanes);
}

TEST_CASE_METHOD(
    test_device_cpu_scalar_code_fixture,
    "scalar_code: an interpreted node is a call for each instruction, and what is computed twice is there once") {
    const any_tensor a(test_device_cpu_scalar_code::doubled(g, x, 2)), b(test_device_cpu_scalar_code::doubled(g, x, 4));
    const auto code = detail::make_scalar_code({{{spec(a), {{-1, 0}}, {0}}, {spec(b), {{-1, 0}}, {1}}}}, 2);
    CHECK(code.calls.size() == 5); // the first three are both nodes'
    CHECK(code.results[0] != code.results[1]);
    CHECK(code.constants.size() == 1);
    const auto same = detail::make_scalar_code({{{spec(a), {{-1, 0}}, {0}}, {spec(a), {{-1, 0}}, {1}}}}, 2);
    CHECK(same.calls.size() == 3);
    CHECK(same.results[0] == same.results[1]);
}

TEST_CASE_METHOD(test_device_cpu_scalar_code_fixture, "scalar_code: what nobody reads is not computed, nor written") {
    const tensor a(sin(x), "a"), b(a * y, "b");
    const auto [dx, dy] = gradients(tensor(x * y * 3.f, "c"), x, y);
    REQUIRE(dx.node() == dy.node()); // one node of two results
    const auto unused = detail::make_scalar_code({{{spec(a), {{-1, 0}}, {-1}}, {spec(b), {{0, 0}, {-1, 1}}, {-1}}}}, 0);
    CHECK(unused.calls.empty());
    CHECK(count(unused, home::input) == 0);
    const auto* adjoint = spec(dx);
    std::vector<detail::scalar_code> codes;
    for (const bool both : {true, false}) {
        fusion_group group;
        auto& member = group.members.emplace_back();
        member.spec = adjoint;
        for (int i = 0; i < static_cast<int>(dx.node()->inputs.size()); ++i) member.inputs.push_back({-1, i});
        member.results = {0, both ? 1 : -1};
        codes.push_back(detail::make_scalar_code(group, both ? 2 : 1));
        REQUIRE(codes.back().calls.size() == 1);
    }
    const auto written = [](const detail::scalar_code& code) {
        const auto& c = code.calls[0];
        return std::count_if(code.operands.begin() + c.first_operand + c.reads, code.operands.end(),
                             [](int v) { return v != detail::scalar_code::none; });
    };
    CHECK(written(codes[0]) == 2);
    CHECK(written(codes[1]) == 1);
}

TEST_CASE_METHOD(test_device_cpu_scalar_code_fixture, "scalar_code: a result may be what was fed, or a constant") {
    tracer t({dtype::float32}, {});
    const any_tensor same(detail::add_program(g, t.finish({t.leaf(0)}), {}, {x}));
    tracer u({dtype::float32}, {});
    const int seven = u.constant(scalar_value(7.f));
    const any_tensor constant(detail::add_program(g, u.finish({seven}), u.scalars(), {x}));
    const auto code = detail::make_scalar_code({{{spec(same), {{-1, 0}}, {0}}, {spec(constant), {{-1, 0}}, {1}}}}, 2);
    CHECK(code.calls.empty());
    CHECK(code.values[static_cast<std::size_t>(code.results[0])].where == home::input);
    const auto& value = code.values[static_cast<std::size_t>(code.results[1])];
    REQUIRE(value.where == home::constant);
    CHECK(code.constants[value.number] == scalar_value(7.f));
}

TEST_CASE_METHOD(test_device_cpu_scalar_code_fixture,
                 "scalar_code: of a number there are as many copies as its readers read") {
    placeholder<double> z("z");
    // several ops each: compiled here, at one level, where single ops are those of rill::kernels at the best
    const tensor a(z * 2. + z, "a"), c(a * z + z, "c");
    const tensor b(cast<float>(a) + x, "b");
    const auto code = detail::make_scalar_code(
        {{{spec(a), {{-1, 0}}, {-1}}, {spec(b), {{0, 0}, {-1, 1}}, {0}}, {spec(c), {{0, 0}, {-1, 0}}, {1}}}}, 2);
    REQUIRE(code.calls.size() == 3);
    const int most = std::max({code.calls[0].lanes, code.calls[1].lanes, code.calls[2].lanes});
    CHECK(code.calls[1].lanes == most); // of numbers half as wide
    const auto made = code.operands[code.calls[0].first_operand + code.calls[0].reads];
    CHECK(code.values[static_cast<std::size_t>(made)].lanes == most);
}

TEST_CASE_METHOD(test_device_cpu_scalar_code_fixture, "scalar_code: an op that is not in the program is named") {
    static constexpr elementwise_info no_op{"NoSuchNumber"};
    tracer t({dtype::float32}, {});
    const any_tensor a(detail::add_program(g, t.finish({t.emit(no_op, dtype::float32, {t.leaf(0)})}), {}, {x}));
    try {
        detail::make_scalar_code({{{spec(a), {{-1, 0}}, {0}}}}, 1);
        FAIL("no error");
    } catch (const unimplemented& problem) {
        CHECK(std::string(problem.what()).find("NoSuchNumber($0:float32)") != std::string::npos);
    }
}
