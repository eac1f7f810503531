// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/primitives.hpp>
#include <rill/ops/nn/window/window_op.hpp>

// The base of pools: windows over [batch, in.., channels], one channel at a time.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A window over images of complete shapes, and their channels.
struct pool_shape {
    window_shape window;
    index_t channels = 0;

    pool_shape(const dims& x, const rill::window& w);
};

/// Returns the shapes that a pool's kernel needs. Sets request.shared if the kernel uses the thread pool.
pool_shape bound_pool(const dims& x, const rill::window& w, kernel_request& request);

/// True if the window W fits the image X.
template <class X, rill::window W> inline constexpr bool pool_fits = rules::pool(static_dims<X>, W).ok();
template <int Rank> inline constexpr bool is_pooled = Rank >= 3 && Rank <= 5;

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE pool_shape::pool_shape(const dims& x, const rill::window& w) {
    (void)rules::pool(x, w, &window);
    channels = x[x.rank - 1];
}

RILL_INLINE pool_shape bound_pool(const dims& x, const rill::window& w, kernel_request& request) {
    const pool_shape s(x, w);
    request.shared = request.on.pool && windows_are_shared(s.window, s.channels);
    return s;
}

}}} // namespace rill::RILL_ABI::detail
#endif
