// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/adjoint_of.hpp>

#include <rill/all_kernels.hpp>

#include "catch.hpp"
#include "fused_spec.hpp"

using namespace rill;

namespace test_adjoint_of {

/// Changes a spec's program.
inline fused_spec with(fused_spec s, const std::function<void(program&)>& change) {
    auto body = std::make_shared<program>(*s.body);
    change(*body);
    s.body = std::move(body);
    return s;
}

inline bool holds(const fused_spec& s) { return detail::is_adjoint(s, *detail::the_gradient_ops().add); }

} // namespace test_adjoint_of

TEST_CASE("adjoint_of: programs from keys, and back") {
    for (const char* key :
         {"$0:int64", "Tanh($0:float32)", "Mul(Add($0:float32,s0:float32),$1:float32)",
          "Greater($0:float64,$1:float64):bool", "Cast($0:float32):int32", "program float32;; Tanh:float32 0 -> 1",
          "program float64; -> 0", "program float64; int32 -> 0 1",
          "program float32 bool; int32; Cast:float32 1; Mul:float32 0 3 -> 4 0",
          "Select(Greater($0:float32,$1:float32):bool,$2:float32,s0:float32):float32"}) {
        INFO(key);
        const auto p = detail::program_of_key(key);
        REQUIRE(p);
        CHECK((expression_key(*p) == key || spelled_key(*p) == key));
        CHECK(p->key == key);
    }
    const auto p = detail::program_of_key("Mul(Add($0:float32,s0:float32),$1:float32)");
    CHECK(p->leaves == std::vector<dtype>{dtype::float32, dtype::float32});
    CHECK(p->scalars == std::vector<dtype>{dtype::float32});
    CHECK(p->code[1].args == std::vector<int>{3, 1});
    CHECK(p->results == std::vector<int>{4});
    std::string deep = "$0:float32";
    for (int i = 0; i < 100; ++i) deep = "Tanh(" + deep + ")";
    for (const std::string& key : {std::string(),
                                   std::string("Tanh"),
                                   std::string("Tanh("),
                                   std::string("Tanh()"),
                                   std::string("Tanh($0:float32"),
                                   std::string("Tanh($0:float32))"),
                                   std::string("Tanh($0:float33)"),
                                   std::string("Tanh($1:float32)"),
                                   std::string("Nothing($0:float32)"),
                                   std::string("Tanh($0:float32,$1:float32)"),
                                   std::string("Mul($1:float32,$0:float32)"),
                                   std::string("Mul($00:float32,$1:float32)"),
                                   std::string("Tanh($0:float32):float32"),
                                   std::string("s0:float32"),
                                   std::string("Adjoint[Tanh($0:float32)]($0:float32,$1:float32)"),
                                   std::string("program"),
                                   std::string("program "),
                                   std::string("program float32"),
                                   std::string("program float32;; Tanh:float32 0"),
                                   std::string("program float32;; Tanh:float32 1 -> 1"),
                                   std::string("program float32;; Tanh:float32 0 -> 2"),
                                   std::string("program float32;; Tanh:float32 0 -> "),
                                   std::string("program float32;; Tanh:float32 0 ->"),
                                   std::string("program float32;; Tanh 0 -> 1"),
                                   std::string("program float32;; Tanh:float32 -> 0"),
                                   std::string("program float32;; Nothing:float32 0 -> 1"),
                                   std::string("program float33; -> 0"),
                                   std::string("program float32;; -> 0"),
                                   deep}) {
        INFO(key);
        CHECK_FALSE(detail::program_of_key(key));
    }
}

TEST_CASE("adjoint_of: adjoints by result alone") {
    using namespace test_adjoint_of;
    const graph g;
    const graph_scope here(g);
    placeholder<float, 4, 3> x("x");
    placeholder<float, 3> b("b");
    const auto [dx, db] = gradients(sealed(tanh(x + b)), x, b);
    REQUIRE(dx.node() == db.node());
    const auto& spec = spec_of(dx);
    REQUIRE(spec.kind == fused_spec::form::by_result);
    CHECK(holds(spec));
    const auto [by_gradient] = gradients(sealed(x - b), b);
    REQUIRE(spec_of(by_gradient).kind == fused_spec::form::by_result);
    CHECK(holds(spec_of(by_gradient)));

    CHECK_FALSE(holds(with(spec, [](program& p) { p.adjoint_of = "Add($0:float32,$1:float32)"; })));
    CHECK_FALSE(holds(with(spec, [](program& p) { p.adjoint_of = "Mul(Tanh($0:float32),$1:float32)"; })));
    CHECK_FALSE(holds(with(spec, [](program& p) { p.code[0].args = {0, 1}; }))); // y * g, no y * y
    auto other = spec;
    other.kind = fused_spec::form::adjoint;
    CHECK_FALSE(holds(other));
    for (const std::uint32_t mask : {0u, 2u, 4u, ~0u}) { // none, the other's, of a leaf that is not there, all
        other = spec;
        other.results[0].mask = mask;
        CHECK_FALSE(holds(other));
    }
    other = spec;
    other.scalars.clear();
    CHECK_FALSE(holds(other));
    auto full = spec_of(gradients({tanh(x) * b}, {b})[0]);
    full.kind = fused_spec::form::by_result;
    CHECK_FALSE(holds(full));
}

TEST_CASE("adjoint_of: what gradients made is an adjoint, what was changed is none") {
    using namespace test_adjoint_of;
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x"), y("y");
    const tensor t = x * tanh(y * 2.f) + x * x - y;
    const auto [dx] = gradients(t, x);
    const auto& spec = spec_of(dx);
    REQUIRE(spec.kind == fused_spec::form::adjoint);
    CHECK(holds(spec));
    const auto [sx, sy] = gradients(reduce_mean<0>(square(x) * y), x, y);
    REQUIRE(sx.node() == sy.node());
    CHECK(holds(spec_of(sx)));

    CHECK_FALSE(holds(with(spec, [](program& p) { p.adjoint_of.clear(); })));
    CHECK_FALSE(holds(with(spec, [](program& p) { p.adjoint_of = "Tanh($0:float32)"; })));
    CHECK_FALSE(holds(with(spec, [](program& p) { std::swap(p.code[0].args[0], p.code[0].args[1]); })));
    auto other = spec;
    other.results[0].mask ^= 1;
    CHECK_FALSE(holds(other));
    other.results[0].mask = 0;
    CHECK_FALSE(holds(other));
    other.results[0].mask = ~0u;
    CHECK_FALSE(holds(other));
    other = spec;
    other.results[0].like = 1;
    CHECK_FALSE(holds(other));
    other = spec;
    other.results[0].reduce = {combine::sum, {0}, false};
    CHECK_FALSE(holds(other));
    other = spec;
    for (auto& l : other.leaves) l.input = 0;
    CHECK(holds(other)); // all are one input: the sum over some of its uses
    other.leaves[0].input = 1;
    CHECK_FALSE(holds(other)); // what a mask adds up is one input's
    other = spec;
    other.leaves.resize(other.leaves.size() - 1);
    CHECK_FALSE(holds(other));
    other = spec_of(sx);
    other.results[1].mask = other.results[0].mask;
    CHECK_FALSE(holds(other)); // two results in one place
    if (!spec.scalars.empty()) {
        other = spec;
        other.scalars.clear();
        CHECK_FALSE(holds(other));
    }
}
