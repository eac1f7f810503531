// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/thrust/program_source.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <rill/device/cpu/fusion/interpreter.hpp>
#include <rill/graph/op/op_registry.hpp>
#include <rill/ops/math/mul.hpp>

#include "../../catch.hpp"
#include "text_compiler.hpp"

using namespace rill;

namespace test_thrust_programs {

/// A program of one op over leaves of dtypes, with results of a dtype.
program_ptr one_op(const elementwise_info& op, std::vector<dtype> leaves, dtype result) {
    program p;
    p.leaves = std::move(leaves);
    std::vector<int> args;
    for (std::size_t k = 0; k < p.leaves.size(); ++k) args.push_back(static_cast<int>(k));
    p.results = {static_cast<int>(args.size())};
    p.code.push_back({&op, result, std::move(args)});
    p.key = spelled_key(p);
    return std::make_shared<const program>(std::move(p));
}

/// n numbers of a dtype, none of them 0, as the operands of an op may be divisors.
std::vector<double> draw_bytes(dtype type, int n, unsigned seed) {
    std::vector<double> memory(static_cast<std::size_t>(n) * 2);
    detail::visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_arithmetic_v<T>) {
            unsigned state = seed;
            for (int k = 0; k < n; ++k) {
                state = state * 1664525u + 1013904223u;
                const int whole = static_cast<int>(state >> 16) % 13 - 6;
                const T value = std::is_floating_point_v<T> ? static_cast<T>(whole / 4. + .125)
                                                            : static_cast<T>(whole == 0 ? 7 : whole);
                std::memcpy(reinterpret_cast<char*>(memory.data()) + static_cast<std::size_t>(k) * sizeof(T), &value,
                            sizeof(T));
            }
        }
    });
    return memory;
}

bool nearly_same(dtype type, const void* a, const void* b, int n) {
    bool same = true;
    detail::visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_arithmetic_v<T>)
            for (int k = 0; k < n; ++k) {
                const double x = static_cast<double>(static_cast<const T*>(a)[k]),
                             y = static_cast<double>(static_cast<const T*>(b)[k]);
                const double apart = std::is_same_v<T, float> ? 1e-5 : std::is_same_v<T, double> ? 1e-13 : 0;
                same = same && (x == y || (std::isnan(x) && std::isnan(y)) ||
                                std::abs(x - y) <= apart * std::max(1., std::abs(y)));
            }
    });
    return same;
}

TEST_CASE("programs as texts: every elementwise op computes what the interpreter does") {
    constexpr int n = 24;
    const std::vector<dtype> types{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean};
    struct row {
        program_ptr p;
        program_source source;
    };
    text_compiler texts;
    std::vector<row> rows;
    std::set<std::string> names;
    for (const op_entry* const entry : known_ops()) {
        const op_entry& e = *entry;
        if (!e.elementwise || !e.struct_name.starts_with("rill::")) continue;
        for (const dtype type : types) {
            if (!e.takes(type)) continue;
            std::vector<dtype> leaves(static_cast<std::size_t>(e.operands), type);
            if (e.mixed) leaves[0] = dtype::boolean;
            const auto p = one_op(*e.elementwise, leaves, e.result == dtype::invalid ? type : e.result);
            if (!block_interpreter::find_loop(*p, p->code[0]).run) continue;
            const std::vector<leaf_form> forms(leaves.size(), leaf_form::dense);
            const auto source = program_source::of(*p, forms, 1);
            INFO(e.name);
            REQUIRE(source);
            names.insert(std::string(e.name));
            texts.add(*source);
            rows.push_back({p, *source});
        }
    }
    CHECK(names.size() > 60);
    texts.compile();
    std::vector<program_source> sources;
    for (const auto& [p, source] : rows) {
        sources.push_back(source);
        const dtype result = p->type_of(p->results[0]);
        std::vector<std::vector<double>> in;
        std::vector<detail::launch_operand> operands;
        std::vector<const void*> read;
        for (std::size_t k = 0; k < p->leaves.size(); ++k) {
            in.push_back(draw_bytes(p->leaves[k], n, static_cast<unsigned>(k + 1)));
            read.push_back(in.back().data());
            auto& o = operands.emplace_back();
            o.at = in.back().data();
            o.dense = true;
        }
        std::vector<double> wanted(n * 2), got(n * 2);
        void* to = wanted.data();
        const block_interpreter interpreter(p);
        std::vector<double> scratch(interpreter.scratch_bytes() / sizeof(double) + 64);
        interpreter.begin(reinterpret_cast<std::byte*>(scratch.data()), nullptr, n);
        interpreter.run({read.data(), nullptr, &to, nullptr, n}, reinterpret_cast<std::byte*>(scratch.data()));
        to = got.data();
        const detail::launch_space space{1, {n}, n};
        const auto words =
            detail::program_arguments<host_addresses>(source, {space, operands.data(), nullptr, &to, nullptr});
        const auto run = texts.find(source);
        REQUIRE(run);
        run(words.data(), n);
        INFO(p->key);
        CHECK(nearly_same(result, got.data(), wanted.data(), n));
    }
    check_nvrtc(sources);
}

constexpr elementwise_info known{"Mul", 1, 1, false, detail::type_name<mul_op>()};

/// (x * y) * 2 with a leaf in each form, over a space of rank 2.
program_ptr scaled_product() {
    program p;
    p.leaves = {dtype::float32, dtype::float32};
    p.scalars = {dtype::float32};
    p.code.push_back({&known, dtype::float32, {0, 1}});
    p.code.push_back({&known, dtype::float32, {3, 2}});
    p.results = {4, 3};
    return std::make_shared<const program>(std::move(p));
}

TEST_CASE("programs as texts: each leaf is read in its form, and numbers are arguments") {
    const auto p = scaled_product();
    const std::vector<leaf_form> forms{leaf_form::strided, leaf_form::single};
    const auto source = program_source::of(*p, forms, 2);
    REQUIRE(source);
    CHECK_FALSE(source->is_dense());
    CHECK(source->words() == 2 + 3 + 1 + 1 + 2); // extents; address and strides; address; number; results
    const std::string text = source->text(source_language::cuda);
    for (const char* part :
         {"#include <rill/ops/math/mul.hpp>", "words.strided<float, 2>(2, i)", "words.single<float>(5)",
          "words.number<float>(6)", "const lane<float> v3 = compute<rill::mul_op>(v0, v1);", "words.store(7, i, v4);",
          "words.store(8, i, v3);", "extern \"C\" __global__"})
        CHECK_THAT(text, contains(part));

    text_compiler texts;
    texts.add(*source);
    texts.compile();
    const std::vector<float> x{1, 2, 3, 4, 5, 6}, y{10};
    std::vector<detail::launch_operand> operands(2);
    operands[0].at = x.data();
    operands[0].stride = {1, 2}; // the transpose of 3 x 2
    operands[1].at = y.data();
    std::vector<float> scaled(6), product(6);
    void* results[] = {scaled.data(), product.data()};
    const scalar_value two(2.f);
    const detail::launch_space space{2, {2, 3}, 6};
    const auto words =
        detail::program_arguments<host_addresses>(*source, {space, operands.data(), &two, results, nullptr});
    const auto run = texts.find(*source);
    REQUIRE(run);
    run(words.data(), 6);
    CHECK(product == std::vector<float>{10, 30, 50, 20, 40, 60});
    CHECK(scaled == std::vector<float>{20, 60, 100, 40, 80, 120});
    check_nvrtc({*source});
}

TEST_CASE("programs as texts: programs that no text can be of") {
    const std::vector<leaf_form> one{leaf_form::dense};
    const auto refused = [&](const elementwise_info& op, dtype type, std::size_t length = 1) {
        program p;
        p.leaves = {type};
        for (std::size_t k = 0; k < length; ++k)
            p.code.push_back({&op, type, {static_cast<int>(k), static_cast<int>(k)}});
        p.results = {static_cast<int>(length)};
        return !program_source::of(p, one, 1);
    };
    static constexpr elementwise_info own{"Own", 1, 1, false, "rill_user::own_op"},
        nested{"Nested", 1, 1, false, "rill::user::own_op"}, nameless{"Nameless"};
    CHECK(refused(own, dtype::float32));
    CHECK(refused(nested, dtype::float32));
    CHECK(refused(nameless, dtype::float32));
    CHECK(refused(known, dtype::string));
    CHECK(refused(known, dtype::qint8));
    CHECK_FALSE(refused(known, dtype::float32));
    CHECK_FALSE(refused(known, dtype::half));
    CHECK_FALSE(refused(known, dtype::float32, 256));
    CHECK(refused(known, dtype::float32, 257));
}

} // namespace test_thrust_programs
