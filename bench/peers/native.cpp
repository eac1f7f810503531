// SPDX-License-Identifier: BSD-3-Clause
// The rows by hand, as someone would write each if it were all that mattered: sizes known to the compiler, loops for its
// vectoriser, OpenBLAS for large products, oneDNN for convolutions, forward, backward and update in as few passes as
// there can be, no memory taken in a step. It is built with -O3 -ffast-math.
#include <array>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif
#if defined(PEERS_BLAS)
#include <cblas.h>
#endif
#if defined(PEERS_DNNL)
#include <dnnl.hpp>
#endif

#include "../pendulum.hpp"
#include "common.hpp"

using peers::numbers;
using peers::row;
using peers::used;

namespace {

/// Uninitialised floats on a cache line's boundary.
struct aligned_delete {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t(64)); }
};
using array = std::shared_ptr<float[]>;
array floats(std::int64_t n) {
    return array(
        static_cast<float*>(::operator new[](static_cast<std::size_t>(n) * sizeof(float), std::align_val_t(64))),
        aligned_delete{});
}
array floats(const std::vector<float>& v) {
    array a = floats(static_cast<std::int64_t>(v.size()));
    std::copy(v.begin(), v.end(), a.get());
    return a;
}

constexpr std::int64_t block = 1024; // elements: what a pass leaves in the first-level cache

/// Writes past the caches: for results that don't fit them anyway.
void stream(float* to, const float* from, std::int64_t n) {
    std::int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16) _mm512_stream_ps(to + i, _mm512_load_ps(from + i));
#endif
    std::copy(from + i, from + n, to + i);
}

/// Sums f(i): sixty-four lanes hide the addition's latency, blocks keep them exact.
template <class F> double sum_of(std::int64_t n, const F& f) {
    double sum = 0;
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t end = std::min(begin + block, n), whole = begin + (end - begin) / 64 * 64;
        float lanes[64] = {};
        for (std::int64_t i = begin; i < whole; i += 64)
            for (int k = 0; k < 64; ++k) lanes[k] += f(i + k);
        float part = 0;
        for (std::int64_t i = whole; i < end; ++i) part += f(i);
        for (const float lane : lanes) part += lane;
        sum += part;
    }
    return sum;
}

// ---- gelu ------------------------------------------------------------------------------------------------------------
/// 2^x to 2e-7, inlined where libmvec's would be called: 2^k for the nearest integer k is an exponent, the rest a series.
inline float exp2_of(float x) {
    x = std::min(std::max(x, -126.0f), 127.0f);
    const float k = std::nearbyint(x), r = x - k;
    const float p =
        1 + r * (0.693147180f +
                 r * (0.240226507f +
                      r * (0.0555041087f + r * (0.00961812911f + r * (0.00133335581f + r * 0.000154035304f)))));
    return p * std::bit_cast<float>((static_cast<int>(k) + 127) << 23);
}
constexpr float log2_e = 1.44269504f, twice = 2 * 0.7978845608f, cubic = 0.044715f;
/// (1 + tanh(u)) / 2 is 1 / (1 + exp(-2u)): one exponential and one division.
inline float sigmoid_of(float x) { return 1 / (1 + exp2_of(-twice * log2_e * (x + cubic * x * x * x))); }
constexpr auto gelu = [](float x) { return x * sigmoid_of(x); };
constexpr auto gelu_slope = [](float x) {
    const float s = sigmoid_of(x);
    return s + x * s * (1 - s) * twice * (1 + 3 * cubic * x * x);
};

/// y = f(x), y allocated once. (f is no pointer to a function: its calls must be inlined.)
template <class F> row map_row(std::int64_t n, F f) {
    const array x = floats(peers::filled(n)), y = floats(n);
    const auto run = [=] {
        if (n < 4'000'000) {
            for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
        } else {
            alignas(64) float part[block];
            for (std::int64_t begin = 0; begin < n; begin += block) {
                const std::int64_t count = std::min(block, n - begin);
                for (std::int64_t i = 0; i < count; ++i) part[i] = f(x[begin + i]);
                stream(y.get() + begin, part, count);
            }
        }
        used(y.get());
    };
    return peers::steps([=] { return run(), peers::of_array({y.get(), static_cast<std::size_t>(n)}); }, run);
}
/// out += gelu(x), in place.
row gelu_added(std::int64_t n) {
    const array x = floats(peers::filled(n)), out = floats(n);
    const auto run = [=] {
        for (std::int64_t i = 0; i < n; ++i) out[i] += gelu(x[i]);
        used(out.get());
    };
    const auto check = [=] {
        std::fill_n(out.get(), n, 0.f);
        run();
        return peers::of_array({out.get(), static_cast<std::size_t>(n)});
    };
    return peers::steps(check, run);
}
row gelu_grad_sum(std::int64_t n) {
    const array x = floats(peers::filled(n));
    const auto run = [=] { return sum_of(n, [x = x.get()](std::int64_t i) { return gelu_slope(x[i]); }); };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
row sum_abcd(std::int64_t n) {
    const array a = floats(peers::filled(n)), b = floats(peers::filled(n, 1)), c = floats(peers::filled(n, 2)),
                d = floats(peers::filled(n, 3));
    const auto run = [=] {
        return sum_of(n, [a = a.get(), b = b.get(), c = c.get(), d = d.get()](std::int64_t i) {
            return a[i] * b[i] + c[i] * d[i];
        });
    };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}

// ---- products --------------------------------------------------------------------------------------------------------
/// c[m, n] = alpha op(a) op(b) + beta c, op the transpose where asked for.
void product(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, const float* b, float beta, float* c) {
#if defined(PEERS_BLAS)
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, alpha, a,
                ta ? m : k, b, tb ? k : n, beta, c, n);
#else
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) c[i * n + j] *= beta;
        for (int p = 0; p < k; ++p) {
            const float s = alpha * (ta ? a[p * m + i] : a[i * k + p]);
            for (int j = 0; j < n; ++j) c[i * n + j] += s * (tb ? b[j * k + p] : b[p * n + j]);
        }
    }
#endif
}
row matmul(int n) {
    const array a = floats(peers::filled(n * n)), b = floats(peers::filled(n * n, 1)), c = floats(peers::filled(n * n));
    const auto run = [=] { product(false, false, n, n, n, 1, a.get(), b.get(), 0, c.get()); };
    return peers::steps([=] { return run(), peers::of_product({c.get(), static_cast<std::size_t>(n * n)}); }, run);
}

// ---- training --------------------------------------------------------------------------------------------------------
struct line_model {
    static constexpr int n = 100;
    std::vector<float> x = peers::filled(n), y = peers::filled(n, 1);
    float w = 0, b = 0;
    void step() {
        float dw = 0, db = 0;
        for (int i = 0; i < n; ++i) {
            const float e = w * x[i] + b - y[i];
            dw += e * x[i];
            db += e;
        }
        w -= 0.05f * 2 / n * dw;
        b -= 0.05f * 2 / n * db;
        used(*this);
    }
    double loss() const {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += std::pow(w * x[i] + b - y[i], 2);
        return sum / n;
    }
};
row linear_regression() {
    const auto m = std::make_shared<line_model>();
    return peers::training([=] { m->step(); }, [=] { return m->loss(); });
}

/// The logits of the last layer become the loss's gradient by them; returns the loss, where anyone looks at it.
template <bool WantLoss> double softmax_gradient(float* logits, const int* ids, int batch, int classes) {
    double loss = 0;
    for (int i = 0; i < batch; ++i) {
        float* z = logits + i * classes;
        const float top = *std::max_element(z, z + classes), truth = z[ids[i]];
        float sum = 0;
        for (int j = 0; j < classes; ++j) sum += z[j] = std::exp(z[j] - top);
        if constexpr (WantLoss) loss += std::log(sum) + top - truth;
        for (int j = 0; j < classes; ++j) z[j] /= sum * static_cast<float>(batch);
        z[ids[i]] -= 1 / static_cast<float>(batch);
    }
    return loss / batch;
}

/// 4-10-10-3 in one function: everything is in registers or the first-level cache. Features by examples, so that a
/// register holds one feature of many examples.
struct small_net {
    static constexpr int in = 4, h1 = 10, h2 = 10, out = 3, batch = 32;
    static constexpr float rate = 0.01f;
    template <int I, int J> struct layer {
        alignas(64) float w[I][J], b[J] = {};
        layer() { std::memcpy(w, peers::weights(I, J).data(), sizeof w); }
        /// y = x w + b for all examples.
        void forward(const float (&x)[I][batch], float (&y)[J][batch]) const {
            for (int j = 0; j < J; ++j) {
                for (int e = 0; e < batch; ++e) y[j][e] = b[j];
                for (int i = 0; i < I; ++i)
                    for (int e = 0; e < batch; ++e) y[j][e] += x[i][e] * w[i][j];
            }
        }
        /// dx from the weights as they are, then their update.
        void back(const float (&dy)[J][batch], const float (&x)[I][batch], float (*dx)[batch]) {
            if (dx)
                for (int i = 0; i < I; ++i) {
                    float d[batch] = {};
                    for (int j = 0; j < J; ++j)
                        for (int e = 0; e < batch; ++e) d[e] += dy[j][e] * w[i][j];
                    for (int e = 0; e < batch; ++e) dx[i][e] = x[i][e] > 0 ? d[e] : 0;
                }
            for (int i = 0; i < I; ++i)
                for (int j = 0; j < J; ++j) {
                    float d = 0;
                    for (int e = 0; e < batch; ++e) d += x[i][e] * dy[j][e];
                    w[i][j] -= rate * d;
                }
            for (int j = 0; j < J; ++j) {
                float d = 0;
                for (int e = 0; e < batch; ++e) d += dy[j][e];
                b[j] -= rate * d;
            }
        }
    };
    layer<in, h1> l1;
    layer<h1, h2> l2;
    layer<h2, out> l3;
    std::vector<float> images = peers::filled(batch * in);
    std::vector<int> ids = peers::labels(batch, out);

    template <bool Train> double run() {
        alignas(64) float x[in][batch], a[h1][batch], b[h2][batch], z[out][batch], db[h2][batch], da[h1][batch],
            top[batch], sum[batch];
        for (int e = 0; e < batch; ++e)
            for (int i = 0; i < in; ++i) x[i][e] = images[static_cast<std::size_t>(e * in + i)];
        l1.forward(x, a);
        relu(a);
        l2.forward(a, b);
        relu(b);
        l3.forward(b, z);
        double loss = 0;
        for (int e = 0; e < batch; ++e) top[e] = std::max(z[0][e], std::max(z[1][e], z[2][e]));
        if constexpr (!Train)
            for (int e = 0; e < batch; ++e) loss += top[e] - z[ids[static_cast<std::size_t>(e)]][e];
        for (int e = 0; e < batch; ++e) {
            sum[e] = 0;
            for (int k = 0; k < out; ++k) sum[e] += z[k][e] = std::exp(z[k][e] - top[e]);
        }
        if constexpr (!Train) {
            for (int e = 0; e < batch; ++e) loss += std::log(sum[e]);
            return loss / batch;
        }
        for (int e = 0; e < batch; ++e)
            for (int k = 0; k < out; ++k)
                z[k][e] = (z[k][e] / sum[e] - static_cast<float>(ids[static_cast<std::size_t>(e)] == k)) / batch;
        l3.back(z, b, db);
        l2.back(db, a, da);
        l1.back(da, x, nullptr);
        used(*this);
        return 0;
    }
    template <int J> static void relu(float (&y)[J][batch]) {
        for (auto& feature : y)
            for (float& v : feature) v = std::max(v, 0.0f);
    }
};
row mlp_small() {
    const auto net = std::make_shared<small_net>();
    return peers::training([=] { net->run<true>(); }, [=] { return net->run<false>(); });
}

/// Layers wide enough for BLAS. SGD needs no gradients of weights: the product of the backward pass adds to the weights.
struct wide_net {
    struct layer {
        int in, out;
        array w, b, y, dy;      // y: the layer's values after relu
        array dw, m, v, bm, bv; // for adam

        layer(int batch, int inputs, int outputs)
            : in(inputs), out(outputs), w(floats(peers::weights(in, out))), b(zeros(out)), y(zeros(batch * out)),
              dy(zeros(batch * out)), dw(zeros(in * out)), m(zeros(in * out)), v(zeros(in * out)), bm(zeros(out)),
              bv(zeros(out)) {}
        static array zeros(int n) { return floats(std::vector<float>(static_cast<std::size_t>(n))); }
    };
    int batch;
    bool adam;
    std::vector<layer> layers;
    array images;
    std::vector<int> ids;
    double power1 = 1, power2 = 1; // of adam's betas

    wide_net(int batch_size, const std::vector<int>& widths, bool with_adam)
        : batch(batch_size), adam(with_adam), images(floats(peers::filled(batch_size * widths[0]))),
          ids(peers::labels(batch_size, widths.back())) {
        for (std::size_t i = 0; i + 1 < widths.size(); ++i) layers.emplace_back(batch, widths[i], widths[i + 1]);
    }

    /// The last layer's y becomes the gradient by the logits.
    template <bool WantLoss> double forward() {
        const float* x = images.get();
        for (const layer& l : layers) {
            const bool last = &l == &layers.back();
            float* y = l.y.get();
            product(false, false, batch, l.out, l.in, 1, x, l.w.get(), 0, y);
            for (int i = 0; i < batch; ++i)
                for (int j = 0; j < l.out; ++j) {
                    const float v = y[i * l.out + j] + l.b[j];
                    y[i * l.out + j] = last ? v : std::max(v, 0.0f);
                }
            x = y;
        }
        return softmax_gradient<WantLoss>(layers.back().y.get(), ids.data(), batch, layers.back().out);
    }

    void adam_update(float* __restrict w, const float* __restrict d, float* __restrict m, float* __restrict v,
                     int n) const {
        const float rate = static_cast<float>(0.001 * std::sqrt(1 - power2) / (1 - power1));
        for (int i = 0; i < n; ++i) {
            m[i] += 0.1f * (d[i] - m[i]);
            v[i] += 0.001f * (d[i] * d[i] - v[i]);
            w[i] -= rate * m[i] / (std::sqrt(v[i]) + 1e-8f);
        }
    }

    void step() {
        forward<false>();
        power1 *= 0.9, power2 *= 0.999;
        const float* dy = layers.back().y.get();
        alignas(64) float db[1024];
        for (std::size_t at = layers.size(); at-- > 0;) {
            const layer& l = layers[at];
            const float* x = at ? layers[at - 1].y.get() : images.get();
            float* dx = at ? layers[at - 1].dy.get() : nullptr;
            if (dx) {
                product(false, true, batch, l.in, l.out, 1, dy, l.w.get(), 0, dx);
                for (int i = 0; i < batch * l.in; ++i) dx[i] = x[i] > 0 ? dx[i] : 0;
            }
            std::fill_n(db, l.out, 0.0f);
            for (int i = 0; i < batch; ++i)
                for (int j = 0; j < l.out; ++j) db[j] += dy[i * l.out + j];
            if (adam) {
                product(true, false, l.in, l.out, batch, 1, x, dy, 0, l.dw.get());
                adam_update(l.w.get(), l.dw.get(), l.m.get(), l.v.get(), l.in * l.out);
                adam_update(l.b.get(), db, l.bm.get(), l.bv.get(), l.out);
            } else {
                product(true, false, l.in, l.out, batch, -0.01f, x, dy, 1, l.w.get());
                for (int j = 0; j < l.out; ++j) l.b[j] -= 0.01f * db[j];
            }
            dy = dx;
        }
    }
};
row mlp(int batch, const std::vector<int>& widths, bool adam = false) {
    const auto net = std::make_shared<wide_net>(batch, widths, adam);
    return peers::training([=] { net->step(); }, [=] { return net->forward<true>(); });
}

// ---- queues ----------------------------------------------------------------------------------------------------------
/// A number into a ring under a lock, and out of it.
row queue_pair() {
    struct ring {
        std::mutex lock;
        std::array<float, 16> places{};
        unsigned first = 0, last = 0;
    };
    const auto q = std::make_shared<ring>();
    const auto run = [=] {
        {
            const std::lock_guard held(q->lock);
            q->places[q->last++ % 16] = 1;
        }
        const std::lock_guard held(q->lock);
        return q->places[q->first++ % 16];
    };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
/// A thousand rows of 64 numbers in and out: two copies.
row queue_batch() {
    constexpr std::int64_t n = 64'000;
    const array from = floats(std::vector<float>(n, 0.5f)), held = floats(n), to = floats(n);
    const auto run = [=] {
        std::memcpy(held.get(), from.get(), n * sizeof(float));
        used(held[0]);
        std::memcpy(to.get(), held.get(), n * sizeof(float));
        return to.get();
    };
    return peers::steps([=] { return numbers{sum_of(n, [out = run()](std::int64_t i) { return out[i]; })}; },
                        [=] { used(run()[n - 1]); });
}

/// A thousand numbers from one thread to another, through a ring of 100.
row queue_sessions() {
    struct ring {
        std::mutex lock;
        std::condition_variable room, there;
        std::array<float, 100> places{};
        std::size_t first = 0, count = 0;
    };
    const auto q = std::make_shared<ring>();
    const auto run = [=] {
        std::thread puts([&] {
            for (int i = 0; i < 1'000; ++i) {
                std::unique_lock held(q->lock);
                q->room.wait(held, [&] { return q->count < q->places.size(); });
                q->places[(q->first + q->count++) % q->places.size()] = static_cast<float>(i);
                q->there.notify_one();
            }
        });
        float sum = 0;
        for (int i = 0; i < 1'000; ++i) {
            std::unique_lock held(q->lock);
            q->there.wait(held, [&] { return q->count > 0; });
            sum += q->places[q->first];
            q->first = (q->first + 1) % q->places.size();
            --q->count;
            q->room.notify_one();
        }
        puts.join();
        return sum;
    };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}

// ---- control flow ----------------------------------------------------------------------------------------------------
/// A number for a number that the compiler does not know.
template <class F> row called(float value, F f) {
    const auto run = [=] {
        float x = value;
        asm volatile("" : "+m"(x));
        return f(x);
    };
    return peers::steps([=] { return numbers{run()}; }, [=] { used(run()); });
}
float conditional(float x) { return x > 0 ? std::sin(x) : 2 * x; }
/// Added up in order: that it could be multiplied is not what is measured.
float counted(float t) {
    for (int i = 0; i < 1'000; ++i) {
        t += static_cast<float>(i);
        asm volatile("" : "+x"(t));
    }
    return t;
}
/// Value and derivative go forward together: for one number nothing must be kept.
float sine_slope(float x) {
    float y = 1, slope = 0;
    for (int i = 0; i < 1'000; ++i) {
        slope = std::cos(y * x) * (slope * x + y);
        y = std::sin(y * x);
    }
    return slope;
}

/// h = tanh(x w + h u), all states kept. The inputs' part is one product.
struct rnn {
    static constexpr int steps = 100, batch = 32, units = 32, size = batch * units;
    array inputs = floats(peers::filled(steps * size)), w = floats(peers::weights(units, units)),
          u = floats(peers::rnn_state_weights()), states = floats(steps * size), d = floats(steps * size),
          dw = floats(units * units), du = floats(units * units);

    void forward() {
        product(false, false, steps * batch, units, units, 1, inputs.get(), w.get(), 0, states.get());
        for (int t = 0; t < steps; ++t) {
            float* h = states.get() + t * size;
            if (t > 0) product(false, false, batch, units, units, 1, h - size, u.get(), 1, h);
            for (int i = 0; i < size; ++i) h[i] = 1 - 2 / (1 + exp2_of(2 * log2_e * h[i]));
        }
        used(states.get());
    }
    /// Of the mean of the states' squares, by both weights.
    void backward() {
        forward();
        constexpr float mean = 2.f / (steps * size);
        for (int t = steps; t-- > 0;) {
            const float* h = states.get() + t * size;
            float* dh = d.get() + t * size;
            for (int i = 0; i < size; ++i) dh[i] = mean * h[i];
            if (t + 1 < steps) product(false, true, batch, units, units, 1, dh + size, u.get(), 1, dh);
            for (int i = 0; i < size; ++i) dh[i] *= 1 - h[i] * h[i];
        }
        product(true, false, units, units, steps * batch, 1, inputs.get(), d.get(), 0, dw.get());
        product(true, false, units, units, (steps - 1) * batch, 1, states.get(), d.get() + size, 0, du.get());
        used(du.get());
    }
};
row scan_rnn() {
    const auto r = std::make_shared<rnn>();
    return peers::steps([=] { return r->forward(), peers::of_product({r->states.get(), rnn::steps * rnn::size}); },
                        [=] { r->forward(); });
}
row scan_rnn_grad() {
    const auto r = std::make_shared<rnn>();
    constexpr std::size_t n = rnn::units * rnn::units;
    return peers::steps([=] { return r->backward(), peers::of_products({{r->dw.get(), n}, {r->du.get(), n}}); },
                        [=] { r->backward(); });
}
row train_in_graph() {
    const auto run = [m = std::make_shared<line_model>()] {
        m->w = m->b = 0;
        for (int i = 0; i < 1'000; ++i) m->step();
        return numbers{m->w, m->b};
    };
    return peers::steps(run, run);
}

#if defined(PEERS_DNNL)
// ---- a convolution by oneDNN -----------------------------------------------------------------------------------------
/// A 3 × 3 convolution and both of its gradients. Images stay in NHWC. The filter takes the layout that oneDNN asks for, in each run, and its
/// gradient stays in that layout.
struct onednn_convolution {
    using memory = dnnl::memory;
    using tag = memory::format_tag;
    static constexpr memory::dim batch = 32, side = 56, channels = 64;
    static constexpr std::int64_t pixels = batch * side * side * channels, weights = 3 * 3 * channels * channels;
    static constexpr auto f32 = memory::data_type::f32;
    static constexpr auto direct = dnnl::algorithm::convolution_direct;

    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    const memory::desc image{{batch, channels, side, side}, f32, tag::nhwc};
    const memory::desc any_filter{{channels, channels, 3, 3}, f32, tag::any};
    const memory::desc filter{{channels, channels, 3, 3}, f32, tag::hwio};
    const memory::dims one{1, 1};
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_forward::primitive_desc forward{
        engine, dnnl::prop_kind::forward_training, direct, image, any_filter, image, one, one, one};
    const dnnl::convolution_backward_data::primitive_desc by_image{engine, direct, image, any_filter, image,
                                                                   one,    one,    one,   forward};
    const dnnl::convolution_backward_weights::primitive_desc by_filter{engine, direct, image, any_filter, image,
                                                                       one,    one,    one,   forward};
#else
    const dnnl::convolution_forward::primitive_desc forward{
        {dnnl::prop_kind::forward_training, direct, image, any_filter, image, one, one, one}, engine};
    const dnnl::convolution_backward_data::primitive_desc by_image{
        {direct, image, any_filter, image, one, one, one}, engine, forward};
    const dnnl::convolution_backward_weights::primitive_desc by_filter{
        {direct, image, any_filter, image, one, one, one}, engine, forward};
#endif
    const dnnl::convolution_forward run_forward{forward};
    const dnnl::convolution_backward_data run_by_image{by_image};
    const dnnl::convolution_backward_weights run_by_filter{by_filter};

    array x = floats(peers::filled(pixels)), f = floats(peers::filters(3, 3, channels, channels)),
          g = floats(peers::filled(pixels, 1)), y = floats(pixels), dx = floats(pixels);
    memory x_at{image, engine, x.get()}, g_at{image, engine, g.get()}, y_at{image, engine, y.get()},
        dx_at{image, engine, dx.get()}, f_at{filter, engine, f.get()};
    memory f_forward{forward.weights_desc(), engine}, f_by_image{by_image.weights_desc(), engine},
        df_at{by_filter.diff_weights_desc(), engine};
    dnnl::reorder to_forward{f_at, f_forward}, to_by_image{f_at, f_by_image};

    void run() {
        to_forward.execute(stream, f_at, f_forward);
        run_forward.execute(stream, {{DNNL_ARG_SRC, x_at}, {DNNL_ARG_WEIGHTS, f_forward}, {DNNL_ARG_DST, y_at}});
        to_by_image.execute(stream, f_at, f_by_image);
        run_by_image.execute(stream,
                             {{DNNL_ARG_DIFF_DST, g_at}, {DNNL_ARG_WEIGHTS, f_by_image}, {DNNL_ARG_DIFF_SRC, dx_at}});
        run_by_filter.execute(stream,
                              {{DNNL_ARG_SRC, x_at}, {DNNL_ARG_DIFF_DST, g_at}, {DNNL_ARG_DIFF_WEIGHTS, df_at}});
        stream.wait();
    }
    /// The sums of the squares of the result and both gradients, which the other programs compute as well.
    numbers sums() {
        run();
        const auto squares = [](const float* v, std::int64_t n) {
            return sum_of(n, [v](std::int64_t i) { return v[i] * v[i]; });
        };
        return {squares(y.get(), pixels), squares(dx.get(), pixels),
                squares(static_cast<const float*>(df_at.get_data_handle()), weights)};
    }
};
row convolution() {
    const auto c = std::make_shared<onednn_convolution>();
    return peers::steps([=] { return c->sums(); }, [=] { used(c->sums()); });
}
#endif

peers::row_list rows() {
    peers::row_list all{
        {"linear_regression", linear_regression},
        {"mlp_4_10_10_3", mlp_small},
        {"mlp_784_100_10", [] { return mlp(100, {784, 100, 10}); }},
        {"mlp_784_512_512_10_sgd", [] { return mlp(128, {784, 512, 512, 10}); }},
        {"mlp_784_512_512_10_adam", [] { return mlp(128, {784, 512, 512, 10}, true); }},
        {"gelu_into_1e7", [] { return map_row(10'000'000, gelu); }},
        {"gelu_grad_into_1e7", [] { return map_row(10'000'000, gelu_slope); }},
        {"gelu_grad_sum_1e7", [] { return gelu_grad_sum(10'000'000); }},
        {"assign_1e7", [] { return map_row(10'000'000, gelu); }},
        {"assign_add_1e7", [] { return gelu_added(10'000'000); }},
        {"matmul_256", [] { return matmul(256); }},
        {"matmul_1024", [] { return matmul(1024); }},
        {"cond_scalar", [] { return called(1, conditional); }},
        {"while_scalar_1e3", [] { return called(1, counted); }},
        {"while_scalar_grad_1e3", [] { return called(1.3f, sine_slope); }},
        {"scan_rnn_100x32", scan_rnn},
        {"scan_rnn_grad_100x32", scan_rnn_grad},
        {"train_in_graph_1e3", train_in_graph},
        {"queue_pair", queue_pair},
        {"queue_batch", queue_batch},
        {"queue_sessions_1e3", queue_sessions},
        {"pendulum", [] { return called(1, pendulum::by_hand<0>); }},
        {"pendulum_grad", [] { return called(1, pendulum::by_hand<1>); }},
        {"pendulum_second", [] { return called(1, pendulum::by_hand<2>); }},
#if defined(PEERS_DNNL)
        {"conv_3x3_64", convolution},
#endif
    };
    for (const auto& [label, n] : {std::pair("1e3", 1'000), std::pair("1e5", 100'000), std::pair("1e7", 10'000'000)}) {
        all.emplace_back(std::string("gelu_") + label, [n = n] { return map_row(n, gelu); });
        all.emplace_back(std::string("gelu_grad_") + label, [n = n] { return map_row(n, gelu_slope); });
        all.emplace_back(std::string("sum_abcd_") + label, [n = n] { return sum_abcd(n); });
    }
    return all;
}

} // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::string(arguments[1]) == "first")
        std::cout << 3.f + 5.f << '\n';
    else
        peers::serve(rows());
}
