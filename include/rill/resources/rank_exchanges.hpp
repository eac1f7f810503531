// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <rill/resources/collective_call.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Messages between the ranks of a job, by an external library. One thread makes it, uses it and destroys it.
class rank_messages {
public:
    virtual ~rank_messages() = default;
    virtual index_t rank() const = 0;
    virtual index_t ranks() const = 0;
    /// Returns the upper bound (exclusive) of message tags.
    virtual int tags() const = 0;
    /// Starts a message, whose bytes must stay in place until it has completed. Messages between two ranks with one tag arrive in order.
    /// Throws unavailable.
    virtual void* send(index_t to, int tag, const void* data, int bytes) = 0;
    virtual void* receive(index_t from, int tag, void* data, int bytes) = 0;
    /// Returns true once a message has completed. Throws unavailable for a failed message.
    virtual bool is_over(void* message) = 0;
    /// Leaves the job. `clean`: no message is in flight.
    virtual void end(bool clean) = 0;
};

/// Named exchanges of values between the ranks of a job. A separate thread moves the messages, so ranks may begin exchanges in different
/// orders. Sums are added in order of rank. For a long sum, each rank adds up one piece: it sends and receives about twice the value's
/// size. A started exchange can't be withdrawn. Thread-safe.
class RILL_EXPORT rank_exchanges {
public:
    using opener = std::function<std::unique_ptr<rank_messages>()>;
    /// Opens the messages of this rank; passes on the exceptions of `open`.
    explicit rank_exchanges(opener open);
    rank_exchanges(const rank_exchanges&) = delete;
    ~rank_exchanges();

    /// Returns the exchanges by a plug-in, one object per process. "mpi" stands for librill_mpi.so; a path is used as it is. Throws
    /// not_found if the system has no such library, and unavailable if it can't join its job.
    static std::shared_ptr<rank_exchanges> of_plugin(const std::string& engine);

    index_t rank() const noexcept { return rank_; }
    index_t ranks() const noexcept { return ranks_; }

    using finished = std::function<void(const std::exception_ptr& problem, any_array result)>;
    /// Starts an exchange, and calls `done` at its end on another thread. Exchanges with one name run one after another. Throws
    /// invalid_argument for strings, and for a name that shares its tag with another name.
    void start(const std::string& name, any_array value, collective_call call, finished done);
    /// Marks an exchange as abandoned. Later exchanges of its name fail with `aborted`, because the ranks are out of step.
    void give_up(const std::string& name);

private:
    class exchange;

    void serve(const opener& open);
    bool take_waiting();
    bool advance_all();
    void fail_all(const std::exception_ptr& problem);
    int tag_of(const std::string& name);

    index_t rank_ = 0, ranks_ = 1;
    int tags_ = 1;
    std::exception_ptr refused_; // why the messages could not be opened

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false, stops_ = false;
    std::vector<std::unique_ptr<exchange>> waiting_; // in order of start
    std::map<int, std::string> names_;               // by tag
    std::set<std::string> given_up_;

    // used only by the thread
    std::unique_ptr<rank_messages> messages_;
    std::map<int, std::vector<std::unique_ptr<exchange>>> running_; // by tag: the first one is in progress
    std::thread thread_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/rank_exchanges.ipp>
#endif
