// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/distributed/task_identity.hpp>
#include <rill/distributed/transport.hpp>
#include <rill/distributed/wire_meta.hpp>

// Values as payload parts of a message. Large ones are sent without a copy, and are not copied at the receiver.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Appends values to the payload of a message, at most 64 parts in all, and returns their descriptions. Small values share a part. A
/// borrowed array is copied. Throws unimplemented for a list of arrays of several shapes.
std::vector<tensor_meta> encode_tensors(std::span<const any_array> values, std::vector<message_part>& payload);
tensor_meta encode_tensor(const any_array& value, std::vector<message_part>& payload);

/// Returns a value of an untrusted message. Numeric arrays share the memory of the message. Throws data_loss if the bytes do not match
/// the size of the type, or are invalid values of it.
any_array decode_tensor(const tensor_meta& meta, std::span<const message_part> payload);
std::vector<any_array> decode_tensors(std::span<const tensor_meta> metas, std::span<const message_part> payload);

/// Returns the answer to a step: its values, and its trace if there is one.
wire_answer answer_with(std::span<const any_array> values, const step_trace* trace, std::chrono::nanoseconds lasted);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/tensor_frame.ipp>
#endif
