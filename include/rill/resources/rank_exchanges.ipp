// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/rank_exchanges.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <rill/core/hash.hpp>
#include <rill/core/platform.hpp>
#include <rill/resources/rank_plugin.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The first message of a rank in an exchange, as bytes: its request, and the type of its value.
struct exchange_head {
    std::int32_t kind = 0, type = 0, rank = 0, unused = 0;
    std::int64_t root = 0;
    std::array<std::int64_t, max_rank> extents{};
    std::array<char, 160> tensor{}; // truncated if longer

    exchange_head() = default;
    exchange_head(const collective_call& call, const tensor_type& t)
        : kind(static_cast<std::int32_t>(call.kind)), type(static_cast<std::int32_t>(t.type)), rank(t.shape.rank),
          root(call.root) {
        for (int i = 0; i < rank; ++i) extents[static_cast<std::size_t>(i)] = t.shape[i];
        std::copy_n(call.tensor.data(), std::min(call.tensor.size(), tensor.size()), tensor.data());
    }
    collective_call call() const {
        collective_call c;
        c.kind = static_cast<collective_kind>(kind);
        c.root = root;
        c.tensor.assign(tensor.data(), static_cast<std::size_t>(std::find(tensor.begin(), tensor.end(), '\0') - tensor.begin()));
        return c;
    }
    tensor_type type_of_value() const {
        tensor_type t{static_cast<dtype>(type), dims{}};
        for (int i = 0; i < std::clamp(static_cast<int>(rank), 0, max_rank); ++i)
            t.shape.push(std::max<index_t>(extents[static_cast<std::size_t>(i)], 0));
        return t;
    }
};

/// One exchange: heads, then values or pieces of them, then sums of pieces.
class rank_exchanges::exchange {
public:
    exchange(std::string called, int under, any_array given, collective_call asked, finished f)
        : name(std::move(called)), tag(under), value_(std::move(given)), call_(std::move(asked)), done_(std::move(f)),
          head_(call_, value_.type()) {}

    /// Advances as far as messages have arrived. Returns true if there was progress.
    bool advance(rank_messages& by) {
        const auto before = under_way_.size();
        std::erase_if(under_way_, [&](void* m) { return by.is_over(m); });
        if (!under_way_.empty()) return under_way_.size() != before;
        switch (phase_) {
        case phase::begins: send_heads(by); break;
        case phase::heads: compare_heads(by); break;
        case phase::values: join_values(by); break;
        case phase::sums: finish(nullptr, std::move(result_)); break;
        case phase::over: return false;
        }
        return true;
    }
    bool is_over() const noexcept { return phase_ == phase::over; }
    bool has_messages() const noexcept { return !under_way_.empty(); }
    /// Ends the exchange with an error. Its memory must stay while messages are in flight.
    void fail(const std::exception_ptr& problem) { finish(problem, {}); }

    const std::string name;
    const int tag;

private:
    enum class phase { begins, heads, values, sums, over };
    static constexpr std::size_t longest_message = std::size_t(1) << 30; // lengths are ints

    /// Splits a block of memory into messages and starts each.
    template <class Start> void in_messages(std::size_t bytes, const Start& start) {
        for (std::size_t at = 0; at < bytes; at += longest_message)
            under_way_.push_back(start(at, static_cast<int>(std::min(longest_message, bytes - at))));
    }
    void send(rank_messages& by, index_t to, const void* data, std::size_t bytes) {
        in_messages(bytes, [&](std::size_t at, int count) {
            return by.send(to, tag, static_cast<const std::byte*>(data) + at, count);
        });
    }
    void receive(rank_messages& by, index_t from, void* data, std::size_t bytes) {
        in_messages(bytes, [&](std::size_t at, int count) {
            return by.receive(from, tag, static_cast<std::byte*>(data) + at, count);
        });
    }
    void receive(rank_messages& by, index_t from, any_array& to) {
        receive(by, from, to.mutable_data(), bytes_of(to.size()));
    }
    template <class F> static void each_other(const rank_messages& by, const F& f) {
        for (index_t r = 0; r < by.ranks(); ++r)
            if (r != by.rank()) f(r, static_cast<std::size_t>(r));
    }
    std::size_t bytes_of(index_t elements) const {
        return static_cast<std::size_t>(elements) * size_of(value_.dtype());
    }
    /// Returns the beginning of a rank's piece. The beginning for rank ranks() is the end.
    index_t piece(index_t r, const rank_messages& by) const { return r * value_.size() / by.ranks(); }
    const std::byte* at(index_t element) const { return static_cast<const std::byte*>(value_.data()) + bytes_of(element); }
    bool is_in_pieces() const { return call_.kind == collective_kind::all_reduce && value_.size() >= pieces_from; }

    void send_heads(rank_messages& by) {
        heads_.resize(static_cast<std::size_t>(by.ranks()));
        heads_[static_cast<std::size_t>(by.rank())] = head_;
        each_other(by, [&](index_t r, std::size_t i) {
            receive(by, r, &heads_[i], sizeof(exchange_head));
            send(by, r, &head_, sizeof head_);
        });
        phase_ = phase::heads;
    }

    /// Sends the values unless the heads disagree. All ranks have the same heads and so detect a disagreement alike.
    void compare_heads(rank_messages& by) {
        for (std::size_t r = 1; r < heads_.size(); ++r) {
            const auto why = disagreement(static_cast<index_t>(r), heads_[r].call(), heads_[r].type_of_value(), 0,
                                          heads_[0].call(), heads_[0].type_of_value());
            if (!why.empty())
                return finish(std::make_exception_ptr(invalid_argument("collective '" + name + "': " + why)), {});
        }
        values_.resize(heads_.size());
        values_[static_cast<std::size_t>(by.rank())] = value_;
        if (is_in_pieces())
            send_pieces(by);
        else if (call_.kind == collective_kind::broadcast_from)
            send_from_root(by);
        else
            each_other(by, [&](index_t r, std::size_t i) {
                values_[i] = any_array(value_.dtype(), heads_[i].type_of_value().shape);
                receive(by, r, values_[i]);
                send(by, r, value_.data(), bytes_of(value_.size()));
            });
        phase_ = phase::values;
    }
    void send_from_root(rank_messages& by) {
        if (by.rank() == call_.root)
            return each_other(by, [&](index_t r, std::size_t) { send(by, r, value_.data(), bytes_of(value_.size())); });
        auto& to = values_[static_cast<std::size_t>(call_.root)];
        to = any_array(value_.dtype(), value_.shape());
        receive(by, call_.root, to);
    }
    void send_pieces(rank_messages& by) {
        const index_t own = piece(by.rank(), by), count = piece(by.rank() + 1, by) - own;
        values_[static_cast<std::size_t>(by.rank())] =
            any_array(value_.dtype(), dims{count}, at(own), std::make_shared<any_array>(value_));
        each_other(by, [&](index_t r, std::size_t i) {
            values_[i] = any_array(value_.dtype(), dims{count});
            receive(by, r, values_[i]);
            send(by, r, at(piece(r, by)), bytes_of(piece(r + 1, by) - piece(r, by)));
        });
    }

    void join_values(rank_messages& by) {
        try {
            sum_ = call_.join(values_);
        } catch (...) { // the same error in each rank
            return finish(std::current_exception(), {});
        }
        values_.clear();
        if (!is_in_pieces()) return finish(nullptr, std::move(sum_));
        result_ = any_array(value_.dtype(), value_.shape());
        auto* const to = static_cast<std::byte*>(result_.mutable_data());
        std::memcpy(to + bytes_of(piece(by.rank(), by)), sum_.data(), bytes_of(sum_.size()));
        each_other(by, [&](index_t r, std::size_t) {
            receive(by, r, to + bytes_of(piece(r, by)), bytes_of(piece(r + 1, by) - piece(r, by)));
            send(by, r, sum_.data(), bytes_of(sum_.size()));
        });
        phase_ = phase::sums;
    }

    void finish(const std::exception_ptr& problem, any_array result) {
        phase_ = phase::over;
        if (const auto done = std::exchange(done_, nullptr)) done(problem, std::move(result));
    }

    any_array value_;
    const collective_call call_;
    finished done_;
    const exchange_head head_;
    std::vector<exchange_head> heads_; // by rank
    std::vector<any_array> values_;    // by rank: the whole values, or the pieces that this rank adds up
    any_array sum_, result_;
    std::vector<void*> under_way_;
    phase phase_ = phase::begins;
};

RILL_COLD rank_exchanges::rank_exchanges(opener open) : thread_([this, open = std::move(open)] { serve(open); }) {
    std::unique_lock lock(mutex_);
    while (!is_open_) changed_.wait(lock);
    if (!refused_) return;
    lock.unlock();
    thread_.join();
    std::rethrow_exception(refused_);
}

RILL_COLD rank_exchanges::~rank_exchanges() {
    {
        const std::lock_guard lock(mutex_);
        stops_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

RILL_COLD int rank_exchanges::tag_of(const std::string& name) {
    const int tag = static_cast<int>(hash_bytes(name) % static_cast<std::uint64_t>(tags_));
    const auto& owner = names_.try_emplace(tag, name).first->second;
    if (owner != name)
        throw invalid_argument("collective '" + name + "': its messages can't be told from those of '" + owner +
                               "'; give the group another name");
    return tag;
}

RILL_COLD void rank_exchanges::start(const std::string& name, any_array value, collective_call call, finished done) {
    check_root(call, ranks_);
    if (value.dtype() == dtype::string)
        throw invalid_argument("collective '" + name + "': strings can't be sent by a plug-in");
    const std::lock_guard lock(mutex_);
    if (given_up_.contains(name))
        throw aborted("collective '" + name +
                      "': a step has given up its part, which can't be taken back; the ranks are out of step");
    waiting_.push_back(std::make_unique<exchange>(name, tag_of(name), std::move(value), std::move(call), std::move(done)));
    changed_.notify_all();
}

RILL_COLD void rank_exchanges::give_up(const std::string& name) {
    const std::lock_guard lock(mutex_);
    given_up_.insert(name);
}

/// Begins waiting exchanges. Blocks while there are none and none runs. Returns false at the end.
RILL_COLD bool rank_exchanges::take_waiting() {
    std::unique_lock lock(mutex_);
    while (waiting_.empty() && running_.empty() && !stops_) changed_.wait(lock);
    if (stops_) return false;
    for (auto& e : waiting_) running_[e->tag].push_back(std::move(e));
    waiting_.clear();
    return true;
}

RILL_COLD bool rank_exchanges::advance_all() {
    bool moves = false;
    for (auto at = running_.begin(); at != running_.end();) {
        auto& line = at->second;
        moves = line.front()->advance(*messages_) || moves;
        if (line.front()->is_over()) line.erase(line.begin());
        at = line.empty() ? running_.erase(at) : std::next(at);
    }
    return moves;
}

RILL_COLD void rank_exchanges::serve(const opener& open) {
    {
        std::exception_ptr problem;
        try {
            messages_ = open();
        } catch (...) {
            problem = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        refused_ = problem;
        is_open_ = true;
        if (messages_) {
            rank_ = messages_->rank();
            ranks_ = messages_->ranks();
            tags_ = messages_->tags();
        }
        changed_.notify_all();
        if (problem) return;
    }
    constexpr int soon = 1000; // rounds without a message, before the thread sleeps between them
    std::exception_ptr broken;
    for (int idle = 0; take_waiting();) {
        try {
            if (!broken) idle = advance_all() ? 0 : idle + 1;
        } catch (...) { // a message is lost: no exchange can continue
            broken = std::current_exception();
        }
        if (broken)
            fail_all(broken);
        else if (idle > soon)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        else if (idle > 0)
            std::this_thread::yield();
    }
    messages_->end(running_.empty() && !broken);
    fail_all(std::make_exception_ptr(cancelled("collectives: the program ends")));
}

RILL_COLD void rank_exchanges::fail_all(const std::exception_ptr& problem) {
    for (auto& [tag, line] : running_)
        for (auto& e : line) {
            e->fail(problem);
            if (e->has_messages()) (void)e.release(); // messages may still arrive in its memory
        }
    running_.clear();
}

/// The messages of a plug-in, behind the interface rank_messages.
class plugin_messages final : public rank_messages {
public:
    explicit plugin_messages(const rill_rank_plugin& by) : by_(by) {
        if (const char* why = by_.begin(&rank_, &ranks_, &tags_)) throw unavailable(std::string("collectives: ") + why);
    }
    index_t rank() const override { return rank_; }
    index_t ranks() const override { return ranks_; }
    int tags() const override { return tags_; }
    void* send(index_t to, int tag, const void* data, int bytes) override {
        return made(by_.send(static_cast<int>(to), tag, data, bytes), to);
    }
    void* receive(index_t from, int tag, void* data, int bytes) override {
        return made(by_.receive(static_cast<int>(from), tag, data, bytes), from);
    }
    bool is_over(void* message) override {
        const int over = by_.is_over(message);
        if (over < 0) throw unavailable(std::string("collectives: a message has failed: ") + by_.problem());
        return over > 0;
    }
    void end(bool clean) override { by_.end(clean); }

private:
    void* made(void* message, index_t other) const {
        if (!message) throw unavailable("collectives: rank " + std::to_string(other) + ": " + by_.problem());
        return message;
    }
    const rill_rank_plugin& by_;
    int rank_ = 0, ranks_ = 1, tags_ = 1;
};

RILL_COLD std::shared_ptr<rank_exchanges> rank_exchanges::of_plugin(const std::string& engine) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<rank_exchanges>> all;
    const std::lock_guard lock(mutex);
    auto& there = all[engine];
    if (there) return there;
    const auto file = engine.find('/') == std::string::npos ? "librill_" + engine + ".so" : engine;
    void* const library = load_library(file.c_str(), true);
    if (!library)
        throw not_found("collectives: the library '" + file + "' can't be loaded; docs/clusters.md tells how to build it");
    void* const functions = library_function(library, "rill_rank_plugin_1");
    if (!functions) throw not_found("collectives: '" + file + "' is not a plug-in of this version of rill");
    const auto& by = *reinterpret_cast<const rill_rank_plugin* (*)()>(functions)();
    there = std::make_shared<rank_exchanges>([&by] { return std::make_unique<plugin_messages>(by); });
    return there;
}

}}} // namespace rill::RILL_ABI::detail
