// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/constant_folder.hpp>

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/range.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/array/stack.hpp>
#include <rill/ops/array/unstack.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_prod.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_passes_constant_folder {

struct fixture {
    graph g;
    graph_scope here{g};
    session s{g};
    placeholder<float, dyn, dyn> x{"x"};
    xt::xtensor<float, 2> at = xt::ones<float>({4, 3});

    dims shape_of(const any_tensor& y) const { return s.run(y, feed(x, at)).shape(); }
};

} // namespace test_passes_constant_folder

using test_passes_constant_folder_fixture = test_passes_constant_folder::fixture;

TEST_CASE_METHOD(test_passes_constant_folder_fixture, "constant_folder: shapes made of shapes") {
    const auto [rows, columns] = unstack<0>(shape(x));
    CHECK(shape_of(reshape(x, stack<0>(size(x) / 2, constant(2)))) == dims{6, 2});
    CHECK(shape_of(reshape(x, concat<0>(shape(x), constant({1})))) == dims{4, 3, 1});
    CHECK(shape_of(reshape(x, concat<0>(slice<1>(shape(x), {1}), constant({-1})))) == dims{3, 4});
    CHECK(shape_of(reshape(x + x, stack<0>(rows, constant(-1)))) == dims{4, 3});
    CHECK(shape_of(reshape(x + x, stack<0>(columns, rows, constant(1)))) == dims{3, 4, 1});
    CHECK(shape_of(reshape(x, stack<0>(gather<0>(shape(x), constant(1)), constant(-1)))) == dims{3, 4});
    CHECK(shape_of(reshape(x, stack<0>(reduce_prod(shape(x))))) == dims{12});
    CHECK(shape_of(reshape(x, reshape<1>(cast<int>(cast<double>(size<std::int64_t>(x)))))) == dims{12});
    CHECK(shape_of(fill(shape(x) * shape(x) - 1, 1.f)) == dims{15, 8});
    // of an edge that is computed, and of the same numbers for other shapes
    const auto flat = reshape(x * 2.f, stack<0>(size(x * 2.f)));
    CHECK(shape_of(flat) == dims{12});
    CHECK(s.run(flat, feed(x, xt::ones<float>({5, 1}))).shape(0) == 5);
}

TEST_CASE_METHOD(test_passes_constant_folder_fixture, "constant_folder: gradients flow beside them") {
    const auto [dx] = gradients(reduce_sum(reshape(x * x, stack<0>(size(x) / 2, constant(2)))), x);
    CHECK(s.run(dx, feed(x, at))(3, 2) == 2.f);
}

TEST_CASE_METHOD(test_passes_constant_folder_fixture, "constant_folder: arrays of any size are a run's business") {
    const auto wide =
        fill(reduce_sum(rill::range(size(x) * 1000)) - reduce_sum(rill::range(size(x) * 1000)) + shape(x), 1.f);
    CHECK_THROWS_WITH(shape_of(wide), contains("depends on data"));
}

TEST_CASE_METHOD(test_passes_constant_folder_fixture, "constant_folder: what can't be computed says where") {
    const auto none = size(x) - size(x);
    CHECK_THROWS_WITH(shape_of(reshape(x, stack<0>(size(x) / none, constant(2)))),
                      contains("reshape") && contains("div: integer division by zero") &&
                          contains("constant_folder.cpp"));
    CHECK_THROWS_WITH(shape_of(reshape(x, stack<0>(gather<0>(shape(x), size(x)), constant(-1)))),
                      contains("gather: ") && contains("is outside [0, 2)"));
}

TEST_CASE_METHOD(test_passes_constant_folder_fixture,
                 "constant_folder: take no step of a run, and can be fetched and used elsewhere") {
    const tensor half(size(x) / 2, "half"), twice(half * 2, "twice");
    const auto y = reshape(x, stack<0>(half, constant(2)));
    const auto [yv, hv, tv, trace] = [&] {
        auto [all, t] = s.run_traced(std::tuple(y, half, twice), feed(x, at));
        return std::tuple(std::get<0>(all), std::get<1>(all), std::get<2>(all), t);
    }();
    CHECK(yv.shape(0) == 6);
    CHECK(hv == 6);
    CHECK(tv == 12);
    CHECK(trace.entries.empty());
    const auto [other, trace_of_other] = s.run_traced(twice, feed(x, at)); // no rule asks: a step, as ever
    CHECK(other == 12);
    CHECK_FALSE(trace_of_other.entries.empty());
}

TEST_CASE_METHOD(test_passes_constant_folder_fixture, "constant_folder: the way to them may be long") {
    tensor<int> n = tensor(size(x));
    for (int i = 0; i < 20'000; ++i) n = tensor<int>(any_tensor(identity(n)));
    CHECK(shape_of(reshape(x, stack<0>(n))) == dims{12});
}
