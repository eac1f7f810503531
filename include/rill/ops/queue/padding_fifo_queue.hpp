// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/fifo_queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// A fifo_queue whose batches are filled up with zeros to the longest of their elements, along each extent that is unknown.
struct padding_fifo_queue_op : detail::queue_maker<padding_fifo_queue_op> {
    static constexpr auto name = "PaddingFIFOQueue", label = "padding_fifo_queue";
    static void settle(detail::queue_traits& t) { t.pads = true; }
    static void fields(auto& op, auto& visit) { common_fields(op, visit); }
};

/// padding_fifo_queue<tensor<float, dyn>> q({.capacity = 50}): elements of several lengths; a batch has the longest's, the others end
/// in zeros. A single dequeue fills up nothing.
template <class... T> class padding_fifo_queue : public queue<T...> {
public:
    explicit padding_fifo_queue(const fifo_queue_options& o = {},
                                const std::source_location& where = std::source_location::current())
        : queue<T...>(detail::add_queue<padding_fifo_queue_op>(
              {.components = queue<T...>::component_types(), .capacity = o.capacity}, o.shared_name, o.name, where)) {}
};

}} // namespace rill::RILL_ABI
