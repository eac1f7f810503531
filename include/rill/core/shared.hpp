// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// std::make_shared for what is made once a graph, a plan or a session: with one owner's code for all types, which leads to a
/// destructor by a pointer. A compiler looks through the destructors of all that std::make_shared could have made wherever an owner
/// is let go, and compiles its machinery for each type.
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
