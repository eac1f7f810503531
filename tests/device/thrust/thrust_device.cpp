// SPDX-License-Identifier: BSD-3-Clause
// The primitives of the Thrust device beside those of the CPU, over shapes that single ops rarely have.
#include <rill/device/thrust/thrust_device.hpp>

#include <rill/rill.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "../../catch.hpp"
#include "../far/by_default.hpp"
#include "../far/same.hpp"

using namespace rill;

namespace test_thrust {

/// An array in the device's memory.
template <class T> class there {
public:
    explicit there(const std::vector<T>& values) : n_(values.size()) {
        block_ = static_cast<T*>(test_far::the_memory().allocate(bytes()));
        std::copy(values.begin(), values.end(), test_far::here(block_));
    }
    there(const there&) = delete;
    ~there() { test_far::the_memory().deallocate(block_, bytes()); }
    operator T*() const { return block_; }
    std::vector<T> read() const {
        const T* const from = test_far::here(block_);
        return {from, from + n_};
    }

private:
    std::size_t bytes() const { return std::max<std::size_t>(n_ * sizeof(T), 64); }
    std::size_t n_;
    T* block_;
};

/// An array of the host's, with the same uses.
template <class T> class own {
public:
    explicit own(std::vector<T> values) : values_(std::move(values)) {}
    operator T*() const { return values_.data(); }
    std::vector<T> read() const { return values_; }

private:
    mutable std::vector<T> values_;
};

template <class D, class T> using array_of = std::conditional_t<std::is_same_v<D, far>, there<T>, own<T>>;

template <class T> std::vector<T> draw(index_t n, unsigned seed) {
    std::mt19937 r(seed);
    std::vector<T> all(static_cast<std::size_t>(n));
    for (auto& x : all) x = static_cast<T>(static_cast<int>(r() % 41) - 20) / T(std::is_integral_v<T> ? 1 : 8);
    return all;
}

/// Runs f on both devices, which gives vectors: the same, up to rounding.
template <class F> void on_both(const F& f) {
    const auto wanted = f(std::type_identity<cpu>());
    const auto got = f(std::type_identity<far>());
    CHECK(test_far::same(got, wanted));
}

/// A context with scratch memory on a device.
template <class D> struct with_scratch {
    array_of<D, std::uint64_t> memory;
    execution_context on;
    explicit with_scratch(std::size_t bytes) : memory(std::vector<std::uint64_t>(bytes / 8 + 8)) {
        on.scratch = static_cast<std::uint64_t*>(memory);
    }
};

TEST_CASE("thrust: products of all shapes, transposed or not, with epilogues") {
    for (const auto [m, n, k] : {std::array<index_t, 3>{1, 1, 1}, {5, 7, 3}, {4, 8, 600}, {9, 1, 17}, {3, 5, 0}})
        for (const int form : {0, 1, 2, 3}) {
            INFO(m << ' ' << n << ' ' << k << ' ' << form);
            on_both([&]<class D>(std::type_identity<D>) {
                const array_of<D, double> a(draw<double>(m * k, 1)), b(draw<double>(k * n, 2)), row(draw<double>(n, 3)),
                    c(std::vector<double>(static_cast<std::size_t>(m * n)));
                const bool ta = form & 1, tb = form & 2;
                const with_scratch<D> scratch(D::template gemm_scratch<double>({}, ta, tb, m, n, k));
                const product_epilogue<double> last{form == 3 ? static_cast<const double*>(row) : nullptr, form > 1};
                D::gemm(scratch.on, ta, tb, m, n, k, static_cast<const double*>(a), static_cast<const double*>(b),
                        static_cast<double*>(c), last);
                return c.read();
            });
        }
}

template <class D> auto largest(index_t rows, index_t columns, index_t k) {
    auto drawn = draw<float>(rows * columns, 5);
    drawn[1] = std::nanf("");
    const array_of<D, float> x(drawn), values(std::vector<float>(static_cast<std::size_t>(rows * k)));
    const array_of<D, std::int32_t> ids(std::vector<std::int32_t>(static_cast<std::size_t>(rows * k)));
    const with_scratch<D> scratch(D::top_k_scratch(columns));
    D::top_k(scratch.on, static_cast<const float*>(x), static_cast<float*>(values), static_cast<std::int32_t*>(ids),
             rows, columns, k);
    return std::pair(values.read(), ids.read());
}

TEST_CASE("thrust: the largest of short rows and of long ones") {
    on_both([]<class D>(std::type_identity<D>) {
        return std::tuple(largest<D>(3, 9, 4), largest<D>(2, 5000, 7), largest<D>(1, 5000, 5000));
    });
}

TEST_CASE("thrust: scans and recurrences in both directions") {
    on_both([]<class D>(std::type_identity<D>) {
        std::vector<std::vector<float>> got;
        for (const bool reverse : {false, true})
            for (const bool exclusive : {false, true}) {
                const array_of<D, float> x(draw<float>(2 * 5 * 3, 7)), y(draw<float>(2 * 5 * 3, 8)),
                    to(std::vector<float>(30));
                D::template scan<combine::sum>({}, static_cast<const float*>(x), static_cast<float*>(to), 2, 5, 3,
                                               exclusive, reverse);
                got.push_back(to.read());
                D::template scan<combine::prod>({}, static_cast<const float*>(x), static_cast<float*>(to), 2, 5, 3,
                                                exclusive, reverse);
                got.push_back(to.read());
                D::linear_recurrence({}, static_cast<const float*>(x), static_cast<const float*>(y),
                                     static_cast<float*>(to), 2, 5, 3, reverse);
                got.push_back(to.read());
            }
        return got;
    });
}

/// A rule of updates that shows whether inputs were added before it or after.
struct square_input {
    template <class V>
    RILL_FN static void run(std::array<V, 1>& s, const std::array<V, 1>& x, const std::array<V, 1>& c) {
        s[0] = s[0] - c[0] * x[0] * x[0];
    }
};

TEST_CASE("thrust: slices of one id, in turn or added") {
    for (const auto how : {equal_ids::in_turn, equal_ids::added})
        on_both([&]<class D>(std::type_identity<D>) {
            const array_of<D, std::int64_t> ids({4, 0, 4, 2, 0, 4});
            const array_of<D, float> state(draw<float>(5 * 3, 9)), in(draw<float>(6 * 3, 10)), c({0.5f});
            const with_scratch<D> scratch(D::template update_rows_scratch<float>(6, 3, 1));
            D::template update_rows<square_input>(scratch.on, static_cast<const std::int64_t*>(ids), 6, 3,
                                                  std::array{static_cast<float*>(state)},
                                                  std::array{static_cast<const float*>(in)},
                                                  update_constants<float, 1>{static_cast<const float*>(c)}, how);
            return state.read();
        });
}

TEST_CASE("thrust: random numbers are the CPU's, of all types") {
    const random_stream stream{11, 3};
    on_both([&]<class D>(std::type_identity<D>) {
        const array_of<D, std::uint64_t> s({stream.seed, stream.run});
        const auto* const at = reinterpret_cast<const random_stream*>(static_cast<std::uint64_t*>(s));
        const auto drawn = [&]<class T>(std::type_identity<T>, const auto& f) {
            const array_of<D, T> to(std::vector<T>(37));
            f(static_cast<T*>(to));
            return to.read();
        };
        const auto reals = [&]<class T>(std::type_identity<T> t) {
            return std::vector{drawn(t, [&](T* to) { D::random_uniform({}, 37, at, -1., 3., to); }),
                               drawn(t, [&](T* to) { D::random_normal({}, 37, at, 1., 2., to); }),
                               drawn(t, [&](T* to) { D::truncated_normal({}, 37, at, 1., 2., to); }),
                               drawn(t, [&](T* to) { D::random_gamma({}, 37, at, 0.5, 2., to); }),
                               drawn(t, [&](T* to) { D::random_poisson({}, 37, at, 12., to); })};
        };
        return std::tuple(reals(std::type_identity<float>()), reals(std::type_identity<double>()),
                          drawn(std::type_identity<std::int64_t>(),
                                [&](std::int64_t* to) { D::random_uniform({}, 37, at, -5., 1e6, to); }));
    });
}

convolution_shape shape_of(index_t stride, index_t dilation, index_t before, index_t in, index_t out) {
    convolution_shape s;
    s.window.batch = 2;
    for (const int k : {1, 2}) {
        window_axis a{k == 1 ? 7 : 6, 0, k == 1 ? 3 : 2, stride, dilation, before};
        a.out = (a.in + 2 * before - (a.size - 1) * dilation - 1) / stride + 1;
        s.window.axis[static_cast<std::size_t>(k)] = a;
    }
    s.in = in;
    s.out = out;
    return s;
}

TEST_CASE("thrust: convolutions, pools and their gradients") {
    for (const auto [stride, dilation, before] : {std::array<index_t, 3>{1, 1, 0}, {2, 1, 1}, {1, 2, 1}, {3, 1, 0}}) {
        INFO(stride << ' ' << dilation << ' ' << before);
        const auto s = shape_of(stride, dilation, before, 3, 2);
        const auto& w = s.window;
        const index_t image = w.batch * w.pixels() * 3, windows = w.batch * w.windows(), patch = w.positions() * 3;
        on_both([&]<class D>(std::type_identity<D>) {
            using A = array_of<D, double>;
            const auto zeros = [](index_t n) { return std::vector<double>(static_cast<std::size_t>(n)); };
            const A x(draw<double>(image, 1)), f(draw<double>(patch * 2, 2)), g(draw<double>(windows * 6, 3));
            const A y(zeros(windows * 2)), dx(zeros(image)), df(zeros(patch * 2)), z(zeros(windows * 6)),
                most(zeros(windows * 3)), picked(zeros(windows * 3)), patches(zeros(windows * patch));
            using P = const double*;
            const auto scratch = [&](convolution_part part) {
                return with_scratch<D>(std::max(D::template convolution_scratch<double>({}, part, s),
                                                D::template depthwise_scratch<double>(s)));
            };
            std::vector<std::vector<double>> got;
            D::convolve(scratch(convolution_part::forward).on, s, P(x), P(f), static_cast<double*>(y));
            got.push_back(y.read());
            D::convolve_input(scratch(convolution_part::input).on, s, P(f), P(g), static_cast<double*>(dx));
            got.push_back(dx.read());
            D::convolve_filter(scratch(convolution_part::filter).on, s, P(x), P(g), static_cast<double*>(df));
            got.push_back(df.read());
            D::depthwise_convolve({}, s, P(x), P(f), static_cast<double*>(z));
            got.push_back(z.read());
            D::depthwise_convolve_input({}, s, P(f), P(g), static_cast<double*>(dx));
            got.push_back(dx.read());
            D::depthwise_convolve_filter(scratch(convolution_part::filter).on, s, P(x), P(g), static_cast<double*>(df));
            got.push_back(df.read());
            D::max_pool({}, w, 3, P(x), static_cast<double*>(most));
            got.push_back(most.read());
            D::max_pool_gradient({}, w, 3, P(x), P(most), P(g), static_cast<double*>(dx));
            got.push_back(dx.read());
            D::max_pool_gather({}, w, 3, P(x), P(most), P(x), static_cast<double*>(picked));
            got.push_back(picked.read());
            D::average_pool({}, w, 3, P(x), static_cast<double*>(most));
            got.push_back(most.read());
            D::average_pool_gradient({}, w, 3, P(g), static_cast<double*>(dx));
            got.push_back(dx.read());
            D::image_patches({}, w, 3, P(x), static_cast<double*>(patches));
            got.push_back(patches.read());
            D::image_patches_gradient({}, w, 3, P(patches), static_cast<double*>(dx));
            got.push_back(dx.read());
            return got;
        });
    }
}

/// Runs f() with a graph of its own on each device; what it returns is the same, up to rounding.
template <class F> void as_graph(const F& f) {
    const auto run = [&](const char* name) {
        const test_far::by_default there(name);
        const graph g;
        const graph_scope here(g);
        return f();
    };
    CHECK(test_far::same(run("far"), run("cpu")));
}

template <class X> std::vector<double> numbers(const X& x) {
    if constexpr (std::is_arithmetic_v<X>)
        return {static_cast<double>(x)};
    else
        return {x.begin(), x.end()};
}

TEST_CASE("thrust: reductions that are cut into parts, of all axes and types") {
    as_graph([] {
        placeholder<float, dyn, dyn, dyn> x("x");
        placeholder<std::int64_t, dyn, dyn> i("i");
        const session s;
        xt::xtensor<float, 3> value({3, 700, 2});
        const auto drawn = draw<float>(3 * 700 * 2, 4);
        std::copy(drawn.begin(), drawn.end(), value.begin());
        xt::xtensor<std::int64_t, 2> large({2, 3});
        large.fill(std::int64_t(1) << 62); // their sum overflows, their mean does not
        std::vector<std::vector<double>> got;
        const auto add = [&](const auto& y) { got.push_back(numbers(s.run(y, feed(x, value), feed(i, large)))); };
        add(reduce_sum(x)), add(reduce_mean(x)), add(reduce_max(x)), add(reduce_sum<0>(x)), add(reduce_mean<1>(x));
        add(reduce_min<2>(x)), add(reduce_sum<0, 2>(x * x)), add(reduce_mean(i)), add(reduce_mean<1>(i));
        add(cast<float>(reduce_all<1>(x > -9.f))), add(cast<float>(reduce_any(x > 9.f)));
        auto [dx] = gradients(reduce_sum(square(reduce_mean<1>(x) * x(all, 0, all))), x);
        add(dx);
        const xt::xtensor<float, 3> none = xt::zeros<float>({0, 2, 3});
        got.push_back(numbers(s.run(reduce_sum<0>(x), feed(x, none))));
        got.push_back(numbers(s.run(reduce_mean(x), feed(x, none))));
        got.push_back(numbers(s.run(reduce_max<0>(x), feed(x, none))));
        return got;
    });
}

TEST_CASE("thrust: results whose blocks are those of inputs") {
    as_graph([] {
        placeholder<float, dyn> x("x");
        tensor a = x * 2.f, b = x + 1.f; // intermediate values, whose blocks the nodes behind may take
        const auto y = a * b - tanh(a) * (a + b);
        const auto [da, db] = gradients(reduce_sum(square(y)), a, b);
        const session s;
        const auto [v, p, q] = s.run(std::tuple(y, da, db), feed(x, {1.f, -2.f, 0.25f, 3.f, -0.5f}));
        return std::tuple(v, p, q);
    });
}

TEST_CASE("thrust: a sum beside a value that is only copied") {
    as_graph([] {
        placeholder<float, 30, 40> x("x");
        placeholder<float, 30, 1> row("row");
        const tensor y(x + row);
        const auto [dx, drow] = gradients(reduce_sum(square(reduce_sum<1>(y))), x, row); // dx is a copy, drow its sum
        const tensor after(tanh(x));
        const session s;
        const auto drawn = draw<float>(30 * 40, 5);
        xt::xtensor<float, 2> at({30, 40}), rows({30, 1});
        std::copy(drawn.begin(), drawn.end(), at.begin());
        std::copy(drawn.begin(), drawn.begin() + 30, rows.begin());
        const auto [p, q, r] = s.run(std::tuple(dx, drow, after), feed(x, at), feed(row, rows));
        return std::tuple(p, q, r);
    });
}

TEST_CASE("thrust: a program that no launch computes is told by name") {
    const auto s = [] {
        fused_spec spec;
        auto body = std::make_shared<program>();
        body->leaves = {dtype::float32};
        static constexpr elementwise_info unknown{"Nothing"};
        body->code.push_back({&unknown, dtype::float32, {0}});
        body->results = {1};
        body->key = spelled_key(*body);
        spec.body = body;
        spec.kind = fused_spec::form::program;
        spec.leaves.push_back({0, {}});
        spec.results.resize(1);
        return spec;
    }();
    const tensor_type type{dtype::float32, dims{3}};
    kernel_request request{.inputs = std::span(&type, 1), .outputs = std::span(&type, 1)};
    CHECK_THROWS_WITH(detail::launch_sequence("nobody", detail::alone(s, request), request),
                      contains("no kernel of Nothing($0:float32)"));
}

} // namespace test_thrust
