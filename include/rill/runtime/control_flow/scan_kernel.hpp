// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rill/runtime/control_flow/loop_state_buffers.hpp>
#include <rill/runtime/control_flow/typed_region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A kernel that runs a scan's region for each slice.
class scan_kernel final : public typed_region_kernel {
public:
    scan_kernel(const subgraph::item& it, std::span<const tensor_type> inputs, allocator& from)
        : typed_region_kernel(it, inputs), allocator_(from),
          length_(inputs[static_cast<std::size_t>(use_.carried)].shape[0]) {}

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<memory>(bodies_[0], state_types(), allocator_);
    }

    std::int64_t run(static_region_kernel::memory& own, const kernel_args& args) const override {
        auto& m = static_cast<memory&>(own);
        const auto& b = bodies_[0];
        const body_runs runs(m.step, args);
        const auto carried = static_cast<std::size_t>(use_.carried);
        m.state.begin(args);
        std::int64_t k = 0;
        try {
            for (; k < length_; ++k) {
                look(args);
                const auto slice = static_cast<std::size_t>(use_.reverse ? length_ - 1 - k : k);
                for (auto a = carried; a < static_cast<std::size_t>(use_.operands); ++a)
                    m.step.feed(a, args.in<std::byte>(static_cast<int>(a)) + slice * slice_bytes(inputs_[a], 1));
                for (auto r = carried; r < b.types().size(); ++r) m.step.want(r, stacked(r, slice, args));
                advance(b, m.step, m.state, carried, args);
                for (auto r = carried; r < b.types().size(); ++r) m.step.deliver(r, stacked(r, slice, args));
            }
        } catch (...) {
            rethrow_from_iteration(k);
        }
        m.state.end(args);
        return length_;
    }

private:
    struct memory : static_region_kernel::memory {
        memory(const bound_region& b, std::span<const tensor_type> types, allocator& a) : step(b), state(types, a) {}
        region_frame step;
        loop_state_buffers state;
    };

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

/// A kernel of a scan over no slices whose body can't be bound: only an iteration decides some extents. It returns the initial state.
class empty_scan_kernel final : public typed_region_kernel {
public:
    using typed_region_kernel::typed_region_kernel;

    std::unique_ptr<static_region_kernel::memory> make_memory() const override {
        return std::make_unique<static_region_kernel::memory>();
    }
    std::int64_t run(static_region_kernel::memory&, const kernel_args& args) const override {
        for (int i = 0; i < use_.carried; ++i)
            if (void* const out = args.out<void>(i); out != args.in<void>(i))
                copy_elements(inputs_[i].type, args.in<void>(i), out, inputs_[i].shape.size());
        return 0;
    }
    /// Returns the result types of the body for op::outputs, with 0 for unknown extents.
    std::vector<std::vector<tensor_type>> results(const body& b) const {
        std::vector<tensor_type> all(inputs_.begin(), inputs_.begin() + use_.carried);
        for (auto r = all.size(); r < b.results.size(); ++r) {
            auto& each = all.emplace_back(type_of(b.results[r]));
            for (int i = 0; i < each.shape.rank; ++i)
                if (each.shape[i] == dyn) each.shape[i] = 0;
        }
        return {std::move(all)};
    }
};

}}} // namespace rill::RILL_ABI::detail
