// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/hash.hpp>
#include <rill/core/resource.hpp>
#include <rill/core/shared.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/philox.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class random_counter;

/// A call of a dataset's function. Random ops on its thread draw by the number of the call, independently of earlier calls.
struct random_call {
    std::uint64_t number = 0;
    std::vector<std::pair<const random_counter*, std::uint64_t>> drawn = {}; // the number of draws in this call

    std::uint64_t next_run(const random_counter* of);
};
/// Returns the current call of this thread, or null.
RILL_EXPORT random_call*& random_call_slot();

/// The number of draws of a random op in its session. It is a resource under its node's name, so that checkpoints can save and restore it.
class RILL_EXPORT random_counter final : public resource {
public:
    static constexpr auto kind = "random counter";

    explicit random_counter(std::string name) : name_(std::move(name)) {}

    const std::string& name() const { return name_; }
    std::string described() const override { return kind; }
    /// Returns the stream of the next run.
    random_stream next(std::uint64_t seed) {
        if (auto* const call = random_call_slot()) return {seed, call->next_run(this)};
        return {seed, drawn_.fetch_add(1, std::memory_order_relaxed)};
    }
    /// Returns the part "drawn": the number of runs.
    RILL_INLINE std::vector<named_array> saved_parts() const override;
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;
    RILL_INLINE void check_parts(std::span<const named_array> parts) const override;
    std::uint64_t drawn() const { return drawn_.load(std::memory_order_relaxed); }
    void set_drawn(std::uint64_t runs) { drawn_.store(runs, std::memory_order_relaxed); }

private:
    const std::string name_;
    std::atomic<std::uint64_t> drawn_{0};
};

/// Returns the counter of the node whose kernel is bound. Without a session, the kernel gets a counter of its own.
std::shared_ptr<random_counter> random_counter_of(const kernel_request& request);

/// Lets each run of the bound kernel use the next stream of its node's counter.
void count_runs(kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_EXPORT RILL_INLINE random_call*& random_call_slot() {
    static thread_local random_call* current = nullptr;
    return current;
}

RILL_COLD std::uint64_t random_call::next_run(const random_counter* of) {
    for (auto& [counter, count] : drawn)
        if (counter == of) return hash_combine(number, ++count);
    drawn.emplace_back(of, 0);
    return number;
}

RILL_COLD std::vector<named_array> random_counter::saved_parts() const {
    any_array value(dtype::uint64, dims{});
    *static_cast<std::uint64_t*>(value.mutable_data()) = drawn();
    return {{"drawn", value}};
}

RILL_COLD void random_counter::check_parts(std::span<const named_array> parts) const {
    if (parts.size() != 1 || parts[0].value.type() != tensor_type{dtype::uint64, dims{}})
        throw invalid_argument("random counter '" + name_ + "': the saved state is of something else");
}

RILL_COLD void random_counter::restore_parts(std::span<const named_array> parts) {
    check_parts(parts);
    set_drawn(parts[0].value.value<std::uint64_t>());
}

RILL_COLD std::shared_ptr<random_counter> random_counter_of(const kernel_request& request) {
    if (!request.find_resource) return detail::make_shared<random_counter>("");
    return std::static_pointer_cast<random_counter>(
        request.find_resource({}, random_counter::kind, [](const std::string& name, allocator&) {
            return detail::make_shared<random_counter>(name);
        }));
}

RILL_COLD void count_runs(kernel_request& request) {
    request.next_stream = [counter = random_counter_of(request), seed = request.seed] { return counter->next(seed); };
}

}}} // namespace rill::RILL_ABI::detail
#endif
