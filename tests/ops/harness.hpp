// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The op harness. Of an elementwise op it checks the types of results, values against a reference on single numbers,
// broadcasting, refusals, and gradients of several orders against finite differences:
//
//     constexpr auto f = [](const auto& x) { return tanh(x); };
//     TEST_CASE("tanh: values") { op_test::unary<float, double>("tanh", f, [](auto x) { return std::tanh(x); }); }
//     TEST_CASE("tanh: gradient") { op_test::gradients(f, {{-2, 2}}); }
//
// The functions of an op's struct are compiled for GPUs too, and must be RILL_FN. They may call one another, the functions of other ops by
// their plain names, and what CUDA has of <cmath>: docs/adding_an_op.md has the rules. tests/house/check_value_functions.py looks for
// RILL_FN, tests/nvcc compiles the ops of the catalogue.
//
// Of an op that is a node of its own, op_test::node checks values and gradients over whole arrays. It also checks that the kernels of all
// nodes, those of gradients too, read the inputs that their ops say they read.

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
#include <rill/session/session.hpp>

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

/// Returns where an element of the broadcast shape comes from.
index_t source_of(index_t flat, const dims& space, const dims& from);
dims broadcast_of(const std::vector<dims>& shapes);
/// Returns an array of doubles stretched to a shape.
any_array spread_over(const any_array& a, const dims& space);

/// The elements of a fetched array: Catch compares and prints vectors, xtensor's arrays it does not.
template <class X> auto list(const X& x) {
    using T = typename X::value_type;
    return std::vector<T>(x.begin(), x.end());
}
std::vector<double> list(const any_array& x);

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

/// The same of a fetched array whose rank is in its type.
template <class R, class X>
    requires(!std::is_same_v<X, any_array>)
std::string difference(const X& got, const dims& shape, const std::vector<R>& wanted, double ulps = 4) {
    return difference<R>(to_any_array<R>(got), shape, wanted, ulps);
}

// ---- running -------------------------------------------------------------------------------------------------------------

std::vector<feed_value> feeds(const std::vector<any_tensor>& xs, const std::vector<any_array>& at);
any_array run(const session& s, const any_tensor& y, const std::vector<any_tensor>& xs,
              const std::vector<any_array>& at);
template <class... X> std::vector<any_tensor> handles(const std::tuple<X...>& xs) {
    return std::apply([](const auto&... x) { return std::vector<any_tensor>{x...}; }, xs);
}

/// Checks of the graph's nodes that their kernels leave alone the inputs which their ops read for their shape only, and read the others.
/// The nodes' inputs are computed from the values of `xs`. Each op is checked once in a program.
void check_reads(const session& s, const graph& g, const std::vector<any_tensor>& xs, const std::vector<any_array>& at);

/// Returns the real numbers in an array; a complex number is two.
std::vector<double> reals(const any_array& a);
/// Returns true if two numbers differ by at most a tolerance relative to 1, the wanted one and a scale, or both are NaN.
bool near(double got, double wanted, double tolerance, double scale = 0);
/// Returns what differs first by more than a tolerance relative to 1, the wanted value and a scale; empty if nothing does.
std::string far_apart(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                      double scale = 0);

// ---- gradients against finite differences ---------------------------------------------------------------------------------

/// Returns a gradient that a compiled kernel computes, computed by the interpreter instead.
any_tensor interpreted(const any_tensor& t);

/// Differentiates nodes of a graph by xs at a point: float64 and complex128 operands.
struct gradient_check {
    const session& s;
    std::vector<any_tensor> xs;
    std::vector<any_array> at;
    double tolerance = 1e-7;

    /// Checks d(sum of weights * y)/dx for each x, and up to `order` times that of the result.
    void check(const any_tensor& y, int order, const std::string& what = "y") const;
    /// Checks a gradient made elsewhere, with weights of one.
    void check_sum(const any_tensor& y, const any_tensor& d, std::size_t k) const;

private:
    double dot(const any_tensor& y, const std::vector<any_array>& there, const std::vector<double>& w) const;
    std::vector<double> numeric(const any_tensor& y, std::size_t k, const std::vector<double>& w) const;
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

// The element types that most tests use are compiled in tests/harness.cpp.
extern template struct value_check<float, float>;
extern template struct value_check<double, double>;
extern template struct value_check<int, int>;
extern template struct value_check<std::complex<float>, std::complex<float>>;
extern template struct value_check<std::complex<double>, std::complex<double>>;
extern template struct value_check<float, float, float>;
extern template struct value_check<double, double, double>;
extern template struct value_check<int, int, int>;
extern template struct value_check<std::uint8_t, std::uint8_t, std::uint8_t>;

/// Checks that tensors of known types that do not fit together are refused.
void pairs_refused(const std::string& name, const std::function<any_tensor(const any_tensor&, const any_tensor&)>& f);

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

/// Checks that the gradient of an operand that stretches is the sum of the gradients of a full one; over several blocks, and in
/// float.
void broadcast_gradients(const applied<double>& f, const applied<float>& single, const std::vector<range>& in);
/// Checks gradients against finite differences where operands stretch.
void stretched_gradients(const applied<double>& f, const std::vector<range>& in, int order);

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
    check_reads(s, y.graph(), xs, at);
}
extern template void check_node(const any_tensor&, const std::vector<any_tensor>&, const std::vector<any_array>&,
                                const xt::xarray<float>&, const node_options&);
extern template void check_node(const any_tensor&, const std::vector<any_tensor>&, const std::vector<any_array>&,
                                const xt::xarray<double>&, const node_options&);
extern template void check_node(const any_tensor&, const std::vector<any_tensor>&, const std::vector<any_array>&,
                                const xt::xarray<int>&, const node_options&);

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
