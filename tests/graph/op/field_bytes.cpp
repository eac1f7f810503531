// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/field_bytes.hpp>

#include <functional>
#include <limits>

#include <rill/graph/op/op_registry.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_field_bytes {

/// A field of every kind.
struct everything_op {
    static constexpr auto name = "TestEverything";
    static constexpr auto no_gradient = "a test's";
    bool flag = false;
    std::int32_t small = 1;
    std::int64_t large = 2;
    std::uint64_t bits = 3;
    double number = 0.5;
    dtype type = dtype::float32;
    std::string text = "default";
    dims shape;
    index_list places;
    axis_list axes;
    any_array numbers, texts, empty;
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
        visit("numbers", op.numbers);
        visit("texts", op.texts);
        visit("empty", op.empty);
        visit("spec", op.spec);
    }
    shape_result shape_of(const dims& x) const { return {x}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
};

/// What a later version of it might hold, and an earlier one.
struct one_field_op {
    static constexpr auto name = "TestOneField";
    static constexpr auto no_gradient = "a test's";
    std::int32_t small = 9;
    static void fields(auto& op, auto& visit) { visit("small", op.small); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
};

inline constexpr elementwise_info product{"TestFieldsMul", 2}, above{"TestFieldsGreater"};

inline void register_elementwise() {
    op_entry e;
    e.name = product.name;
    e.struct_name = "test's";
    e.version = product.version;
    e.elementwise = &product;
    e.operands = 2;
    register_op(e);
    e.name = above.name;
    e.version = 1;
    e.elementwise = &above;
    e.result = dtype::boolean;
    register_op(e);
}

/// greater(x * y, 2), reduced
inline fused_spec sample_spec() {
    register_elementwise();
    program p;
    p.leaves = {dtype::float32, dtype::float32};
    p.scalars = {dtype::float32};
    p.code = {{&product, dtype::float32, {0, 1}}, {&above, dtype::boolean, {3, 2}}};
    p.results = {4, 3};
    p.key = spelled_key(p);
    fused_spec s;
    s.body = std::make_shared<const program>(std::move(p));
    s.kind = fused_spec::form::program;
    s.leaves = {{0, {}}, {1, {combine::mean, {0, -1}, true}}};
    s.results = {{{combine::any, {1}, false}, -1, 0}, {{}, 1, 5}};
    s.scalars = {scalar_value(2.f)};
    return s;
}

inline everything_op sample() {
    everything_op e;
    e.flag = true;
    e.small = std::numeric_limits<std::int32_t>::min();
    e.large = std::numeric_limits<std::int64_t>::max();
    e.bits = std::numeric_limits<std::uint64_t>::max();
    e.number = std::numeric_limits<double>::quiet_NaN();
    e.type = dtype::qint32;
    e.text = std::string("zero \0 inside", 13);
    e.shape = {2, dyn, 0, 7};
    e.places = {-7, std::numeric_limits<index_t>::min(), 3};
    e.axes = {0, -1, 3};
    e.numbers = any_array(dtype::boolean, dims{1, 3});
    for (int i = 0; i < 3; ++i) static_cast<bool*>(e.numbers.mutable_data())[i] = i != 1;
    e.texts = any_array(dtype::string, dims{2, 2});
    for (int i = 0; i < 4; ++i)
        static_cast<std::string*>(e.texts.mutable_data())[i] = std::string(static_cast<std::size_t>(i) * 20, 'a');
    e.spec = sample_spec();
    return e;
}

inline op_ptr read(std::string_view bytes) {
    op_ptr made;
    load_fields(bytes, [&](field_visitor& reader) { made = detail::make_from_fields<everything_op>(&reader); });
    return made;
}

/// Malformed bytes are an op all the same, or an error of ours; an op that was made can be used.
inline bool survives(std::string_view bytes) {
    op_ptr made;
    try {
        made = read(bytes);
    } catch (const error&) {
        return true;
    }
    (void)made->hash();
    const auto& e = *static_cast<const everything_op*>(made->attributes());
    for (const bool b : e.numbers.dtype() == dtype::boolean ? e.numbers.elements<bool>() : std::span<const bool>())
        if (b != true && b != false) return false;
    return made->equals(*read(bytes_of_fields(*made)));
}

} // namespace test_field_bytes

TEST_CASE("field_bytes: every kind of field, and back") {
    using namespace test_field_bytes;
    const op_ptr full = make_op(sample()), plain = make_op(everything_op{});
    for (const auto& o : {full, plain}) {
        const auto bytes = bytes_of_fields(*o);
        const op_ptr back = read(bytes);
        CHECK(back->equals(*o));
        CHECK(back->hash() == o->hash());
        CHECK(bytes_of_fields(*back) == bytes);
    }
    CHECK_FALSE(full->equals(*plain));
    const op_ptr read_back = read(bytes_of_fields(*full));
    const auto& e = *static_cast<const everything_op*>(read_back->attributes());
    CHECK(e.text.size() == 13);
    CHECK(e.shape == dims{2, dyn, 0, 7});
    CHECK(e.texts.elements<std::string>()[3] == std::string(60, 'a'));
    CHECK(e.empty.empty());
    const auto& spec = e.spec;
    REQUIRE(spec.body);
    CHECK(spec.body->code[0].op == &product);
    CHECK(spec.body->code[1].op == &above);
    CHECK(spec.body->code[1].args == std::vector<int>{3, 2});
    CHECK(spec.body->results == std::vector<int>{4, 3});
    CHECK(spec.body->key ==
          "program float32 float32; float32; TestFieldsMul:float32 0 1; TestFieldsGreater:bool 3 2 -> 4 3");
    CHECK(spec.kind == fused_spec::form::program);
    CHECK(spec.leaves[1].view == reduction{combine::mean, {0, -1}, true});
    CHECK(spec.results[1].like == 1);
    CHECK(spec.results[1].mask == 5);
    CHECK(spec.scalars[0].as<float>() == 2.f);
}

TEST_CASE("field_bytes: arrays of every dtype, also of no elements and of no rank") {
    using namespace test_field_bytes;
    for (int d = 1; d < dtype_count; ++d)
        for (const dims& shape : {dims{3, 2}, dims{0, 5}, dims{}}) {
            everything_op e;
            e.numbers = any_array(static_cast<dtype>(d), shape);
            if (e.numbers.dtype() != dtype::string && shape.size() > 0)
                std::memset(e.numbers.mutable_data(), 1,
                            static_cast<std::size_t>(shape.size()) * size_of(e.numbers.dtype()));
            const op_ptr o = make_op(e);
            INFO(to_string(e.numbers.type()));
            CHECK(read(bytes_of_fields(*o))->equals(*o));
        }
}

TEST_CASE("field_bytes: what is missing keeps its default, what is unknown is refused") {
    using namespace test_field_bytes;
    const auto one = bytes_of_fields(*make_op(one_field_op{}));
    const op_ptr made = read(one);
    const auto& e = *static_cast<const everything_op*>(made->attributes());
    CHECK(e.small == 9);
    CHECK(e.text == "default");
    const auto all = bytes_of_fields(*make_op(sample()));
    const auto as_one = [](std::string_view bytes) {
        load_fields(bytes, [](field_visitor& reader) { detail::make_from_fields<one_field_op>(&reader); });
    };
    CHECK_NOTHROW(as_one(one));
    CHECK_THROWS_AS(as_one(all), invalid_argument);
    CHECK_THROWS_WITH(as_one(all), contains("no field '"));
    CHECK_THROWS_WITH(read(one + one), contains("'small' is there twice"));
    auto other_kind = one;
    other_kind[4 + 5] = 3; // after the name's length and letters
    CHECK_THROWS_WITH(read(other_kind), contains("'small' is of another kind"));
}

TEST_CASE("field_bytes: ops that this program lacks, or knows in an older version, are named") {
    using namespace test_field_bytes;
    auto e = sample();
    static constexpr elementwise_info unknown{"TestFieldsNowhere"}, newer{"TestFieldsMul", 3};
    const auto with = [&](const elementwise_info& op) {
        auto body = std::make_shared<program>(*e.spec.body);
        body->code[0].op = &op;
        e.spec.body = body;
        return bytes_of_fields(*make_op(e));
    };
    CHECK_THROWS_AS(read(with(unknown)), unimplemented);
    CHECK_THROWS_WITH(read(with(unknown)), contains("'TestFieldsNowhere'"));
    CHECK_THROWS_AS(read(with(newer)), unimplemented);
    CHECK_THROWS_WITH(read(with(newer)), contains("'TestFieldsMul' in version 3 (this program's is 2)"));
    auto body = std::make_shared<program>(*e.spec.body);
    static constexpr elementwise_info other{"TestFieldsNobody"};
    body->code[0].op = &unknown, body->code[1].op = &other;
    e.spec.body = body;
    const auto both = bytes_of_fields(*make_op(e));
    CHECK_THROWS_WITH(read(both), contains("the ops 'TestFieldsNowhere', 'TestFieldsNobody'"));
}

TEST_CASE("field_bytes: a program's key is worked out, whatever the bytes say") {
    using namespace test_field_bytes;
    auto e = sample();
    const auto read_key = [&](const std::string& said, const program& p) {
        auto body = std::make_shared<program>(p);
        body->key = said;
        e.spec.body = body;
        const op_ptr made = read(bytes_of_fields(*make_op(e)));
        return static_cast<const everything_op*>(made->attributes())->spec.body->key;
    };
    program tree = *e.spec.body;
    tree.results = {4};
    e.spec.results = {{{combine::any, {1}, false}, -1, 0}};
    const std::string spelled = spelled_key(tree),
                      expression = "TestFieldsGreater(TestFieldsMul($0:float32,$1:float32),s0:float32):bool";
    CHECK(read_key(expression, tree) == expression); // both are true: equal programs keep equal keys
    CHECK(read_key(spelled, tree) == spelled);
    CHECK(read_key("TestFieldsGreater($0:float32,s0:float32):bool", tree) == spelled);
    CHECK(read_key("", tree) == spelled);
    program twice = tree; // no expression: a leaf is used twice
    twice.code[0].args = {0, 0};
    CHECK(read_key(expression, twice) == spelled_key(twice));
}

TEST_CASE("field_bytes: instructions whose dtypes no op has are refused") {
    using namespace test_field_bytes;
    auto e = sample();
    const auto with = [&](const std::function<void(program&)>& change) {
        auto body = std::make_shared<program>(*sample_spec().body);
        change(*body);
        e.spec.body = body;
        return bytes_of_fields(*make_op(e));
    };
    CHECK_NOTHROW(read(with([](program&) {})));
    const std::function<void(program&)> wrong[] = {
        [](program& p) { p.code[0].type = dtype::float64; },
        [](program& p) { p.leaves[0] = dtype::float64; },
        [](program& p) { p.leaves = {dtype::string, dtype::string}; },
        [](program& p) { p.leaves[1] = dtype::invalid; },
        [](program& p) { p.code[0].args = {0, 4}; },
        [](program& p) { p.code[0].args = {0, -1}; },
        [](program& p) { p.code[0].args = {0}; },
        [](program& p) { p.code[0].args = {}; },
        [](program& p) { p.results = {5, 3}; },
    };
    for (const auto& change : wrong) CHECK_THROWS_AS(read(with(change)), invalid_argument);
}

TEST_CASE("field_bytes: a result that is to be reduced in two ways is refused") {
    using namespace test_field_bytes;
    auto e = sample();
    e.spec.results[1].reduce = {combine::mean, {}, false}; // beside the shape of an input
    CHECK_THROWS_WITH(read(bytes_of_fields(*make_op(e))), contains("reduced in two ways"));
    e.spec.results[1].like = -2;
    CHECK_THROWS_AS(read(bytes_of_fields(*make_op(e))), invalid_argument);
}

TEST_CASE("field_bytes: what says that it is an adjoint, and can't be shown to be one, is a program") {
    using namespace test_field_bytes;
    auto e = sample();
    auto body = std::make_shared<program>(*e.spec.body);
    body->adjoint_of = "TestFieldsMul($0:float32,$1:float32)";
    e.spec.body = body;
    e.spec.kind = fused_spec::form::adjoint;
    e.spec.results[0].mask = 0; // of no leaf
    const op_ptr made = read(bytes_of_fields(*make_op(e)));
    const auto& spec = static_cast<const everything_op*>(made->attributes())->spec;
    CHECK(spec.kind == fused_spec::form::program);
    CHECK(spec.body->adjoint_of.empty());
    CHECK(spec.kernel().empty());
}

TEST_CASE("field_bytes: cut off anywhere, it is an error of ours") {
    using namespace test_field_bytes;
    const auto bytes = bytes_of_fields(*make_op(sample()));
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        const std::string cut = bytes.substr(0, n); // its own memory: a sanitizer sees a read beyond it
        INFO(n);
        CHECK(survives(cut));
    }
}

TEST_CASE("field_bytes: any byte changed, it is an error of ours or another op") {
    using namespace test_field_bytes;
    const auto bytes = bytes_of_fields(*make_op(sample()));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (const unsigned flip : {0x01u, 0x02u, 0x04u, 0x08u, 0x10u, 0x20u, 0x40u, 0x80u, 0xffu}) {
            std::string changed = bytes;
            changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
            INFO("byte " << i << ", bits " << flip);
            CHECK(survives(changed));
        }
}

TEST_CASE("field_bytes: lengths that promise more than there is make no room") {
    using namespace test_field_bytes;
    everything_op e;
    e.numbers = any_array(dtype::float64, dims{1});
    static_cast<double*>(e.numbers.mutable_data())[0] = 1;
    auto bytes = bytes_of_fields(*make_op(e));
    const auto at = bytes.find("numbers") + 7 + 1 + 8 + 1 + 1; // kind, length, dtype, rank
    for (const std::int64_t extent :
         {std::int64_t(1) << 40, std::numeric_limits<std::int64_t>::max(), std::int64_t(-2)}) {
        std::memcpy(bytes.data() + at, &extent, sizeof extent);
        CHECK_THROWS_AS(read(bytes), invalid_argument);
    }
}
