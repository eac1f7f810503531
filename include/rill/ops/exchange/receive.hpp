// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/exchange/send.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Completes the op with the result of `opened` for the edge's next message. It completes at once if the message has
/// arrived.
template <class Opened> void receive_with(const kernel_args& a, std::uint32_t edge, const Opened& opened) {
    auto& exchange = exchange_of(a);
    if (any_array message; exchange.try_receive(edge, message)) {
        auto values = opened(std::move(message));
        std::move(values.begin(), values.end(), a.sized);
        return;
    }
    // The rendezvous belongs to this step, so a message after its end reaches no other step.
    const auto done = a.wait->defer([] { return true; });
    exchange.receive(edge, [=](std::exception_ptr problem, std::vector<any_array> message) {
        std::vector<any_array> values;
        if (!problem) try {
                values = opened(std::move(message[0]));
            } catch (...) {
                problem = std::current_exception();
            }
        done(problem, std::move(values));
    });
}

} // namespace detail

/// Receives the value that the Send of its edge sends. The wait holds no thread.
struct receive_op {
    static constexpr auto name = "Recv", label = "receive";
    static constexpr int inputs = 0;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = send_op::no_gradient;
    static constexpr bool stateful = true, is_async = true, has_dynamic_outputs = true;
    std::int32_t edge = 0; // number of the edge in the run
    tensor_type type;
    std::int32_t wire = 0;    // wire_format
    bool takes_turns = false; // the run has ordered ops: later nodes read variables as they are at this point

    static void fields(auto& op, auto& visit) {
        visit("edge", op.edge);
        visit("dtype", op.type.type);
        visit("shape", op.type.shape);
        visit("wire", op.wire);
        visit("takes_turns", op.takes_turns);
    }
    step_ordering ordering_of() const { return takes_turns ? step_ordering::reads : step_ordering::none; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const;
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([from = static_cast<std::uint32_t>(edge), form = static_cast<wire_format>(wire),
                       type = type](const kernel_args& a) {
            detail::receive_with(a, from, [=](any_array message) {
                return std::vector<any_array>{detail::unpacked(std::move(message), type, form)};
            });
        });
    }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> receive_op::outputs(std::span<const tensor_type>) const {
    detail::check_edge(label, edge, wire);
    return {type};
}

}} // namespace rill::RILL_ABI
#endif
