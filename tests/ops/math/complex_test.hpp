// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Functions of complex numbers whose results are real.

#include "ops/harness.hpp"

namespace complex_test {

using namespace rill;

struct options {
    int order = 2; // of the gradients
    double ulps = 4;
};

/// Values in both types, of tensors whose type is known and not, and gradients.
template <class F, class Reference> void of_complex(const F& f, const Reference& reference, const options& o = {}) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto check = [&]<class R>(std::type_identity<R>) {
        using C = std::complex<R>;
        const placeholder<C, dyn> z("z");
        const any_tensor any = any_placeholder("any", dtype_of<C>);
        const auto at = op_test::point_array<C>({-2, 1}, {17});
        std::vector<R> wanted;
        for (const C& x : at.template elements<C>()) wanted.push_back(reference(x));
        CHECK(op_test::difference<R>(op_test::run(s, sealed(f(z)), {z}, {at}), {17}, wanted, o.ulps) == "");
        CHECK(op_test::difference<R>(op_test::run(s, f(any), {any}, {at}), {17}, wanted, o.ulps) == "");
        CHECK(op_test::run(s, sealed(f(z)), {z}, {op_test::make_array<C>({0}, {})}).shape() == dims{0});
    };
    check(std::type_identity<float>{});
    check(std::type_identity<double>{});
    using C = std::complex<double>;
    const placeholder<C, dyn> z("z");
    detail::require_gradient_kernels<C>();
    detail::require_gradient_kernels<double>();
    op_test::gradient_check{s, {z}, {op_test::point_array<C>({-2, 1}, {4})}}.check(sealed(f(z)), o.order);
}

} // namespace complex_test
