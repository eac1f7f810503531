// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/fields.hpp>

#include <cstring>
#include <type_traits>

#include "catch.hpp"

using namespace rill;

namespace test_fields {

/// A struct with a field of every kind.
struct everything {
    bool flag = false;
    std::int32_t small = 1;
    std::int64_t large = 2;
    std::uint64_t bits = 3;
    double number = 0.5;
    dtype type = dtype::float32;
    std::string text;
    dims shape;
    index_list places;
    axis_list axes;
    any_array array;
    fused_spec spec;

    static void fields(auto& op, auto& visit) {
        visit("flag", op.flag);
        visit("small", op.small);
        visit("large", op.large);
        visit("bits", op.bits);
        visit("number", op.number);
        visit("type", op.type);
        visit("text", op.text);
        visit("shape", op.shape);
        visit("places", op.places);
        visit("axes", op.axes);
        visit("array", op.array);
        visit("spec", op.spec);
    }
};

class name_list final : public detail::uniform_visitor<name_list> {
public:
    template <class T> void visit(const char* name, T& value) {
        names.emplace_back(name);
        if constexpr (std::is_same_v<T, std::int32_t>) value = 17;
    }
    std::vector<std::string> names;
};

inline any_array floats(std::initializer_list<float> values) {
    any_array a(dtype::float32, dims{static_cast<index_t>(values.size())});
    std::copy(values.begin(), values.end(), static_cast<float*>(a.mutable_data()));
    return a;
}
inline any_array texts(std::initializer_list<const char*> values) {
    any_array a(dtype::string, dims{static_cast<index_t>(values.size())});
    std::copy(values.begin(), values.end(), static_cast<std::string*>(a.mutable_data()));
    return a;
}

} // namespace test_fields

TEST_CASE("fields: a visitor sees every kind, in the struct's order, and may change what it sees") {
    test_fields::everything e;
    test_fields::name_list names;
    field_visitor& visit = names; // as an op's virtual function calls it
    test_fields::everything::fields(e, visit);
    CHECK(names.names == std::vector<std::string>{"flag", "small", "large", "bits", "number", "type", "text", "shape",
                                                  "places", "axes", "array", "spec"});
    CHECK(e.small == 17);
}

TEST_CASE("fields: arrays are equal by type and contents, wherever they lie") {
    using test_fields::floats, test_fields::texts;
    const auto a = floats({1, 2, 3}), same = floats({1, 2, 3}), other = floats({1, 2, 4});
    CHECK(detail::same_array(a, a));
    CHECK(detail::same_array(a, same));
    CHECK(detail::hash_of(a) == detail::hash_of(same));
    CHECK_FALSE(detail::same_array(a, other));
    CHECK(detail::hash_of(a) != detail::hash_of(other));
    const any_array row(dtype::float32, dims{1, 3}, a.data(), nullptr);
    CHECK_FALSE(detail::same_array(a, row)); // the same memory, another shape
    CHECK(detail::hash_of(a) != detail::hash_of(row));
    CHECK(detail::same_array(any_array(), any_array()));
    CHECK_FALSE(detail::same_array(any_array(), a));
    CHECK(detail::same_array(floats({}), floats({})));
    CHECK(detail::same_array(texts({"a", "b"}), texts({"a", "b"})));
    CHECK_FALSE(detail::same_array(texts({"a", "b"}), texts({"a", "c"})));
    CHECK(detail::hash_of(texts({"a", "b"})) == detail::hash_of(texts({"a", "b"})));
    CHECK_FALSE(detail::same_array(floats({0.f}), floats({-0.f}))); // by bits
}

TEST_CASE("fields: long arrays hash alike where they begin alike, and are told apart all the same") {
    any_array a(dtype::float32, dims{10000}), b(dtype::float32, dims{10000});
    std::memset(a.mutable_data(), 0, 40000);
    std::memset(b.mutable_data(), 0, 40000);
    static_cast<float*>(b.mutable_data())[9999] = 1;
    CHECK(detail::hash_of(a) == detail::hash_of(b));
    CHECK_FALSE(detail::same_array(a, b));
}

TEST_CASE("fields: the hash of a fused node is that of its program, leaves and scalars") {
    fused_spec none;
    CHECK(detail::hash_of(none) == 0);
    program p;
    p.leaves = {dtype::float32};
    p.scalars = {dtype::float32};
    p.key = "Add($0:float32,s0:float32)";
    fused_spec a;
    a.body = std::make_shared<const program>(p);
    a.leaves = {{0, {}}};
    a.scalars = {scalar_value(2.f)};
    fused_spec b = a;
    b.body = std::make_shared<const program>(p);
    CHECK(detail::hash_of(a) == detail::hash_of(b));
    b.scalars = {scalar_value(3.f)};
    CHECK(detail::hash_of(a) != detail::hash_of(b));
    b = a;
    b.leaves[0].input = 1;
    CHECK(detail::hash_of(a) != detail::hash_of(b));
    CHECK_FALSE(a == none); // a write without a program beside one with it
    CHECK_FALSE(none == a);
    CHECK(none == none);
}
