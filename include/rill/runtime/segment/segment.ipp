// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/segment.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/segment/captured_ranges.hpp>
#include <rill/runtime/segment/swap_plan.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::shared_ptr<segment> segment::bind(const subgraph& g, std::span<const tensor_type> feeds,
                                                 resource_store& resources, allocator& memory, const body_plans& bodies,
                                                 device_use use) {
    auto bound = binder::bind(g, feeds, resources, bodies);
    if (bound && use.swaps)
        bound = fit_memory(*std::move(bound),
                           [&](const subgraph& again) { return *binder::bind(again, feeds, resources, bodies); });
    if (bound && use.captures) {
        bound->captured = find_captured_ranges(*bound);
        bound->whole_capture = find_whole_capture(*bound);
    }
    return bound ? detail::make_shared<segment>(std::move(*bound), feeds, resources, memory) : nullptr;
}

RILL_COLD segment::segment(bound_graph bound, std::span<const tensor_type> feeds, const resource_store& resources,
                           allocator& memory)
    : memory_(memory), pool_(resources.threads().pool.get()), ops_pool_(resources.threads().for_ops()),
      feed_types_(feeds.begin(), feeds.end()), b_(std::move(bound)) {
    std::vector<char> is_fetched(b_.slots.size());
    for (const auto& f : b_.graph.fetches) {
        const auto& value = b_.slots[b_.slot_of(f)];
        const bool is_first = !std::exchange(is_fetched[b_.slot_of(f)], char(1));
        redirectable_.push_back(is_first && (value.where == home::arena || value.where == home::string));
    }
    fold_constants();
}

RILL_INLINE bool segment::serves(std::span<const tensor_type> feeds) const {
    return std::equal(feeds.begin(), feeds.end(), feed_types_.begin(), feed_types_.end());
}

RILL_INLINE bool segment::serves(std::span<const any_array> feeds) const {
    for (std::size_t i = 0; i < feeds.size(); ++i)
        if (feeds[i].type() != feed_types_[i]) return false;
    return true;
}

RILL_INLINE const void* segment::fetch_data(const frame& f, std::size_t i) const {
    return f.slots[b_.slot_of(b_.graph.fetches[i])];
}

RILL_INLINE void segment::place(frame& f, std::size_t i, const fetch_place& where) const {
    constexpr std::size_t small = 2048; // bytes; for smaller values, a copy is cheaper
    const auto slot = static_cast<std::size_t>(b_.slot_of(b_.graph.fetches[i]));
    const auto& value = b_.slots[slot];
    if (value.bytes < small || value.where != home::arena || value.space) return;
    for (const auto& m : f.moved)
        if (m.slot == slot) return;                          // fetched twice
    void* const to = where.make(where.array, fetch_type(i)); // not the slot's type: a reshaped value shares the slot
    if (!to) return;
    const auto* const begin = static_cast<const std::byte*>(to);
    for (const auto feed :
         b_.feed_slots) { // a run reads its feeds until its end: on overlap, the value is copied after it
        const void* const fed = f.slots[feed];
        if (!std::less<>()(fed, to) && std::less<>()(fed, begin + value.bytes)) return;
    }
    f.moved.push_back({i, slot, f.slots[slot]});
    f.slots[slot] = to;
}

RILL_COLD bool segment::fetched_alone(std::size_t i) const {
    const auto& all = b_.graph.fetches;
    return std::ranges::count_if(all, [&](const auto& f) { return b_.slot_of(f) == b_.slot_of(all[i]); }) == 1;
}

RILL_COLD int segment::updated_feed(std::size_t i, std::vector<int>& earlier) const {
    earlier.clear();
    if (!can_redirect(i)) return -1;
    const auto& result = b_.graph.fetches[i];
    const auto& is = b_.slots[b_.slot_of(result)];
    for (auto at = result;;) {
        const int input = b_.changed_input(at);
        if (input < 0) return -1;
        const auto from = b_.graph.items[at.item].inputs[input];
        const int before = b_.slot_of(from);
        const auto& was = b_.slots[before];
        if (was.where == home::feed) {
            const bool is_free = was.last >= 0 && !was.many_lanes && was.last < static_cast<int>(b_.steps.size()) &&
                                 b_.steps[was.last].item == at.item;
            if (!is_free || was.type != is.type || was.space != is.space) return -1;
            return static_cast<int>(std::ranges::find(b_.feed_slots, before) - b_.feed_slots.begin());
        }
        // the previous update: its result is otherwise unused, and in the same memory
        const auto& changed = b_.slots[b_.slot_of(at)];
        const bool same_place =
            changed.in_place_of >= 0 && (changed.in_place_of == before || changed.in_place_of == was.in_place_of);
        if (!same_place) return -1;
        earlier.push_back(before);
        at = from;
    }
}

RILL_INLINE bool segment::placed(const frame& f, std::size_t i) const {
    for (const auto& m : f.moved)
        if (m.fetch == i) return true;
    return false;
}

RILL_INLINE std::unique_ptr<frame> segment::acquire() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            auto f = std::move(idle_.back());
            idle_.pop_back();
            return f;
        }
    }
    auto f = make_frame();
    const std::lock_guard lock(mutex_);
    idle_.reserve(++frames_);
    return f;
}

RILL_INLINE std::size_t segment::frames() const {
    const std::lock_guard lock(mutex_);
    return frames_;
}

RILL_INLINE void segment::finish(frame& f) const noexcept {
    // A held version forces the next write by another step into another block, which is cheap for small ones. Releasing and taking a
    // version costs four atomic operations, most of the step time of a small model.
    for (std::size_t i = 0; i < b_.variables.size(); ++i)
        if (b_.slots[b_.variables[i].slot].bytes > variable_state::small_bytes) f.variables[i].reset();
    for (const auto& m : f.moved) f.slots[m.slot] = m.own;
    f.moved.clear();
}

RILL_COLD void segment::release_written(frame& f, const segment& writer) const noexcept {
    for (const auto& w : writer.b_.write_list)
        for (std::size_t i = 0; i < b_.variables.size(); ++i)
            if (b_.variables[i].state == writer.b_.variables[w.variable].state) f.variables[i].reset();
}

RILL_INLINE void segment::release(std::unique_ptr<frame> f) noexcept {
    finish(*f);
    for (auto& v : f->variables) v.reset(); // this frame may stay idle for a long time
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(f)); // acquire has reserved room for every frame
}

RILL_INLINE void segment::run(frame& f, const step_context& context) const {
    f.context = &context;
    for (std::size_t i = 0; i < b_.variables.size(); ++i) {
        const auto& v = b_.variables[i];
        if (v.reads != bound_graph::bound_variable::start::held) {
            if (v.needs_value && !v.state->has_value()) throw_uninitialised(i);
            if (v.reads == bound_graph::bound_variable::start::slices && !use_pinned(f, i)) f.variables[i].reset();
        } else if (v.state->is_newest(f.variables[i])) {
            f.slots[v.slot] = f.variables[i]->data();
        } else {
            take_version(f, i);
        }
    }
    if (!f.streams.empty() || !f.on_device.empty()) begin_run(f);
    if (f.on_device.empty()) return run_all_steps(f);
    try {
        run_all_steps(f);
    } catch (...) {
        first_error(f); // waits: copies to the host must end before their memory is reused
        throw;
    }
    if (const auto e = first_error(f); e.is_set()) throw_recorded(e, b_.steps[e.step]);
}

RILL_INLINE void segment::run_all_steps(frame& f) const {
    if (f.context->trace) return run_traced(f);
    run_all([&](int begin, int end, int) { run_steps(f, begin, end); });
}

RILL_INLINE void segment::begin_run(frame& f) const {
    for (std::size_t i = 0; i < f.streams.size(); ++i) f.streams[i] = b_.streams[i]();
    for (const auto& d : f.on_device) d.begin({f.streams.data(), f.streams.size()});
}

template <class F> inline void segment::run_all(const F& run_segment) const {
    int at = 0;
    for (const auto& b : b_.parallel) {
        run_segment(at, b.first, -1);
        pool_->run(static_cast<int>(b.lanes.size()), [&](int l) {
            for (const int k : b.lanes[l]) run_segment(k, k + 1, l);
        });
        at = b.last;
    }
    run_segment(at, static_cast<int>(b_.steps.size()), -1);
}

RILL_NO_INLINE RILL_INLINE void segment::take_version(frame& f, std::size_t variable) const {
    const auto& v = b_.variables[variable];
    auto& version = f.variables[variable];
    if (!use_pinned(f, variable)) v.state->read(version);
    if (!version && v.needs_value) throw_uninitialised(variable);
    f.slots[v.slot] =
        version ? version->data() : nullptr; // an earlier run that failed in a write may have left a stale pointer
}

RILL_INLINE bool segment::use_pinned(frame& f, std::size_t variable) const {
    if (!f.pinned) return false;
    const auto at = f.pinned->find(b_.variables[variable].state.get());
    if (at == f.pinned->end()) return false;
    f.variables[variable] = at->second;
    return true;
}

RILL_INLINE void segment::run_steps(frame& f, int begin, int end) const {
    try {
        for (std::size_t r = 0; r < f.replays.size(); ++r) {
            const auto& range = b_.captured[r];
            if (range.first < begin || range.last > end) continue;
            for (; begin < range.first; ++begin) run_step(f, b_.steps[begin]);
            if (replay(f, range, f.replays[r])) begin = range.last;
        }
        for (; begin < end; ++begin) run_step(f, b_.steps[begin]);
    } catch (...) {
        rethrow_from(f, b_.steps[begin]);
    }
}

RILL_COLD void segment::fold_constants() {
    if (b_.folded_steps.empty()) return;
    auto f = make_frame();
    for (const auto& s : b_.folded_steps) {
        const auto& outputs = b_.value_slot[s.item];
        for (const int o : outputs) {
            const auto& type = b_.slots[o].type;
            auto value = array_in(b_.slots[o].space, type, memory_);
            f->slots[o] = value.mutable_data();
            b_.folded_values.push_back({o, std::move(value)});
        }
        const auto scratch_slot = static_cast<std::size_t>(b_.indices[static_cast<std::size_t>(s.end) - 1]);
        const memory_block scratch(memory_of(b_.slots[scratch_slot].space), b_.slots[scratch_slot].bytes);
        f->slots[scratch_slot] = scratch.data();
        const auto on = context_of(*f, s);
        const std::int32_t* const numbers = b_.indices.data();
        try {
            s.run({f->slots.data(), numbers + s.inputs, numbers + s.outputs, on, f->context});
            check_error_records(*f, s);
        } catch (...) {
            rethrow_from(*f, s);
        }
    }
}

RILL_COLD std::unique_ptr<frame> segment::make_frame() const {
    auto f = std::make_unique<frame>();
    f->slots.resize(b_.slots.size());
    f->variables.resize(b_.variables.size());
    constexpr auto described = [](const void* s) {
        const auto& g = static_cast<const segment*>(s)->b_.graph;
        const int wanted = !g.fetches.empty() ? g.fetches[0].item : g.targets.empty() ? -1 : g.targets[0];
        return "a step" + (wanted < 0 ? std::string() : " that runs '" + g.name_of(wanted) + "'");
    };
    try {
        const memory_purpose purpose(described, this);
        for (const auto& a : b_.arenas) f->arenas.emplace_back(memory_of(a.space), a.bytes);
    } catch (const error& problem) {
        throw_error(problem.code(), "the memory of " + described(this) + ": " + problem.what());
    }
    for (std::size_t i = 0; i < b_.slots.size(); ++i) {
        const auto& s = b_.slots[i];
        if (i < b_.offsets.size() && b_.offsets[i] != bound_graph::npos) {
            std::size_t space = 0;
            while (b_.arenas[space].space != s.space) ++space;
            f->slots[i] = static_cast<std::byte*>(f->arenas[space].data()) + b_.offsets[i];
        } else if (s.where == home::string) {
            f->strings.emplace_back(memory_, dtype::string, s.type.shape.size());
            f->slots[i] = f->strings.back().data();
        }
    }
    for (const auto& r : b_.regions) f->regions.push_back(b_.control->make_memory(*r));
    for (const auto& v : b_.folded_values) f->slots[v.slot] = const_cast<void*>(v.value.data());
    for (std::size_t i = 0; i < b_.graph.items.size(); ++i)
        if (b_.graph.role(static_cast<int>(i)) == op_role::constant)
            f->slots[b_.value_slot[i][0]] = const_cast<void*>(b_.graph.items[i].op->constant()->data());
    f->streams.resize(b_.streams.size());
    for (const auto* space : b_.spaces) f->on_device.emplace_back(*space, f->streams.size());
    f->replays.resize(b_.captured.size());
    f->on.reserve(b_.steps.size());
    for (const auto& s : b_.steps) f->on.push_back(context_of(*f, s));
    return f;
}

RILL_COLD execution_context segment::context_of(const frame& f, const step& s) const {
    const auto scratch = static_cast<std::size_t>(b_.indices[static_cast<std::size_t>(s.end) - 1]);
    execution_context on{.pool = ops_pool_, .scratch = f.slots[scratch], .step = s.number};
    const random_stream* streams = f.streams.data();
    for (const auto& d : f.on_device)
        if (d.space() == b_.slots[scratch].space) { // the step's memory
            on.errors = d.errors();
            streams = d.streams();
        }
    if (s.random >= 0) on.random = streams + s.random;
    return on;
}

inline kernel_args segment::args_of(const frame& f, const step& s) const {
    const std::int32_t* const numbers = b_.indices.data();
    return {f.slots.data(), numbers + s.inputs, numbers + s.outputs, f.on[s.number], f.context};
}

RILL_INLINE void segment::run_step(frame& f, const step& s) const {
    const kernel_args args = args_of(f, s);
    if (s.plain) return s.run(args);
    if (s.region >= 0 || s.writes == 0) return run_special(f, s, args);
    if (s.reads_error_records) check_error_records(f, s);
    write(f, s, args);
}

RILL_NO_INLINE RILL_INLINE void segment::run_special(frame& f, const step& s, const kernel_args& args) const {
    if (s.region >= 0) return void(run_bodies(f, s, args));
    if (s.reads_error_records) check_error_records(f, s);
    if (s.slices_of >= 0) return read_slices(f, s, args);
    s.run(args);
    for (std::int32_t r = 0; r < s.releases; ++r) f.variables[b_.release_list[s.first_release + r]].reset();
}

RILL_INLINE std::int64_t segment::run_bodies(frame& f, const step& s, const kernel_args& args) const {
    if (s.reads_error_records) check_error_records(f, s);
    // the bodies write the variables: their first writes should find no holder
    const auto number = static_cast<std::size_t>(s.region);
    const std::span written(b_.write_list.data() + s.first_write, static_cast<std::size_t>(s.writes));
    for (const auto& w : written) f.variables[w.variable].reset();
    const auto iterations = b_.control->run_region(*b_.regions[number], *f.regions[number], args);
    for (const auto& w : written) {
        if (!w.keeps) continue;
        auto& now = f.variables[w.variable];
        b_.variables[w.variable].state->read(now);
        f.slots[b_.variables[w.variable].slot] = now ? now->data() : nullptr;
    }
    return iterations;
}

RILL_INLINE void segment::write(frame& f, const step& s, const kernel_args& args, std::int32_t w) const {
    if (w == s.writes) return s.run(args);
    const auto& written = b_.write_list[s.first_write + w];
    const auto at = static_cast<std::size_t>(written.variable);
    const auto& v = b_.variables[at];
    variable_state::writer writer(*v.state, f.variables[at], s.how, written.keeps);
    if (!writer.ready()) throw_uninitialised(at);
    f.slots[v.slot - 1] = const_cast<void*>(writer.was());
    f.slots[v.slot] = writer.data();
    write(f, s, args, w + 1);
    if (!f.on_device.empty() && writer.is_new())
        check_error_records(f, s); // after a failure, the device has not written the new version
    writer.commit();
}

RILL_INLINE void segment::read_slices(frame& f, const step& s, const kernel_args& args) const {
    const auto at = static_cast<std::size_t>(s.slices_of);
    const auto& v = b_.variables[at];
    if (f.variables[at]) { // a version that the whole step reads
        f.slots[v.slot] = f.variables[at]->data();
        return s.run(args);
    }
    const variable_state::slice_reader reader(*v.state);
    f.slots[v.slot] = const_cast<void*>(reader.data());
    s.run(args);
}

}}} // namespace rill::RILL_ABI::detail
