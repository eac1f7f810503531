// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/core/owned.hpp>
#include <rill/core/vector.hpp>
#include <rill/runtime/fetch_place.hpp>
#include <rill/runtime/program/binding.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Throws what is being handled again, with its place: our errors keep their code, others are nested in `internal`.
template <class Describe> [[noreturn]] void rethrow_described(const Describe& described) {
    try {
        throw;
    } catch (const error& problem) {
        throw_error(problem.code(), described(problem.what()));
    } catch (const std::exception& problem) {
        std::throw_with_nested(internal(described(problem.what())));
    } catch (...) {
        std::throw_with_nested(internal(described("an exception of unknown type")));
    }
}

/// Versions of variables that a step began with, for those of its pieces that start later.
using pinned_versions = hash_map<const variable_state*, std::shared_ptr<element_block>>;

/// The memory of one running step: a pointer per slot. A segment keeps the frames that are not in use.
struct frame {
    vector<void*> slots;
    vector<memory_block> arenas;                      // of each space
    vector<element_block> strings;                    // values that can't live in an arena
    vector<std::shared_ptr<element_block>> variables; // the versions this step holds; small ones until the next

    struct moved_slot {
        std::size_t fetch, slot;
        void* own;
    };
    vector<moved_slot> moved;               // fetched values that this step writes into arrays of the caller's
    const step_context* context = &no_step; // of the run
    const pinned_versions* pinned = nullptr;
    vector<owned<static_region_kernel::memory>> regions; // of each step that runs bodies
};

/// A straight line of steps bound to concrete shapes: kernels over slots, an arena laid out by lifetimes. Immutable and
/// shared by concurrent runs; each run has a frame.
class segment {
public:
    segment(const subgraph& g, std::span<const tensor_type> feeds, resource_store& resources, allocator& memory,
            const body_plans& bodies = {});

    bool serves(std::span<const tensor_type> feeds) const;
    bool serves(std::span<const any_array> feeds) const;

    const tensor_type& fetch_type(std::size_t i) const { return b_.type_of(b_.graph.fetches[i]); }
    const void* fetch_data(const frame& f, std::size_t i) const;

    /// Has the next run of the frame write a fetch into the caller's array, if it is large and computed in the arena.
    void place(frame& f, std::size_t i, const fetch_place& where, std::span<const void* const> feeds) const;
    bool placed(const frame& f, std::size_t i) const;

    /// Whether no other fetch lies in the same memory.
    bool fetched_alone(std::size_t i) const;
    /// Whether a fetch can be computed right into memory of the caller's: it is no input, no variable, and fetched once.
    bool can_redirect(std::size_t i) const;
    /// Whether it may be computed right into the memory that is fed as number `feed`: it is that with some changes, one after the other,
    /// and nothing else needs what was there. `along`: where the changes before the last one leave it, slots that have to go along.
    bool can_update(std::size_t i, std::size_t feed, std::vector<int>& along) const;
    /// Has the next runs of the frame compute it there.
    void redirect(frame& f, std::size_t i, void* to) const { f.slots[slot_of_fetch(i)] = to; }
    std::size_t slot_of_fetch(std::size_t i) const { return static_cast<std::size_t>(b_.slot_of(b_.graph.fetches[i])); }

    std::unique_ptr<frame> acquire();
    /// A run is over: the frame lets go of what it need not keep for one that follows.
    void finish(frame& f) const noexcept;
    /// The frame lets go of the variables that another segment writes next, whose first write would be a copy otherwise.
    void let_go(frame& f, const segment& writer) const noexcept;
    void release(std::unique_ptr<frame> f) noexcept;

    /// One step: the feeds' memory is borrowed until the frame is released.
    void run(frame& f, std::span<const void* const> feeds) const;

    std::size_t arena_bytes() const noexcept { return b_.arena_bytes; }
    std::size_t lower_bound() const noexcept { return b_.lower_bound; }
    std::size_t frames() const;
    std::size_t steps() const noexcept { return b_.steps.size(); }
    /// What a run takes, roughly; 0 where no other thread could help.
    double microseconds() const noexcept { return b_.microseconds; }
    const bound_graph& bound() const noexcept { return b_; }

private:
    using step = bound_graph::step;
    using home = bound_graph::slot_value::home;

    /// What depends on constants alone is computed once, when the segment is bound.
    void fold_constants();

    allocator& memory_of(const device_type* space) const;
    std::unique_ptr<frame> make_frame() const;

    // ---- running -----------------------------------------------------------------------------------------------------------

    bool use_pinned(frame& f, std::size_t variable) const;
    /// Calls run_line(begin, end, strand) for all steps begin … end - 1, strands beside one another.
    template <class F> void run_all(const F& run_line) const;
    kernel_args args_of(const frame& f, const step& s) const;
    void run_step(frame& f, const step& s) const;
    void run_steps(frame& f, int begin, int end) const;

    /// Runs it holding the variables that it writes, from the w-th on.
    void write(frame& f, const step& s, const kernel_args& args, std::int32_t w = 0) const;
    std::int64_t run_bodies(frame& f, const step& s, const kernel_args& args) const;

    void run_traced(frame& f) const;
    void run_step_traced(frame& f, const step& s, std::int64_t iteration, int lane) const;

    [[noreturn]] void throw_uninitialised(std::size_t v) const;
    std::string described(const step& s, const std::string& what) const;
    /// What left a kernel, with its place.
    [[noreturn]] void rethrow_from(const step& s) const;

    allocator& memory_;
    thread_pool* pool_; // for strands
    std::vector<tensor_type> feed_types_;
    bound_graph b_;
    mutable std::mutex mutex_;
    std::size_t frames_ = 0; // made, in use or idle
    vector<std::unique_ptr<frame>> idle_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/program/segment.ipp>
#endif
