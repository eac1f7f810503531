// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The op harness. Of an elementwise op it checks the types of results, values against a reference on single numbers,
// broadcasting, refusals, and gradients of several orders against finite differences:
//
//     constexpr auto f = [](const auto& x) { return tanh(x); };
//     TEST_CASE("tanh: values") { op_test::unary<float, double>("tanh", f, [](auto x) { return std::tanh(x); }); }
//     TEST_CASE("tanh: gradient") { op_test::gradients(f, {{-2, 2}}); }
//
// Of an op that is a node of its own, op_test::node checks values and gradients over whole arrays.

#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/derivative.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/runtime/session.hpp>

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#else
#include <xtensor/xarray.hpp>
#endif

#include "catch.hpp"

namespace op_test {

using namespace rill;

/// Where the values of an operand lie.
struct range {
    double from = 0, to = 0;
    bool empty() const { return from == to; }
};

// ---- host values ---------------------------------------------------------------------------------------------------------

template <class T> any_array make_array(const dims& shape, const std::vector<T>& values) {
    any_array a(dtype_of<T>, shape);
    REQUIRE(static_cast<index_t>(values.size()) == shape.size());
    std::copy(values.begin(), values.end(), static_cast<T*>(a.mutable_data()));
    return a;
}

/// Values spread over a range, the same in every run; `salt` tells operands apart.
template <class T> std::vector<T> points(range r, index_t n, int salt = 0) {
    if (r.empty()) r = is_integral<T> ? range{std::is_signed_v<T> ? -100. : 0., 100} : range{-4, 4};
    std::vector<T> out;
    auto next = [&, i = salt * 7919 + 1]() mutable {
        const double x = i++ * 0.6180339887498949;
        return r.from + (r.to - r.from) * (x - std::floor(x));
    };
    for (index_t k = 0; k < n; ++k) {
        if constexpr (std::is_same_v<T, bool>)
            out.push_back(next() > (r.from + r.to) / 2);
        else if constexpr (is_complex<T>) {
            const auto re = static_cast<typename T::value_type>(next());
            out.emplace_back(re, static_cast<typename T::value_type>(r.to - next() * 0.7));
        } else if constexpr (is_integral<T>)
            out.push_back(static_cast<T>(std::floor(next())));
        else
            out.push_back(static_cast<T>(next()));
    }
    return out;
}
template <class T> any_array point_array(range r, const dims& shape, int salt = 0) {
    return make_array(shape, points<T>(r, shape.size(), salt));
}

/// The numbers where rules of their own hold; none for integers and complex numbers.
template <class T> std::vector<T> special_values() {
    if constexpr (std::is_same_v<T, bool>) {
        return {false, true};
    } else if constexpr (std::is_floating_point_v<T>) {
        using limits = std::numeric_limits<T>;
        return {T(0),
                T(-0.0),
                T(1),
                T(-1),
                T(0.5),
                T(-2.5),
                T(3),
                T(20),
                T(-20),
                T(100),
                T(-100),
                limits::infinity(),
                -limits::infinity(),
                limits::quiet_NaN(),
                limits::max(),
                limits::lowest(),
                limits::min(),
                T(1e-5),
                T(-1e-5),
                limits::epsilon()};
    } else {
        return {};
    }
}

/// Where an element of the broadcast shape comes from.
inline index_t source_of(index_t flat, const dims& space, const dims& from) {
    index_t at = 0, step = 1;
    for (int i = space.rank - 1, j = from.rank - 1; j >= 0; --i, --j) {
        at += (from[j] == 1 ? 0 : flat % space[i]) * step;
        flat /= space[i];
        step *= from[j];
    }
    return at;
}
inline dims broadcast_of(const std::vector<dims>& shapes) {
    dims space;
    for (const auto& s : shapes) space = rules::broadcast(space, s).shape;
    return space;
}
inline any_array spread_over(const any_array& a, const dims& space) { // of doubles
    any_array out(dtype::float64, space);
    for (index_t i = 0; i < space.size(); ++i)
        static_cast<double*>(out.mutable_data())[i] =
            a.elements<double>()[static_cast<std::size_t>(source_of(i, space, a.shape()))];
    return out;
}

/// The elements of a fetched array: Catch compares and prints vectors, xtensor's arrays it does not.
template <class X> auto list(const X& x) {
    using T = typename X::value_type;
    return std::vector<T>(x.begin(), x.end());
}
inline std::vector<double> list(const any_array& x) {
    return {x.elements<double>().begin(), x.elements<double>().end()};
}

// ---- comparing -----------------------------------------------------------------------------------------------------------

template <class R> bool close(const R& got, const R& wanted, double ulps) {
    if constexpr (is_complex<R>) {
        using part = typename R::value_type;
        if (std::isnan(std::abs(wanted))) return std::isnan(std::abs(got));
        return got == wanted || std::abs(got - wanted) <=
                                    static_cast<part>(ulps) * std::numeric_limits<part>::epsilon() * std::abs(wanted);
    } else if constexpr (std::is_floating_point_v<R>) {
        using limits = std::numeric_limits<R>;
        if (std::isnan(wanted)) return std::isnan(got);
        if (got == wanted) return true;
        return std::abs(got - wanted) <=
                   static_cast<R>(ulps) * limits::epsilon() * std::max(std::abs(wanted), limits::min()) &&
               std::isfinite(got) && std::isfinite(wanted);
    } else {
        return got == wanted;
    }
}

/// What differs first; empty if nothing does.
template <class R>
std::string difference(const any_array& got, const dims& shape, const std::vector<R>& wanted, double ulps = 4,
                       const std::function<std::string(std::size_t)>& operands = {}) {
    if (got.type() != tensor_type{dtype_of<R>, shape})
        return "got " + to_string(got.type()) + " instead of " + to_string(tensor_type{dtype_of<R>, shape});
    const auto all = got.elements<R>();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!close<R>(all[i], wanted[i], ulps)) {
            std::ostringstream text;
            text.precision(17);
            text << "element " << i << " of " << to_string(shape) << " is " << +all[i] << " instead of " << +wanted[i];
            return text.str() + (operands ? operands(i) : "");
        }
    return {};
}

// ---- running -------------------------------------------------------------------------------------------------------------

inline std::vector<feed_value> feeds(const std::vector<any_tensor>& xs, const std::vector<any_array>& at) {
    std::vector<feed_value> all;
    for (std::size_t i = 0; i < xs.size(); ++i) all.push_back({xs[i], {}, at[i]});
    return all;
}
inline any_array run(const session& s, const any_tensor& y, const std::vector<any_tensor>& xs,
                     const std::vector<any_array>& at) {
    return s.run(y, feeds(xs, at));
}
template <class... X> std::vector<any_tensor> handles(const std::tuple<X...>& xs) {
    return std::apply([](const auto&... x) { return std::vector<any_tensor>{x...}; }, xs);
}

/// The real numbers in an array; a complex number is two.
inline std::vector<double> reals(const any_array& a) {
    if (a.dtype() == dtype::float32) return {a.elements<float>().begin(), a.elements<float>().end()};
    const auto* from = static_cast<const double*>(a.data());
    REQUIRE((a.dtype() == dtype::float64 || a.dtype() == dtype::complex128));
    return {from, from + a.size() * (a.dtype() == dtype::complex128 ? 2 : 1)};
}

inline bool near(double got, double wanted, double tolerance, double scale = 0) {
    if (std::isnan(wanted)) return std::isnan(got);
    return got == wanted || std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted) + scale);
}
inline std::string far_apart(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                             double scale = 0) {
    if (got.size() != wanted.size())
        return std::to_string(got.size()) + " numbers instead of " + std::to_string(wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        if (!near(got[i], wanted[i], tolerance, scale)) {
            std::ostringstream text;
            text.precision(12);
            text << "number " << i << " is " << got[i] << " instead of " << wanted[i];
            return text.str();
        }
    return {};
}

// ---- gradients against finite differences ---------------------------------------------------------------------------------

/// A gradient that a compiled kernel computes, computed by the interpreter instead.
inline any_tensor interpreted(const any_tensor& t) {
    const node& n = *t.node();
    if (n.op->kernel_name() != fused_op::name) return t;
    auto spec = static_cast<const fused_op*>(n.op->attributes())->spec;
    spec.kind = fused_spec::form::program;
    return endpoint{detail::add_node(t.graph(), make_op(fused_op{std::move(spec)}), n.inputs), t.end().port};
}

/// Differentiates nodes of a graph by xs at a point: float64 and complex128 operands.
struct gradient_check {
    const session& s;
    std::vector<any_tensor> xs;
    std::vector<any_array> at;
    double tolerance = 1e-7;

    /// d(sum of weights * y)/dx for each x, and up to `order` times that of the result.
    void check(const any_tensor& y, int order, const std::string& what = "y") const {
        const auto value = run(s, y, xs, at);
        any_array weights(value.dtype(), value.shape());
        auto* w = static_cast<double*>(weights.mutable_data());
        const auto drawn = points<double>({0.25, 1.75}, static_cast<index_t>(reals(value).size()), 5);
        std::copy(drawn.begin(), drawn.end(), w);
        const auto d = rill::gradients({y}, xs, {.grad_ys = {constant(weights)}, .stop = {}});
        for (std::size_t k = 0; k < xs.size(); ++k) {
            const std::string name = "d(" + what + ")/dx" + std::to_string(k);
            INFO(name << " at " << to_string(at[k].type()));
            const auto wanted = numeric(y, k, drawn);
            if (!d[k]) {
                CHECK(far_apart(std::vector<double>(wanted.size()), wanted, tolerance) == "");
                continue;
            }
            const auto got = run(s, d[k], xs, at);
            CHECK(got.type() == at[k].type());
            CHECK(far_apart(reals(got), wanted, tolerance, magnitude(value) * 1e-4) == "");
            CHECK(far_apart(reals(run(s, interpreted(d[k]), xs, at)), reals(got), 1e-12) == "");
            if (order > 1) check(d[k], order - 1, name);
        }
    }
    /// The same with weights of one, for a gradient made elsewhere.
    void check_sum(const any_tensor& y, const any_tensor& d, std::size_t k) const {
        const std::vector<double> ones(reals(run(s, y, xs, at)).size(), 1.0);
        CHECK(far_apart(reals(run(s, d, xs, at)), numeric(y, k, ones), tolerance,
                        magnitude(run(s, y, xs, at)) * 1e-4) == "");
    }

private:
    static double magnitude(const any_array& a) {
        double sum = 0;
        for (const double v : reals(a)) sum += std::abs(v);
        return sum;
    }
    double dot(const any_tensor& y, const std::vector<any_array>& there, const std::vector<double>& w) const {
        const auto value = reals(run(s, y, xs, there));
        double sum = 0;
        for (std::size_t i = 0; i < value.size(); ++i) sum += w[i] * value[i];
        return sum;
    }
    std::vector<double> numeric(const any_tensor& y, std::size_t k, const std::vector<double>& w) const {
        std::vector<double> out;
        for (std::size_t i = 0; i < reals(at[k]).size(); ++i) {
            const auto moved = [&](double step) {
                auto there = at;
                any_array copy(at[k].dtype(), at[k].shape());
                detail::copy_elements(at[k].dtype(), at[k].data(), copy.mutable_data(), copy.size());
                static_cast<double*>(copy.mutable_data())[i] += step;
                there[k] = copy;
                return dot(y, there, w);
            };
            const double h = 3e-4;
            out.push_back((8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h));
        }
        return out;
    }
};

// ---- elementwise ops -----------------------------------------------------------------------------------------------------

struct value_options {
    std::vector<range> in = {}; // per operand; -4 to 4 (integers: -100 to 100) where left out
    double ulps = 4;
    bool special = true; // also at infinity, NaN, the largest number…
};

template <class F, class... X> using extents_from = extents_of<std::invoke_result_t<const F&, const X&...>>;

/// What the types of results must be.
template <class F, class... T> constexpr void check_static_shapes() {
    static_assert(std::is_same_v<extents_from<F, tensor<T>...>, extents<>>);
    static_assert(std::is_same_v<extents_from<F, tensor<T, dyn, 3>...>, extents<dyn, 3>>);
    if constexpr (sizeof...(T) == 2) {
        []<class A, class B>(std::tuple<A, B>*) {
            static_assert(std::is_same_v<extents_from<F, tensor<A, dyn, 3>, tensor<B, 3>>, extents<dyn, 3>>);
            static_assert(std::is_same_v<extents_from<F, tensor<A, 3>, tensor<B, dyn, 3>>, extents<dyn, 3>>);
            static_assert(std::is_same_v<extents_from<F, tensor<A, 2, 1>, tensor<B, 1, 4>>, extents<2, 4>>);
            static_assert(std::is_same_v<extents_from<F, tensor<A, dyn>, tensor<B, 5>>, extents<5>>);
            static_assert(std::is_same_v<extents_from<F, tensor<A>, tensor<B, 2, 3>>, extents<2, 3>>);
            static_assert(std::is_same_v<extents_from<F, tensor<A, 2, 3>, tensor<B>>, extents<2, 3>>);
        }(static_cast<std::tuple<T...>*>(nullptr));
    }
}

namespace detail_ {

// What is checked of an op is written over handles and arrays: it is compiled once for the element types, not for every op.

/// Values of an op over operands of element types T, beside a reference on single numbers with results of type R.
template <class R, class... T> struct value_check {
    static constexpr std::size_t count = sizeof...(T);
    static constexpr auto all = std::index_sequence_for<T...>{};

    const session& s;
    const std::string& name;
    std::function<R(const T&...)> reference;
    const value_options& o;

    /// The elements of the operands that meet in an element of the result.
    template <class Use, std::size_t... I>
    static auto met(const Use& use, const std::vector<any_array>& at, const dims& space, std::size_t i,
                    std::index_sequence<I...>) {
        return use(at[I].template elements<T>()[static_cast<std::size_t>(
            source_of(static_cast<index_t>(i), space, at[I].shape()))]...);
    }

    void check(const any_tensor& y, const std::vector<any_tensor>& xs, const std::vector<any_array>& at) const {
        std::vector<dims> shapes;
        for (const auto& a : at) shapes.push_back(a.shape());
        const dims space = broadcast_of(shapes);
        std::vector<R> wanted;
        for (std::size_t i = 0; i < static_cast<std::size_t>(space.size()); ++i)
            wanted.push_back(met(reference, at, space, i, all));
        const auto operands = [&](std::size_t i) {
            std::ostringstream text;
            text.precision(17);
            met([&](const auto&... v) { (void)((text << ", " << +v), ...); }, at, space, i, all);
            return " at " + text.str().substr(2);
        };
        CHECK(difference<R>(run(s, y, xs, at), space, wanted, o.ulps, operands) == "");
    }
    void check(const any_tensor& y, const std::vector<any_tensor>& xs, const std::vector<dims>& shapes) const {
        check(y, xs, arrays(shapes, all));
    }

    /// Arrays of the given shapes, with values from the operands' ranges.
    template <std::size_t... I>
    std::vector<any_array> arrays(const std::vector<dims>& shapes, std::index_sequence<I...>) const {
        return {point_array<T>(I < o.in.size() ? o.in[I] : range{}, shapes[I], static_cast<int>(I + 1))...};
    }

    /// Every combination of special values.
    static std::vector<any_array> combinations() {
        const std::vector<std::size_t> sizes{special_values<T>().size()...};
        std::size_t total = 1;
        for (const auto n : sizes) total *= n;
        std::vector<any_array> out;
        std::size_t step = 1;
        const auto one = [&](const auto& list) {
            using E = typename std::decay_t<decltype(list)>::value_type;
            std::vector<E> column;
            for (std::size_t i = 0; i < total; ++i) column.push_back(list[i / step % list.size()]);
            step *= list.size();
            out.push_back(make_array<E>(dims{static_cast<index_t>(total)}, column));
        };
        if (total > 0) (one(special_values<T>()), ...);
        return out;
    }

    /// Operands of one shape, of one axis.
    void lines(const any_tensor& y, const std::vector<any_tensor>& xs) const {
        for (const index_t size : {0, 1, 3, 16, 17, 1000, 2500}) check(y, xs, std::vector<dims>(count, dims{size}));
        if (const auto special = combinations(); o.special && !special.empty()) check(y, xs, special);
    }

    /// Operands that stretch, and that do not fit: `y1` of one axis, `y2` of two.
    void stretched(const any_tensor& y1, const std::vector<any_tensor>& lines, const any_tensor& y2,
                   const std::vector<any_tensor>& tables) const {
        for (const dims& full : {dims{5, 7}, dims{3, 1100}, dims{1030, 3}, dims{41, 37}})
            for (std::size_t k = 0; k < count; ++k)
                for (const dims& narrow : {full, dims{1, full[1]}, dims{full[0], 1}, dims{1, 1}}) {
                    std::vector<dims> shapes(count, full);
                    shapes[k] = narrow;
                    check(y2, tables, shapes);
                }
        std::vector<dims> crossed(count, dims{6, 1});
        crossed[0] = dims{1, 9};
        check(y2, tables, crossed);
        const auto refuses = [&](const any_tensor& y, const std::vector<any_tensor>& xs, std::vector<dims> shapes,
                                 std::size_t which, const dims& other) {
            shapes[which] = other;
            const auto at = arrays(shapes, all);
            CHECK_THROWS_AS(run(s, y, xs, at), invalid_argument);
            CHECK_THROWS_WITH(run(s, y, xs, at), contains(name + ": the shapes do not broadcast"));
        };
        refuses(y1, lines, std::vector<dims>(count, dims{3}), 0, dims{4});
        refuses(y2, tables, std::vector<dims>(count, dims{2, 3}), count - 1, dims{3, 3});
    }
};

/// Tensors of known types that do not fit together.
inline void pairs_refused(const std::string& name,
                          const std::function<any_tensor(const any_tensor&, const any_tensor&)>& f) {
    const auto three = any_placeholder("three", dtype::float32, {3}),
               four = any_placeholder("four", dtype::float32, {4}),
               doubles = any_placeholder("doubles", dtype::float64, {3});
    CHECK_THROWS_WITH(f(three, four),
                      contains(name + ": the shapes do not broadcast") && contains("[3]") && contains("[4]"));
    CHECK_THROWS_AS(f(three, doubles), invalid_argument);
    CHECK_THROWS_WITH(f(three, doubles),
                      contains(name + ": the dtypes differ") && contains("float32") && contains("float64"));
}

} // namespace detail_

/// Types, values, broadcasting and refusals of an op over operands of element types T. `name` is how messages call it.
template <class... T, class F, class Reference>
void elementwise(const std::string& name, const F& f, const Reference& reference, const value_options& o = {}) {
    using R = std::decay_t<decltype(reference(std::declval<const T&>()...))>;
    constexpr std::size_t n = sizeof...(T);
    check_static_shapes<F, T...>();
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const detail_::value_check<R, T...> check{s, name, reference, o};
    const std::tuple<placeholder<T, dyn>...> line;
    const std::tuple<placeholder<T, dyn, dyn>...> table;
    const auto lines = handles(line);
    const any_tensor y1 = sealed(std::apply(f, line)), y2 = sealed(std::apply(f, table));
    INFO(name << " over " << to_string(lines[0].dtype()));

    check.lines(y1, lines);
    if constexpr (n > 1) check.stretched(y1, lines, y2, handles(table));
    if constexpr (n == 2) { // operands of different ranks
        const auto mixed = [&](const auto& a, const auto& b, const dims& sa, const dims& sb) {
            check.check(sealed(f(a, b)), {a, b}, {sa, sb});
        };
        using first = std::tuple_element_t<0, std::tuple<T...>>;
        using second = std::tuple_element_t<1, std::tuple<T...>>;
        mixed(std::get<0>(table), std::get<1>(line), {4, 5}, {5});
        mixed(std::get<0>(line), std::get<1>(table), {5}, {4, 5});
        mixed(std::get<0>(table), placeholder<second>(), {4, 5}, {});
        mixed(placeholder<first>(), std::get<1>(table), {}, {4, 5});
    }
    if constexpr ((std::is_same_v<T, float> && ...)) { // the same op on tensors of unknown type
        std::vector<any_tensor> loose;
        for (std::size_t k = 0; k < n; ++k) loose.push_back(any_placeholder("any", dtype::float32));
        const any_tensor y = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return f(loose[I]...);
        }(std::index_sequence_for<T...>{});
        check.check(y, loose, std::vector<dims>(n, dims{5, 4}));
        if constexpr (n == 2) detail_::pairs_refused(name, f);
    }
}

/// An op of one operand, for each of the element types.
template <class... T, class F, class Reference>
void unary(const std::string& name, const F& f, const Reference& reference, const value_options& o = {}) {
    (elementwise<T>(name, f, reference, o), ...);
}
/// An op of two operands of one element type, for each of the element types.
template <class... T, class F, class Reference>
void binary(const std::string& name, const F& f, const Reference& reference, const value_options& o = {}) {
    (elementwise<T, T>(name, f, reference, o), ...);
}

namespace detail_ {

/// An op's result over new placeholders of one element type.
template <class T> struct applied {
    std::vector<any_tensor> xs;
    any_tensor y;

    template <class F, std::size_t... I> applied(const F& f, std::index_sequence<I...>) {
        const std::tuple<std::enable_if_t<(I < sizeof...(I)), placeholder<T, dyn, dyn>>...> x;
        xs = handles(x);
        y = sealed(std::apply(f, x));
    }
};

/// The gradient of an operand that stretches is the sum of the gradients of a full one; over several blocks, and in float.
inline void broadcast_gradients(const applied<double>& f, const applied<float>& single, const std::vector<range>& in) {
    const std::size_t n = in.size();
    const session s(f.y.graph());
    const auto make = [](const any_tensor& y, std::vector<any_tensor> xs) {
        const any_tensor seed = any_placeholder("seed", y.dtype());
        const auto d = rill::gradients({y}, xs, {.grad_ys = {seed}, .stop = {}});
        xs.push_back(seed);
        return std::pair(xs, d);
    };
    const auto [xs, d] = make(f.y, f.xs);
    const auto [fs, df] = make(single.y, single.xs);
    for (const dims& full : {dims{4, 5}, dims{40, 70}, dims{3, 1100}, dims{1500, 2}})
        for (std::size_t k = 0; k < n; ++k)
            for (const dims& narrow : {full, dims{1, full[1]}, dims{full[0], 1}, dims{1, 1}}) {
                INFO("operand " << k << " of shape " << to_string(narrow) << " over " << to_string(full));
                std::vector<any_array> at, spread, floats;
                for (std::size_t i = 0; i <= n; ++i) {
                    at.push_back(
                        point_array<double>(i < n ? in[i] : range{-1, 1}, i == k ? narrow : full, static_cast<int>(i)));
                    spread.push_back(spread_over(at.back(), full));
                    const auto all = at.back().elements<double>();
                    floats.push_back(make_array<float>(at.back().shape(), std::vector<float>(all.begin(), all.end())));
                }
                for (std::size_t i = 0; i < n; ++i) {
                    if (!d[i]) continue;
                    const auto whole = reals(run(s, d[i], xs, spread));
                    std::vector<double> wanted(static_cast<std::size_t>(at[i].size()));
                    double scale = 0;
                    for (std::size_t e = 0; e < whole.size(); ++e) {
                        wanted[static_cast<std::size_t>(source_of(static_cast<index_t>(e), full, at[i].shape()))] +=
                            whole[e];
                        scale += std::abs(whole[e]) / static_cast<double>(wanted.size());
                    }
                    CHECK(far_apart(reals(run(s, d[i], xs, at)), wanted, 1e-12, scale) == "");
                    CHECK(far_apart(reals(run(s, df[i], fs, floats)), wanted, 1e-4, scale) == "");
                }
                if (n == 1) break; // one operand does not stretch
            }
}

/// Finite differences where operands stretch.
inline void stretched_gradients(const applied<double>& f, const std::vector<range>& in, int order) {
    const session s(f.y.graph());
    for (std::size_t k = 0; k < in.size(); ++k)
        for (const dims& narrow : {dims{1, 3}, dims{2, 1}, dims{1, 1}}) {
            std::vector<any_array> at;
            for (std::size_t i = 0; i < in.size(); ++i)
                at.push_back(point_array<double>(in[i], i == k ? narrow : dims{2, 3}, static_cast<int>(i)));
            gradient_check{s, f.xs, at}.check(f.y, order);
        }
}

} // namespace detail_

/// Gradients of an elementwise op over doubles: first (and higher, up to `order`) derivatives by every operand against
/// finite differences, of operands that stretch too; in float; by derivative() as well as gradients(); by the compiled
/// kernels as well as the interpreter. Values lie in the given ranges, which keep away from kinks.
template <class F, std::size_t N> void gradients(const F& f, const range (&in)[N], int order = 3) {
    constexpr auto all = std::make_index_sequence<N>{};
    const std::vector<range> ranges(std::begin(in), std::end(in));
    {
        const graph g;
        const graph_scope here(g);
        const session s(g);
        const auto x = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple<std::enable_if_t<(I < N), placeholder<double, dyn>>...>();
        }(all);
        const auto y = std::apply(f, x);
        const any_tensor whole = sealed(y);
        std::vector<any_array> at;
        for (std::size_t i = 0; i < N; ++i) at.push_back(point_array<double>(in[i], dims{4}, static_cast<int>(i)));
        const gradient_check c{s, handles(x), at};
        c.check(whole, order);
        const auto typed = std::apply([&](const auto&... v) { return rill::gradients(y, v...); }, x);
        const auto by = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
            INFO("by operand " << K);
            c.check_sum(whole, std::get<K>(typed), K);
            if constexpr (detail::is_expression<std::remove_const_t<decltype(y)>>) {
                const any_tensor slope = sealed(derivative(y, std::get<K>(x)));
                INFO("derivative()");
                c.check_sum(whole, slope, K);
                if (order > 1) c.check(slope, order - 1, "derivative");
            }
        };
        [&]<std::size_t... I>(std::index_sequence<I...>) { (by(std::integral_constant<std::size_t, I>{}), ...); }(all);
    }
    const graph g;
    const graph_scope here(g);
    const detail_::applied<double> wide(f, all);
    if (N > 1) detail_::stretched_gradients(wide, ranges, std::min(order, 2));
    detail_::broadcast_gradients(wide, detail_::applied<float>(f, all), ranges);
}

/// First derivatives of an op over complex numbers, in the conjugate convention: the gradient of a real sum is
/// d/d(real part) + i d/d(imaginary part).
template <class F, std::size_t N> void complex_gradients(const F& f, const range (&in)[N], int order = 2) {
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<std::enable_if_t<(I < N), placeholder<C, dyn>>...>();
    }(std::make_index_sequence<N>{});
    detail::require_gradient_kernels<C>();
    std::vector<any_array> at;
    for (std::size_t i = 0; i < N; ++i) at.push_back(point_array<C>(in[i], {3}, static_cast<int>(i)));
    gradient_check{s, handles(x), at}.check(sealed(std::apply(f, x)), order);
}

// ---- ops that are nodes of their own ---------------------------------------------------------------------------------------

struct node_options {
    std::vector<range> in = {};
    int order = 2; // of the gradients checked, for doubles; 0: none
    double ulps = 64;
};

namespace detail_ {

template <class T> xt::xarray<T> host_copy(const any_array& a) {
    std::vector<std::size_t> shape;
    for (int i = 0; i < a.shape().rank; ++i) shape.push_back(static_cast<std::size_t>(a.shape()[i]));
    xt::xarray<T> out(shape);
    std::copy_n(static_cast<const T*>(a.data()), a.size(), out.storage().begin());
    return out;
}

template <class Wanted>
void check_node(const any_tensor& y, const std::vector<any_tensor>& xs, const std::vector<any_array>& at,
                const Wanted& wanted, const node_options& o) {
    using R = typename Wanted::value_type;
    const session s(current_graph());
    dims shape;
    for (const auto e : wanted.shape()) shape.push(static_cast<index_t>(e));
    CHECK(difference<R>(run(s, y, xs, at), shape, std::vector<R>(wanted.begin(), wanted.end()), o.ulps) == "");
    CHECK(rules::compatible(y.static_shape(), shape));
    const auto differentiable = [](const any_array& a) {
        return a.dtype() == dtype::float64 || a.dtype() == dtype::complex128;
    };
    if (o.order > 0 && std::all_of(at.begin(), at.end(), differentiable)) gradient_check{s, xs, at}.check(y, o.order);
}

} // namespace detail_

/// Values of an op over arrays against a reference on xt::xarray<T>, and its gradients against finite differences. The
/// operands are placeholders of element type T and the given ranks: node<double, 2, 2>(f, reference, {{3, 4}, {4, 5}}).
template <class T, int... Rank, class F, class Reference>
void node(const F& f, const Reference& reference, const std::vector<dims>& shapes, const node_options& o = {}) {
    const graph g;
    const graph_scope here(g);
    const auto one = []<std::size_t... I>(std::index_sequence<I...>) {
        return placeholder<T, (static_cast<void>(I), dyn)...>();
    };
    const auto x = std::tuple{one(std::make_index_sequence<static_cast<std::size_t>(Rank)>{})...};
    std::vector<any_array> at;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        at.push_back(point_array<T>(i < o.in.size() ? o.in[i] : range{}, shapes[i], static_cast<int>(i)));
    const auto wanted = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return reference(detail_::host_copy<T>(at[I])...);
    }(std::index_sequence_for<decltype(Rank)...>{});
    detail_::check_node(sealed(std::apply(f, x)), handles(x), at, wanted, o);
}

} // namespace op_test
