// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/shape_rules.hpp>
#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An exchange of values between ranks. Each rank gives one, and waits for those of all others. Then all get the same result, and the next
/// exchange begins. A rank whose step fails while it waits has given nothing.
class RILL_EXPORT collective_state final : public waited_resource {
public:
    static constexpr auto kind = "collective";
    /// Makes the result of the values, which are in order of rank.
    using joiner = std::function<any_array(std::span<const any_array> values)>;

    collective_state(std::string name, index_t ranks)
        : waited_resource(std::move(name), static_cast<std::size_t>(ranks)), values_(static_cast<std::size_t>(ranks)) {}

    /// Throws invalid_argument unless there are 1 to 65536 ranks.
    static void check(index_t ranks);
    static std::string described_as(index_t ranks) {
        return std::string(kind) + " of " + std::to_string(ranks) + " ranks";
    }
    std::string described() const override { return described_as(static_cast<index_t>(values_.size())); }

    /// Gives the value of a rank, which owns its elements. Returns true if it is the last one: the result is in `out`; otherwise completes
    /// `wait` later. An older run of the same rank that still waits ends with `aborted`. Throws invalid_argument for a number of no rank, and
    /// for a value that the others' do not go with: of another dtype or shape, or of another shape behind axis 0 if `gathers`.
    bool exchange(index_t rank, any_array value, bool gathers, joiner join, async_context& wait, any_array* out);

private:
    struct call : attempt {
        std::int64_t number = 0; // of the exchange
        joiner join = {};
    };
    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;
    RILL_INLINE void undo(attempt& a) override;
    attempt_ptr kept(attempt& a) override { return std::make_shared<call>(static_cast<call&&>(a)); }
    void check_value(const any_array& value, index_t rank, bool gathers) const;

    std::int64_t number_ = 0;       // of the current exchange
    std::vector<any_array> values_; // by rank; empty: not given yet
    std::size_t given_ = 0, left_ = 0;
    any_array result_; // of the exchange before, until all have it
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void collective_state::check(index_t ranks) {
    constexpr index_t most = 1 << 16;
    if (ranks < 1 || ranks > most)
        throw invalid_argument("a collective has 1 to 65536 ranks, not " + std::to_string(ranks));
}

RILL_COLD void collective_state::check_value(const any_array& value, index_t rank, bool gathers) const {
    for (std::size_t r = 0; r < values_.size(); ++r) {
        if (values_[r].empty() || r == static_cast<std::size_t>(rank)) continue;
        auto mine = value.type(), other = values_[r].type();
        if (gathers && mine.shape.rank > 0 && other.shape.rank > 0) mine.shape[0] = other.shape[0];
        if (mine == other) return;
        throw invalid_argument(named() + ": rank " + std::to_string(rank) + " gives " + to_string(value.type()) +
                               ", and rank " + std::to_string(r) + " " + to_string(values_[r].type()));
    }
}

RILL_INLINE bool collective_state::exchange(index_t rank, any_array value, bool gathers, joiner join,
                                            async_context& wait, any_array* out) {
    if (rank < 0 || rank >= static_cast<index_t>(values_.size()))
        throw invalid_argument(named() + ": the rank is " + std::to_string(rank) + "; there are " +
                               std::to_string(values_.size()) + ", numbered from 0");
    call now;
    now.line = static_cast<std::size_t>(rank);
    now.join = std::move(join);
    change([&] {
        check_value(value, rank, gathers); // before the older run ends: it is told behind this function
        refuse_waiting([&](const attempt& a) { return a.line == now.line; },
                       std::make_exception_ptr(aborted(named() + ": a later run is rank " + std::to_string(rank) +
                                                       ", too; each rank needs a number of its own")));
        now.number = number_;
        values_[now.line] = std::move(value);
        ++given_;
    });
    return start(std::move(now), wait, out);
}

RILL_INLINE bool collective_state::serve(attempt& a) {
    auto& c = static_cast<call&>(a);
    if (c.number == number_) {
        if (given_ < values_.size()) return false;
        result_ = c.join(values_);
        for (auto& v : values_) v = {};
        left_ = values_.size();
        given_ = 0;
        ++number_;
    }
    a.outputs.push_back(result_);
    if (--left_ == 0) result_ = {};
    return true;
}

RILL_COLD void collective_state::undo(attempt& a) {
    if (static_cast<call&>(a).number != number_ || values_[a.line].empty()) return;
    values_[a.line] = {};
    --given_;
}

}}} // namespace rill::RILL_ABI::detail
#endif
