// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <utility>

#include <rill/train/initializers.hpp>

namespace rill { inline namespace RILL_ABI {

/// True if an initializer can make values of a dtype.
template <class I, class T> inline constexpr bool initializes = is_real_floating<T>;
template <class T> inline constexpr bool initializes<constant_initializer, T> = has_zero_and_one<T>;

/// An initializer of any kind, or a number that every element gets.
class any_initializer {
public:
    any_initializer() = default;
    template <variable_initializer I>
    any_initializer(I of) // NOLINT: any of them will do
        : make_([of = std::move(of)](dtype type, const dims& shape) {
              endpoint made;
              detail::visit_dtype(type, [&]<class T>(std::type_identity<T>) {
                  if constexpr (initializes<I, T>) made = of.template initial_value<T>(shape);
              });
              return made;
          }),
          dtypes_(dtypes_of<I>()) {}
    template <literal N>
        requires(!is_complex<N>)
    any_initializer(N number) : any_initializer(constant_initializer(static_cast<double>(number))) {} // NOLINT

    explicit operator bool() const { return bool(make_); }
    /// Returns true if the initializer makes values of a dtype.
    bool makes(dtype type) const { return (dtypes_ & bit(type)) != 0; }
    /// Adds the node of a variable's initial value.
    endpoint operator()(dtype type, const dims& shape) const { return make_(type, shape); }

private:
    static constexpr std::uint32_t bit(dtype type) { return std::uint32_t(1) << static_cast<int>(type); }
    template <class I> static constexpr std::uint32_t dtypes_of() {
        std::uint32_t all = 0;
        for (int i = 0; i < dtype_count; ++i)
            detail::visit_dtype(static_cast<dtype>(i), [&]<class T>(std::type_identity<T>) {
                if constexpr (initializes<I, T>) all |= bit(dtype_of<T>);
            });
        return all;
    }

    std::function<endpoint(dtype, const dims&)> make_;
    std::uint32_t dtypes_ = 0;
};

/// Creates a variable whose dtype and shape are known only at run time: any_variable("w", dtype::float32, dims{in, out},
/// glorot_uniform()). assign(w, value) and the other assignments write to it. Throws invalid_argument for a random
/// initializer of a variable that is not floating.
any_tensor any_variable(const std::string& name, dtype type, const dims& shape, const any_initializer& initializer,
                        const variable_options& options = {},
                        const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/any_variable.ipp>
#endif
