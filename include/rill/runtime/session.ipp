// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/session.hpp>

#include <string>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE const session*& default_session_slot() {
    thread_local const session* current = nullptr;
    return current;
}

RILL_INLINE const session& default_session(const char* who) {
    if (!default_session_slot()) throw failed_precondition(std::string(who) + ": no default session; open a session_scope");
    return *default_session_slot();
}

} // namespace rill::inline RILL_ABI::detail
