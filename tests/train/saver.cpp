// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/saver.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <future>

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <rill/core/log.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/queue/priority_queue.hpp>
#include <rill/ops/queue/random_shuffle_queue.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/state/partitioned_variable.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/table/hash_table.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/any_variable.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"
#include "io/decorated_files.hpp"
#include "io/model_files.hpp"
#include "io/temporary.hpp"

using namespace rill;

namespace test_saver {

/// Training whose state is all that a checkpoint has to hold: shuffled batches, dropout, Adam's slots, a global step.
struct training {
    graph g;
    graph_scope here{g};
    random_shuffle_queue<tensor<float, 4>> queue{{.capacity = 64, .min_after_dequeue = 4, .seed = 7}};
    variable<std::int64_t> global_step{"global_step", 0, {.trainable = false}};
    variable<float, 4, 3> w{"w", random_uniform({.minval = -1.f, .maxval = 1.f, .seed = 3})};
    operation fill, train;
    tensor<float> loss;
    session s{g, {.inter_op_threads = 0, .intra_op_threads = 0}};

    training() : fill(queue.enqueue_many(random_uniform<float, 8, 4>({.seed = 5}))) {
        const tensor<float, 4, 4> batch = queue.dequeue_many<4>();
        const tensor<float, 4, 3> h = matmul(dropout(batch, 0.5f), w);
        loss = reduce_mean(square(h - 1.f));
        train = adam(0.05f).minimize(loss, global_step);
    }
    float step() {
        s.run(fill);
        return std::get<0>(s.run(std::tuple(loss, train)));
    }
};

std::vector<float> losses(training& t, int n) {
    std::vector<float> all;
    for (int i = 0; i < n; ++i) all.push_back(t.step());
    return all;
}

} // namespace test_saver

TEST_CASE("saver: a run that is stopped and resumed equals the uninterrupted one, bit for bit") {
    const io_test::temporary_directory here;
    std::vector<float> whole;
    {
        test_saver::training t;
        t.s.run(global_variables_initializer());
        whole = test_saver::losses(t, 10);
    }
    std::string path;
    {
        test_saver::training t;
        t.s.run(global_variables_initializer());
        test_saver::losses(t, 4);
        saver keep;
        path = keep.save(t.s, here / "run/model", t.global_step);
        CHECK(path.find("model-0000000004-") != std::string::npos);
        CHECK(test_saver::losses(t, 6) == std::vector<float>(whole.begin() + 4, whole.end()));
        save(t.s, here / "whole.ckpt");
    }
    CHECK(latest_checkpoint(here / "run") == path);
    {
        test_saver::training t; // nothing is initialised, and the queue is not made yet
        saver().restore(t.s, path);
        CHECK(t.s.run(t.global_step) == 4);
        CHECK(test_saver::losses(t, 6) == std::vector<float>(whole.begin() + 4, whole.end()));
        saver().restore(t.s, path); // over what is there
        CHECK(test_saver::losses(t, 6) == std::vector<float>(whole.begin() + 4, whole.end()));
        load(t.s, here / "whole.ckpt");
        CHECK(t.s.run(t.global_step) == 10);
    }
    {
        test_saver::training t; // saved again before a plan has bound the restored state
        saver().restore(t.s, path);
        save(t.s, here / "again.ckpt");
        CHECK(checkpoint_reader(here / "again.ckpt").tensors() == checkpoint_reader(path).tensors());
    }
}

TEST_CASE("saver: a value is that of the call, though steps run on") {
    const io_test::temporary_directory here;
    const graph g;
    const graph_scope scope(g);
    const variable<float, 1000> w("w", 0.f);
    const tensor<float, 1000> add = w.assign_add(1.f);
    const session s(g);
    s.run(global_variables_initializer());
    saver keep({.max_to_keep = 3});
    for (int i = 0; i < 6; ++i) {
        s.run(operation(add.node()));
        keep.save_later(s, here / "m", i);
        s.run(operation(add.node()));
    }
    keep.wait();
    CHECK(keep.last_checkpoints().size() == 3);
    const auto all = checkpoints_in(here.path());
    REQUIRE(all.size() == 3);
    for (const auto& c : all)
        CHECK(checkpoint_reader(c.path).read("w").elements<float>()[999] == 2 * static_cast<float>(c.step) + 1);
}

TEST_CASE("saver: what does not fit is refused in one message, and nothing is changed") {
    const io_test::temporary_directory here;
    {
        const graph g;
        const graph_scope scope(g);
        const variable<float, 2> a("a", 1.f), b("b", 2.f);
        const variable<int> c("c", 3, {.trainable = false});
        const session s(g);
        CHECK_THROWS_WITH(save(s, here / "m"), contains("run the initializer first") && contains("'a', 'b', 'c'"));
        s.run(global_variables_initializer());
        save(s, here / "m");
    }
    const graph g;
    const graph_scope scope(g);
    const variable<float, 2> a("a", 10.f);
    const variable<float, 3> b("b", 20.f);
    const variable<float, 2> d("d", 30.f);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK_THROWS_WITH(load(s, here / "m"), contains("missing in the file: 'd'") && contains("only in the file: 'c'") &&
                                               contains("'b (here float32 [3], there float32 [2])'"));
    CHECK(s.run(a)(0) == 10);
    CHECK_THROWS_WITH(load(s, here / "m", {.rename = {{"x", "y"}}}), contains("renamed, but not variables: 'x'"));
    saver some({.variables = {a, d}});
    some.restore(s, here / "m", {.rename = {{"d", "b"}}});
    CHECK(s.run(a)(0) == 1);
    CHECK(s.run(d)(1) == 2);
    some.restore(s, here / "m", {.allow_missing = true});
    saver both({.variables = {a, d}});
    both.restore(s, here / "m", {.rename = {{"a", "b"}, {"d", "b"}}, .allow_extra = true}); // one array for two variables
    CHECK((s.run(a)(0) == 2 && s.run(d)(1) == 2));
    s.run(a.assign_add(constant({1.f, 1.f})));
    CHECK((s.run(a)(0) == 3 && s.run(d)(0) == 2)); // which do not share it
    CHECK_THROWS_AS(some.restore(s, ""), not_found);
    CHECK_THROWS_AS(some.restore(s, here / "none"), not_found);
    CHECK_THROWS_WITH(saver({.variables = {any_tensor(constant(1.f))}}).save(s, here / "x", 1),
                      contains("is not a variable"));
}

TEST_CASE("saver: a queue, a table or a shared variable of another type is refused before anything is changed") {
    const io_test::temporary_directory here;
    {
        const graph g;
        const graph_scope scope(g);
        const variable<float, 2> a("a", 1.f), extra("extra", 1.f);
        const variable<float> shared("shared", 5.f, {.shared_name = "test_saver_shared"});
        const fifo_queue<tensor<int>> q({.capacity = 4});
        const hash_table<std::string, float> table;
        const session s(g);
        s.run(global_variables_initializer());
        s.run(q.enqueue(constant(7)));
        s.run(table.insert(constant("x"), constant(7.f)));
        save(s, here / "m");
        session::reset("", {""}); // the shared variable goes
    }
    const graph g;
    const graph_scope scope(g);
    const variable<float, 2> a("a", 10.f);
    const variable<float> shared("shared", 50.f, {.shared_name = "test_saver_shared"});
    const fifo_queue<tensor<float>> q({.capacity = 4});
    const hash_table<std::string, std::int64_t> table;
    const tensor<int> length = q.size();
    const tensor<std::int64_t> found = table.find(constant("y"), std::int64_t(0));
    const session s(g);
    s.run(global_variables_initializer());
    s.run(q.enqueue(constant(0.5f)));
    s.run(table.insert(constant("y"), constant(std::int64_t(3))));
    CHECK_THROWS_WITH(load(s, here / "m"), contains("only in the file: 'extra'") &&
                                               contains("component 0 is float32 [], not int32 []") &&
                                               contains("values are int64, not float32"));
    CHECK_THROWS_AS(load(s, here / "m", {.allow_extra = true}), invalid_argument);
    CHECK(s.run(a)(0) == 10);
    CHECK(s.run(shared) == 50);
    CHECK(s.run(length) == 1);
    CHECK(s.run(found) == 3);
    {
        const graph other; // which has the shared name as another type
        const graph_scope in(other);
        const variable<double> taken("taken", 1., {.shared_name = "test_saver_taken"});
        const session first(other);
        first.run(global_variables_initializer());
        const graph g2;
        const graph_scope in2(g2);
        const variable<float> b("b", 1.f);
        const variable<float> wrong("wrong", 2.f, {.shared_name = "test_saver_taken"});
        detail::write_checkpoint_file(
            here / "n", {{"b", io_test::array_of<float>({}, {3})}, {"wrong", io_test::array_of<float>({}, {4})}}, {});
        const session second(g2);
        second.run(b.initializer());
        CHECK_THROWS_WITH(load(second, here / "n"),
                          contains("the variable is float64 [], the saved value is float32 []"));
        CHECK(second.run(b) == 1);
    }
    session::reset("", {""});
}

TEST_CASE("saver: what an interrupted run has left is removed, another live saver's is not") {
    io_test::model_files files;
    const graph g;
    const graph_scope scope(g);
    const variable<float> w("w", 1.f);
    const session s(g);
    s.run(global_variables_initializer());
    saver other({.files = &files});
    other.save(s, "run/other", 1);
    const std::string mine = "run/.tmp-m-0000000007-0123abcd", others = "run/.tmp-other-0000000007-0123abcd";
    for (const auto& directory : {mine, others}) {
        files.make_directory(directory);
        files.put(directory + "/shard-00000-of-00001.dat", "half");
    }
    files.put("run/.tmp-m-LATEST-12345", "half");
    saver keep({.files = &files});
    keep.save(s, "run/m", 1);
    CHECK_FALSE(files.exists(mine));
    CHECK_FALSE(files.exists("run/.tmp-m-LATEST-12345"));
    CHECK(files.exists(others + "/shard-00000-of-00001.dat"));
    CHECK(checkpoints_in("run", files).size() == 2);
}

TEST_CASE("saver: a checkpoint tells its graph and the one before") {
    io_test::model_files files;
    const graph g;
    const graph_scope scope(g);
    const variable<float> w("w", 1.f);
    const session s(g);
    s.run(global_variables_initializer());
    saver keep({.files = &files});
    const auto told = [&](const std::string& path) { return checkpoint_reader(path, files).info(); };
    const auto first = told(keep.save(s, "run/m", 1)), second = told(keep.save(s, "run/m", 2));
    CHECK(first.metadata.count("previous") == 0);
    CHECK(second.metadata.at("previous") == first.id);
    CHECK(second.metadata.at("graph") == first.metadata.at("graph"));
    const auto grown = w.assign_add(1.f);
    const auto third = told(saver({.files = &files}).save(s, "run/m", 3)); // a later run
    CHECK(third.metadata.at("previous") == second.id);
    CHECK(third.metadata.at("graph") != first.metadata.at("graph"));
    CHECK(told(keep.save(s, "run/n", 1)).metadata.count("previous") == 0);
}

namespace test_saver {

/// A table whose row i is {i, 10 i}, over so many shards.
template <index_t Rows = 7> struct table {
    graph g;
    graph_scope here{g};
    partitioned_variable<float, Rows, 2> t;
    placeholder<int, dyn> ids{"ids"};
    tensor<float, dyn, 2> rows;
    session s{g};

    explicit table(int shards, partition_strategy strategy)
        : t("t", 0.f, {.shards = shards, .strategy = strategy}), rows(gather(t, ids)) {
        s.run(global_variables_initializer());
    }
    void fill() {
        const auto count = static_cast<index_t>(t.shards().size());
        for (index_t k = 0; k < count; ++k) {
            const auto& shard = t.shards()[static_cast<std::size_t>(k)];
            xt::xtensor<float, 2> part = s.run(shard);
            for (std::size_t j = 0; j < part.shape()[0]; ++j) {
                const index_t first = k * (Rows / count) + std::min(k, Rows % count);
                const auto row = t.strategy() == partition_strategy::mod ? static_cast<index_t>(j) * count + k
                                                                         : first + static_cast<index_t>(j);
                part(j, 0) = static_cast<float>(row);
                part(j, 1) = 10 * static_cast<float>(row);
            }
            s.run(shard.assign(part));
        }
    }
    bool is_filled() {
        std::vector<int> all(Rows);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
        const auto got = s.run(rows, feed(ids, all));
        for (std::size_t i = 0; i < all.size(); ++i)
            if (got(i, 0) != static_cast<float>(i) || got(i, 1) != 10 * static_cast<float>(i)) return false;
        return true;
    }
};

} // namespace test_saver

TEST_CASE("saver: a partitioned variable is one tensor of a checkpoint, restored with another number of shards") {
    io_test::model_files files;
    for (const auto strategy : {partition_strategy::mod, partition_strategy::div}) {
        test_saver::table<> three(3, strategy);
        three.fill();
        CHECK(three.is_filled());
        const auto path = saver({.files = &files, .shards = 2}).save(three.s, "run/m", 1);
        const checkpoint_reader from(path, files);
        REQUIRE(from.tensors().size() == 1);
        CHECK(from.tensors()[0] == std::pair<std::string, tensor_type>("t", {dtype::float32, dims{7, 2}}));
        CHECK(from.read("t").elements<float>()[13] == 60);
        for (const auto other : {partition_strategy::mod, partition_strategy::div})
            for (const int shards : {3, 2, 1, 7}) {
                test_saver::table<> to(shards, other);
                CHECK_FALSE(to.is_filled());
                saver({.files = &files}).restore(to.s, path);
                CHECK(to.is_filled());
            }
        const graph g;
        const graph_scope here(g);
        const variable<float, 7, 2> whole("t", 0.f); // not partitioned
        const variable<float, 7, 2> renamed("u", 0.f);
        const session s(g);
        saver({.files = &files}).restore(s, path, {.allow_missing = true});
        CHECK(s.run(whole)(6, 1) == 60);
        test_saver::table<8> larger(2, strategy);
        CHECK_THROWS_WITH(saver({.files = &files}).restore(larger.s, path),
                          contains("missing in the file: 't/part_0', 't/part_1'") && contains("only in the file: 't'"));
        // a checkpoint that has the table under another name
        const auto old = detail::write_checkpoint("run/old", {{"old", from.read("t")}}, {.step = 1, .files = &files});
        test_saver::table<> two(2, strategy);
        saver({.files = &files}).restore(two.s, old, {.rename = {{"t", "old"}}});
        CHECK(two.is_filled());
        for (const auto& c : checkpoints_in("run", files)) detail::remove_checkpoint(c.path, files);
    }
}

TEST_CASE("saver: slots of a partitioned variable go with its rows") {
    io_test::model_files files;
    struct program : test_saver::table<> {
        std::vector<any_tensor> slots;

        explicit program(int shards) : table(shards, partition_strategy::mod) {
            for (const auto& shard : t.shards())
                slots.push_back(any_variable(shard.node()->name + "/m", dtype::float32, type_of(shard.end()).shape,
                                             static_cast<float>(slots.size()), {.trainable = false}));
            s.run(global_variables_initializer());
        }
    };
    const program three(3), two(2);
    const auto path = saver({.files = &files}).save(three.s, "run/m", 1);
    CHECK(checkpoint_reader(path, files).tensors().size() == 2); // t and t/m
    saver({.files = &files}).restore(two.s, path);
    const auto column = [&](std::size_t k) {
        const any_array all = two.s.run(two.slots[k]);
        std::vector<float> values;
        for (std::size_t i = 0; i < static_cast<std::size_t>(all.size()); i += 2)
            values.push_back(all.elements<float>()[i]);
        return values;
    };
    CHECK(column(0) == std::vector<float>{0, 2, 1, 0}); // rows 0, 2, 4, 6 were in shards 0, 2, 1, 0
    CHECK(column(1) == std::vector<float>{1, 0, 2});
}

TEST_CASE("saver: shards of different savers are merged, and old checkpoints with shards as tensors restored") {
    io_test::model_files files;
    test_saver::table<> two(2, partition_strategy::mod);
    two.fill();
    std::vector<std::string> parts;
    std::vector<named_array> plain;
    for (const auto& shard : two.t.shards()) {
        saver some({.variables = {shard}, .files = &files, .verify = true}); // a part is whole in itself
        parts.push_back(some.save(two.s, "ps/" + detail::base_of(shard.node()->name), 4));
        plain.push_back({shard.node()->name, two.s.run(any_tensor(shard))});
    }
    CHECK_THROWS_WITH(checkpoint_reader(parts[0], files).read("t"), contains("4 of 7 elements"));
    test_saver::table<> cleared(2, partition_strategy::mod);
    for (std::size_t k = 0; k < parts.size(); ++k) // each restores its own
        saver({.variables = {cleared.t.shards()[k]}, .files = &files}).restore(cleared.s, parts[k]);
    CHECK(cleared.is_filled());
    const auto whole = merge_checkpoints(parts, "run/m", {.files = &files});
    test_saver::table<> three(3, partition_strategy::div);
    saver({.files = &files}).restore(three.s, whole);
    CHECK(three.is_filled());
    const auto old = detail::write_checkpoint("run/m", plain, {.step = 9, .files = &files});
    test_saver::table<> again(2, partition_strategy::mod);
    saver({.files = &files}).restore(again.s, old);
    CHECK(again.is_filled());
}

namespace test_saver {

/// Two tables of one name, and a variable and a table of one name.
struct equal_names {
    graph g;
    graph_scope scope{g};
    partitioned_variable<float, 7, 2> a{"t", 0.f, {.shards = 2, .strategy = partition_strategy::mod}};
    partitioned_variable<float, 7, 2> b{"t", 0.f, {.shards = 4, .strategy = partition_strategy::mod}};
    variable<float> single{"u", 0.f};
    partitioned_variable<float, 7, 2> c{"u", 0.f, {.shards = 2, .strategy = partition_strategy::div}};
    session s{g};

    equal_names() { s.run(global_variables_initializer()); }
    template <class F> void each_shard(const F& f) {
        for (const auto* t : {&a, &b, &c})
            for (const auto& shard : t->shards()) f(shard);
    }
    std::vector<float> values() {
        std::vector<float> all;
        each_shard([&](const auto& shard) {
            const xt::xtensor<float, 2> part = s.run(shard);
            all.insert(all.end(), part.begin(), part.end());
        });
        return all;
    }
};

} // namespace test_saver

TEST_CASE("saver: tables of one name, and a table with the name of a variable, are saved and restored") {
    io_test::model_files files;
    test_saver::equal_names one;
    float number = 1;
    one.each_shard([&](const auto& shard) {
        xt::xtensor<float, 2> part = one.s.run(shard);
        for (auto& x : part) x = number++;
        one.s.run(shard.assign(part));
    });
    CHECK(one.values().size() == 3 * 14);
    for (const int shards : {1, 3}) {
        const auto path = saver({.files = &files, .shards = shards}).save(one.s, "run/m", shards);
        test_saver::equal_names two;
        saver({.files = &files}).restore(two.s, path);
        CHECK(two.values() == one.values());
    }
}

TEST_CASE("saver: what waits in a dequeue_many is saved, and a queue of two handles once") {
    const io_test::temporary_directory here;
    struct program {
        graph g;
        graph_scope scope{g};
        fifo_queue<tensor<float>> q{{.shared_name = "saver_waits", .name = "q"}};
        fifo_queue<tensor<float>> same{{.shared_name = "saver_waits", .name = "same"}};
        tensor<float, 5> batch = q.dequeue_many<5>();
        tensor<int> size = same.size();
        session s{g};
    };
    session::reset("");
    {
        program a;
        a.s.run(a.q.enqueue_many(constant({1.f, 2.f, 3.f})));
        cancellation_token token;
        auto step = std::async(std::launch::async, [&] { a.s.run(a.batch, {.cancel = token}); });
        while (a.s.run(a.size) > 0) {}
        save(a.s, here / "m");
        token.cancel();
        CHECK_THROWS_AS(step.get(), cancelled);
    }
    session::reset("");
    program b;
    load(b.s, here / "m");
    CHECK(b.s.run(b.size) == 3);
    const auto next = b.q.dequeue();
    for (const float expected : {1.f, 2.f, 3.f}) CHECK(b.s.run(next) == expected);
    session::reset("");
}

TEST_CASE("saver: queues of other orders, with elements of different shapes, and tables") {
    const io_test::temporary_directory here;
    struct program {
        graph g;
        graph_scope scope{g};
        fifo_queue<tensor<std::string>, tensor<float, dyn>> q;
        priority_queue<tensor<float>> p;
        hash_table<std::string, float> table;
        session s{g};
    };
    {
        program a;
        a.s.run(a.q.enqueue(constant("one"), constant({1.f, 2.f})));
        a.s.run(a.q.enqueue(constant("two"), constant({3.f})));
        a.s.run(a.p.enqueue(constant(std::int64_t(5)), constant(5.f)));
        a.s.run(a.p.enqueue(constant(std::int64_t(2)), constant(2.f)));
        a.s.run(a.table.insert(constant("x"), constant(7.f)));
        a.s.run(a.p.close());
        const variable<float> v("v", 1.f);
        a.s.run(global_variables_initializer());
        save(a.s, here / "m");
    }
    program b;
    load(b.s, here / "m", {.allow_extra = true});
    const auto [word, numbers] = b.q.dequeue();
    const auto got = b.s.run(std::tuple(word, numbers));
    CHECK(std::get<0>(got) == "one");
    CHECK(std::get<1>(got).size() == 2);
    const auto second = b.s.run(std::tuple(word, numbers));
    CHECK(std::get<0>(second) == "two");
    CHECK(std::get<1>(second)(0) == 3);
    const auto [priority, value] = b.p.dequeue();
    CHECK(b.s.run(value) == 2);
    CHECK(b.s.run(value) == 5);
    CHECK_THROWS_AS(b.s.run(value), out_of_range); // it was closed
    CHECK(b.s.run(b.table.find(constant("x"), 0.f)) == 7);
}

TEST_CASE("saver: weights travel by safetensors, npz and TensorFlow's format, and as C++") {
    const io_test::temporary_directory here;
    const graph g;
    const graph_scope scope(g);
    const variable<float, 2, 2> w("dense/kernel", {{1.f, 2.f}, {3.f, 4.f}});
    const variable<double> b("b", 0.5);
    const session s(g);
    s.run(global_variables_initializer());
    save_safetensors(s, here / "w.safetensors", {.rename = {{"dense/kernel", "fc.weight"}}});
    save_npz(s, here / "w.npz");
    save_tensor_bundle(s, here / "m.ckpt");
    const auto code = to_cpp(s, "weights");
    CHECK(code.find("// dense/kernel: float32 [2, 2]") != std::string::npos);
    CHECK(code.find("inline constexpr unsigned char weights[") != std::string::npos);
    const auto check = [&](const auto& load_it) {
        const session other(g);
        load_it(other);
        CHECK(other.run(w)(1, 0) == 3);
        CHECK(other.run(b) == 0.5);
    };
    check([&](const session& o) {
        load_safetensors(o, here / "w.safetensors", {.rename = {{"dense/kernel", "fc.weight"}}});
    });
    check([&](const session& o) { load_npz(o, here / "w.npz"); });
    check([&](const session& o) { load_tensor_bundle(o, here / "m.ckpt"); });
    check([&](const session& o) {
        std::vector<unsigned char> bytes;
        for (std::size_t at = code.find("{\n"); (at = code.find_first_of("0123456789", at)) != std::string::npos;
             at = code.find(',', at))
            bytes.push_back(static_cast<unsigned char>(std::atoi(code.c_str() + at)));
        load(o, bytes);
    });
    const session empty(g);
    CHECK_THROWS_AS(load_safetensors(empty, here / "w.safetensors"), invalid_argument);
}

TEST_CASE("saver: an error of the writer surfaces at the next call, and the last good checkpoint stays") {
    io_test::model_files files;
    const graph g;
    const graph_scope scope(g);
    const variable<float> w("w", 1.f);
    const session s(g);
    s.run(global_variables_initializer());
    saver keep({.files = &files});
    keep.save(s, "run/m", 1);
    files.fail(4, ENOSPC);
    keep.save_later(s, "run/m", 2);
    CHECK_THROWS_AS(keep.wait(), resource_exhausted);
    keep.check(); // it was told
    CHECK(keep.restore_latest(s, "run").find("-0000000001-") != std::string::npos);
    keep.save(s, "run/m", 3);
    const auto newest = latest_checkpoint("run", files);
    files.contents(newest + "/shard-00000-of-00001.dat")[64] ^= 1; // the index is whole, the value is not
    CHECK(keep.restore_latest(s, "run").find("-0000000001-") != std::string::npos);
    CHECK(saver({.files = &files}).restore_latest(s, "elsewhere").empty());
    io_test::model_files others; // a damaged manifest and a damaged value are all there is
    saver lost({.files = &others});
    others.contents(lost.save(s, "run/m", 1) + "/MANIFEST")[24] ^= 1;
    others.contents(lost.save(s, "run/m", 2) + "/shard-00000-of-00001.dat")[64] ^= 1;
    CHECK_THROWS_AS(lost.restore_latest(s, "run"), data_loss);
    CHECK_THROWS_WITH(lost.restore_latest(s, "run"), contains("no checkpoint of 'run' can be read") &&
                                                         contains("-0000000001-") && contains("-0000000002-"));
    // every kind of damage, and a word of each in the log
    saver again({.max_to_keep = 0, .files = &files});
    std::vector<std::string> lines;
    set_log_sink([&](log_level, std::string_view line) { lines.emplace_back(line); });
    files.contents(again.save(s, "run/m", 4) + "/shard-00000-of-00001.dat").pop_back();
    files.contents(again.save(s, "run/m", 5) + "/MANIFEST")[24] ^= 1;
    files.contents(again.save(s, "run/m", 6) + "/shard-00000-of-00001.dat")[8] ^= 1;
    files.contents(again.save(s, "run/m", 7) + "/shard-00000-of-00001.dat")[68] ^= 1; // between the tensors
    CHECK(again.restore_latest(s, "run").find("-0000000001-") != std::string::npos);
    set_log_sink({});
    for (const char* step : {"-0000000003-", "-0000000004-", "-0000000005-", "-0000000006-", "-0000000007-"})
        CHECK(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
                  return contains("passed over").match(line) && contains(step).match(line);
              }) == 1);
}

TEST_CASE("saver: a checkpoint that the disk changes is found where the saver verifies") {
    const graph g;
    const graph_scope scope(g);
    const variable<float> w("w", 1.f);
    const session s(g);
    s.run(global_variables_initializer());
    for (const bool verify : {false, true}) {
        io_test::model_files disk;
        bool changes = false;
        io_test::decorated_files files(
            [&](const char* operation, const std::string& path) {
                if (changes && operation == std::string("rename") && path.ends_with("MANIFEST.tmp"))
                    disk.contents(path.substr(0, path.rfind('/')) + "/shard-00000-of-00001.dat")[64] ^= 1;
            },
            disk);
        saver keep({.files = &files, .verify = verify});
        keep.save(s, "run/m", 1);
        changes = true;
        if (!verify) {
            const auto path = keep.save(s, "run/m", 2);
            CHECK_THROWS_AS(keep.restore(s, path), data_loss);
            continue;
        }
        CHECK_THROWS_WITH(keep.save(s, "run/m", 2), contains("'w'"));
        CHECK(checkpoints_in("run", files).size() == 1);
        CHECK(disk.list("run").size() == 2); // LATEST and the first one
    }
}

TEST_CASE("saver: max_to_keep counts what an earlier run has left, one of each interval stays") {
    io_test::model_files files;
    const graph g;
    const graph_scope scope(g);
    const variable<float> w("w", 1.f);
    const session s(g);
    s.run(global_variables_initializer());
    for (int run = 0; run < 2; ++run) {
        saver keep({.max_to_keep = 2, .files = &files});
        for (int i = 0; i < 3; ++i) keep.save(s, "run/m", 10 * run + i);
        CHECK(checkpoints_in("run", files).size() == 2);
    }
    CHECK(checkpoints_in("run", files)[1].step == 11);
    saver other({.max_to_keep = 2, .keep_every_n_hours = 1e-12, .files = &files});
    for (int i = 0; i < 3; ++i) other.save(s, "run/n", i);
    CHECK(checkpoints_in("run", files).size() == 5);
}

TEST_CASE("saver: G18: each operation of a save that removes an old checkpoint fails in turn") {
    const graph g;
    const graph_scope scope(g);
    const variable<float> w("w", 1.f);
    const session s(g);
    s.run(global_variables_initializer());
    std::vector<std::string> lines;
    set_log_sink([&](log_level, std::string_view line) { lines.emplace_back(line); });
    for (const int problem : {ENOSPC, EIO, EROFS}) {
        std::size_t operations = 1;
        for (std::size_t k = 1; k <= operations; ++k) {
            io_test::model_files files;
            saver keep({.max_to_keep = 2, .files = &files});
            keep.save(s, "run/m", 1);
            keep.save(s, "run/m", 2);
            files.fail(k, problem);
            const auto before = files.calls();
            bool failed = false;
            try {
                keep.save(s, "run/m", 3);
            } catch (const error& e) {
                failed = true;
                CHECK_THAT(e.what(), contains("run"));
            }
            operations = std::max(operations, files.calls() - before);
            files.fail(0, 0);
            const auto there = checkpoints_in("run", files);
            REQUIRE(there.size() >= 2);
            CHECK(there[0].step == (failed ? 2 : 3));
            for (const auto& c : there) CHECK(checkpoint_reader(c.path, files).read_all().size() == 1);
            keep.save(s, "run/m", 4);
            CHECK(checkpoints_in("run", files)[0].step == 4);
            saver again({.max_to_keep = 2, .files = &files}); // nothing is left once another run has saved
            again.save(s, "run/m", 5);
            CHECK(files.list("run").size() == 3); // LATEST and two checkpoints
        }
        CHECK(operations > 15);
    }
    set_log_sink({});
    CHECK(lines.size() > 0); // a checkpoint that could not be removed is told
}

TEST_CASE("saver: G18: each operation of a restore fails in turn, and no variable has changed") {
    const graph g;
    const graph_scope scope(g);
    const variable<float> v("v", 1.f), w("w", 2.f);
    const session s(g);
    s.run(global_variables_initializer());
    io_test::model_files files;
    saver keep({.files = &files, .shards = 2});
    const auto path = keep.save(s, "run/m", 1);
    s.run(group(v.assign(3.f), w.assign(4.f)));
    const auto before = files.calls();
    checkpoint_reader(path, files).read_all();
    const auto operations = files.calls() - before;
    CHECK(operations > 6);
    for (std::size_t k = 1; k <= operations; ++k) {
        files.fail(k, EIO);
        CHECK_THROWS_WITH(keep.restore(s, path), contains("run/m"));
        CHECK((s.run(v) == 3 && s.run(w) == 4));
    }
    files.fail(0, 0);
    keep.restore(s, path);
    CHECK((s.run(v) == 1 && s.run(w) == 2));
}

#if defined(__unix__)
namespace test_saver {

/// A session with a large variable, without threads: it runs in a child process.
struct large_model {
    graph g;
    graph_scope scope{g};
    variable<float, 50000> w{"w", 1.f};
    session s{g, {.inter_op_threads = 0, .intra_op_threads = 0}};

    large_model() { s.run(global_variables_initializer()); }
};

std::vector<std::string> unfinished_in(const std::string& directory) {
    std::vector<std::string> all;
    for (const auto& name : file_system::real().list(directory))
        if (name.starts_with(".tmp-")) all.push_back(name);
    return all;
}

} // namespace test_saver

TEST_CASE("saver: G20: killed before any operation of a save, the last committed checkpoint is whole and the next run "
          "cleans up") {
    const io_test::temporary_directory here;
    for (int k = 1;; ++k) {
        REQUIRE(k < 200);
        const std::string directory = here / std::to_string(k);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            int left = -1;
            io_test::decorated_files files(
                [&](const char*, const std::string&) {
                    if (left > 0 && --left == 0) std::raise(SIGKILL);
                },
                file_system::real(), false);
            test_saver::large_model m;
            saver keep({.max_to_keep = 2, .files = &files});
            keep.save(m.s, directory + "/m", 1);
            keep.save(m.s, directory + "/m", 2);
            left = k;
            keep.save(m.s, directory + "/m", 3); // which removes the first one
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        CHECK((killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)));
        const auto there = checkpoints_in(directory);
        REQUIRE(there.size() >= 2);
        CHECK(there[0].step >= 2);
        for (const auto& c : there) CHECK(checkpoint_reader(c.path).read_all().size() == 1);
        test_saver::large_model m;
        saver next({.max_to_keep = 2});
        next.save(m.s, directory + "/m", 4);
        CHECK(file_system::real().list(directory).size() == 3); // LATEST and two checkpoints
        CHECK(checkpoints_in(directory)[0].step == 4);
        if (!killed) {
            CHECK(k > 15);
            break;
        }
    }
}

TEST_CASE("saver: G20: two savers in one directory, killed at any moment, lose nothing that was committed") {
    const io_test::temporary_directory here;
    const char* const asked = std::getenv("RILL_KILLS");
    const int kills = asked ? std::atoi(asked) : 4;
    for (int i = 0; i < kills; ++i) {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        std::vector<pid_t> savers;
        for (const char* base : {"a", "b"}) {
            const pid_t child = fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                test_saver::large_model m;
                saver keep({.max_to_keep = 2});
                for (std::int64_t step = 100 * i;; ++step) {
                    keep.save(m.s, here / base, step);
                    if (step == 100 * i + 1 && write(ready[1], "x", 1) != 1) _exit(1);
                }
            }
            savers.push_back(child);
        }
        char both[2];
        for (int got = 0; got < 2;) got += static_cast<int>(std::max<ssize_t>(read(ready[0], both, 2), 0));
        usleep(static_cast<useconds_t>(1000 + 2711 * i));
        for (const auto child : savers) {
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
        }
        close(ready[0]);
        close(ready[1]);
        const auto all = checkpoints_in(here.path());
        for (const char* base : {"a", "b"}) {
            const auto of = std::count_if(all.begin(), all.end(), [&](const auto& c) {
                return detail::base_of_checkpoint(detail::base_of(c.path)) == base;
            });
            CHECK(of >= 2);
        }
        for (const auto& c : all) CHECK(checkpoint_reader(c.path).read_all().size() == 1);
    }
    const test_saver::large_model m; // the next run of each
    for (const char* base : {"a", "b"}) saver({.max_to_keep = 2}).save(m.s, here / base, 100000);
    CHECK(test_saver::unfinished_in(here.path()).empty());
    CHECK(checkpoints_in(here.path()).size() == 4);
}
#endif
