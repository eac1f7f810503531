// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/barrier_wait.hpp>

namespace rill { inline namespace RILL_ABI {

/// A cyclic barrier at which steps wait for one another.
struct barrier_op : detail::resource_maker {
    static constexpr auto name = "CyclicBarrier", label = "barrier"; // TensorFlow's Barrier is the keyed_barrier
    index_t parties = 1;

    static void fields(auto& op, auto& visit) {
        visit("parties", op.parties);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        if (parties < 1) throw invalid_argument("there are " + std::to_string(parties) + " parties; 1 or more must be");
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::barrier_state>(r, place, parties));
    }
};

struct barrier_options {
    index_t parties = 1;
    std::string shared_name = {}; // sessions of this process share the barrier of that name
};

/// A cyclic barrier: barrier b("name", {.parties = 3}). The parties are runs, or nodes of one run. When all have arrived, they continue and
/// a new cycle begins. A node whose run ends before that does not count.
class barrier {
public:
    template <class... Unused> // a template, so that only programs that call it contain its kernels
    explicit barrier(const std::string& name = {}, const barrier_options& o = {},
                     const std::source_location& where = std::source_location::current())
        : handle_(detail::add_resource(with_parties(o.parties), o.shared_name, name, where)) {}

    template <class... Unused>
    operation arrive_and_wait(const std::source_location& where = std::source_location::current()) const {
        return operation(apply_node(barrier_wait_op{}, where, handle_).node());
    }
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

private:
    static barrier_op with_parties(index_t parties) {
        barrier_op op;
        op.parties = parties;
        return op;
    }

    any_tensor handle_;
};

}} // namespace rill::RILL_ABI
