// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/op_registry.hpp>

#include <algorithm>

#include <rill/graph/op/field_bytes.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_op_registry {

/// A node op with two fields, of the second version.
struct shift_op {
    static constexpr auto name = "TestRegistryShift";
    static constexpr int version = 2;
    static constexpr auto no_gradient = "a test's";
    using domain_type = domains::real_floating;
    int by = 1;
    std::string mode = "wrap";

    static void fields(auto& op, auto& visit) {
        visit("by", op.by);
        visit("mode", op.mode);
    }
    shape_result shape(const dims& x) const { return {x}; }
};

/// Another struct that claims the same name.
struct pretender_op {
    static constexpr auto name = shift_op::name;
    static constexpr auto no_gradient = "a test's";
    shape_result shape(const dims& x) const { return {x}; }
};

/// No fields, and a gradient.
struct bare_op {
    static constexpr auto name = "TestRegistryBare";
    using domain_type = domains::untyped;
    shape_result shape(const dims& x) const { return {x}; }
    std::vector<endpoint> gradient(const gradient_request&) const { return {}; }
};

inline const shift_op& shift_of(const op_ptr& o) { return *static_cast<const shift_op*>(o->attributes()); }

} // namespace test_op_registry

TEST_CASE("op_registry: an entry is what the struct says") {
    const auto e = op_entry_of<test_op_registry::shift_op>();
    CHECK(e.name == "TestRegistryShift");
    CHECK(e.version == 2);
    CHECK(std::string(e.no_gradient) == "a test's");
    CHECK(e.elementwise == nullptr);
    CHECK(e.takes(dtype::float32));
    CHECK(e.takes(dtype::half));
    CHECK_FALSE(e.takes(dtype::int32));
    CHECK_FALSE(e.takes(dtype::complex64));
    const auto bare = op_entry_of<test_op_registry::bare_op>();
    CHECK(bare.no_gradient == nullptr);
    CHECK(bare.takes(dtype::string)); // moves elements, whatever they are
    CHECK(bare.dtypes == 0);
}

TEST_CASE("op_registry: two structs of one name are refused, the same again is nothing new") {
    using namespace test_op_registry;
    register_op(op_entry_of<shift_op>());
    CHECK_NOTHROW(register_op(op_entry_of<shift_op>()));
    CHECK_THROWS_AS(register_op(op_entry_of<pretender_op>()), already_exists);
    CHECK_THROWS_WITH(register_op(op_entry_of<pretender_op>()),
                      contains("TestRegistryShift") && contains("shift_op") && contains("pretender_op"));
    const auto* found = find_op("TestRegistryShift");
    REQUIRE(found);
    CHECK(found->version == 2); // the first one stays
    CHECK(find_op("TestRegistryNone") == nullptr);
    const auto all = known_ops();
    CHECK(std::count(all.begin(), all.end(), found) == 1);
    CHECK(std::is_sorted(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->name < b->name; }));
}

TEST_CASE("op_registry: several results of one name, and the one without") {
    const auto entry = [](const char* name, dtype result) {
        op_entry e;
        e.name = name;
        e.struct_name = name;
        e.result = result;
        return e;
    };
    register_op(entry("TestRegistryConvert", dtype::float32));
    register_op(entry("TestRegistryConvert", dtype::int32));
    CHECK(find_op("TestRegistryConvert", dtype::int32)->result == dtype::int32);
    CHECK(find_op("TestRegistryConvert", dtype::float32)->result == dtype::float32);
    CHECK(find_op("TestRegistryConvert", dtype::half) == nullptr);
    CHECK(find_op("TestRegistryConvert") == nullptr);
    register_op(entry("TestRegistryAny", dtype::invalid)); // of whatever dtype its operands are
    CHECK(find_op("TestRegistryAny", dtype::half) == find_op("TestRegistryAny"));
    CHECK(find_op("TestRegistryAny") != nullptr);
}

TEST_CASE("op_registry: made by name, with defaults and with fields") {
    using namespace test_op_registry;
    register_op(op_entry_of<shift_op>());
    register_op(op_entry_of<bare_op>());
    const op_ptr plain = make_op("TestRegistryShift");
    CHECK(plain->equals(*make_op(shift_op{})));
    CHECK(shift_of(plain).by == 1);
    const op_ptr wanted = make_op(shift_op{-3, "reflect"});
    for (const int version : {1, 2}) {
        const op_ptr read = make_op("TestRegistryShift", version, bytes_of_fields(*wanted));
        CHECK(read->equals(*wanted));
        CHECK(read->hash() == wanted->hash());
        CHECK(shift_of(read).mode == "reflect");
    }
    CHECK(make_op("TestRegistryShift", 2, "")->equals(*plain)); // what is missing keeps its default
    CHECK(make_op("TestRegistryBare", 1, "")->name() == "TestRegistryBare");
    CHECK(bytes_of_fields(*make_op("TestRegistryBare")).empty());
}

TEST_CASE("op_registry: what it can't make is refused, naming what is near") {
    using namespace test_op_registry;
    register_op(op_entry_of<shift_op>());
    register_op(op_entry_of<bare_op>());
    CHECK_THROWS_AS(make_op("TestRegistryShfit"), not_found);
    CHECK_THROWS_WITH(make_op("TestRegistryShfit"),
                      contains("'TestRegistryShfit'") && contains("'TestRegistryShift'") && contains("did you mean"));
    CHECK_THROWS_AS(make_op("TestRegistryShfit", 1, ""), not_found);
    CHECK_THROWS_AS(make_op("TestRegistryShift", 3, ""), invalid_argument);
    CHECK_THROWS_AS(make_op("TestRegistryShift", 0, ""), invalid_argument);
    CHECK_THROWS_WITH(make_op("TestRegistryShift", -1, ""), contains("-1") && contains("this program has 2"));
    CHECK_THROWS_WITH(make_op("TestRegistryShift", 3, ""),
                      contains("TestRegistryShift") && contains("3") && contains("newer"));
    const auto fields = bytes_of_fields(*make_op(shift_op{}));
    CHECK_THROWS_AS(make_op("TestRegistryBare", 1, fields), invalid_argument); // it has none
    CHECK_THROWS_AS(make_op("TestRegistryShift", 2, fields + fields), invalid_argument);
    CHECK_THROWS_AS(make_op("TestRegistryShift", 2, fields + "x"), invalid_argument);
}
