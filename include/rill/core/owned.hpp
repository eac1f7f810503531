// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An owning pointer that stores its deleter. Programs that never make a T do not compile its destructor.
template <class T> using owned = std::unique_ptr<T, void (*)(T*)>;

template <class T> owned<T> owned_by_pointer(std::unique_ptr<T> made) {
    return {made.release(), [](T* gone) { delete gone; }};
}
/// Returns an empty `owned`.
template <class T> owned<T> owns_none() { return {nullptr, nullptr}; }

}}} // namespace rill::RILL_ABI::detail
