// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_op.hpp>

namespace rill::inline RILL_ABI {

struct random_uniform_options {
    double minval = 0, maxval = 1;
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// Numbers spread evenly over [minval, maxval), drawn anew in each run: by Philox from the seed, the number of the run in
/// its session and the element's place, so the same everywhere. Integers have whole bounds.
struct random_uniform_op {
    static constexpr auto name = "RandomUniform";
    static constexpr auto no_gradient = ""; // nothing comes in
    static constexpr bool stateful = true;
    dtype type = dtype::float32;
    dims to;
    double minval = 0, maxval = 1;
    std::uint64_t seed = 0;

    template <class V> void attributes(V& v) const {
        v("dtype", type);
        v("shape", to);
        v("minval", minval);
        v("maxval", maxval);
        v("seed", seed);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return detail::random_kernel<T>(
            request, [n = to.size(), minval = minval, maxval = maxval](const random_stream& s, T* values) {
                D::random_uniform(n, s, minval, maxval, values);
            });
    }
    friend bool operator==(const random_uniform_op&, const random_uniform_op&) = default;

private:
    void check() const;
};

/// The op for a type and shape known at run time: what initializers use.
random_uniform_op make_random_uniform(dtype type, const dims& shape, const random_uniform_options& o = {});

/// random_uniform<float, 3, 4>({.minval = -1, .maxval = 1, .seed = 7}). (Without template arguments: the initializer of variables.)
template <element T, index_t... D>
auto random_uniform(const random_uniform_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
    static_assert(is_real_floating<T> || is_integral<T>, "random_uniform: the element type is no real number");
    static_assert(random_extents_known<D...>,
                  "random_uniform: every extent must be known; random_uniform(dtype, dims) takes them at run time");
    require_kernel<random_uniform_op, T>();
    return detail::random_tensor<T, D...>(
        detail::add_random(make_random_uniform(dtype_of<T>, dims{(D == dyn ? 0 : D)...}, options), where));
}
/// Of a type and shape known at run time only.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor random_uniform(dtype type, const dims& shape, const random_uniform_options& options = {},
                          const std::source_location& where = std::source_location::current()) {
    require_kernel<random_uniform_op, float>();
    require_kernel<random_uniform_op, double>();
    require_kernel<random_uniform_op, std::int32_t>();
    require_kernel<random_uniform_op, std::int64_t>();
    return detail::add_random(make_random_uniform(type, shape, options), where);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/random/random_uniform.ipp>
#endif
