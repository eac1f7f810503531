// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/polygamma.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_polygamma {

/// n, x, and the value to 18 digits (by mpmath).
constexpr double known[][3] = {
    {0, 0.1, -10.4237549404110762},       {0, 0.5, -1.96351002602142348},
    {0, 1.0, -0.577215664901532861},      {0, 2.5, 0.703156640645243187},
    {0, 11.99, 2.44179228366833489},      {0, 30.5, 3.40124366896166108},
    {0, 1000.0, 6.90725519564881205},     {0, -0.3, 2.11330977963539887},
    {0, -2.5, 1.10315664064524319},       {0, -7.9, -7.54000722441947843},
    {0, -50.25, 7.06852044810851071},     {1, 0.1, 101.433299150792748},
    {1, 0.5, 4.93480220054467931},        {1, 1.0, 1.64493406684822644},
    {1, 2.5, 0.490357756100234865},       {1, 11.99, 0.0869774104869875697},
    {1, 30.5, 0.0333302481128016085},     {1, 1000.0, 0.00100050016666663333},
    {1, -0.3, 13.9451602678057225},       {1, -2.5, 9.53924664498912375},
    {1, -7.9, 103.236931400039483},       {1, -50.25, 19.7195050061392317},
    {2, 0.1, -2001.86145737834367},       {2, 0.5, -16.82879664423432},
    {2, 1.0, -2.40411380631918857},       {2, 2.5, -0.236204051641727403},
    {2, 11.99, -0.0075603233665348937},   {2, 30.5, -0.00111080266893594174},
    {2, 1000.0, -1.00100049999983333e-6}, {2, -0.3, 67.63908119988316},
    {2, -2.5, -0.108204051641727403},     {2, -7.9, -1998.67378286517464},
    {2, -50.25, 124.024718494178659},     {3, 0.1, 60004.5128767902534},
    {3, 0.5, 97.4090910340024372},        {3, 1.0, 6.49393940226682915},
    {3, 2.5, 0.223905848817252051},       {3, 11.99, 0.00131350825053737318},
    {3, 30.5, 0.0000740329617543884756},  {3, 1000.0, 2.003001999999e-9},
    {3, -0.3, 766.61989041916858},        {3, -2.5, 194.747876219187622},
    {3, -7.9, 60014.2485401400884},       {3, -50.25, 1558.54544124593652},
    {5, 0.1, 120000069.307510929},        {5, 0.5, 7691.1135486024355},
    {5, 1.0, 122.081167438133897},        {5, 2.5, 0.578569178567183485},
    {5, 11.99, 0.000118721658023459461},  {5, 30.5, 9.86285061795251119e-7},
    {5, 1000.0, 2.40600599999440001e-14}, {5, -0.3, 165634.381852085895},
    {5, -2.5, 15382.1400480263038},       {5, -7.9, 120000297.908349711},
    {5, -50.25, 492231.267110484616},     {20, 0.1, -2.43290200817663716e+39},
    {20, 0.5, -5.10216531273942988e+24},  {20, 1.0, -2.43290316850786132e+18},
    {20, 2.5, -10709198259.1241325},      {20, 11.99, -0.0000666071007350855924},
    {20, 30.5, -3.42200388268096035e-13}, {20, 1000.0, -1.22865808955529563e-43},
    {20, -0.3, 2.32583156170664634e+29},  {20, -2.5, -9182070.2049456267},
    {20, -7.9, -2.43290200817682151e+39}, {20, -50.25, 1.07000161878962977e+31},
};

TEST_CASE("polygamma: known values, typed and untyped") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> n("n"), x("x");
    std::vector<double> orders, at;
    for (const auto& row : known) {
        orders.push_back(row[0]);
        at.push_back(row[1]);
    }
    const auto got = s.run(polygamma(n, x), feed(n, orders), feed(x, at));
    const any_array loose = s.run(polygamma(any_tensor(n), any_tensor(x)), feed(n, orders), feed(x, at));
    for (std::size_t i = 0; i < at.size(); ++i) {
        INFO("polygamma(" << orders[i] << ", " << at[i] << ")");
        CHECK(got(i) == Approx(known[i][2]).epsilon(2e-13));
        CHECK(loose.elements<double>()[i] == got(i));
    }
    placeholder<float> one("one");
    CHECK(s.run(polygamma(1, one), feed(one, 1.f)) == Approx(1.644934f).epsilon(1e-6));
}

TEST_CASE("polygamma: special numbers") {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> n("n"), x("x");
    const auto at = [&](double order, double v) { return s.run(polygamma(n, x), feed(n, order), feed(x, v)); };
    CHECK(at(1, infinity) == 0);
    CHECK(at(1, 0) == infinity);
    CHECK(at(1, -3) == infinity);
    for (const auto& [order, v] :
         {std::pair(-1.0, 2.0), {0.5, 2}, {nan, 2}, {1, nan}, {2, -1}, {1, -infinity}, {infinity, 2}})
        CHECK(std::isnan(at(order, v)));
}

TEST_CASE("polygamma: shapes, and a name") {
    static_assert(
        std::is_same_v<
            extents_of<decltype(polygamma(std::declval<tensor<float, dyn, 1>>(), std::declval<tensor<float, 3>>()))>,
            extents<dyn, 3>>);
    const auto three = any_placeholder("three", dtype::float32, {3}),
               four = any_placeholder("four", dtype::float32, {4});
    CHECK_THROWS_WITH(polygamma(three, four), contains("polygamma: the shapes do not broadcast"));
    const auto* op = find_op("Polygamma");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("polygamma: gradient by x, to second order") {
    op_test::gradients([](const auto& x) { return polygamma(1, x); }, {{0.8, 4}}, 2);
    op_test::gradients([](const auto& x) { return polygamma(2, x); }, {{1.2, 4}}, 2);
}

} // namespace test_polygamma
