// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

/// Ends the program with a message unless the call that it watches has ended in time: a test that hangs says where.
class watchdog {
public:
    explicit watchdog(std::string what, std::chrono::seconds patience = std::chrono::seconds(40))
        : what_(std::move(what)), thread_([this, patience] {
              std::unique_lock lock(mutex_);
              if (ended_.wait_for(lock, patience, [&] { return has_ended_; })) return;
              std::fprintf(stderr, "watchdog: '%s' has not ended after %d s\n", what_.c_str(),
                           static_cast<int>(patience.count()));
              std::abort();
          }) {}
    watchdog(const watchdog&) = delete;
    ~watchdog() {
        {
            const std::lock_guard lock(mutex_);
            has_ended_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }

private:
    const std::string what_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool has_ended_ = false;
    std::thread thread_;
};
