// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A cyclic barrier: attempts wait until all parties have arrived, then go on. The barrier is then empty again.
class RILL_EXPORT barrier_state final : public waited_resource {
public:
    static constexpr auto kind = "barrier";

    barrier_state(std::string name, index_t parties) : waited_resource(std::move(name)), parties_(parties) {}

    static std::string described_as(index_t parties) {
        return std::string(kind) + " of " + std::to_string(parties) + " parties";
    }
    std::string described() const override { return described_as(parties_); }

    /// Returns true for the last party to arrive; otherwise it completes `wait` once all have arrived.
    bool arrive(async_context& wait) { return start({}, wait); }

private:
    std::string described_kind() const override { return kind; }
    void joined(index_t waiting) override {
        if (waiting == parties_) leave_ = parties_;
    }
    bool serve(attempt&) override {
        if (leave_ == 0) return false;
        --leave_;
        return true;
    }

    const index_t parties_;
    index_t leave_ = 0; // parties that may leave
};

}}} // namespace rill::RILL_ABI::detail
