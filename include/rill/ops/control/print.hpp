// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <rill/core/array_text.hpp>
#include <rill/core/log.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/control/host_call.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns "message float32 [2] {1, 2}": a message and arrays.
inline std::string shown_text(const std::string& message, std::span<const any_array> arrays) {
    std::string text = message;
    for (const auto& a : arrays) text += (text.empty() ? "" : " ") + to_string(a);
    return text;
}

/// Adds an operation that calls f with the values of tensors when it runs.
template <class... Unused> // a template, so that only programs that call it have its kernels
operation add_shown(const std::vector<any_tensor>& shown, const std::function<void(std::span<const any_array>)>& f,
                    const std::source_location& where) {
    require_kernel<host_call_op, void>();
    const auto function = numbered([f](std::span<const any_array> in, any_array*, async_context*) { f(in); });
    host_call_op op;
    op.number = function->number;
    op.function = function;
    endpoint_list inputs;
    for (const auto& x : shown) inputs.push_back(seal(x));
    return operation(add_node(shown[0].graph(), make_op(std::move(op)), std::move(inputs), {}, false, where));
}

} // namespace detail

/// Returns x: print(x, {x, y}, "after the layer"). Each run that computes it writes the values of the list to the log sink, at level
/// info. Gradient: that of x. It calls a function of this program. A saved graph contains the node, which runs only in the process that
/// built it.
template <graph_operand X>
auto print(const X& x, const std::vector<any_tensor>& shown, const std::string& message = {},
           const std::source_location& where = std::source_location::current()) {
    const auto edge = detail::seal(x);
    const auto say = detail::add_shown<>(
        shown.empty() ? std::vector<any_tensor>{any_tensor(edge)} : shown,
        [message](std::span<const any_array> in) { log_message(log_level::info, detail::shown_text(message, in)); },
        where);
    const control_dependencies after(say);
    if constexpr (typed_operand<X>)
        return identity(x, where);
    else
        return identity(any_tensor(edge), where);
}

}} // namespace rill::RILL_ABI
