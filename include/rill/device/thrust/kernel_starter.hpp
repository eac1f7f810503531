// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <rill/core/at_start.hpp>
#include <rill/core/error.hpp>
#include <rill/device/primitives.hpp>
#include <rill/device/thrust/launch_sequence.hpp>
#include <rill/device/thrust/layouts.hpp>
#include <rill/device/thrust/products.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// A base of thrust_device that starts its kernels.
template <class Device, class Backend> struct kernel_starter {
protected:
    using B = Backend;

    /// Returns the device's address of a block.
    template <class X> static auto at(X* p) { return B::at(p); }
    template <class X, std::size_t N> static std::array<X*, N> at(std::array<X*, N> all) {
        for (auto& p : all) p = B::at(p);
        return all;
    }
    template <class T, class I> static row_numbers<T, I> at(const row_numbers<T, I>& n) {
        return {at(n.read), at(n.written)};
    }
    template <class T> static product_epilogue<T> at(const product_epilogue<T>& last) {
        return {at(last.row), last.rectified};
    }

    /// Starts the kernel that make() returns over n elements, if the device has kernels for all T. Does nothing after a failure.
    template <class... T, class Make> static void start(const execution_context& on, index_t n, const Make& make) {
        if constexpr ((B::template takes<T> && ...)) {
            if (n > 0)
                if (const auto here = B::enter(on)) B::each(*here, n, make());
        } else {
            refuse_type<T...>();
        }
    }
    template <class... T> [[noreturn]] static void refuse_type() {
        std::string types;
        ((types += (types.empty() ? "" : ", ") + std::string(to_string(dtype_of<T>))), ...);
        throw unimplemented("device '" + std::string(Device::type) + "' has no kernels for " + types);
    }
    static void start_copy(const execution_context& on, const launch_space& space, const launch_operand& from, void* to,
                           std::size_t element) {
        with_bits(element, [&]<class E>(std::type_identity<E>) {
            start<>(on, space.total, [&] {
                return copy_operand<E>{space, from.stride, at(static_cast<const E*>(from.at)),
                                       scalar_from<E>(from.value.data()), at(static_cast<E*>(to))};
            });
        });
    }
    static kernel bind_launches(const fusion_group& group, kernel_request& request) {
        [[maybe_unused]] static const bool done = [] {
            auto& launchers = launchers_of(Device::type);
            launchers.copy = &start_copy;
            if constexpr (requires { &B::compile; }) launchers.compile = &B::compile;
            return true;
        }();
        [[maybe_unused]] const auto here = B::bind_for(request);
        return B::on_instance(kernel(launch_sequence(Device::type, group, request)), request);
    }

    /// A registrar that registers launches once: at program start for imported graphs, or by a call for graphs built earlier.
    template <bool (*Register)(std::string_view device)> struct registrar {
        static bool ensure() {
            static const bool done = Register(Device::type);
            return done;
        }
    };
    template <bool (*Register)(std::string_view device)> static void register_once() {
        run_at_start<&registrar<Register>::ensure>();
    }

    /// Calls f for the type as which elements are copied: std::string for text, otherwise their bits.
    template <class F> static void with_elements(dtype of, const F& f) {
        if (of == dtype::string) return f(std::type_identity<std::string>());
        with_bits(size_of(of), f);
    }
    template <class T, class Less>
    static void sort(const execution_context& on, T* first, index_t n, void* memory, const Less& less) {
        if (const auto here = B::enter(on); here && n > 0) B::sort(*here, at(first), n, less(), memory);
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
