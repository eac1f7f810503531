// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include <rill/core/wire_format.hpp>
#include <rill/graph/op/op.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The ops that a partitioned run adds to its graph. The catalogue supplies them: a table, so that programs that partition nothing do not
/// contain them.
struct exchange_ops {
    op_ptr (*send)(std::uint32_t edge, wire_format wire);
    op_ptr (*receive)(std::uint32_t edge, const tensor_type& type, wire_format wire, bool takes_turns);
    op_ptr (*send_bundle)(std::uint32_t edge, wire_format wire);
    op_ptr (*receive_bundle)(std::uint32_t edge, std::vector<tensor_type> types, wire_format wire, bool takes_turns);
    op_ptr (*snapshot)();
    op_ptr (*placeholder)(const tensor_type& type);
    op_ptr (*constant)(const any_array& value);
    op_ptr (*shape)();                           // an int64 vector
    op_ptr (*stand_in)(const tensor_type& type); // with the shape as input if the type leaves it open
    /// Returns the form in which the op asks its value to cross; nothing if it asks for none.
    std::optional<wire_format> (*asked_wire)(const op& o);
};

/// The exchange ops of the program; null before register_exchange_ops.
RILL_EXPORT inline std::atomic<const exchange_ops*> registered_exchange_ops{nullptr};

/// Registers the exchange ops. Defined in ops/exchange/exchange_ops.hpp.
void register_exchange_ops();

}}} // namespace rill::RILL_ABI::detail
