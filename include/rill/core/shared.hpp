// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A replacement for std::make_shared for objects made once per graph, plan or session. One control block class serves all types
/// and calls the destructor by a pointer. std::make_shared would compile a control block for each type. Compilers would also
/// inspect its possible destructors wherever an owner is released.
template <class T, class... A> std::shared_ptr<T> make_shared(A&&... arguments) {
    using made_type = std::remove_const_t<T>;
    made_type* const made = new made_type(std::forward<A>(arguments)...);
    if constexpr (requires { made->weak_from_this(); }) {
        using base = typename decltype(made->weak_from_this())::element_type;
        void (*const destroy)(base*) = [](base* gone) { delete static_cast<made_type*>(gone); };
        return std::shared_ptr<T>(std::shared_ptr<base>(static_cast<base*>(made), destroy), made);
    } else {
        void (*const destroy)(void*) = [](void* gone) { delete static_cast<made_type*>(gone); };
        return std::shared_ptr<T>(std::shared_ptr<void>(static_cast<void*>(made), destroy), made);
    }
}

}}} // namespace rill::RILL_ABI::detail
