// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/error.hpp>

#include <set>
#include <string_view>
#include <typeinfo>

#include "catch.hpp"

using namespace rill;

namespace test_error {

/// A code's class: thrown for the code, an error, with code and message.
template <class E> void check(error_code code) {
    static_assert(std::is_base_of_v<error, E> && std::is_base_of_v<std::runtime_error, E>);
    CHECK_THROWS_AS(throw_error(code, "what happened"), E);
    try {
        throw E("what happened");
    } catch (const error& e) {
        CHECK(e.code() == code);
        CHECK(std::string(e.what()) == "what happened");
    }
}

TEST_CASE("error: the task of a cluster that a message names") {
    CHECK(unavailable("no sign of life from /job:ps/replica:0/task:12 (incarnation 5)").task() ==
          "/job:ps/replica:0/task:12");
    CHECK(aborted("/job:ps/task:1").task() == "/job:ps/task:1");
    CHECK(aborted("/job:ps alone").task().empty());
    CHECK(invalid_argument("add: two shapes").task().empty());
}

} // namespace test_error

TEST_CASE("error: one class per canonical code") {
    using test_error::check;
    check<cancelled>(error_code::cancelled);
    check<unknown>(error_code::unknown);
    check<invalid_argument>(error_code::invalid_argument);
    check<deadline_exceeded>(error_code::deadline_exceeded);
    check<not_found>(error_code::not_found);
    check<already_exists>(error_code::already_exists);
    check<permission_denied>(error_code::permission_denied);
    check<resource_exhausted>(error_code::resource_exhausted);
    check<failed_precondition>(error_code::failed_precondition);
    check<aborted>(error_code::aborted);
    check<out_of_range>(error_code::out_of_range);
    check<unimplemented>(error_code::unimplemented);
    check<internal>(error_code::internal);
    check<unavailable>(error_code::unavailable);
    check<data_loss>(error_code::data_loss);
    check<unauthenticated>(error_code::unauthenticated);
    CHECK_THROWS_AS(throw_error(error_code::ok, "no error is an error"), unknown);
}

TEST_CASE("error: codes have the numbers of the wire, and names") {
    CHECK(static_cast<int>(error_code::cancelled) == 1);
    CHECK(static_cast<int>(error_code::internal) == 13);
    CHECK(static_cast<int>(error_code::unauthenticated) == 16);
    std::set<std::string_view> names;
    for (int c = 0; c <= 16; ++c) names.insert(to_string(static_cast<error_code>(c)));
    CHECK(names.size() == 17);
    CHECK(to_string(error_code::resource_exhausted) == "resource exhausted");
}

TEST_CASE("error: an exception that is rethrown with its place keeps its code, and lack of memory has one") {
    const auto rethrown = [](const auto& fail) {
        try {
            fail();
        } catch (...) {
            detail::rethrow_described([](const std::string& what) { return "here: " + what; });
        }
    };
    CHECK_THROWS_AS(rethrown([] { throw not_found("x"); }), not_found);
    CHECK_THROWS_WITH(rethrown([] { throw not_found("x"); }), "here: x");
    CHECK_THROWS_AS(rethrown([] { throw std::bad_alloc(); }), resource_exhausted);
    CHECK_THROWS_WITH(rethrown([] { throw std::bad_alloc(); }), "here: there is not so much memory");
    CHECK_THROWS_AS(rethrown([] { throw std::runtime_error("x"); }), internal);
    CHECK_THROWS_AS(rethrown([] { throw 3; }), internal);
}

TEST_CASE("error: a place is a file's name and a line") {
    const auto here = std::source_location::current();
    CHECK(to_string(here) == "error.cpp:" + std::to_string(here.line()));
}

TEST_CASE("error: the name of an uncaught one is that of its class") {
    // what std::terminate and debuggers print
    CHECK(std::string_view(typeid(invalid_argument).name()).find("invalid_argument") != std::string_view::npos);
    CHECK(std::string_view(typeid(out_of_range).name()).find("error_of") == std::string_view::npos);
}
