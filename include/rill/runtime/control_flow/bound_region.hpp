// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/runtime/segment/segment.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;

/// A body bound to the types of its feeds.
class bound_region {
public:
    /// Binds a body; returns nothing if it binds dynamically. `space` is the memory of the node and of the results; null is the host's.
    static std::optional<bound_region> bind(const body& b, const std::shared_ptr<plan>& made,
                                            std::span<const tensor_type> arguments, std::span<const tensor_type> inputs,
                                            const memory_space* space = nullptr);

    const body& of() const { return of_; }
    segment& steps() const { return *steps_; }
    /// Returns what a device can capture of the body as a whole.
    const bound_graph::whole& captured() const { return steps_->bound().whole_capture; }
    const memory_space* space() const { return space_; }
    const std::vector<tensor_type>& types() const { return types_; } // result types; invalid for an absent value
    int fetch(std::size_t result) const { return fetch_[result]; }
    bool direct(std::size_t result) const { return direct_[result] != 0; }
    /// Returns true if result r is argument r unchanged.
    bool is_loop_invariant(std::size_t r) const { return is_loop_invariant_[r] != 0; }
    /// Returns true if result r is a modified copy of argument r. It may then be computed in the argument's memory.
    bool updates(std::size_t r) const { return updates_[r] != 0; }
    /// Returns the node's input that result r equals, or is a modified copy of and may overwrite; else -1. Used for branches and calls.
    int overwritten_input(std::size_t r) const { return overwritten_inputs_[r]; }
    /// Returns the slots of the earlier updates, which share the memory of result r.
    const std::vector<int>& earlier_updates(std::size_t r) const { return earlier_updates_[r]; }
    /// Returns the slots that redirected results change.
    const std::vector<std::size_t>& redirected() const { return redirected_; }

private:
    bound_region(const body& b, std::shared_ptr<plan> made, std::shared_ptr<segment> steps, const memory_space* space);
    void find_redirected();

    const body& of_;
    const memory_space* space_;
    std::shared_ptr<plan> plan_;
    std::shared_ptr<segment> steps_;
    std::vector<int> fetch_; // per result
    std::vector<tensor_type> types_;
    std::vector<char> direct_; // per result: computed in the caller's memory
    std::vector<char> is_loop_invariant_, updates_;
    std::vector<std::vector<int>> earlier_updates_;
    std::vector<int> overwritten_inputs_;
    std::vector<std::size_t> redirected_;
};

/// A frame in which a body runs repeatedly.
class region_frame {
public:
    explicit region_frame(const bound_region& b) : body_(b) {}
    region_frame(region_frame&& other) noexcept = default;
    ~region_frame() {
        if (!frame_) return;
        // Restore the slots: the next owner of the frame may compute results in it.
        for (std::size_t i = 0; i < own_.size(); ++i) frame_->slots[body_.redirected()[i]] = own_[i];
        body_.steps().release(std::move(frame_));
    }

    /// Sets the captured values for all following runs.
    void begin(const kernel_args& args) {
        if (!frame_) { // not in the constructor: a branch that is never taken needs no frame
            frame_ = body_.steps().acquire();
            for (const std::size_t slot : body_.redirected()) own_.push_back(frame_->slots[slot]);
        }
        frame_->context = args.step;
        std::size_t at = body_.of().arguments.size();
        for (const int c : body_.of().captured) feed(at++, args.in<void>(c));
    }
    void feed(std::size_t argument, const void* value) { body_.steps().feed(*frame_, argument, value); }
    /// Redirects a result of the next runs to `to`, if it can be computed there.
    void want(std::size_t result, void* to) {
        if (!body_.direct(result)) return;
        body_.steps().redirect(*frame_, static_cast<std::size_t>(body_.fetch(result)), to);
        for (const int slot : body_.earlier_updates(result)) frame_->slots[static_cast<std::size_t>(slot)] = to;
    }
    void run() { body_.steps().run(*frame_, *frame_->context); }
    /// Starts the kernels of a run, while the device captures them.
    void start() { body_.steps().start(*frame_); }
    const void* result(std::size_t r) const {
        return body_.steps().fetch_data(*frame_, static_cast<std::size_t>(body_.fetch(r)));
    }
    /// Copies a result that could not be computed in place.
    void deliver(std::size_t r, void* to) const {
        if (body_.direct(r)) return;
        const auto& type = body_.types()[r];
        if (const void* from = result(r); from != to)
            copy_between(body_.space(), from, body_.space(), to, type.type, type.shape.size());
    }
    void end() noexcept { body_.steps().finish(*frame_); }

    // For a body that is captured as a whole:

    /// Returns the value that its last step copies to the host, in the memory of the device.
    const void* copied() const { return body_.steps().copied_data(*frame_); }
    /// Returns the error record of its kernels, in the memory of the device.
    const error_record* errors() const { return frame_->on_device[0].errors(); }
    void clear_errors() const { segment::clear_errors(*frame_); }
    /// Returns true if a kernel has reported an error. The next clear_errors() clears the record. Waits for the device.
    bool take_errors() const { return segment::take_errors(*frame_); }

private:
    const bound_region& body_;
    std::unique_ptr<frame> frame_;
    std::vector<void*> own_; // original pointers of the redirected slots
};

/// A guard that ends the runs of a body, also after an exception.
class body_runs {
public:
    body_runs(region_frame& m, const kernel_args& args) : memory_(m) { m.begin(args); }
    body_runs(const body_runs&) = delete;
    ~body_runs() { memory_.end(); }

private:
    region_frame& memory_;
};

/// Returns the index of the body that a value chooses: true is 0, false and numbers out of range are the last.
std::size_t chosen_body(const any_array& by, std::size_t bodies);

/// Rethrows the current exception; if it is an `error`, adds the number of its iteration.
[[noreturn]] void rethrow_from_iteration(std::int64_t k);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/control_flow/bound_region.ipp>
#endif
