// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rill/runtime/control_flow/loop_state_buffers.hpp>
#include <rill/runtime/control_flow/typed_region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A kernel that runs a scan's region for each slice. Over no slices it needs no bound body and returns the initial state.
class scan_kernel final : public typed_region_kernel {
public:
    scan_kernel(const subgraph::item& it, std::span<const tensor_type> inputs, allocator& from)
        : typed_region_kernel(it, inputs), allocator_(from),
          length_(inputs[static_cast<std::size_t>(use_.carried)].shape[0]) {}

    std::int64_t length() const { return length_; }

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<memory>(*this);
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        auto& m = static_cast<memory&>(own);
        m.state.begin(args);
        if (m.step) run_slices(*m.step, m.state, args);
        m.state.end(args);
        return length_;
    }

private:
    struct memory : static_region_kernel::memory {
        explicit memory(const scan_kernel& of) : state(of.state_types(), of.allocator_, of.space_) {
            if (of.length_ > 0) step.emplace(of.bodies_[0]);
        }
        std::optional<region_frame> step;
        loop_state_buffers state;
    };

    void run_slices(region_frame& step, loop_state_buffers& state, const kernel_args& args) const {
        const auto& b = bodies_[0];
        const body_runs runs(step, args);
        const auto carried = static_cast<std::size_t>(use_.carried);
        std::int64_t k = 0;
        try {
            for (; k < length_; ++k) {
                look(args);
                const auto slice = static_cast<std::size_t>(use_.reverse ? length_ - 1 - k : k);
                for (auto a = carried; a < static_cast<std::size_t>(use_.operands); ++a)
                    step.feed(a, args.in<std::byte>(static_cast<int>(a)) + slice * slice_bytes(inputs_[a], 1));
                for (auto r = carried; r < b.types().size(); ++r) step.want(r, stacked(r, slice, args));
                advance(b, step, state, carried, args);
                for (auto r = carried; r < b.types().size(); ++r) step.deliver(r, stacked(r, slice, args));
            }
        } catch (...) {
            rethrow_from_iteration(k);
        }
    }

    std::span<const tensor_type> state_types() const {
        return std::span(inputs_).first(static_cast<std::size_t>(use_.carried));
    }
    /// Returns the size in bytes of one slice along the first `axes` axes.
    static std::size_t slice_bytes(const tensor_type& t, int axes) {
        std::size_t bytes = size_of(t.type);
        for (int i = axes; i < t.shape.rank; ++i) bytes *= static_cast<std::size_t>(t.shape[i]);
        return bytes;
    }
    void* stacked(std::size_t result, std::size_t slice, const kernel_args& args) const {
        return args.out<std::byte>(static_cast<int>(result)) + slice * slice_bytes(bodies_[0].types()[result], 0);
    }

    allocator& allocator_;
    std::int64_t length_;
};

}}} // namespace rill::RILL_ABI::detail
