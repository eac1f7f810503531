// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/fused_stages.hpp>

#include <cmath>

#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>

#include "catch.hpp"
#include "without_emitter.hpp"

using namespace rill;

namespace test_fused_stages {

struct fixture {
    without_emitter each_node_by_itself;
    graph g;
    graph_scope here{g};
    placeholder<float, dyn> x{"x"};

    static const fused_spec* spec(const any_tensor& t) { return t.node()->op->fused(); }
};

} // namespace test_fused_stages

using test_fused_stages_fixture = test_fused_stages::fixture;

TEST_CASE_METHOD(test_fused_stages_fixture,
                 "fused_stages: one reads what another made, in a block, and leaves that are alike are one") {
    const tensor a(exp(x), "a"), b(a * x + x, "b");
    const fusion_group c{{{spec(a), {{-1, 0}}, {-1}}, {spec(b), {{0, 0}, {-1, 0}}, {0}}}};
    detail::fused_stages stages(c, 1);
    REQUIRE(stages.leaves().size() == 1);
    CHECK(stages.leaves()[0].input == 0);
    CHECK(stages.in_blocks());
    CHECK_FALSE(stages.may_divide());
    CHECK(stages.work() > 3);
    constexpr index_t n = 37;
    const std::size_t end = stages.place_buffers(64, n);
    CHECK(end >= 64 + n * sizeof(float));
    std::vector<float> values(n), out(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i) * 0.05f;
    std::vector<std::byte> own(end);
    stages.begin(own.data(), n);
    void* operand[most_operands] = {values.data(), out.data()};
    stages.place_hidden(operand, own.data());
    stages.run(operand, n, own.data());
    for (std::size_t i = 0; i < n; ++i) REQUIRE(out[i] == Approx(std::exp(values[i]) * values[i] + values[i]));
}

TEST_CASE_METHOD(test_fused_stages_fixture, "fused_stages: a long group needs two buffers, not one for each value") {
    tensor<float, dyn> last = x;
    fusion_group c;
    std::vector<tensor<float, dyn>> all;
    for (int i = 0; i < 12; ++i) {
        last = tensor<float, dyn>(last + 1.f);
        all.push_back(last);
        c.members.push_back({spec(last), {{i - 1, 0}}, {i == 11 ? 0 : -1}});
    }
    detail::fused_stages stages(c, 1);
    CHECK(stages.place_buffers(0, 1024) == 2 * 4096);
    std::vector<std::byte> own(2 * 4096);
    std::vector<float> values(1000, 0.5f), out(1000);
    void* operand[most_operands] = {values.data(), out.data()};
    stages.place_hidden(operand, own.data());
    stages.begin(own.data(), 1024);
    stages.run(operand, 1000, own.data());
    CHECK(out == std::vector<float>(1000, 12.5f));
}

TEST_CASE_METHOD(test_fused_stages_fixture, "fused_stages: integer divisions are known") {
    placeholder<int, dyn> n("n");
    const tensor q(n / n, "q");
    CHECK(detail::fused_stages({{{spec(q), {{-1, 0}}, {0}}}}, 1).may_divide());
}

TEST_CASE_METHOD(test_fused_stages_fixture, "fused_stages: any number of operands") {
    const tensor sum(x + x, "sum");
    fusion_group wide;
    for (int i = 0; i < 300; ++i) wide.members.push_back({spec(sum), {{-1, i}}, {i}});
    detail::fused_stages stages(wide, 300);
    REQUIRE(stages.operands() == 600);
    std::vector<std::byte> own(stages.place_buffers(0, 1));
    std::vector<float> values(600);
    std::vector<void*> operand;
    for (auto& v : values) {
        v = static_cast<float>(operand.size());
        operand.push_back(&v);
    }
    stages.begin(own.data(), 1);
    stages.place_hidden(operand.data(), own.data());
    stages.run(operand.data(), 1, own.data());
    for (std::size_t i = 0; i < 300; ++i) REQUIRE(values[300 + i] == 2 * values[i]);
}

TEST_CASE_METHOD(test_fused_stages_fixture,
                 "fused_stages: where a group is one function, no value of it has a buffer") {
    const auto second_alone = +[](const block_args& a) {
        for (std::int64_t i = 0; i < a.n; ++i)
            static_cast<float*>(a.result[0])[i] =
                static_cast<const float*>(a.leaf[0])[i] + *static_cast<const float*>(a.scalar[1]);
    };
    static const block_function function = second_alone;
    const tensor a(x + 1.f, "a"), b(a * x + 2.f, "b");
    const fusion_group c{{{spec(a), {{-1, 0}}, {-1}}, {spec(b), {{0, 0}, {-1, 0}}, {0}}}};
    const without_emitter as_it_was;
    static constexpr code_emitter emitter{[](const fusion_group&, std::size_t, index_t, const operand_forms& forms) {
                                              return forms.splat.empty() ? function : nullptr;
                                          },
                                          nullptr, nullptr, nullptr};
    detail::register_emitter(&emitter);
    detail::fused_stages stages(c, 1);
    CHECK(stages.emitted());
    CHECK_FALSE(detail::fused_stages(c, 1, 1024, {{0}, {0}, {0}}).emitted());
    CHECK_FALSE(stages.in_blocks());
    CHECK(stages.work() == 5);
    CHECK(stages.operands() == 2);
    CHECK(stages.place_buffers(64, 1024) == 64);
    std::vector<float> values{1, 2, 3}, out(3);
    void* operand[] = {values.data(), out.data()};
    std::vector<std::byte> own(64);
    stages.begin(own.data(), 3);
    stages.run(operand, 3, own.data());
    CHECK(out == std::vector<float>{3, 4, 5}); // by the second node's scalar
    REQUIRE(stages.is_direct());
    stages.run_direct(&operand[1], &operand[0], 2, own.data());
    CHECK(values == std::vector<float>{5, 6, 3});
}

TEST_CASE_METHOD(test_fused_stages_fixture, "fused_stages: one function reads leaves as they are told, each once") {
    placeholder<float, dyn> y("y");
    const tensor product(x * y, "product"), square(x * x, "square");
    const auto [slope] = gradients(product, x);
    std::vector<float> left{1, 2, 3}, right{4, 5, 6}, seed{1, 1, 2}, out(3);
    std::vector<std::byte> own(64);
    void* to[] = {out.data()};

    detail::fused_stages forward({{{spec(product), {{-1, 0}, {-1, 1}}, {0}}}}, 1);
    REQUIRE(forward.is_direct());
    const void* from[] = {left.data(), right.data(), seed.data()};
    forward.run_direct(from, to, 3, own.data());
    CHECK(out == std::vector<float>{4, 10, 18});

    // its results stand at leaves: those by x at the first of three
    detail::fused_stages adjoint({{{spec(slope), {{-1, 0}, {-1, 1}, {-1, 2}}, {0}}}}, 1);
    REQUIRE(adjoint.is_direct());
    adjoint.run_direct(from, to, 3, own.data());
    CHECK(out == std::vector<float>{4, 5, 12});

    CHECK_FALSE(detail::fused_stages({{{spec(square), {{-1, 0}, {-1, 0}}, {0}}}}, 1).is_direct()); // reads x twice
}
