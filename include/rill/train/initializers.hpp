// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/array/eye.hpp>
#include <rill/ops/linalg/orthogonal.hpp>
#include <rill/ops/random/random_normal.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/random/truncated_normal.hpp>
#include <rill/ops/state/variable.hpp>

namespace rill { inline namespace RILL_ABI {

// Initial values of variables. An initializer has no shape; the variable has one. `initial_value<T>(shape)` adds the nodes.

/// An initializer with one number for every element, or with a list of the elements in row-major order. Throws invalid_argument if the
/// list's length differs from the number of elements.
class constant_initializer {
public:
    explicit constant_initializer(double value) : values_{value}, is_list_(false) {}
    explicit constant_initializer(std::vector<double> values) : values_(std::move(values)), is_list_(true) {}
    template <class T> endpoint initial_value(const dims& shape) const {
        any_array all(dtype_of<T>, shape);
        if (is_list_ && static_cast<index_t>(values_.size()) != all.size())
            throw invalid_argument("constant_initializer: " + std::to_string(values_.size()) +
                                   " values, for a variable of " + to_string(shape));
        const auto number = [](double v) { return detail::scalar_of(dtype_of<T>, v).template as<T>(); };
        auto* const to = static_cast<T*>(all.mutable_data());
        if (is_list_)
            std::transform(values_.begin(), values_.end(), to, number);
        else
            std::fill_n(to, all.size(), number(values_[0]));
        return detail::add_constant(current_graph(), all, false, "initial_value");
    }

private:
    std::vector<double> values_;
    bool is_list_;
};

inline constant_initializer zeros() { return constant_initializer(0); }
inline constant_initializer ones() { return constant_initializer(1); }

namespace detail {

template <class T, class Op> endpoint random_value(const Op& op) {
    static_assert(is_real_floating<T> || is_integral<T>, "random initializers give real numbers");
    require_kernel<Op, T>();
    return {add_node(current_graph(), make_op(op), {}, "initial_value"), 0};
}

} // namespace detail

class random_uniform_initializer {
public:
    explicit random_uniform_initializer(const random_uniform_options& options) : options_(options) {}
    template <class T> endpoint initial_value(const dims& shape) const {
        return detail::random_value<T>(make_random_uniform(dtype_of<T>, shape, options_));
    }

private:
    random_uniform_options options_;
};

class random_normal_initializer {
public:
    explicit random_normal_initializer(const random_normal_options& options) : options_(options) {}
    template <class T> endpoint initial_value(const dims& shape) const {
        return detail::random_value<T>(make_random_normal(dtype_of<T>, shape, options_));
    }

private:
    random_normal_options options_;
};

class truncated_normal_initializer {
public:
    explicit truncated_normal_initializer(const truncated_normal_options& options) : options_(options) {}
    template <class T> endpoint initial_value(const dims& shape) const {
        return detail::random_value<T>(make_truncated_normal(dtype_of<T>, shape, options_));
    }

private:
    truncated_normal_options options_;
};

inline random_uniform_initializer random_uniform(const random_uniform_options& options = {}) {
    return random_uniform_initializer(options);
}
inline random_normal_initializer random_normal(const random_normal_options& options = {}) {
    return random_normal_initializer(options);
}
inline truncated_normal_initializer truncated_normal(const truncated_normal_options& options = {}) {
    return truncated_normal_initializer(options);
}

struct variance_scaling_options {
    double scale = 1;
    enum class fan { in, out, average } mode = fan::in;
    bool uniform = false; // else a truncated normal
    std::uint64_t seed = 0;
};

/// An initializer with random values of the variance scale / n. n is the number of inputs, of outputs, or their mean (TensorFlow's
/// variance_scaling). Fans are TensorFlow's: the last two extents, times the product of the others.
class variance_scaling {
public:
    explicit variance_scaling(const variance_scaling_options& options = {}) : options_(options) {}

    template <class T> endpoint initial_value(const dims& shape) const {
        const auto [in, out] = fans(shape);
        using fan = variance_scaling_options::fan;
        const double n = options_.mode == fan::in ? in : options_.mode == fan::out ? out : (in + out) / 2;
        const double variance = options_.scale / std::max(1.0, n);
        if (options_.uniform) {
            const double limit = std::sqrt(3 * variance);
            return random_uniform_initializer({.minval = -limit, .maxval = limit, .seed = options_.seed})
                .initial_value<T>(shape);
        }
        return truncated_normal_initializer({.mean = 0, .stddev = std::sqrt(variance), .seed = options_.seed})
            .initial_value<T>(shape);
    }

    /// Returns the numbers of inputs and outputs of a weight of this shape.
    static std::pair<double, double> fans(const dims& shape);

private:
    variance_scaling_options options_;
};

/// Returns the uniform initializer of Glorot and Bengio 2010.
inline variance_scaling glorot_uniform(std::uint64_t seed = 0) {
    return variance_scaling({1, variance_scaling_options::fan::average, true, seed});
}
inline variance_scaling glorot_normal(std::uint64_t seed = 0) {
    return variance_scaling({1, variance_scaling_options::fan::average, false, seed});
}
/// Returns the uniform initializer of He et al. 2015, for relu.
inline variance_scaling he_uniform(std::uint64_t seed = 0) {
    return variance_scaling({2, variance_scaling_options::fan::in, true, seed});
}
inline variance_scaling he_normal(std::uint64_t seed = 0) {
    return variance_scaling({2, variance_scaling_options::fan::in, false, seed});
}
/// Returns the uniform initializer of LeCun et al. 1998, which keeps the variance of the inputs.
inline variance_scaling lecun_uniform(std::uint64_t seed = 0) {
    return variance_scaling({1, variance_scaling_options::fan::in, true, seed});
}
inline variance_scaling lecun_normal(std::uint64_t seed = 0) {
    return variance_scaling({1, variance_scaling_options::fan::in, false, seed});
}

/// An initializer with a random orthogonal matrix times gain (Saxe et al. 2013): Q of the QR decomposition of a matrix of normal
/// numbers. The columns are orthonormal, or the rows if there are fewer rows. All axes but the last are flattened to rows.
class orthogonal_initializer {
public:
    orthogonal_initializer(double gain, std::uint64_t seed) : gain_(gain), seed_(seed) {}
    template <class T> endpoint initial_value(const dims& shape) const {
        require_kernel<orthogonal_op, T>();
        const endpoint drawn =
            random_normal_initializer({.mean = 0, .stddev = 1, .seed = seed_}).initial_value<T>(shape);
        return {detail::add_node(current_graph(), make_op(orthogonal_op{gain_}), {drawn}, "orthogonal"), 0};
    }

private:
    double gain_;
    std::uint64_t seed_;
};

inline orthogonal_initializer orthogonal(double gain = 1, std::uint64_t seed = 0) { return {gain, seed}; }

/// An initializer with gain on the diagonal of a matrix and zeros elsewhere.
class identity_initializer {
public:
    explicit identity_initializer(double gain) : gain_(gain) {}
    template <class T> endpoint initial_value(const dims& shape) const {
        if (shape.rank != 2)
            throw invalid_argument("identity: a matrix is initialised, not a variable of the shape " +
                                   to_string(shape));
        auto all = detail::eye_array<T>(shape[0], shape[1]);
        const T gain = detail::scalar_of(dtype_of<T>, gain_).template as<T>();
        T* const to = static_cast<T*>(all.mutable_data());
        for (index_t i = 0; i < std::min(shape[0], shape[1]); ++i) to[i * shape[1] + i] = gain;
        return detail::add_constant(current_graph(), all, false, "initial_value");
    }

private:
    double gain_;
};

/// Returns the initializer of the identity matrix. (With a tensor argument, identity is the op.)
inline identity_initializer identity(double gain = 1) { return identity_initializer(gain); }

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/initializers.ipp>
#endif
