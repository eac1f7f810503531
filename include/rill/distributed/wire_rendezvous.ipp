// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/wire_rendezvous.hpp>

#include <utility>

#include <rill/distributed/tensor_frame.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::map<std::uint32_t, wire_rendezvous::target>
wire_rendezvous::targets_of(const std::vector<edge_meta>& sends) {
    std::map<std::string, std::size_t> positions;
    for (const auto& s : sends) positions[s.peer] = 0;
    std::size_t next = 0;
    for (auto& [task, position] : positions) position = next++;
    std::map<std::uint32_t, target> all;
    for (const auto& s : sends) all[s.edge] = {s.peer, positions[s.peer]};
    return all;
}

RILL_COLD void wire_rendezvous::send(std::uint32_t edge, any_array value) {
    const auto at = sends_.find(edge);
    if (at == sends_.end()) return arrived_.send(edge, std::move(value));
    const auto& to = at->second;
    const auto incarnation = to.position < incarnations_.size() ? incarnations_[to.position] : 0; // 0: any
    wire_request r{.method = wire_method::push, .session = place_.session, .incarnation = incarnation};
    const auto sequence = [&] {
        const std::lock_guard lock(order_mutex_);
        return sent_[edge]++;
    }();
    push_meta meta{place_.run, place_.step, edge, sequence, encode_tensor(value, r.payload)};
    r.meta = bytes_of_meta(meta);
    note_moved();
    // the task answers on receipt, but not before the step has begun there
    peers_->to(to.task)->call(std::move(r), [s = state_](const std::exception_ptr& problem, const wire_answer&) {
        if (problem) s->fail(problem);
    });
}

RILL_COLD void wire_rendezvous::receive(std::uint32_t edge, completion done) {
    {
        const std::lock_guard lock(state_->mutex);
        state_->awaited.insert(edge);
    }
    arrived_.receive(edge, [s = state_, edge, done = std::move(done)](const std::exception_ptr& problem,
                                                                      std::vector<any_array> values) {
        {
            const std::lock_guard lock(s->mutex);
            s->awaited.erase(s->awaited.find(edge));
        }
        done(problem, std::move(values));
    });
}

RILL_COLD std::string wire_rendezvous::awaited() const {
    std::string text;
    const std::lock_guard lock(state_->mutex);
    for (const auto edge : state_->awaited) {
        const auto from = receives_.find(edge);
        text += (text.empty() ? "edge " : ", edge ") + std::to_string(edge) +
                (from == receives_.end() ? "" : " from " + from->second);
    }
    return text;
}

RILL_COLD environment::time_point wire_rendezvous::moved() const {
    const std::lock_guard lock(state_->mutex);
    return state_->moved;
}

RILL_COLD void wire_rendezvous::note_moved() {
    peers_->note_progress();
    const auto now = peers_->runs_in().now();
    const std::lock_guard lock(state_->mutex);
    state_->moved = now;
}

RILL_COLD void wire_rendezvous::deliver(std::uint32_t edge, std::uint64_t sequence, any_array value) {
    if (edge >= edges_ || sends_.contains(edge))
        throw data_loss("a value for edge " + std::to_string(edge) + ", which does not come to this task");
    note_moved();
    std::unique_lock lock(order_mutex_);
    auto& in = arriving_[edge];
    if (sequence < in.next || !in.values.try_emplace(sequence, std::move(value)).second)
        throw data_loss("value " + std::to_string(sequence) + " of edge " + std::to_string(edge) + " comes twice");
    if (std::exchange(in.moves, true)) return; // the other thread hands on this one, too
    for (auto at = in.values.find(in.next); at != in.values.end(); at = in.values.find(in.next)) {
        auto next = std::move(at->second);
        in.values.erase(at);
        ++in.next;
        lock.unlock();
        try {
            arrived_.send(edge, std::move(next));
        } catch (...) { // its sender ends the step
            lock.lock();
            in.moves = false;
            throw;
        }
        lock.lock();
    }
    in.moves = false;
}

}}} // namespace rill::RILL_ABI::detail
