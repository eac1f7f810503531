// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/saver.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <rill/core/log.hpp>
#include <rill/io/npy.hpp>
#include <rill/io/safetensors.hpp>
#include <rill/io/shard.hpp>
#include <rill/io/tensor_bundle.hpp>
#include <rill/train/saver_values.ipp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::int64_t checkpoint_step::in(const session& s) const {
    if (!variable_) return number_;
    const node* n = detail::saved_variables(s.graph(), {variable_})[0];
    const any_array value = detail::core_of(s)->variable_value(n);
    if (value.empty())
        throw failed_precondition("save: the step '" + n->name + "' has no value: run its initializer first");
    return value.dtype() == dtype::int32 ? value.value<std::int32_t>() : value.value<std::int64_t>();
}

struct saver::state {
    struct written {
        std::string path;
        double time = 0;
    };
    explicit state(const saver_options& o)
        : options(o), next_forever(detail::seconds_now() + o.keep_every_n_hours * 3600) {}

    file_system& files() const { return options.files ? *options.files : file_system::real(); }

    /// Returns the number of checkpoints to keep. It is at least two, since the last one may be damaged.
    std::size_t most_kept() const { return static_cast<std::size_t>(std::max(options.max_to_keep, 2)); }

    /// Writes a checkpoint and removes the oldest ones.
    std::string write(const std::string& prefix, std::vector<named_array> arrays, std::int64_t step, const graph& of) {
        const auto key = detail::normalized_path(prefix);
        {
            const std::lock_guard lock(mutex);
            if (!known.contains(key)) adopt(prefix, key);
            known.insert(key);
        }
        const auto how = how_to_write(key, step, of);
        const auto path = detail::write_checkpoint(prefix, std::move(arrays), how);
        const std::lock_guard lock(mutex);
        last_id[key] = detail::hex_of(how.id);
        kept.push_back({path, detail::seconds_now()});
        if (options.max_to_keep <= 0) return path;
        while (kept.size() > most_kept()) {
            const auto oldest = kept.front();
            kept.pop_front();
            if (options.keep_every_n_hours > 0 && oldest.time >= next_forever) {
                next_forever += options.keep_every_n_hours * 3600;
                continue;
            }
            try {
                detail::remove_checkpoint(oldest.path, files());
            } catch (const error& failed) {
                log_message(log_level::warning, "saver: " + std::string(failed.what()));
            }
        }
        return path;
    }

    /// Returns the options of a checkpoint of a graph, with the description of the graph for the manifest.
    checkpoint_write_options how_to_write(const std::string& key, std::int64_t step, const graph& of) {
        checkpoint_write_options how{.step = step,
                                     .files = options.files,
                                     .shards = options.shards,
                                     .id = detail::draw_checkpoint_id(),
                                     .slices = detail::partition_slices(of),
                                     .verify = options.verify};
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(detail::graph_digest(of)));
        how.metadata["graph"] = digits;
        const std::lock_guard lock(mutex);
        if (const auto last = last_id.find(key); last != last_id.end()) how.metadata["previous"] = last->second;
        return how;
    }

    /// Removes the leftovers of an interrupted run, and counts the newest checkpoints of earlier runs as this saver's own.
    void adopt(const std::string& prefix, const std::string& key) {
        const auto directory = detail::directory_of(prefix), base = detail::base_of(prefix);
        detail::remove_unfinished(directory, base, files());
        auto there = checkpoints_in(directory, files());
        std::erase_if(there,
                      [&](const auto& c) { return detail::base_of_checkpoint(detail::base_of(c.path)) != base; });
        if (!there.empty()) last_id[key] = there.front().id;
        // One more than the limit: a run that was killed has not removed its oldest one. That one could also be a checkpoint
        // to keep for ever.
        if (options.max_to_keep > 0)
            there.resize(std::min(there.size(), most_kept() + (options.keep_every_n_hours > 0 ? 0 : 1)));
        auto all = kept;                                              // a failure in between changes nothing
        for (const auto& c : there) all.push_front({c.path, c.time}); // the list has the newest first
        kept.swap(all);
    }

    const saver_options options;
    std::mutex mutex; // for kept, known, last_id, next_forever
    std::deque<written> kept;
    std::set<std::string> known;                // prefixes, normalized
    std::map<std::string, std::string> last_id; // of the newest checkpoint, by prefix
    double next_forever;
    std::mutex writer_mutex; // for writer
    std::thread writer;
    std::mutex problem_mutex;
    std::exception_ptr problem;
};

RILL_COLD saver::saver(const saver_options& options) : state_(std::make_unique<state>(options)) {}

RILL_COLD saver::~saver() {
    try {
        wait();
    } catch (const std::exception& problem) {
        log_message(log_level::error, "saver: " + std::string(problem.what()));
    }
}

RILL_COLD std::string saver::save(const session& s, const std::string& prefix, const checkpoint_step& step) {
    return state_->write(prefix, detail::all_state(s, state_->options.variables), step.in(s), s.graph());
}

RILL_COLD void saver::save_later(const session& s, const std::string& prefix, const checkpoint_step& step) {
    wait();
    const std::lock_guard lock(state_->writer_mutex);
    if (state_->writer.joinable()) state_->writer.join(); // a writer that another thread's call started meanwhile
    state_->writer = std::thread([of = state_.get(), prefix, number = step.in(s), g = s.graph(),
                                  arrays = detail::all_state(s, state_->options.variables)]() mutable {
        try {
            of->write(prefix, std::move(arrays), number, g);
        } catch (...) {
            const std::lock_guard problem_lock(of->problem_mutex);
            of->problem = std::current_exception();
        }
    });
}

RILL_COLD void saver::check() {
    const std::lock_guard lock(state_->problem_mutex);
    if (const auto problem = std::exchange(state_->problem, nullptr)) std::rethrow_exception(problem);
}

RILL_COLD void saver::wait() {
    {
        const std::lock_guard lock(state_->writer_mutex);
        if (state_->writer.joinable()) state_->writer.join();
    }
    check();
}

RILL_COLD void saver::restore(const session& s, const std::string& path, const restore_options& how) const {
    detail::restore_from(s, checkpoint_reader(path, state_->files()), state_->options.variables, how);
}

RILL_COLD std::string saver::restore_latest(const session& s, const std::string& directory,
                                            const restore_options& how) const {
    std::string problems;
    for (const auto& c : detail::readable_checkpoints(directory, state_->files(), problems)) try {
            restore(s, c.path, how);
            return c.path;
        } catch (const data_loss& problem) {
            log_message(log_level::warning, "passed over: " + std::string(problem.what()));
            problems += (problems.empty() ? "" : "; ") + std::string(problem.what());
        }
    // a training that began anew would replace the checkpoints that someone may still repair
    if (!problems.empty()) throw data_loss("restore: no checkpoint of '" + directory + "' can be read: " + problems);
    return {};
}

RILL_COLD std::vector<std::string> saver::last_checkpoints() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::string> all;
    for (const auto& w : state_->kept) all.push_back(w.path);
    return all;
}

RILL_COLD file_system& saver::files() const { return state_->files(); }

RILL_COLD void save(const session& s, const std::string& path) {
    detail::write_checkpoint_file(path, detail::all_state(s, {}), {.slices = detail::partition_slices(s.graph())});
}

RILL_COLD void load(const session& s, const std::string& path, const restore_options& how) {
    detail::restore_from(s, checkpoint_reader(path), {}, how);
}

RILL_COLD void load(const session& s, std::span<const unsigned char> bytes, const restore_options& how) {
    detail::restore_from(s, checkpoint_reader::from_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}),
                         {}, how);
}

RILL_COLD std::string to_cpp(const session& s, const std::string& name) {
    auto values = detail::variable_values(s, detail::saved_variables(s.graph()));
    std::string text = "// Values of variables, written by rill::to_cpp, for load(s, " + name + "):\n";
    for (const auto& v : values) text += "// " + v.name + ": " + to_string(v.value.type()) + "\n";
    const std::string bytes = detail::checkpoint_bytes(std::move(values), {});
    text += "alignas(64) inline constexpr unsigned char " + name + "[" + std::to_string(bytes.size()) + "] = {";
    for (std::size_t i = 0; i < bytes.size(); ++i)
        text += (i % 32 == 0 ? "\n    " : "") + std::to_string(static_cast<unsigned char>(bytes[i])) + ",";
    return text + "\n};\n";
}

RILL_COLD void save_safetensors(const session& s, const std::string& path, const restore_options& how) {
    write_safetensors(path, detail::renamed_values(s, how));
}
RILL_COLD void save_npz(const session& s, const std::string& path, const restore_options& how) {
    write_npz(path, detail::renamed_values(s, how));
}
RILL_COLD void save_tensor_bundle(const session& s, const std::string& prefix, const restore_options& how) {
    write_tensor_bundle(prefix, detail::renamed_values(s, how));
}
RILL_COLD void load_safetensors(const session& s, const std::string& path, const restore_options& how) {
    detail::restore_variables(s, path, detail::saved_variables(s.graph()), read_safetensors(path), how);
}
RILL_COLD void load_npz(const session& s, const std::string& path, const restore_options& how) {
    detail::restore_variables(s, path, detail::saved_variables(s.graph()), read_npz(path), how);
}
RILL_COLD void load_tensor_bundle(const session& s, const std::string& prefix, const restore_options& how) {
    detail::restore_variables(s, prefix, detail::saved_variables(s.graph()), read_tensor_bundle(prefix), how);
}

}} // namespace rill::RILL_ABI
