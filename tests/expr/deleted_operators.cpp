// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/deleted_operators.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <rill/ops/array/identity.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

// The messages are in tests/compile_fail/operator_*.cpp; here: what the operators take, and what they leave alone.

namespace rill { // a type of the user's, in our namespace, with operators of its own
struct test_refused_money {
    int cents;
    friend test_refused_money operator%(test_refused_money a, int b) { return {a.cents % b}; }
    friend bool operator!(test_refused_money a) { return a.cents == 0; }
    test_refused_money& operator+=(int more) {
        cents += more;
        return *this;
    }
    friend bool operator==(test_refused_money, test_refused_money) = default;
};
} // namespace rill

using namespace rill;

namespace test_refused {

template <class A, class B>
concept compares = requires(const A& a, const B& b) { a == b; };
template <class A, class B>
concept logic = requires(const A& a, const B& b) { detail::refused::operator&&(a, b); };
template <class A>
concept negates = requires(const A& a) { detail::refused::operator!(a); };

using handle = tensor<float, 3>;
using mask = tensor<bool, 3>;
using lazy = decltype(std::declval<handle>() > 0.f);
using value = constant_value<float, 3>;

// operands of any kind, and numbers beside them
static_assert(operand_pair<handle, placeholder<float, 3>>);
static_assert(operand_pair<any_tensor, lazy>);
static_assert(operand_pair<value, int>);
static_assert(operand_pair<double, handle>);
static_assert(!operand_pair<int, double>);
static_assert(!operand_pair<dims, dims>);
static_assert(!operand_pair<any_tensor, endpoint>);
static_assert(!operand_pair<test_refused_money, handle>);

// logic, unless a handle is asked whether it is null
static_assert(logic<mask, mask>);
static_assert(logic<lazy, bool>);
static_assert(logic<any_tensor, lazy>);
static_assert(logic<handle, lazy>);
static_assert(!logic<any_tensor, any_tensor>);
static_assert(!logic<handle, handle>);
static_assert(!logic<mask, bool>);
static_assert(negates<mask>);
static_assert(negates<lazy>);
static_assert(!negates<handle>);
static_assert(!negates<any_tensor>);

// concepts may ask without an error, and nothing else compares with a handle
static_assert(compares<handle, handle>);
static_assert(!compares<any_tensor, int*>);
static_assert(!compares<handle, std::string>);
// the bases that find the operators take no room
static_assert(sizeof(handle) == sizeof(any_tensor));
static_assert(sizeof(any_tensor) == sizeof(endpoint));

} // namespace test_refused

TEST_CASE("refused: what is not about tensors keeps its operators") {
    CHECK(dims{1, 2} == dims{1, 2});
    CHECK(dims{1, 2} != dims{1, 3});
    CHECK(dtype::float32 != dtype::float64);
    test_refused_money money{30};
    money += 3;
    CHECK(money % 2 == test_refused_money{1});
    CHECK_FALSE(!money);
}

TEST_CASE("refused: handles may be null, and live in containers") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 3> x("x"), y("y");
    tensor<float, 3> none;
    any_tensor nothing;
    CHECK(!none);
    CHECK(!nothing);
    CHECK_FALSE(!x);
    CHECK((x && y));
    CHECK((x && !nothing));
    CHECK((none || x));
    CHECK(x.end() != y.end());

    const std::vector<any_tensor> all{x, y};
    CHECK(std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.end() == y.end(); }) == all.begin() + 1);
    std::optional<any_tensor> maybe;
    CHECK(maybe == std::nullopt);
    maybe = x;
    CHECK(maybe != std::nullopt);
    std::map<std::string, tensor<float, 3>> named{{"x", x}};
    CHECK(named.find("y") == named.end());
}

namespace refused_beside_std {
using namespace std;
using namespace rill;

TEST_CASE("refused: functions of std:: that are seen too are the worse match") {
    const placeholder<float, 2> x("x");
    const placeholder<std::complex<float>, 2> z("z");
    const std::vector<feed_value> fed{feed(x, {0.5f, 2.f}), feed(z, {{3.f, 4.f}, {0.f, 1.f}})};
    session s;
    CHECK(s.run(tensor(exp(x * 2.f)), fed)(1) == Approx(std::exp(4.f)));
    CHECK(s.run(tensor(pow(x, 2.f) + pow(2.f, x)), fed)(1) == Approx(8.f));
    CHECK(s.run(tensor(sqrt(abs(z) - 1.f)), fed)(0) == Approx(2.f));
    CHECK(s.run(tensor(abs(exp(z))), fed)(1) == Approx(1.f));
}

} // namespace refused_beside_std
