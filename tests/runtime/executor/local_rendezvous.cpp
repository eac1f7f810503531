// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/executor/local_rendezvous.hpp>

#include <thread>

#include "catch.hpp"

using namespace rill;

namespace test_local_rendezvous {

any_array number(double x) {
    any_array a(dtype::float64, dims{});
    *static_cast<double*>(a.mutable_data()) = x;
    return a;
}

TEST_CASE("local rendezvous: values in order, whoever comes first") {
    detail::local_rendezvous r(3);
    any_array got;
    CHECK(!r.try_receive(1, got));
    r.send(1, number(1));
    r.send(1, number(2));
    CHECK(r.try_receive(1, got));
    CHECK(got.value<double>() == 1);
    std::vector<double> came;
    const completion keep = [&](std::exception_ptr problem, std::vector<any_array> values) {
        CHECK(!problem);
        came.push_back(values[0].value<double>());
    };
    r.receive(1, keep);
    r.receive(1, keep);
    r.receive(2, keep);
    CHECK(came == std::vector<double>{2});
    r.send(1, number(3));
    CHECK(came == std::vector<double>{2, 3});
    CHECK(r.bytes() == std::vector<std::size_t>{0, 24, 0});
    CHECK_THROWS_WITH(r.send(3, number(0)), contains("edge 3 is unknown") && contains("has 3"));
}

TEST_CASE("local rendezvous: abort ends all receives, later ones too") {
    detail::local_rendezvous r(2);
    std::vector<std::exception_ptr> problems;
    const completion note = [&](std::exception_ptr problem, std::vector<any_array>) { problems.push_back(problem); };
    r.receive(0, note);
    r.send(1, number(1));
    r.abort(std::make_exception_ptr(unavailable("the first")));
    r.abort(std::make_exception_ptr(cancelled("the second")));
    r.receive(1, note);
    r.send(0, number(2));
    REQUIRE(problems.size() == 2);
    for (const auto& p : problems) CHECK_THROWS_WITH(std::rethrow_exception(p), contains("the first"));
    any_array got;
    CHECK_THROWS_AS(r.try_receive(0, got), unavailable);
}

TEST_CASE("local rendezvous: senders and receivers on threads of their own lose nothing") {
    constexpr int n = 2000;
    detail::local_rendezvous r(4);
    std::atomic<int> sum = 0, came = 0;
    std::thread sender([&] {
        for (int i = 0; i < n; ++i) r.send(static_cast<std::uint32_t>(i % 4), number(i));
    });
    for (int i = 0; i < n; ++i)
        r.receive(static_cast<std::uint32_t>(i % 4), [&](std::exception_ptr, std::vector<any_array> values) {
            sum += static_cast<int>(values[0].value<double>());
            ++came;
        });
    sender.join();
    CHECK(came == n);
    CHECK(sum == n * (n - 1) / 2);
}

} // namespace test_local_rendezvous
