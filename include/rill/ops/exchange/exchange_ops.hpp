// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/constant.hpp>
#include <rill/graph/op/exchange_ops.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/snapshot.hpp>
#include <rill/ops/exchange/receive.hpp>
#include <rill/ops/exchange/receive_bundle.hpp>
#include <rill/ops/exchange/send.hpp>
#include <rill/ops/exchange/send_as.hpp>
#include <rill/ops/exchange/send_bundle.hpp>
#include <rill/ops/exchange/stand_in.hpp>

// The list of ops in partitioned runs, for passes.

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Registers a kernel on first call, not at program start. Programs without partitioning then do not link it.
template <class Op> void register_exchange_kernel() {
    if constexpr (RILL_COMPILED && is_compiled<Op, void>)
        kernels::bring_kernel<Op, void>();
    else
        kernel_registrar<Op, void>::ensure();
}

} // namespace detail

RILL_INLINE void detail::register_exchange_ops() {
    register_exchange_kernel<send_op>();
    register_exchange_kernel<receive_op>();
    register_exchange_kernel<send_bundle_op>();
    register_exchange_kernel<receive_bundle_op>();
    register_exchange_kernel<snapshot_op>();
    register_exchange_kernel<shape_op>();
    register_exchange_kernel<stand_in_op>();
    ensure_registered<placeholder_op>();
    ensure_registered<constant_op>();
    static constexpr exchange_ops all{
        .send =
            [](std::uint32_t edge, wire_format wire) {
                return make_op(send_op{static_cast<std::int32_t>(edge), static_cast<std::int32_t>(wire)});
            },
        .receive =
            [](std::uint32_t edge, const tensor_type& type, wire_format wire, bool takes_turns) {
                return make_op(
                    receive_op{static_cast<std::int32_t>(edge), type, static_cast<std::int32_t>(wire), takes_turns});
            },
        .send_bundle =
            [](std::uint32_t edge, wire_format wire) {
                return make_op(send_bundle_op{static_cast<std::int32_t>(edge), static_cast<std::int32_t>(wire)});
            },
        .receive_bundle =
            [](std::uint32_t edge, std::vector<tensor_type> types, wire_format wire, bool takes_turns) {
                return make_op(receive_bundle_op{static_cast<std::int32_t>(edge), std::move(types),
                                                 static_cast<std::int32_t>(wire), takes_turns});
            },
        .snapshot = [] { return make_op(snapshot_op{}); },
        .placeholder = [](const tensor_type& type) { return make_op(placeholder_op{type}); },
        .constant = [](const any_array& value) { return make_op(constant_op{value}); },
        .shape = [] { return make_op(shape_op{{dtype::int64}}); },
        .stand_in = [](const tensor_type& type) { return make_op(stand_in_op{type}); },
        .asked_wire = [](const op& o) -> std::optional<wire_format> {
            if (o.struct_name() != type_name<send_as_op>()) return {};
            return static_cast<wire_format>(static_cast<const send_as_op*>(o.attributes())->wire);
        }};
    registered_exchange_ops = &all;
}

}} // namespace rill::RILL_ABI
#endif
