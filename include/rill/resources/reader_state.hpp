// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/file_access.hpp>
#include <rill/resources/element_queue.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The records of one file, behind the interface that a reader uses.
class reader_file {
public:
    virtual ~reader_file() = default;
    /// Reads the next record and its key. Returns false at the end.
    virtual bool next(std::string& key, std::string& value) = 0;
    /// A position in the file: the numbers of bytes and records read.
    struct place {
        std::int64_t offset = 0, records = 0;
    };
    virtual place where() const = 0;
    virtual void go_to(const place& p) = 0;
};
using file_opener = std::function<std::unique_ptr<reader_file>(const std::string& path)>;

/// A reader: it takes file names from a queue, and serves their records to the steps that wait in a line. The lock is not held during calls
/// of the queue.
class RILL_EXPORT reader_state final : public resource {
public:
    static constexpr auto kind = "reader";

    /// Makes a reader. `skips_errors`: damaged records, and files that can't be opened, are skipped and counted.
    reader_state(std::string name, std::string format, file_opener open, bool skips_errors = false)
        : name_(std::move(name)), format_(std::move(format)), open_(std::move(open)), skips_errors_(skips_errors) {}

    static std::string described_as(const std::string& format) { return "Reader of " + format; }
    std::string described() const override { return described_as(format_); }
    std::string named() const { return "reader '" + name_ + "'"; }

    /// Reads at most n records of one file, as keys [k] and values [k]; of rank 0 if n is -1. Returns them in `out`, or completes `wait`
    /// later. Throws out_of_range if the queue is closed and no file is left. `allowed`: the files that may be opened; null: all.
    void read(const std::shared_ptr<element_queue>& files, index_t n, const file_access* allowed, async_context& wait,
              any_array* out);
    /// Drops the current file and the counts.
    void reset();
    std::int64_t records_produced() const;
    std::int64_t work_units_completed() const;
    std::int64_t records_skipped() const;
    /// Returns the path and position of the current file, and the counts.
    RILL_INLINE std::vector<named_array> saved_parts() const override;
    /// Restores the position. The next read opens the file, if its step may: a checkpoint grants no access to files.
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;
    RILL_INLINE void check_parts(std::span<const named_array> parts) const override;
    RILL_INLINE void abandon() noexcept override;

private:
    struct attempt {
        index_t n = -1;
        std::shared_ptr<element_queue> files = {};
        completion tell = {};
    };
    using attempt_ptr = std::shared_ptr<attempt>;
    struct outcome {
        std::exception_ptr problem = {};
        std::vector<any_array> outputs = {};
    };
    /// A request to the queue for a file. It calls no member of the reader: a vtable in a cycle of calls would be linked into every
    /// program.
    class question final : public async_context {
    public:
        question(reader_state& of, completion tell) : of_(of), tell_(std::move(tell)) {}
        completion defer(std::function<bool()> give_up = {}) override;

    private:
        reader_state& of_;
        completion tell_;
    };

    struct saved_place {
        std::string path = {};
        std::span<const std::int64_t> numbers = {}; // numbers in the parts
    };
    /// Parses parts saved by saved_parts. Throws invalid_argument for parts of another kind.
    saved_place place_of(std::span<const named_array> parts) const;
    bool serve(index_t n, outcome& to);
    /// Reads the next record of the file. Returns false at its end.
    bool next_record(std::string& key, std::string& value);
    /// Opens a file. Returns false if it can't be opened and errors are skipped.
    bool open_file(const std::string& path);
    void accept_file(std::exception_ptr problem, const std::vector<any_array>& name);
    void serve_line(std::unique_lock<std::mutex>& lock);
    void take_file(std::exception_ptr problem, std::vector<any_array> name);
    bool give_up(const attempt_ptr& a);

    const std::string name_, format_;
    const file_opener open_;
    const bool skips_errors_;
    mutable std::mutex mutex_;
    std::deque<attempt_ptr> line_;
    std::unique_ptr<reader_file> file_;
    std::string path_;
    std::optional<reader_file::place> restored_; // position in `path_`, which the next read opens
    bool is_asking_ = false;                     // a request to the queue is pending
    std::exception_ptr no_file_;                 // the queue's answer was an error
    std::exception_ptr later_;                   // the error of the record after those of a read_up_to
    std::function<bool()> withdraw_;             // withdraws the request
    const file_access* allowed_ = nullptr;       // the files that the task may open; null: all
    std::int64_t records_ = 0, files_ = 0, skipped_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE completion reader_state::question::defer(std::function<bool()> give_up) {
    const std::lock_guard lock(of_.mutex_);
    of_.withdraw_ = std::move(give_up);
    return std::move(tell_);
}

RILL_INLINE bool reader_state::next_record(std::string& key, std::string& value) {
    for (;;) try {
            return file_->next(key, value);
        } catch (const error& problem) {
            if (!skips_errors_ || !is_bad_input(problem.code())) throw;
            ++skipped_;
        }
}

/// Reads records for one attempt. Returns false if another file is needed first.
RILL_INLINE bool reader_state::serve(index_t n, outcome& to) {
    if (later_) {
        to.problem = std::exchange(later_, nullptr);
        return true;
    }
    std::vector<std::string> keys, values;
    try {
        const auto wanted = static_cast<std::size_t>(n < 0 ? 1 : n);
        std::string key, value;
        if (const auto place = std::exchange(restored_, std::nullopt)) {
            if (open_file(path_)) file_->go_to(*place);
        }
        while (file_ && values.size() < wanted) {
            if (!next_record(key, value)) {
                file_ = nullptr;
                ++files_;
            } else {
                keys.push_back(std::move(key));
                values.push_back(std::move(value));
            }
        }
        if (values.empty() && wanted > 0) return false;
    } catch (...) {
        if (values.empty()) {
            to.problem = std::current_exception();
            return true;
        }
        later_ = std::current_exception(); // deliver the records before it first
    }
    records_ += static_cast<std::int64_t>(values.size());
    for (auto* const all : {&keys, &values}) {
        any_array one(dtype::string, n < 0 ? dims{} : dims{static_cast<index_t>(all->size())});
        std::move(all->begin(), all->end(), static_cast<std::string*>(one.mutable_data()));
        to.outputs.push_back(std::move(one));
    }
    return true;
}

RILL_INLINE void reader_state::read(const std::shared_ptr<element_queue>& files, index_t n, const file_access* allowed,
                                    async_context& wait, any_array* out) {
    if (n < -1) throw invalid_argument(named() + ": " + std::to_string(n) + " records are asked for");
    std::unique_lock lock(mutex_);
    allowed_ = allowed;
    outcome now;
    if (line_.empty() && serve(n, now)) {
        lock.unlock();
        if (now.problem) std::rethrow_exception(now.problem);
        std::move(now.outputs.begin(), now.outputs.end(), out);
        return;
    }
    const auto mine = std::make_shared<attempt>(attempt{n, files, {}});
    mine->tell = wait.defer([self = std::weak_ptr(std::static_pointer_cast<reader_state>(shared_from_this())), mine] {
        const auto of = self.lock();
        return of && of->give_up(mine);
    });
    line_.push_back(mine);
    serve_line(lock);
}

/// Serves the line from the current file, and requests the next file.
RILL_INLINE void reader_state::serve_line(std::unique_lock<std::mutex>& lock) {
    while (!line_.empty()) {
        const auto first = line_.front();
        outcome now;
        bool done = serve(first->n, now);
        if (!done && no_file_) {
            now.problem = std::exchange(no_file_, nullptr);
            done = true;
        }
        if (done) {
            line_.pop_front();
            lock.unlock();
            first->tell(std::move(now.problem), std::move(now.outputs));
            lock.lock();
            continue;
        }
        if (std::exchange(is_asking_, true)) return;
        lock.unlock();
        any_array name;
        std::exception_ptr problem;
        bool is_there = false;
        question ask(*this, [of = std::weak_ptr(std::static_pointer_cast<reader_state>(shared_from_this()))](
                                std::exception_ptr e, std::vector<any_array> outputs) {
            if (const auto r = of.lock()) r->take_file(std::move(e), std::move(outputs));
        });
        try {
            is_there = first->files->dequeue(ask, &name);
        } catch (...) {
            problem = std::current_exception();
        }
        lock.lock();
        if (!is_there && !problem) return; // take_file continues
        accept_file(std::move(problem), {std::move(name)});
    }
    no_file_ = nullptr; // only the steps that waited get the error
}

RILL_INLINE bool reader_state::open_file(const std::string& path) {
    file_ = nullptr;
    if (allowed_) allowed_->check(path);
    try {
        file_ = open_(path);
    } catch (const error& problem) {
        if (!skips_errors_ || !is_bad_input(problem.code())) throw;
        ++skipped_;
    }
    return file_ != nullptr;
}

/// Opens the file that the queue has delivered, under the lock.
RILL_INLINE void reader_state::accept_file(std::exception_ptr problem, const std::vector<any_array>& name) {
    is_asking_ = false;
    withdraw_ = nullptr;
    if (!problem) {
        try {
            path_ = name.at(0).value<std::string>();
            open_file(path_); // serve_line takes the next file if this one is skipped
        } catch (...) {
            problem = std::current_exception();
        }
    }
    no_file_ = std::move(problem);
}

RILL_INLINE void reader_state::take_file(std::exception_ptr problem, std::vector<any_array> name) {
    std::unique_lock lock(mutex_);
    accept_file(std::move(problem), name);
    serve_line(lock);
}

RILL_INLINE bool reader_state::give_up(const attempt_ptr& a) {
    std::unique_lock lock(mutex_);
    const bool waited = std::erase(line_, a) > 0;
    if (!line_.empty() || !withdraw_) return waited;
    const auto withdraw = std::exchange(withdraw_, nullptr);
    lock.unlock();
    const bool is_withdrawn = withdraw(); // otherwise the file arrives and stays for the next step
    lock.lock();
    if (!is_withdrawn) return waited;
    is_asking_ = false;
    serve_line(lock); // a step that arrived meanwhile sends a new request
    return waited;
}

RILL_COLD void reader_state::reset() {
    const std::lock_guard lock(mutex_);
    file_ = nullptr;
    restored_ = std::nullopt;
    later_ = nullptr;
    records_ = files_ = skipped_ = 0;
}

RILL_INLINE std::int64_t reader_state::records_produced() const {
    const std::lock_guard lock(mutex_);
    return records_;
}

RILL_INLINE std::int64_t reader_state::work_units_completed() const {
    const std::lock_guard lock(mutex_);
    return files_;
}

RILL_INLINE std::int64_t reader_state::records_skipped() const {
    const std::lock_guard lock(mutex_);
    return skipped_;
}

RILL_COLD std::vector<named_array> reader_state::saved_parts() const {
    const std::lock_guard lock(mutex_);
    any_array path(dtype::string, dims{}), numbers(dtype::int64, dims{6});
    *static_cast<std::string*>(path.mutable_data()) = path_;
    const auto place = file_ ? file_->where() : restored_.value_or(reader_file::place());
    const std::int64_t all[] = {file_ || restored_, place.offset, place.records, records_, files_, skipped_};
    std::copy(std::begin(all), std::end(all), static_cast<std::int64_t*>(numbers.mutable_data()));
    return {{"path", std::move(path)}, {"numbers", std::move(numbers)}};
}

RILL_COLD reader_state::saved_place reader_state::place_of(std::span<const named_array> parts) const {
    const any_array *path = nullptr, *numbers = nullptr;
    for (const auto& p : parts) (p.name == "path" ? path : numbers) = &p.value;
    if (!path || !numbers || path->dtype() != dtype::string || path->size() != 1 || numbers->dtype() != dtype::int64 ||
        numbers->size() != 6)
        throw invalid_argument(named() + ": the saved state is of another reader");
    saved_place found{path->value<std::string>(), numbers->elements<std::int64_t>()};
    if (found.numbers[1] < 0) throw invalid_argument(named() + ": the saved place in '" + found.path + "' is negative");
    return found;
}

RILL_COLD void reader_state::check_parts(std::span<const named_array> parts) const { place_of(parts); }

RILL_COLD void reader_state::restore_parts(std::span<const named_array> parts) {
    const auto [from, all] = place_of(parts);
    const std::lock_guard lock(mutex_);
    path_ = from;
    file_ = nullptr;
    later_ = nullptr;
    restored_ = std::nullopt;
    if (all[0] != 0) restored_ = reader_file::place{all[1], all[2]};
    records_ = all[3];
    files_ = all[4];
    skipped_ = all[5];
}

RILL_COLD void reader_state::abandon() noexcept {
    std::deque<attempt_ptr> told;
    std::function<bool()> withdraw;
    {
        const std::lock_guard lock(mutex_);
        told.swap(line_);
        withdraw.swap(withdraw_);
    }
    if (withdraw && withdraw()) { // an unread file stays in the queue
        const std::lock_guard lock(mutex_);
        is_asking_ = false;
        told.insert(told.end(), line_.begin(), line_.end()); // new arrivals have no pending request
        line_.clear();
    }
    for (const auto& a : told)
        a->tell(std::make_exception_ptr(cancelled(named() + " is gone: its container was reset")), {});
}

}}} // namespace rill::RILL_ABI::detail
#endif
