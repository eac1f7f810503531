// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the machine code of a key, in executable memory. `make` makes it where it is not known yet; without bytes there is none for the
/// key, and null is returned now and later. Null as well once the process has `most_jit_programs`, since code is never freed.
const void* cached_code(std::string key, const std::function<std::vector<std::uint8_t>()>& make);

/// Returns the same as a function of a type.
template <class F> F cached_function(std::string key, const std::function<std::vector<std::uint8_t>()>& make) {
    return reinterpret_cast<F>(reinterpret_cast<std::uintptr_t>(cached_code(std::move(key), make)));
}

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/code_cache.ipp>
#endif
