// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/saver.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/queue/priority_queue.hpp>
#include <rill/ops/queue/random_shuffle_queue.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/table/hash_table.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"
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
    CHECK_THROWS_WITH(load(s, here / "m", {.rename = {{"x", "y"}}}), contains("renamed, but no variables: 'x'"));
    saver some({.variables = {a, d}});
    some.restore(s, here / "m", {.rename = {{"d", "b"}}});
    CHECK(s.run(a)(0) == 1);
    CHECK(s.run(d)(1) == 2);
    some.restore(s, here / "m", {.allow_missing = true});
    CHECK_THROWS_AS(some.restore(s, ""), not_found);
    CHECK_THROWS_AS(some.restore(s, here / "none"), not_found);
    CHECK_THROWS_WITH(saver({.variables = {any_tensor(constant(1.f))}}).save(s, here / "x", 1),
                      contains("is no variable"));
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

#if defined(__unix__)
TEST_CASE("saver: G20: killed at any moment of a save, the last committed checkpoint is whole, with two savers in one "
          "directory") {
    const io_test::temporary_directory here;
    const char* const asked = std::getenv("RILL_KILLS");
    const int kills = asked ? std::atoi(asked) : 4;
    const std::vector<named_array> arrays{{"w", io_test::array_of<float>({50000}, std::vector<float>(50000, 1.f))}};
    for (int i = 0; i < kills; ++i) {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        std::vector<pid_t> savers;
        for (const char* base : {"a", "b"}) {
            const pid_t child = fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                for (std::int64_t step = 0;; ++step) {
                    detail::write_checkpoint(here / base, arrays, {.step = step});
                    if (step == 0 && write(ready[1], "x", 1) != 1) _exit(1);
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
        REQUIRE(all.size() >= 2);
        for (const auto& c : all) CHECK(checkpoint_reader(c.path).read_all().size() == 1);
        detail::remove_unfinished(here.path(), file_system::real());
        for (const auto& c : all) detail::remove_checkpoint(c.path, file_system::real());
    }
}
#endif
