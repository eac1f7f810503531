// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/place.hpp>

#include <memory>
#include <string>
#include <vector>

#include <rill/graph/cluster_spec.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/where.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/state/is_initialized.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_place {

const memory_space shelf_0{"shelf:0"}, shelf_1{"shelf:1"};

/// A type of device with two memories. Nothing runs on it.
inline const device_type& shelf() {
    static const device_type type{"shelf", {&shelf_0, &shelf_1}};
    register_device(type);
    static const bool fuses = [] {
        detail::register_factory("shelf", fusion_group::name, dtype::invalid, 0,
                                 {}); // it is only asked whether there is one
        return true;
    }();
    (void)fuses;
    return type;
}

struct joint_write_op {
    static constexpr auto name = "TestPlaceJointWrite";
    static constexpr auto no_gradient = "a test's";
    input_list writes() const { return {1, 0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
};

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"};
    std::vector<std::string> heard;

    std::unique_ptr<placement> make(bool soft, const device_type& by_default = cpu_device(),
                                    const device_counts& counts = {{"shelf", 2}}) {
        shelf();
        return std::make_unique<placement>(counts, by_default, soft, [this](const node& n, const device& d) {
            heard.push_back(n.name + " " + to_string(d.full));
        });
    }
    /// Places a node made for a device; returns what is reported.
    std::vector<std::string> placed(const std::string& device, bool soft) {
        const device_scope on(device);
        return placed(tensor<float>(x + 1.f, "node"), soft);
    }
    std::vector<std::string> placed(const tensor<float>& t, bool soft, const device_counts& counts = {}) {
        heard.clear();
        const auto where = make(soft, cpu_device(), counts);
        place(items(t), *where);
        return heard;
    }
    subgraph items(const endpoint& e) const {
        const std::vector<endpoint> fetches{e}, feeds{x};
        return prune(fetches, {}, feeds);
    }
    /// Returns the short name of a node's device: "shelf:1".
    static std::string device_of(placement& where, const node* n) {
        const auto& d = where.device_of(*n);
        return d.type->name + ":" + std::to_string(d.index);
    }
};

} // namespace test_place

using test_place_fixture = test_place::fixture;

TEST_CASE_METHOD(test_place_fixture, "place: whatever names this process's CPU, each node reported once") {
    const std::string cpu = "/job:localhost/replica:0/task:0/device:cpu:0";
    CHECK(placed("", false) == std::vector<std::string>{"node " + cpu});
    for (const auto* device : {"/cpu:0", "/cpu", "/job:localhost", "/job:*/replica:0/task:0/device:CPU:0"}) {
        INFO(device);
        CHECK(placed(device, false).size() == 1);
    }
    const tensor a(x + 1.f, "a"), b(a * a, "b");
    CHECK(placed(b, false) == std::vector<std::string>{"a " + cpu, "b " + cpu});
    const auto silent = std::make_unique<placement>(device_counts{}, cpu_device(), false);
    CHECK_NOTHROW(place(items(b), *silent)); // nobody need listen
}

TEST_CASE_METHOD(test_place_fixture, "place: a node of many plans is placed and reported once") {
    const auto where = make(false);
    const tensor a(x + 1.f, "a"), b(a * a, "b"), c(a * 2.f, "c");
    place(items(b), *where);
    place(items(c), *where);
    place(items(b), *where);
    CHECK(heard.size() == 3);
}

TEST_CASE_METHOD(test_place_fixture, "place: as many CPUs as the session has") {
    const device_scope on("/cpu:3");
    const tensor y(x + 1.f, "y");
    CHECK(placed(y, false, {{"cpu", 4}}) == std::vector<std::string>{"y /job:localhost/replica:0/task:0/device:cpu:3"});
    CHECK_THROWS_AS(placed(y, false, {{"cpu", 3}}), invalid_argument);
    CHECK_THROWS_WITH(placed(y, false, {{"cpu", 3}}), contains("'y'") && contains("cpu:3'") && contains("cpu:0, ") &&
                                                          contains("cpu:1, ") && contains("cpu:2"));
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: a device that is not there is refused, naming node and device, or softened") {
    for (const auto* device : {"/gpu:0", "/cpu:1", "/device:tpu:0"}) {
        INFO(device);
        CHECK_THROWS_AS(placed(device, false), invalid_argument);
        CHECK(placed(device, true).size() == 1);
    }
    CHECK_THROWS_WITH(placed("/gpu:3", false), contains("'node_") && contains("(Add,") && contains("/device:gpu:3") &&
                                                   contains("place.cpp:") && contains("allow_soft_placement"));
}

TEST_CASE_METHOD(test_place_fixture, "place: another process is refused, softly or not") {
    for (const auto* device : {"/job:ps", "/task:1", "/replica:1/cpu:0"}) {
        INFO(device);
        CHECK_THROWS_AS(placed(device, false), invalid_argument);
        CHECK_THROWS_AS(placed(device, true), invalid_argument);
    }
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: a colocated node asks for what the other asks, through any number of them") {
    const auto on = [&](const std::string& device) {
        const device_scope there(device);
        return tensor<float>(x * 2.f);
    };
    const auto gpu = on("/gpu:0"), cpu = on("/cpu:0");
    const auto beside = [&](const tensor<float>& other) {
        const colocate_with there(other);
        return tensor<float>(x * 3.f, "follower");
    };
    CHECK_THROWS_WITH(placed(beside(gpu), false), contains("'follower") && contains("gpu:0"));
    CHECK_THROWS_WITH(placed(beside(beside(beside(gpu))), false), contains("'follower") && contains("gpu:0"));
    CHECK(placed(beside(beside(cpu)), false).size() == 1);
    // its own device does not count: it is on the other's
    const colocate_with there(cpu);
    CHECK(placed(on("/gpu:0"), false).size() == 1);
}

TEST_CASE_METHOD(test_place_fixture, "place: a node without a request is on the default device, host code on the CPU") {
    using namespace test_place;
    const auto where = make(false, shelf());
    const tensor a(x + 1.f, "a");
    CHECK(device_of(*where, a.node()) == "shelf:0");
    CHECK(device_of(*where, tensor(constant("text")).node()) == "cpu:0");
    CHECK(device_of(*where, any_tensor(rill::where(expand_dims<0>(x) > 0.f)).node()) == "cpu:0");
    const fifo_queue<tensor<float>> q;
    CHECK(device_of(*where, q.handle().node()) == "cpu:0");
    CHECK(device_of(*where, q.enqueue(x).node()) == "cpu:0");
    const auto several = make(false, cpu_device(), {{"cpu", 2}});
    const device_scope on("/cpu:1");
    CHECK(device_of(*several, tensor(constant("text")).node()) == "cpu:1"); // strings may be on any CPU
}

TEST_CASE_METHOD(test_place_fixture, "place: an op that writes or looks at a variable goes where that is") {
    using namespace test_place;
    variable<float> u("u", 1.f), v("v", 2.f);
    const auto where = make(false, shelf());
    const node* both = detail::add_node(g, make_op(joint_write_op{}), {u, v});
    CHECK(device_of(*where, both) == "shelf:0");
    const auto on = [](const std::string& device, const std::string& name) {
        const device_scope there(device);
        return variable<float>(name, 3.f);
    };
    const variable<float> w = on("/shelf:1", "w"), c = on("/cpu:0", "c");
    CHECK(device_of(*where, tensor(w.assign(x)).node()) == "shelf:1");
    CHECK(device_of(*where, tensor(w.assign(w.assign(x))).node()) == "shelf:1");
    CHECK(device_of(*where, is_initialized(w).node()) == "shelf:1");
    { // whatever device the scope names for all that is made in it
        const device_scope elsewhere("/shelf:0");
        CHECK(device_of(*where, tensor(w.assign(x)).node()) == "shelf:1");
        CHECK(device_of(*where, tensor(c.assign_add(x)).node()) == "cpu:0");
    }
    both = detail::add_node(g, make_op(joint_write_op{}), {u, c});
    CHECK_THROWS_WITH(where->device_of(*both),
                      contains("several devices") && contains("cpu:0") && contains("shelf:0") && contains("'u'") &&
                          contains("asks for no device") && contains("'c'") && contains("'/device:cpu:0'"));
    both = detail::add_node(g, make_op(joint_write_op{}), {u, w});
    CHECK_THROWS_AS(where->device_of(*both), invalid_argument);
    // CPUs share a memory
    const auto cpus = make(false, cpu_device(), {{"cpu", 2}});
    both = detail::add_node(g, make_op(joint_write_op{}), {c, on("/cpu:1", "d")});
    CHECK(device_of(*cpus, both) == "cpu:1"); // that of the first variable it names
}

TEST_CASE_METHOD(test_place_fixture, "place: an op without a kernel for the device is refused, or runs on the CPU") {
    using namespace test_place;
    const auto y = [&] {
        const device_scope there("/shelf:1");
        return tensor<float, 1>(expand_dims<0>(x), "y");
    }();
    const auto hard = make(false), soft = make(true);
    CHECK_THROWS_WITH(hard->device_of(*y.node()), contains("'y' (Identity") && contains("'/device:shelf:1'") &&
                                                      contains("no kernel of the op") &&
                                                      contains("allow_soft_placement"));
    CHECK(device_of(*soft, y.node()) == "cpu:0");
    const auto by_default = make(false, shelf());
    CHECK(device_of(*by_default, tensor<float, 1>(expand_dims<0>(x), "z").node()) == "cpu:0"); // nobody asks for shelf
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: a write that is colocated with a node elsewhere names both and what they ask for") {
    using namespace test_place;
    const auto on = [](const std::string& device, const std::string& name) {
        const device_scope there(device);
        return variable<float>(name, 3.f);
    };
    const variable<float> v = on("/shelf:0", "v"), w = on("/shelf:1", "w");
    const colocate_with beside(v);
    const tensor<float> written(w.assign(x));
    CHECK_THROWS_WITH(make(false)->device_of(*written.node()),
                      contains("colocated with 'v'") && contains("'/device:shelf:0'") &&
                          contains("writes a variable: 'w'") && contains("'/device:shelf:1'") &&
                          contains("place.cpp:"));
    CHECK(device_of(*make(true), written.node()) == "shelf:1");
}

TEST_CASE_METHOD(test_place_fixture, "place: nodes of a body take what they lack from the node that runs it") {
    using namespace test_place;
    const auto where = make(false);
    tensor<float> inside, elsewhere, nested;
    const auto branch = [&](const std::string& device) {
        const device_scope there(device);
        return cond(x > 0.f, [&] { return x * 2.f; }, [&] { return x * 3.f; });
    };
    const auto region = branch("/shelf:1");
    const auto& bodies = *region.node()->bodies;
    CHECK(device_of(*where, region.node()) == "shelf:1");
    // made inside, after the scope has ended, as gradients are
    {
        const detail::region_scope in(bodies[0].of);
        inside = tensor(x * 5.f);
        const device_scope there("/shelf:0");
        elsewhere = tensor(x * 7.f);
    }
    CHECK(inside.node()->device.empty());
    CHECK(device_of(*where, inside.node()) == "shelf:1");
    CHECK(device_of(*where, elsewhere.node()) == "shelf:0");
    const variable<float> outside("outside", 1.f);
    CHECK(device_of(*where, outside.node()) == "cpu:0");
}

TEST_CASE_METHOD(test_place_fixture, "place: in a cluster, whatever names no task is in the first one") {
    const std::vector<device_name> tasks{{"worker", 0, 1, "", -1}, {"ps", 0, 0, "", -1}};
    placement where({}, tasks, cpu_device(), false, {});
    const auto task_of = [&](const std::string& device) {
        const device_scope on(device);
        const auto full = where.device_of(*tensor<float>(x + 1.f).node()).full;
        return task_name(full.job, full.task);
    };
    CHECK(task_of("") == "/job:worker/replica:0/task:1");
    CHECK(task_of("/cpu:0") == "/job:worker/replica:0/task:1");
    CHECK(task_of("/job:ps") == "/job:ps/replica:0/task:0");
    CHECK(task_of("/job:ps/cpu:0") == "/job:ps/replica:0/task:0");
    CHECK_THROWS_WITH(task_of("/job:ps/task:1"), contains("/job:ps/task:1"));
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: the task that is decided for a node with bodies is that of its bodies' nodes") {
    const std::vector<device_name> tasks{{"worker", 0, 0, "", -1}, {"ps", 0, 0, "", -1}};
    placement where({}, tasks, cpu_device(), false, {});
    const variable<float> v = [] {
        const device_scope on("/job:ps");
        return variable<float>("v", 1.f);
    }();
    const auto job_of = [&](const node* n) { return where.device_of(*n).full.job; };
    const auto inner = [&](const any_tensor& made, std::size_t body) {
        std::vector<const node*> all;
        for (const auto* n : g.state().nodes_of((*made.node()->bodies)[body].of))
            if (n->op->role() == op_role::ordinary) all.push_back(n);
        return all;
    };
    // found through the variable that it writes: also the nodes of nested bodies
    const auto written = while_loop([](auto s) { return s < 8.f; },
                                    [&](auto s) {
                                        return cond(
                                            s > 2.f, [&] { return tensor<float>(v.assign_add(s)); },
                                            [&] { return tensor<float>(s + 1.f); });
                                    },
                                    tensor<float>(x * 1.f));
    CHECK(job_of(written.node()) == "ps");
    for (const std::size_t body : {0u, 1u})
        for (const auto* n : inner(written, body)) {
            CHECK(job_of(n) == "ps");
            if (!n->bodies) continue;
            for (const auto* deeper : inner(any_tensor(endpoint{n, 0}), 1)) CHECK(job_of(deeper) == "ps");
        }
    // found through the loop whose values it reads
    const auto looped = [&] {
        const device_scope on("/job:ps");
        return while_loop([](auto s) { return s < 8.f; }, [](auto s) { return s * s + 0.5f; }, tensor<float>(x * 1.f));
    }();
    const auto slope = gradients({any_tensor(looped)}, {any_tensor(x)});
    int backward = 0;
    for (const auto* n : g.nodes()) {
        if (!n->bodies || n->inside || n->id <= looped.node()->id) continue;
        ++backward;
        CHECK(job_of(n) == "ps");
        for (const auto* m : inner(any_tensor(endpoint{n, 0}), n->bodies->size() - 1)) CHECK(job_of(m) == "ps");
    }
    CHECK(backward > 0);
    // a request goes before
    const auto elsewhere = [&] {
        const device_scope on("/job:worker");
        return cond(x > 0.f, [&] { return tensor<float>(v.assign_add(x)); }, [&] { return tensor<float>(x * 3.f); });
    }();
    CHECK(job_of(elsewhere.node()) == "worker");
    CHECK(job_of(inner(elsewhere, 1)[0]) == "worker");
}

TEST_CASE_METHOD(test_place_fixture, "place: a device has kernels for some element types") {
    using namespace test_place;
    static const device_type slim{
        .name = "slim", .spaces = {&shelf_0}, .has_kernels_for = [](dtype t) { return t == dtype::float32; }};
    register_device(slim);
    static const bool fuses = (detail::register_factory("slim", fusion_group::name, dtype::invalid, 0, {}), true);
    (void)fuses;
    const auto on_slim = [&](const auto& make) {
        const device_scope there("/slim:0");
        return make();
    };
    placeholder<double> wide("wide");
    const auto a = on_slim([&] { return tensor<float>(x + 2.f, "a"); });
    const auto b = on_slim([&] { return tensor<double>(wide + 2., "b"); });
    const auto hard = make(false, cpu_device(), {}), soft = make(true, cpu_device(), {});
    CHECK(device_of(*hard, a.node()) == "slim:0");
    CHECK_THROWS_WITH(hard->device_of(*b.node()), contains("'b' (") && contains("no kernel of the op"));
    CHECK(device_of(*soft, b.node()) == "cpu:0");
}

TEST_CASE_METHOD(test_place_fixture, "place: a device says which fused nodes it can run") {
    using namespace test_place;
    static const device_type adder{
        .name = "adder", .spaces = {&shelf_0}, .can_run = [](const device_type& type, const fused_spec& spec) {
            return type.name == "adder" && spec.body->key.starts_with("Add");
        }};
    register_device(adder);
    static const bool fuses = (detail::register_factory("adder", fusion_group::name, dtype::invalid, 0, {}), true);
    (void)fuses;
    const device_scope there("/adder:0");
    const tensor<float> a(x + 2.f, "a"), b(x * 2.f, "b");
    const auto hard = make(false, cpu_device(), {}), soft = make(true, cpu_device(), {});
    CHECK(device_of(*hard, a.node()) == "adder:0");
    CHECK_THROWS_WITH(hard->device_of(*b.node()), contains("'b' (") && contains("no kernel of the op"));
    CHECK(device_of(*soft, b.node()) == "cpu:0");
}

TEST_CASE_METHOD(test_place_fixture, "place: a group moves to a device that can run all of its nodes") {
    using namespace test_place;
    const tensor<float> a(x + 1.f, "a");
    const auto beside = [&](const char* name) {
        const colocate_with there(a);
        return tensor<float, 1>(expand_dims<0>(x), name); // it has a kernel for the CPU alone
    };
    const auto b = beside("b");
    const auto where = make(false, shelf());
    CHECK(device_of(*where, a.node()) == "cpu:0");
    CHECK(device_of(*where, b.node()) == "cpu:0");
    // a node that is made after its group was placed comes too late to move it
    const tensor<float> c(x + 2.f, "c");
    CHECK(device_of(*where, c.node()) == "shelf:0");
    const colocate_with there(c);
    const tensor<float, 1> late(expand_dims<0>(x), "late");
    CHECK_THROWS_AS(where->device_of(*late.node()), invalid_argument);
    CHECK_THROWS_WITH(where->device_of(*late.node()),
                      contains("'late' (") && contains("asks for no device") && contains("colocated with 'c'") &&
                          contains("lies on /job:localhost/replica:0/task:0/device:shelf:0") &&
                          contains("no kernel of the op") && contains("place.cpp:"));
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: a group that asks for a device stays there, and who can't run there is named") {
    using namespace test_place;
    const auto on = [&](const std::string& device, const char* name) {
        const device_scope there(device);
        return tensor<float>(x + 1.f, name);
    };
    const auto leader = on("/shelf:1", "leader");
    const auto follower = [&] {
        const device_scope other("/cpu:0");
        const colocate_with there(leader);
        return tensor<float, 1>(expand_dims<0>(x), "follower");
    }();
    const auto hard = make(false), soft = make(true);
    CHECK(device_of(*hard, leader.node()) == "shelf:1");
    CHECK_THROWS_WITH(hard->device_of(*follower.node()),
                      contains("'follower' (") && contains("cpu:0'") && contains("colocated with 'leader'") &&
                          contains("asks for '/device:shelf:1'") && contains("no kernel of the op") &&
                          contains("allow_soft_placement"));
    CHECK(device_of(*soft, leader.node()) == "shelf:1");
    CHECK(device_of(*soft, follower.node()) == "cpu:0");
    // host code runs on the CPU of the task wherever its group is
    const auto text = [&] {
        const colocate_with there(leader);
        return tensor(constant("text"));
    }();
    CHECK(device_of(*hard, text.node()) == "cpu:0");
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: a question about a variable that is colocated with a node elsewhere names both") {
    using namespace test_place;
    const auto on = [](const std::string& device, const std::string& name) {
        const device_scope there(device);
        return variable<float>(name, 3.f);
    };
    const variable<float> v = on("/shelf:0", "v"), w = on("/shelf:1", "w");
    const colocate_with beside(v);
    const auto asked = is_initialized(w);
    CHECK_THROWS_WITH(make(false)->device_of(*asked.node()),
                      contains("colocated with 'v'") && contains("'/device:shelf:0'") &&
                          contains("whether a variable is initialized: 'w'") && contains("'/device:shelf:1'"));
    CHECK(device_of(*make(true), asked.node()) == "shelf:1");
}

TEST_CASE_METHOD(test_place_fixture,
                 "place: variables for which a memory has no room lie on the CPU where that is allowed") {
    using namespace test_place;
    static const memory_space small{
        .name = "small:0", .bytes = 1 << 20, .free_bytes = [](const memory_space&) -> std::size_t { return 100; }};
    static const memory_space plain{.name = "plain:0", .bytes = 50};
    static const device_type type{"small", {&small}}, other{"plain", {&plain}};
    for (const auto* t : {&type, &other}) register_device(*t);
    const variable<float, 20> a("a", xt::xtensor<float, 1>(xt::ones<float>({20}))); // 80 bytes
    const variable<float, 20> b("b", xt::xtensor<float, 1>(xt::ones<float>({20})));
    for (const bool is_soft : {true, false}) {
        const auto where = make(is_soft, type);
        CHECK(where->free_bytes(&small) == 100);
        CHECK(device_of(*where, a.node()) == "small:0");
        CHECK(where->free_bytes(&small) == 20);
        CHECK(device_of(*where, b.node()) == (is_soft ? "cpu:0" : "small:0"));
        CHECK(device_of(*where, tensor<float, 20>(b.assign(a)).node()) == (is_soft ? "cpu:0" : "small:0"));
        CHECK(where->free_bytes(nullptr) > 1e6);
        CHECK(where->free_bytes(&shelf_0) > 1e18); // unknown
    }
    const auto where = make(true, other); // which says how large it is, and no more
    CHECK(device_of(*where, a.node()) == "cpu:0");
}

TEST_CASE_METHOD(test_place_fixture, "place: a variable lies on the device chosen for it, with or without room") {
    using namespace test_place;
    static const memory_space narrow{
        .name = "narrow:0", .bytes = 1 << 20, .free_bytes = [](const memory_space&) -> std::size_t { return 100; }};
    static const device_type type{"narrow", {&narrow}};
    register_device(type);
    const auto on = [](const std::string& device, const std::string& name) {
        const device_scope there(device);
        return variable<float, 20>(name, xt::xtensor<float, 1>(xt::ones<float>({20}))); // 80 bytes
    };
    const auto a = on("/narrow:0", "a"), b = on("/narrow:0", "b"), c = on("/narrow:0", "c");
    const auto where = make(true);
    const auto& there = *where->devices().first(type);
    for (const auto* v : {&a, &b}) where->choose(*v->node(), there);
    where->choose(*c.node(), where->devices().cpu()); // where an earlier placement has put it
    CHECK(device_of(*where, a.node()) == "narrow:0");
    CHECK(device_of(*where, b.node()) == "narrow:0");
    CHECK(device_of(*where, c.node()) == "cpu:0");

    // in a cluster, the room on devices of other tasks is unknown
    const std::vector<device_name> tasks{{"worker", 0, 0, "", -1}, {"ps", 0, 0, "", -1}};
    placement cluster({}, tasks, cpu_device(), true, {});
    for (const auto* name : {"d", "e"}) {
        const auto& far = cluster.device_of(*on("/job:ps/narrow:0", name).node());
        CHECK(far.full.job == "ps");
        CHECK(far.type == &type);
    }
    CHECK(cluster.free_bytes(&narrow) == 100);
    CHECK(device_of(cluster, on("/job:worker/narrow:0", "f").node()) == "narrow:0");
    CHECK(device_of(cluster, on("/job:worker/narrow:0", "g").node()) == "cpu:0");
}

TEST_CASE_METHOD(test_place_fixture, "place: a memory that fails to tell its room is asked again") {
    using namespace test_place;
    static bool fails = true;
    static const memory_space silent{.name = "silent:0", .free_bytes = [](const memory_space&) -> std::size_t {
                                         if (fails) throw unavailable("no answer");
                                         return 70;
                                     }};
    static const device_type type{"silent", {&silent}};
    register_device(type);
    const auto where = make(true);
    CHECK_THROWS_AS(where->free_bytes(&silent), unavailable);
    fails = false;
    CHECK(where->free_bytes(&silent) == 70);
}

TEST_CASE_METHOD(test_place_fixture, "place: a node that moves to another type of device is known to have moved") {
    using namespace test_place;
    const auto where = make(false, cpu_device(), {{"cpu", 2}, {"shelf", 1}});
    const tensor<float> a(x + 1.f, "a");
    where->device_of(*a.node());
    where->choose(*a.node(), *where->devices().all()[1]);
    CHECK(device_of(*where, a.node()) == "cpu:1");
    CHECK(!where->has_moved(*a.node()));
    where->choose(*a.node(), *where->devices().first(shelf()));
    CHECK(device_of(*where, a.node()) == "shelf:0");
    CHECK(where->has_moved(*a.node()));
}
