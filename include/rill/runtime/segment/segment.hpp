// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/core/owned.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/runtime/fetch_place.hpp>
#include <rill/runtime/segment/binding.hpp>
#include <rill/runtime/segment/known_replays.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The versions of variables held since the start of a step, for its later stages.
using pinned_versions = hash_map<const variable_state*, std::shared_ptr<element_block>>;

/// A block in device memory: the error record of the run, then the streams of its random ops.
class device_block {
public:
    /// Makes an empty record, and room for some streams.
    device_block(const memory_space& space, std::size_t streams)
        : space_(&space), memory_(*space.blocks, sizeof(error_record) + streams * sizeof(random_stream)) {
        begin({});
    }

    const memory_space* space() const { return space_; }
    /// Returns the address of the error record in device memory.
    error_record* errors() const { return static_cast<error_record*>(memory_.data()); }
    random_stream* streams() const { return reinterpret_cast<random_stream*>(errors() + 1); }

    /// Clears the record if necessary, and sets the streams of the next run.
    void begin(std::span<const random_stream> streams_of_run) const {
        if (!is_empty_) {
            const error_record none;
            space_->from_host(*space_, &none, errors(), sizeof none);
            is_empty_ = true;
        }
        if (!streams_of_run.empty())
            space_->from_host(*space_, streams_of_run.data(), streams(), streams_of_run.size_bytes());
    }
    /// Returns the record. Waits for all earlier work of the device, so copies to the host have ended too.
    error_record recorded() const {
        error_record e;
        copy_to_host(*space_, errors(), &e, sizeof e);
        is_empty_ = !e.is_set();
        return e;
    }

private:
    const memory_space* space_;
    memory_block memory_;
    mutable bool is_empty_ = false; // the record was empty when the host last read it at the end of a run
};

/// The replays of one captured range in a frame.
struct range_replays {
    known_replays known;
    vector<variable_state::hold> holds; // of the current run
};

/// The memory of one running step: a pointer per slot. A segment keeps its idle frames.
struct frame {
    vector<void*> slots;
    vector<execution_context> on;                     // per step
    vector<random_stream> streams;                    // per random op: the stream of this run
    vector<device_block> on_device;                   // per memory besides the host's
    vector<memory_block> arenas;                      // per space
    vector<element_block> strings;                    // string values, which need constructed elements
    vector<std::shared_ptr<element_block>> variables; // versions held; small ones also for the next step

    struct moved_slot {
        std::size_t fetch, slot;
        void* own;
    };
    vector<moved_slot> moved;               // fetched values that this step writes into callers' arrays
    const step_context* context = &no_step; // the context of the run
    const pinned_versions* pinned = nullptr;
    vector<owned<static_region_kernel::memory>> regions; // per step that runs bodies
    vector<range_replays> replays;                       // per captured range
};

/// The ways in which steps use the memory and the queue of a device.
struct device_use {
    bool swaps = false;    // values leave the memory for a while where the step would not fit (swap_plan.hpp)
    bool captures = false; // ranges of steps are captured when they run for the second time (captured_ranges.hpp)
};

/// A static segment: steps bound to concrete shapes, as kernels over slots, with an arena planned by lifetimes. Immutable and shared by
/// concurrent runs; each run has its own frame.
class segment {
public:
    /// Binds a subgraph to the types of its feeds. Returns null if a node binds dynamically.
    static std::shared_ptr<segment> bind(const subgraph& g, std::span<const tensor_type> feeds,
                                         resource_store& resources, allocator& memory, const body_plans& bodies = {},
                                         device_use use = {});

    segment(bound_graph bound, std::span<const tensor_type> feeds, const resource_store& resources, allocator& memory);

    bool serves(std::span<const tensor_type> feeds) const;
    bool serves(std::span<const any_array> feeds) const;

    const tensor_type& fetch_type(std::size_t i) const { return b_.type_of(b_.graph.fetches[i]); }
    const void* fetch_data(const frame& f, std::size_t i) const;
    /// Returns the memory of fetch `i`; null for the host's.
    const memory_space* fetch_space(std::size_t i) const { return b_.slots[slot_of_fetch(i)].space; }
    /// Returns fetch `i` as an array that borrows its elements from the frame.
    any_array fetched(const frame& f, std::size_t i) const {
        const auto& type = fetch_type(i);
        return any_array(type.type, type.shape, fetch_data(f, i), nullptr, fetch_space(i));
    }

    /// Sets the address of feed `i` in the frame for its next runs. The memory must live until the last of these runs.
    void feed(frame& f, std::size_t i, const void* from) const { f.slots[b_.feed_slots[i]] = const_cast<void*>(from); }
    /// Redirects a fetch of the frame's next run to the caller's array, if it is large and in the arena. The feeds must be set.
    void place(frame& f, std::size_t i, const fetch_place& where) const;
    bool placed(const frame& f, std::size_t i) const;

    /// Returns true if no other fetch shares the memory.
    bool fetched_alone(std::size_t i) const;
    /// Returns true if a fetch can be computed in the caller's memory, in the space of the fetch. It must be fetched once, and be neither
    /// a feed nor a variable.
    bool can_redirect(std::size_t i) const { return redirectable_[i] != 0; }
    /// Returns the feed in whose memory fetch `i` can be computed, or -1. The fetch is that feed after updates, and the old value is
    /// otherwise unused. Sets `earlier` to the slots of all updates but the last: they need the same redirection.
    int updated_feed(std::size_t i, std::vector<int>& earlier) const;
    /// Redirects a fetch of the frame's next runs to `to`.
    void redirect(frame& f, std::size_t i, void* to) const { f.slots[slot_of_fetch(i)] = to; }
    std::size_t slot_of_fetch(std::size_t i) const { return static_cast<std::size_t>(b_.slot_of(b_.graph.fetches[i])); }

    std::unique_ptr<frame> acquire();
    /// Ends a run: the frame releases everything that the next run does not need.
    void finish(frame& f) const noexcept;
    /// Releases the variables that another segment writes next, so that its first write finds no other holder.
    void release_written(frame& f, const segment& writer) const noexcept;
    void release(std::unique_ptr<frame> f) noexcept;

    /// Runs one step on the frame's feeds. The context must live until the frame is released.
    void run(frame& f, const step_context& context) const;

    /// Starts the kernels of a run that a device captures as a whole (bound_graph::whole_capture).
    void start(frame& f) const { start_steps(f, 0, b_.whole_capture.steps); }
    /// Returns the value that the last step of such a run copies to the host.
    const void* copied_data(const frame& f) const { return f.slots[b_.whole_capture.copied]; }
    /// Clears the records of errors that take_errors() has found set, before a replay of such a run.
    static void clear_errors(const frame& f) {
        for (const auto& d : f.on_device) d.begin({});
    }
    /// Returns true if a kernel of a replay has reported an error. Waits for the device.
    static bool take_errors(const frame& f) { return first_error(f).is_set(); }

    std::size_t arena_bytes() const noexcept { return b_.arena_bytes; }
    std::size_t lower_bound() const noexcept { return b_.lower_bound; }
    std::size_t frames() const;
    std::size_t steps() const noexcept { return b_.steps.size(); }
    /// Returns the estimated time of a run; 0 if there are no other threads.
    double microseconds() const noexcept { return b_.microseconds; }
    const bound_graph& bound() const noexcept { return b_; }

private:
    using step = bound_graph::step;
    using home = bound_graph::slot_value::home;

    /// Computes the constant steps once, when the segment is bound.
    void fold_constants();

    allocator& memory_of(const memory_space* space) const { return blocks_of(space, memory_); }
    std::unique_ptr<frame> make_frame() const;

    // ---- running -----------------------------------------------------------------------------------------------------------

    bool use_pinned(frame& f, std::size_t variable) const;
    /// Takes the version of a variable that a run reads, unless the frame already holds the newest one.
    void take_version(frame& f, std::size_t variable) const;
    /// Calls run_segment(begin, end, lane) for all steps begin … end - 1, with parallel lanes. `lane` is -1 outside of windows.
    template <class F> void run_all(const F& run_segment) const;
    execution_context context_of(const frame& f, const step& s) const;
    kernel_args args_of(const frame& f, const step& s) const;
    /// Takes the streams of the next run, and brings them to each memory with an empty error record.
    void begin_run(frame& f) const;
    void run_all_steps(frame& f) const;
    void run_step(frame& f, const step& s) const;
    /// Runs a step that has bodies, or that releases or borrows a held version.
    void run_special(frame& f, const step& s, const kernel_args& args) const;
    void run_steps(frame& f, int begin, int end) const;

    // ---- captured ranges: later runs start the kernels of a range at once --------------------------------------------------

    /// Starts the kernels of steps that are captured, from step `first` to step `last` - 1.
    void start_steps(const frame& f, std::int32_t first, std::int32_t last) const;
    /// Starts a range by its replay. Returns false if the steps must run one by one.
    bool replay(frame& f, const bound_graph::captured_range& range, range_replays& all) const;
    /// Holds the variables of a range, and sets their slots. Returns false if a write would not be in place.
    bool hold_variables(frame& f, const bound_graph::captured_range& range, range_replays& all) const;

    /// Runs a step while it holds write access to the variables that it writes, from the w-th on.
    void write(frame& f, const step& s, const kernel_args& args, std::int32_t w = 0) const;
    /// Runs a step that reads slices of a variable whose version the frame does not hold.
    void read_slices(frame& f, const step& s, const kernel_args& args) const;
    std::int64_t run_bodies(frame& f, const step& s, const kernel_args& args) const;

    void run_traced(frame& f) const;
    void run_step_traced(frame& f, const step& s, std::int64_t iteration, int lane) const;

    [[noreturn]] void throw_uninitialised(std::size_t v) const;
    std::string described(const step& s, const std::string& what) const;
    /// Rethrows the current exception of a kernel, with its location. If a device has recorded an error of this step or an earlier one,
    /// throws that error instead.
    [[noreturn]] void rethrow_from(const frame& f, const step& s) const;

    // ---- errors recorded by devices: the first failed step wins, as on the host ---------------------------------------------

    static error_record first_error(const frame& f);
    /// Leaves the run if a device has recorded an error of step s or an earlier one. `rethrow_from` then throws that error.
    static void check_error_records(const frame& f, const step& s);
    [[noreturn]] void throw_recorded(const error_record& e, const step& s) const;

    allocator& memory_;
    thread_pool* pool_;     // for parallel lanes
    thread_pool* ops_pool_; // for the work of one op
    std::vector<tensor_type> feed_types_;
    bound_graph b_;
    std::vector<char> redirectable_; // per fetch
    mutable std::mutex mutex_;
    std::size_t frames_ = 0; // all frames, in use or idle
    vector<std::unique_ptr<frame>> idle_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/segment.ipp>
#include <rill/runtime/segment/segment_replays.ipp>
#include <rill/runtime/segment/segment_reports.ipp>
#endif
