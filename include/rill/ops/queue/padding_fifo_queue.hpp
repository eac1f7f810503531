// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/fifo_queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// A fifo_queue that pads batches with zeros to their longest element, along each unknown extent.
struct padding_fifo_queue_op : detail::queue_maker<padding_fifo_queue_op> {
    static constexpr auto name = "PaddingFIFOQueue", label = "padding_fifo_queue";
    static void settle(detail::queue_traits& t) { t.pads = true; }
    static void fields(auto& op, auto& visit) { common_fields(op, visit); }
};

/// A queue of elements of different extents: padding_fifo_queue<tensor<float, dyn>> q({.capacity = 50}). A batch has the extents of its
/// longest element; shorter elements end in zeros. A single dequeue pads nothing.
template <class... T> class padding_fifo_queue : public queue<T...> {
public:
    explicit padding_fifo_queue(const fifo_queue_options& o = {},
                                const std::source_location& where = std::source_location::current())
        : queue<T...>(detail::add_queue<padding_fifo_queue_op>(
              {.components = queue<T...>::component_types(), .capacity = o.capacity}, o.shared_name, o.name, where)) {}
};

}} // namespace rill::RILL_ABI
