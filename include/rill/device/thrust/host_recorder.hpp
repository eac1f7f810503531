// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <rill/core/vector.hpp>
#include <rill/device/recorded_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A recorder of kernels that run on threads of the host. While it lives, kernels that its thread starts are kept instead of run.
class host_recorder {
public:
    host_recorder() : before_(std::exchange(current(), this)) {}
    ~host_recorder() { current() = before_; }
    host_recorder(const host_recorder&) = delete;

    /// Returns the recorder of this thread; null if its kernels run.
    static host_recorder*& current() {
        static thread_local host_recorder* recorder = nullptr;
        return recorder;
    }
    void add(std::function<void()> kernel) { kernels_.push_back(std::move(kernel)); }

    /// Records the kernels that start() starts. Returns a function that runs them (memory_space::capture).
    static std::function<void()> capture(const std::function<void()>& start) {
        auto kept = std::make_shared<vector<std::function<void()>>>();
        {
            host_recorder recorder;
            start();
            kept->swap(recorder.kernels_);
        }
        return [kept = std::move(kept)] {
            for (const auto& kernel : *kept) kernel();
        };
    }
    /// Records the kernels of a loop. Returns a function that runs it (memory_space::capture_loop).
    static std::function<void()> capture_loop(const recorded_loop& loop) {
        return [condition = capture(loop.condition), iteration = capture(loop.iteration), decision = loop.decision] {
            for (condition(); decision.next(); condition()) iteration();
        };
    }

private:
    vector<std::function<void()>> kernels_;
    host_recorder* before_;
};

}}} // namespace rill::RILL_ABI::detail
