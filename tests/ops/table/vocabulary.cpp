// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/table/vocabulary.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>

#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_table_vocabulary {

/// A file for one test.
struct text_file {
    std::string path;
    text_file(const std::string& name, const std::string& text) : path("rill_test_vocabulary_" + name) {
        std::ofstream(path, std::ios::binary) << text;
    }
    ~text_file() { std::remove(path.c_str()); }
};

TEST_CASE("vocabulary: words to numbers and back, from a file") {
    const graph_scope here{graph()};
    const text_file file("words", "the\r\nquick\nbrown\r\nfox");
    const auto words = index_table_from_file(file.path, {.default_value = 0});
    const auto numbers = index_to_string_table_from_file(file.path, {.default_value = "?"});
    const tensor<std::int64_t, 3> n = words.lookup(constant({"fox", "dog", "quick"}));
    const tensor<std::string, 2> w = numbers.lookup(constant({std::int64_t(3), std::int64_t(4)}));
    const session s;
    s.run(tables_initializer());
    CHECK((s.run(n) == xt::xtensor<std::int64_t, 1>{3, 0, 1}));
    const auto got = s.run(w);
    CHECK((got(0) == "fox" && got(1) == "?"));
    CHECK(s.run(words.size()) == 4);
    s.run(tables_initializer()); // again: nothing happens
    CHECK(s.run(words.size()) == 4);
    CHECK(s.run(std::get<0>(words.entries()))(0) == "the");
    const session other; // each session has its own
    CHECK_THROWS_AS(other.run(n), failed_precondition);
}

TEST_CASE("vocabulary: without its initializer it is not ready") {
    const graph_scope here{graph()};
    const auto words = index_table_from_file("rill_test_vocabulary_never.txt"); // no file is read here
    const session s;
    CHECK_THROWS_AS(s.run(words.lookup(constant("a"))), failed_precondition);
    CHECK_THROWS_WITH(s.run(words.size()), contains("tables_initializer") && contains("hash_table 'hash_table'"));
    CHECK_THROWS_AS(s.run(tables_initializer()), not_found);
    CHECK_THROWS_WITH(s.run(tables_initializer()), contains("rill_test_vocabulary_never.txt"));
    const text_file file("never.txt", "a\n");
    s.run(tables_initializer());
    CHECK(s.run(words.lookup(constant("a"))) == 0);
    CHECK(s.run(words.lookup(constant("b"))) == -1);
    const graph empty;
    const graph_scope there(empty);
    session().run(tables_initializer()); // of none
}

TEST_CASE("vocabulary: a word that is there twice is refused, naming the line") {
    const graph_scope here{graph()};
    const text_file file("twice", "a\nb\na\n");
    (void)index_table_from_file(file.path);
    const session s;
    CHECK_THROWS_AS(s.run(tables_initializer()), invalid_argument);
    CHECK_THROWS_WITH(s.run(tables_initializer()),
                      contains("rill_test_vocabulary_twice:3: \"a\"") && contains("line 1"));
}

TEST_CASE("vocabulary: its initializer travels with the graph, in loops it is the one outside") {
    const text_file file("travels", "a\nb\n");
    graph g;
    {
        const graph_scope here(g);
        const auto words = index_table_from_file(file.path);
        const auto n = while_loop([](auto i) { return i < 1; }, [&](auto i) { return i + words.lookup(constant("b")); },
                                  std::int64_t(0));
        const tensor<std::int64_t> named(n, "n");
        const session s;
        s.run(tables_initializer());
        CHECK(s.run(named) == 1);
    }
    export_graph(g, "rill_test_vocabulary_graph");
    const graph read = import_graph("rill_test_vocabulary_graph");
    std::remove("rill_test_vocabulary_graph");
    const graph_scope here(read);
    const session s;
    s.run(tables_initializer());
    CHECK(s.run(fetch("n")).value<std::int64_t>() == 1);
}

} // namespace test_ops_table_vocabulary
