// SPDX-License-Identifier: BSD-3-Clause
// Copies between memories end late, in an order drawn from a seed: the runtime waits for what the host reads, and for nothing less.
#include <rill/rill.hpp>

#include <array>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../seeds.hpp"
#include "by_default.hpp"

using namespace rill;

namespace test_far_delayed_copies {

using test_far::all_copies;
using test_far::by_default;
using test_far::the_space;

const session_options both{.inter_op_threads = 1, .intra_op_threads = 1, .device_count = {{"far", 2}}};

template <class F> auto on(const std::string& device, const F& make) {
    const device_scope there(device);
    return make();
}

std::size_t waiting() { return all_copies().waiting(0) + all_copies().waiting(1); }

TEST_CASE("far delayed copies: a host that does not wait reads too early; a ticket stands for all copies before it") {
    int late = 0, out_of_order = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        all_copies().draw_from(seed);
        std::array<any_array, 2> there{any_array(dtype::int32, dims{1}, the_space(0)),
                                       any_array(dtype::int32, dims{1}, the_space(1))};
        std::array<std::int32_t, 2> came{};
        std::array<std::uint64_t, 2> ticket{};
        for (const std::size_t i : {0u, 1u}) {
            const auto& s = the_space(static_cast<int>(i));
            std::int32_t value = 5;
            s.from_host(s, &value, there[i].mutable_data(), sizeof value);
            value = 6; // it has been read
            ticket[i] = s.to_host(s, there[i].data(), &came[i], sizeof came[i]);
        }
        late += came[0] == -1;
        out_of_order += came[0] == -1 && came[1] == 5;
        the_space(0).wait(the_space(0), ticket[0]);
        CHECK(came[0] == 5);
        the_space(1).wait(the_space(1), ticket[1]);
        CHECK(came[1] == 5);
        CHECK(waiting() == 0);
    }
    CHECK(late > 0);
    CHECK(out_of_order > 0);
}

TEST_CASE("far delayed copies: host ops, regions and callers' arrays get what was copied", "[random]") {
    const by_default there("cpu");
    test_far::device();
    const graph g;
    const graph_scope now(g);
    placeholder<float, dyn> x("x");
    const auto a = on("/far:0", [&] { return tensor(x * 2.f); });
    const auto b = on("/far:1", [&] { return tensor(x + 1.f); });
    const tensor sum(a + b);                                               // reads two copies
    const tensor scaled(matmul(reshape<1, dyn>(a), reshape<dyn, 1>(sum))); // a third reader, through an alias
    const auto back = on("/far:1", [&] { return tensor(sum * b); });
    const tensor chosen =
        cond(reduce_sum(b) > 0.f, [&] { return tensor(a - b); }, [&] { return tensor(b - a); }); // a host region
    for (const int threads : {1, 3}) {
        const session s({.inter_op_threads = threads, .intra_op_threads = threads, .device_count = {{"far", 2}}});
        const auto step = s.make_callable(std::tuple(sum, scaled, back, chosen, a), x);
        seeds::each(100, [&](std::uint64_t seed) {
            all_copies().draw_from(seed);
            const std::size_t n = seed % 2 ? 3 : 3000; // large values go straight into the arrays of the caller
            const xt::xtensor<float, 1> value = xt::ones<float>({n}) * static_cast<float>(seed % 7);
            const float v = value(0), length = static_cast<float>(n);
            const auto [of_sum, of_scaled, of_back, of_chosen, of_a] = step(value);
            CHECK(waiting() == 0);
            CHECK(of_sum(n - 1) == 3 * v + 1);
            CHECK(of_scaled(0, 0) == Approx(length * 2 * v * (3 * v + 1)));
            CHECK(of_back(n - 1) == (3 * v + 1) * (v + 1));
            CHECK(of_chosen(n - 1) == v - 1);
            CHECK(of_a(n - 1) == 2 * v);
        });
    }
}

TEST_CASE("far delayed copies: a copy that nothing reads ends in no other value") {
    const by_default there("cpu");
    test_far::device();
    const graph g;
    const graph_scope now(g);
    placeholder<float, dyn> x("x");
    const auto far_value = on("/far:0", [&] { return tensor(x * 2.f); });
    const auto view = on("/cpu:0", [&] { return reshape<1, dyn>(far_value); }); // no step, so it reads nothing
    const tensor later = [&] {
        const control_dependencies after(view);
        return tensor(x - 1.f);
    }();
    const session s(both);
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        all_copies().draw_from(seed);
        const auto got = s.run(later, feed(x, {3.f, 5.f}));
        CHECK((got(0) == 2.f && got(1) == 4.f));
        CHECK(waiting() == 0);
    }
}

TEST_CASE("far delayed copies: a run that fails leaves no copy behind") {
    const by_default there("cpu");
    test_far::device();
    const graph g;
    const graph_scope now(g);
    placeholder<float, dyn> x("x");
    placeholder<int, dyn> ids("ids");
    const auto early = on("/far:0", [&] { return tensor(x * 2.f); });
    const auto picked = on("/far:1", [&] { return tensor(gather<0>(early, ids)); });
    const tensor checked = check_numerics(early, "on the host");
    const tensor last(checked + 1.f);
    const session s(both);
    const xt::xtensor<float, 1> good = xt::ones<float>({1000}), bad = good * std::numeric_limits<float>::infinity();
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        all_copies().draw_from(seed);
        xt::xtensor<float, 1> kept;
        const auto run = [&](const auto& value, int id) {
            return std::get<0>(s.run(std::tuple(last, into(early, kept), picked), feed(x, value), feed(ids, {0, id})));
        };
        CHECK_THROWS_AS(run(bad, 2), invalid_argument); // found by the host
        CHECK(waiting() == 0);
        CHECK_THROWS_WITH(run(good, 1000), contains("id 1000")); // found by a device
        CHECK(waiting() == 0);
        CHECK(run(good, 2)(999) == 3.f);
        CHECK(kept(999) == 2.f);
    }
}

} // namespace test_far_delayed_copies
