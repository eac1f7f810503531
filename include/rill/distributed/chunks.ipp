// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/chunks.hpp>

#include <algorithm>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void chunk_sender::add(std::uint64_t request, std::vector<message_part> payload) {
    auto& s = all_[request];
    s.payload = std::move(payload);
    for (const auto& p : s.payload) s.total += p.size();
}

RILL_COLD void chunk_sender::note(std::uint64_t request, const stream& s) {
    if (s.next < s.limit)
        ready_.insert({s.total, request}); // allocates nothing if it is there, as after next()
    else
        ready_.erase({s.total, request});
}

RILL_COLD void chunk_sender::on_pull(std::uint64_t request, std::uint64_t offset, std::uint64_t credit, bool again) {
    const auto at = all_.find(request);
    if (at == all_.end() || offset > at->second.total) return;
    auto& s = at->second;
    under_way_ -= s.next - s.received;
    s.received = again ? offset : std::max(s.received, offset);
    s.next = again ? offset : std::max(s.next, offset);
    s.limit = offset + std::min(credit, s.total - offset);
    under_way_ += s.next - s.received;
    note(request, s);
}

RILL_COLD void chunk_sender::erase(streams::iterator at) {
    under_way_ -= at->second.next - at->second.received;
    ready_.erase({at->second.total, at->first});
    all_.erase(at);
}

RILL_COLD void chunk_sender::erase(std::uint64_t request) {
    if (const auto at = all_.find(request); at != all_.end()) erase(at);
}

RILL_COLD void chunk_sender::erase_below(std::uint64_t request) {
    while (!all_.empty() && all_.begin()->first < request) erase(all_.begin());
}

RILL_COLD void chunk_sender::forget_sent() {
    ready_.clear();
    under_way_ = 0;
    for (auto& [request, s] : all_) s.received = s.next = s.limit = 0;
}

RILL_COLD std::optional<chunk_sender::chunk> chunk_sender::next() {
    if (ready_.empty() || under_way_ >= chunk_window) return {};
    const auto request = ready_.begin()->second;
    auto& s = all_.at(request);
    auto within = s.next; // in a part: a chunk does not cross its end
    const auto* part = s.payload.data();
    while (within >= part->size()) within -= part++->size();
    const auto size = std::min({std::uint64_t(chunk_bytes), part->size() - within, s.limit - s.next});
    chunk c{request, s.next,
            message_part(part->bytes().data() + within, static_cast<std::size_t>(size), part->owner())};
    s.next += size;
    under_way_ += size;
    note(request, s);
    return c;
}

RILL_COLD chunk_receiver::chunk_receiver(std::vector<std::uint64_t> sizes)
    : sizes_(std::move(sizes)), parts_(sizes_.size()) {
    constexpr auto most = std::uint64_t(1) << 48;
    for (const auto size : sizes_) {
        if (size > most || total_ > most) throw data_loss("a payload of more bytes than there can be");
        total_ += size;
    }
}

RILL_COLD bool chunk_receiver::take(std::uint64_t offset, std::string_view bytes) {
    if (offset != received_ || bytes.size() > total_ - received_) return false;
    for (std::size_t i = 0; !bytes.empty(); ++i) {
        const auto lacks = static_cast<std::size_t>(sizes_[i]) - parts_[i].size();
        if (lacks == 0) continue;
        constexpr std::size_t at_once = std::size_t(64) << 20;
        if (parts_[i].empty()) parts_[i].reserve(std::min(lacks, at_once));
        const auto taken = std::min(lacks, bytes.size());
        parts_[i] += bytes.substr(0, taken);
        received_ += taken; // counted once stored: the allocation may fail
        bytes.remove_prefix(taken);
    }
    return true;
}

RILL_COLD std::vector<message_part> chunk_receiver::parts() {
    std::vector<message_part> all;
    for (auto& p : parts_) all.emplace_back(std::move(p));
    return all;
}

}}} // namespace rill::RILL_ABI::detail
