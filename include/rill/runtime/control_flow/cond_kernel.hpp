// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/runtime/control_flow/typed_region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A kernel that runs one of a node's regions: a branch, or the only region of a function call.
class cond_kernel final : public typed_region_kernel {
public:
    using typed_region_kernel::typed_region_kernel;

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        auto made = std::make_unique<memory>();
        for (const auto& b : bodies_) made->bodies.emplace_back(b);
        return made;
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        const std::size_t chosen = choice(args);
        const auto& b = bodies_[chosen];
        auto& m = static_cast<memory&>(own).bodies[chosen];
        const body_runs runs(m, args);
        for (std::size_t r = 0; r < b.types().size(); ++r)
            if (b.fetch(r) >= 0) m.want(r, args.out<void>(static_cast<int>(r)));
        for (std::size_t a = 0; a < b.of().arguments.size(); ++a) m.feed(a, args.in<void>(static_cast<int>(a)));
        m.run();
        for (std::size_t r = 0; r < b.types().size(); ++r)
            if (b.fetch(r) >= 0) m.deliver(r, args.out<void>(static_cast<int>(r)));
        return -1;
    }

    /// Returns region_binding::changes; -1 if branches differ.
    std::vector<int> changes() const {
        std::vector<int> all;
        for (std::size_t r = 0; r < bodies_[0].types().size(); ++r) {
            const int input = bodies_[0].overwritten_input(r);
            all.push_back(
                detail::all_of(bodies_, [&](const auto& b) { return b.overwritten_input(r) == input; }) ? input : -1);
        }
        return all;
    }

private:
    struct memory : static_region_kernel::memory {
        vector<region_frame> bodies;
    };

    std::size_t choice(const kernel_args& args) const {
        if (use_.how == region_attributes::form::call) return 0;
        return chosen_body(any_array(inputs_[0].type, {}, args.in<void>(0), nullptr), bodies_.size());
    }
};

}}} // namespace rill::RILL_ABI::detail
