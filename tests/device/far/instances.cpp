// SPDX-License-Identifier: BSD-3-Clause
// Two devices with two memories: values cross between them, and what would confuse them fails.
#include <rill/rill.hpp>

#include <thread>

#include <rill/passes/place_by_cost.hpp>
#include <rill/passes/prune.hpp>

#include "../../catch.hpp"
#include "by_default.hpp"
#include "same.hpp"

using namespace rill;

namespace test_far_instances {

using test_far::by_default;
using test_far::here;
using test_far::the_memory;
using test_far::the_space;

const session_options both{.inter_op_threads = 1, .intra_op_threads = 1, .device_count = {{"far", 2}}};

/// Calls f(session, first, second), which makes a graph, with the CPU for both devices and then with all pairs of devices. What it returns
/// is the same.
template <class F> void on_all_pairs(const F& f) {
    const auto run = [&](const std::string& by_default_on, const std::string& first, const std::string& second) {
        const by_default there(by_default_on);
        const graph g;
        const graph_scope now(g);
        return f(first, second);
    };
    const auto wanted = run("cpu", "", "");
    for (const std::string by_default_on : {"cpu", "far"})
        for (const std::string first : {"/cpu:0", "/far:0", "/far:1"})
            for (const std::string second : {"/cpu:0", "/far:0", "/far:1"}) {
                INFO(by_default_on << ' ' << first << ' ' << second);
                CHECK(test_far::same(run(by_default_on, first, second), wanted));
            }
}

template <class F> auto on(const std::string& device, const F& make) {
    const device_scope there(device);
    return make();
}

/// A device scope for loops and branches alone: their nodes are elsewhere.
device_function regions_on(const std::string& device) {
    return [device](const node_info& n) {
        return n.op == "While" || n.op == "Case" || n.op == "ScanSlices" || n.op == "PartitionedCall" ? device
                                                                                                      : std::string();
    };
}

template <class X> std::vector<float> floats(const X& x) { return {x.begin(), x.end()}; }
std::vector<float> floats(const any_array& x) {
    const auto all = x.elements<float>();
    return {all.begin(), all.end()};
}

const xt::xtensor<float, 1> three{0.5f, -1.f, 2.f};

TEST_CASE("far instances: an address of one memory given to the other device is an error") {
    const memory_space &first = the_space(0), &second = the_space(1);
    auto* const a = static_cast<float*>(first.blocks->allocate(64));
    auto* const b = static_cast<float*>(second.blocks->allocate(64));
    float on_host = 2.f;
    CHECK_NOTHROW(first.from_host(first, &on_host, a, 4));
    CHECK_THROWS_AS(second.from_host(second, &on_host, a, 4), internal);
    CHECK_THROWS_AS(first.to_host(first, b, &on_host, 4), internal);
    CHECK_THROWS_AS(first.within(first, a, b, 4), internal);
    CHECK_NOTHROW(detail::copy_between(&first, a, &second, b, dtype::float32, 1));
    CHECK(*here(b) == 2.f);
    CHECK_THROWS_AS(detail::copy_between(&second, a, nullptr, &on_host, dtype::float32, 1), internal);
    {
        const test_far::selected instance(&second);
        CHECK_NOTHROW(far::fill({}, 16, b, 1.f));
        CHECK_THROWS_AS(far::fill({}, 16, a, 1.f), internal);
    }
    CHECK_NOTHROW(far::fill({}, 16, a, 1.f));
    first.blocks->deallocate(a, 64);
    second.blocks->deallocate(b, 64);
}

/// Copies its input as if it lay on far:0.
struct confused_op {
    static constexpr auto name = "Confused";
    using domain_type = domains::every;
    static constexpr auto no_gradient = "a test";

    constexpr shape_result shape(const dims& x) const { return {x}; }
    template <class D, class T> kernel bind(kernel_request& r) const {
        if constexpr (!requires(kernel k) { D::on_instance(std::move(k), r); }) return {};
        // a kernel of this instance that keeps an address of the other one
        return kernel([block = std::make_shared<memory_block_of_other>(), n = r.inputs[0].shape.size()](
                          const kernel_args& a) { D::copy(a.on, dtype_of<T>, a.in<T>(0), block->data, n); });
    }
    struct memory_block_of_other {
        void* data = the_memory(0).allocate(64);
        ~memory_block_of_other() { the_memory(0).deallocate(data, 64); }
    };
};

TEST_CASE("far instances: a kernel that touches the memory of the other one fails, in words") {
    const by_default there("far");
    const graph g;
    const graph_scope now(g);
    const auto on_0 =
        on("/far:0", [] { return any_tensor(apply_node(confused_op{}, {}, tensor(constant({1.f, 2.f})))); });
    const auto on_1 =
        on("/far:1", [] { return any_tensor(apply_node(confused_op{}, {}, tensor(constant({1.f, 2.f})))); });
    const session s(both);
    CHECK_NOTHROW(s.run(operation(on_0.node())));
    CHECK_THROWS_WITH(s.run(operation(on_1.node())), contains("kernel of far:1") && contains("address of far:0"));
}

TEST_CASE("far instances: an array says where it lies, and the host does not read it there") {
    test_far::device();
    any_array a(dtype::float32, dims{2}, the_space(1));
    CHECK(a.space() == &the_space(1));
    CHECK_THROWS_AS(a.elements<float>(), failed_precondition);
    CHECK_THROWS_WITH(a.elements<float>(), contains("far:1"));
    CHECK_THROWS_AS(to_string(a), failed_precondition);
    far::fill({}, 2, static_cast<float*>(a.mutable_data()), 3.f);
    const any_array back = detail::owned_copy(a);
    CHECK(back.space() == nullptr);
    CHECK(back.elements<float>()[1] == 3.f);
    const any_array other = detail::copied_to(a, &the_space(0)), again = detail::kept_copy(other);
    CHECK(again.space() == &the_space(0));
    CHECK(detail::owned_copy(again).elements<float>()[0] == 3.f);
}

TEST_CASE("far instances: a session has the devices that it is told to have") {
    const by_default there("far");
    const graph g;
    const graph_scope now(g);
    const auto y = on("/far:1", [] { return tensor(constant({1.f, 2.f}) * 2.f); });
    CHECK(floats(session(both).run(y)) == std::vector{2.f, 4.f});
    CHECK_THROWS_WITH(session().run(y), contains("device:far:1'") && contains("device:far:0"));
    CHECK_THROWS_WITH(session({.device_count = {{"far", 3}}}), contains("3 devices") && contains("there are 2"));
}

TEST_CASE("far instances: in a straight line, each value is copied once to each memory") {
    const by_default there("cpu");
    const graph g;
    const graph_scope now(g);
    placeholder<float, dyn> x("x");
    const auto a = on("/far:0", [&] { return tensor(x * 2.f); });
    const auto b = on("/far:1", [&] { return tensor(a + 1.f); });
    const auto c = on("/far:1", [&] { return tensor(reduce_sum(a) + b); });
    const auto d = on("/far:0", [&] { return tensor(a * c); });
    const session s(both);
    const auto [value, trace] = s.run_traced(d, feed(x, three));
    CHECK(floats(value) == std::vector{1.f * 5.f, -2.f * 2.f, 4.f * 8.f});
    // x there; a to far:1; c back to far:0; d to the host
    CHECK(std::count_if(trace.entries.begin(), trace.entries.end(), [](const auto& e) { return e.op == "Copy"; }) == 4);
    CHECK(the_memory(1).bytes_in_use() > 0);
}

TEST_CASE("far instances: ops that are nodes, constants, ranges, shapes") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        placeholder<float, dyn, dyn> x("x");
        const auto a = on(first, [&] { return tensor(matmul(x, transpose(x))); });
        const auto b = on(second, [&] { return tensor(softmax(a) + reduce_mean(x)); });
        const auto n = on(first, [&] { return range(0, size(x), 1); });
        const auto r = on(second, [&] { return reshape(b, shape(a)); });
        const auto c =
            on(first, [&] { return any_tensor(reshape(cast<float>(n), concat<0>(shape(x), constant({-1})))); });
        const session s(both);
        xt::xtensor<float, 2> value{{1.f, 2.f, -1.f}, {0.5f, 0.f, 3.f}};
        std::vector<std::vector<float>> got;
        for (const any_tensor& y : {any_tensor(a), any_tensor(b), any_tensor(r), c})
            got.push_back(floats(s.run(y, feed(x, value))));
        return got;
    });
}

TEST_CASE("far instances: variables keep their memory, writes wait for readers elsewhere") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        const auto v = on(first, [] { return variable<float, 3>("v", {1.f, 2.f, 3.f}); });
        const auto w = on(second, [] { return variable<float, 3>("w", {4.f, 5.f, 6.f}); });
        const auto swap_v = v.assign(w), swap_w = w.assign(v);
        const auto more = v.assign_add(w * 0.5f);
        const session s(both);
        s.run(global_variables_initializer());
        std::vector<std::vector<float>> got;
        for (int i = 0; i < 3; ++i) {
            s.run(group(swap_v, swap_w));
            const auto [m, before] = s.run(std::tuple(more, v));
            got.push_back(floats(m));
            got.push_back(floats(before));
            got.push_back(floats(s.run(w)));
        }
        return got;
    });
}

TEST_CASE("far instances: in stages, values stay where they are made and readers find them") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        placeholder<float, dyn> x("x");
        const auto a = on(first, [&] { return tensor(x * 2.f); });
        const any_tensor chosen =
            on(second, [&] { return boolean_mask(a, a > 0.f); }); // a node whose run decides its extents
        const auto b = on(second, [&] { return any_tensor(cast<float>(chosen) * 3.f); });
        const auto c = on(first, [&] { return any_tensor(b + reduce_sum(a)); });
        // a shape that only the run knows: an ordinary kernel, bound when it runs
        const auto d = on(second, [&] { return fill(shape(chosen), reduce_sum(a)); });
        const auto e = on(first, [&] { return any_tensor(d * c); });
        const session s(both);
        std::vector<std::vector<float>> got;
        for (const xt::xtensor<float, 1>& value : {three, xt::xtensor<float, 1>{1.f, 2.f, 3.f, -1.f}})
            for (const auto& y : {b, c, any_tensor(d), e, any_tensor(a)})
                got.push_back(floats(s.run(y, feed(x, value))));
        const auto all = s.run(std::vector<any_tensor>{b, c, any_tensor(d), e, any_tensor(a)}, feed(x, three));
        for (const auto& value : all) got.push_back(floats(value));
        return got;
    });
}

TEST_CASE("far instances: a queue takes and gives values of any memory") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        const fifo_queue<tensor<float, dyn>> q;
        placeholder<float, dyn> x("x");
        const auto put = on(first, [&] { return q.enqueue(tensor(x * 2.f)); });
        const auto got = on(second, [&] { return tensor(q.dequeue() + 1.f); });
        const session s(both);
        s.run(put, feed(x, three));
        return floats(s.run(got));
    });
}

TEST_CASE("far instances: a node that the shape of data decides runs on its device") {
    const by_default there("cpu");
    const graph g;
    const graph_scope now(g);
    placeholder<float, dyn> x("x");
    const any_tensor chosen = boolean_mask(x, x > 0.f);
    const any_tensor extents = shape(chosen);
    const auto d = on("/far:1", [&] { return fill(extents, constant(2.f)); });
    const auto e = on("/far:1", [&] { return any_tensor(d * 3.f); });
    const session s(both);
    CHECK(floats(s.run(e, feed(x, three))) == std::vector{6.f, 6.f});
    const auto trace = s.run_traced(operation(e.node()), feed(x, three));
    // the result of fill is read on far:1 as it is
    CHECK(std::none_of(trace.entries.begin(), trace.entries.end(),
                       [](const auto& entry) { return entry.op == "Copy" && entry.bytes == 8; }));
}

TEST_CASE("far instances: after a bad id on one device the other one writes nothing") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        placeholder<int, dyn> ids("ids");
        const auto v = on(second, [] { return variable<float, 2>("v", {1.f, 2.f}); });
        const auto picked = on(first, [&] { return tensor(gather<0>(tensor(constant({1.f, 2.f, 3.f})), ids)); });
        const control_dependencies after(picked);
        const auto added = v.assign_add(constant({10.f, 20.f}));
        const session s(both);
        s.run(v.initializer());
        s.run(added, feed(ids, {0, 2})); // nobody else holds this version, so the next writes are in place
        for (int i = 0; i < 3; ++i)
            CHECK_THROWS_WITH(s.run(added, feed(ids, {0, 7})), contains("id 7 at [1] is outside [0, 3)"));
        const auto got = floats(s.run(v));
        CHECK(got == std::vector{11.f, 22.f});
        return got;
    });
}

TEST_CASE("far instances: nodes of unknown shapes draw there, read shapes from anywhere, and find bad ids") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        placeholder<float, dyn> x("x");
        const tensor<float, dyn> chosen = on(first, [&] { return boolean_mask(x, x > 0.f); });
        const auto noise = on(second, [&] { return any_tensor(random_uniform_like(chosen)); });
        const auto picked =
            on(second, [&] { return any_tensor(gather<0>(tensor(constant({1.f, 2.f, 3.f})), cast<int>(chosen))); });
        const session s(both);
        std::vector<std::vector<float>> got;
        for (int i = 0; i < 2; ++i)
            for (const auto& y : {noise, picked}) got.push_back(floats(s.run(y, feed(x, three))));
        CHECK(got[0] != got[2]);
        const xt::xtensor<float, 1> bad{1.f, -1.f, 7.f};
        CHECK_THROWS_WITH(s.run(picked, feed(x, bad)), contains("id 7 at [1] is outside [0, 3)"));
        got.push_back(floats(s.run(picked, feed(x, three))));
        return got;
    });
}

TEST_CASE("far instances: branches") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        placeholder<float, dyn> x("x");
        placeholder<bool> p("p");
        const auto a = on(first, [&] { return tensor(x * 2.f); });
        const device_scope regions(regions_on(second));
        const auto y = cond(
            p, [&] { return on(first, [&] { return tensor(a + x); }); },
            [&] { return on(second, [&] { return tensor(a * a); }); });
        const auto z = cond(p, [&] { return x; }, [&] { return a; }); // as they came
        const auto last = on(first, [&] { return tensor(y - z); });
        const session s(both);
        std::vector<std::vector<float>> got;
        for (const bool way : {true, false})
            for (const any_tensor& each : {any_tensor(y), any_tensor(z), any_tensor(last)})
                got.push_back(floats(s.run(each, feed(x, three), feed(p, way))));
        return got;
    });
}

TEST_CASE("far instances: loops, with state that changes in place, values that are kept, and gradients") {
    const bool swap = GENERATE(false, true); // keeps values for the gradients in host memory
    on_all_pairs([&](const std::string& first, const std::string& second) {
        placeholder<float, 3> x("x");
        const auto w = on(first, [] { return variable<float, 3>("w", {0.5f, 0.25f, -1.f}); });
        const device_scope regions(regions_on(second));
        const auto [i, v, cells] = while_loop([](auto k, auto, auto) { return k < 4; },
                                              [&](auto k, auto t, auto all) {
                                                  const auto next = on(first, [&] { return tensor(tanh(t * w) + x); });
                                                  return std::tuple(k + 1, next, all.write(k, reduce_sum(next)));
                                              },
                                              std::tuple(0, x, tensor_array<float>(4)), {.swap_memory = swap});
        const auto total = reduce_sum(v);
        const auto [dx, dw] = gradients(total, x, w);
        const auto [carried, kept] =
            scan([&](auto state, auto slice) { return std::tuple(state * 0.5f + slice, state * slice); }, constant(1.f),
                 x, {.swap_memory = swap});
        const auto [by_slices] = gradients(carried, x);
        const session s(both);
        s.run(global_variables_initializer());
        std::vector<std::vector<float>> got;
        for (const any_tensor& each : {any_tensor(v), any_tensor(dx), any_tensor(dw), any_tensor(kept),
                                       any_tensor(cells.stack()), any_tensor(by_slices)})
            got.push_back(floats(s.run(each, feed(x, three))));
        got.push_back({static_cast<float>(s.run(i, feed(x, three)))});
        got.push_back({s.run(carried, feed(x, three))});
        return got;
    });
}

TEST_CASE("far instances: a loop whose state grows, and one whose body waits") {
    const bool swap = GENERATE(false, true);
    on_all_pairs([&](const std::string& first, const std::string& second) {
        placeholder<float, dyn> x("x");
        const device_scope regions(regions_on(second));
        const auto [n, grown] =
            while_loop([](auto k, auto) { return k < 3; },
                       [&](auto k, auto t) {
                           return std::tuple(
                               k + 1, on(first, [&] { return tensor<float, dyn>(concat<0>(tanh(t), cumsum<0>(t))); }));
                       },
                       std::tuple(0, tensor<float, dyn>(x)), {.swap_memory = swap});
        const auto [slopes] = gradients(reduce_sum(square(grown)), x);
        const auto [m, picked] = while_loop([](auto k, auto) { return k < 2; },
                                            [&](auto k, auto t) {
                                                const auto rest = on(first, [&] { return boolean_mask(t, t > -1.5f); });
                                                return std::tuple(k + 1, tensor<float, dyn>(rest) * 2.f);
                                            },
                                            0, x);
        const session s(both);
        std::vector<std::vector<float>> got;
        for (const any_tensor& each : {any_tensor(grown), any_tensor(picked), any_tensor(slopes)})
            got.push_back(floats(s.run(each, feed(x, three))));
        return got;
    });
}

TEST_CASE("far instances: bodies write variables of any memory") {
    on_all_pairs([](const std::string& first, const std::string& second) {
        const auto v = on(first, [] { return variable<float, 2>("v", {1.f, 2.f}); });
        const auto w = on(second, [] { return variable<float, 2>("w", {3.f, 4.f}); });
        const device_scope regions(regions_on(second));
        const auto n = while_loop([](auto k) { return k < 3; },
                                  [&](auto k) {
                                      const auto once = v.assign_add(w);
                                      const control_dependencies after(once);
                                      w.assign(w * 0.5f);
                                      return k + 1;
                                  },
                                  0);
        const session s(both);
        s.run(global_variables_initializer());
        s.run(n);
        return std::pair(floats(s.run(v)), floats(s.run(w)));
    });
}

TEST_CASE("far instances: a trained model whose halves are on two devices, on several threads") {
    const auto train = [](const std::string& first, const std::string& second, int threads) {
        const by_default there("cpu");
        test_far::device();
        const graph g;
        const graph_scope now(g);
        placeholder<float, dyn, 3> x("x");
        const auto hidden = on(first, [&] { return tensor(tanh(dense<3, 5>("one", x))); });
        const auto loss = on(second, [&] { return tensor(reduce_mean(square(dense<5, 2>("two", hidden) - 0.5f))); });
        const auto step = adam({.learning_rate = 0.05}).minimize(loss);
        const session s({.inter_op_threads = threads, .intra_op_threads = threads, .device_count = {{"far", 2}}});
        s.run(global_variables_initializer());
        const auto run = s.make_callable(std::tuple(loss, step), x);
        xt::xtensor<float, 2> value{{1.f, 2.f, -1.f}, {0.5f, 0.f, 3.f}};
        std::vector<float> got;
        for (int i = 0; i < 20; ++i) got.push_back(std::get<0>(run(value)));
        CHECK(got.back() < got.front());
        return got;
    };
    const auto wanted = train("/cpu:0", "/cpu:0", 1);
    for (const int threads : {1, 3}) {
        CHECK(test_far::same(train("/far:0", "/far:1", threads), wanted));
        CHECK(test_far::same(train("/far:1", "/cpu:0", threads), wanted));
    }
}

TEST_CASE("far instances: sessions that share a variable must place it in one memory") {
    const by_default there("cpu");
    test_far::device();
    const auto name = "test_far_instances_shared";
    const auto made = [&](const std::string& device) {
        const container_scope in(name);
        return on(device, [] { return variable<float, 2>("v", {1.f, 2.f}); });
    };
    const graph a, b;
    const auto v = [&] {
        const graph_scope now(a);
        return made("/far:0");
    }();
    const auto w = [&] {
        const graph_scope now(b);
        return made("/far:1");
    }();
    const session first(a, both), second(b, both);
    first.run(operation(v.initializer().node()));
    CHECK(floats(first.run(v)) == std::vector{1.f, 2.f});
    CHECK_THROWS_WITH(second.run(w), contains("memory of far:0") && contains("memory of far:1"));
    session::reset({}, {name});
}

/// While it lives, the far devices are fast, and each says that it has so many bytes.
class fast_and_small {
public:
    explicit fast_and_small(std::size_t bytes) : before_(test_far::device()) {
        type().flops_per_microsecond = 1e8;
        set(bytes);
    }
    fast_and_small(const fast_and_small&) = delete;
    ~fast_and_small() {
        type() = before_;
        set(0);
    }

private:
    static device_type& type() { return const_cast<device_type&>(test_far::device()); }
    static void set(std::size_t bytes) {
        for (int i = 0; i < test_far::instances; ++i) const_cast<test_far::space&>(the_space(i)).bytes = bytes;
    }
    const device_type before_;
};

TEST_CASE("far instances: the placer by cost leaves a device whose memory is full") {
    const by_default there("cpu");
    const auto products_on = [](std::size_t bytes) {
        const fast_and_small limited(bytes);
        const graph g;
        const graph_scope now(g);
        const placeholder<float, 512, 512> x("x"); // a value has 1 MiB
        std::vector<any_tensor> products;
        for (int i = 0; i < 4; ++i) products.push_back(tensor(matmul(x, x + static_cast<float>(i))));
        const any_tensor sum = add_n(products);
        const std::vector<endpoint> fetches{sum.end()}, feeds{x};
        placement where({{"cpu", 1}, {"far", 2}}, cpu_device(), false, nullptr, placers::by_cost);
        place(prune(fetches, {}, feeds), where);
        std::map<std::string, int> count;
        for (const auto& p : products) {
            const auto& d = where.device_of(*p.node());
            ++count[d.type->name + std::to_string(d.index)];
        }
        return count;
    };
    CHECK(products_on(0)["cpu0"] == 0);
    CHECK(products_on(std::size_t(64) << 20)["cpu0"] == 0);
    auto few = products_on(std::size_t(7) << 19); // room for a product with its operands, and half a value
    CHECK((few["far0"] <= 1 && few["far1"] <= 1 && few["far0"] + few["far1"] > 0));
    CHECK(products_on(std::size_t(5) << 19)["cpu0"] == 4);
}

} // namespace test_far_instances
