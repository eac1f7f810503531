// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/io/checkpoint.hpp>
#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

struct saver_options {
    int max_to_keep = 5;                    // checkpoints of this saver in a directory, at least 2; 0: no limit
    double keep_every_n_hours = 0;          // one of each such interval is kept for ever; 0: none
    std::vector<any_tensor> variables = {}; // only these; empty: all, and queues, tables and random counters
    file_system* files = nullptr;           // null: the real one
    int shards = 1;                         // the number of files of a checkpoint
    bool verify = false;                    // reads each checkpoint back, with its checksums, before it gets its name
};

struct restore_options {
    std::map<std::string, std::string> rename = {}; // the name of a variable -> its name in the file
    bool allow_missing = false;                     // variables that the file lacks keep their values
    bool allow_extra = false;                       // tensors of the file that the graph lacks are ignored
};

/// The step in a checkpoint's name: a number, or a variable whose value in the session counts.
class checkpoint_step {
public:
    template <std::integral N> checkpoint_step(N step) : number_(static_cast<std::int64_t>(step)) {} // NOLINT: is one
    checkpoint_step(const any_tensor& variable) : variable_(variable) {}                             // NOLINT
    template <class T>
        requires is_integral<T>
    checkpoint_step(const tensor<T>& variable) : variable_(variable) {} // NOLINT

    std::int64_t in(const session& s) const;

private:
    std::int64_t number_ = 0;
    any_tensor variable_;
};

/// Saves sessions as checkpoints and restores them: variables (those of optimizers too), queues, tables and random counters. A restored run
/// continues as the saved one would have. A saved value is that of the call: a step that runs later changes a copy. Call the saver between
/// steps for a checkpoint of one moment. Several threads may use a saver at once.
class saver {
public:
    explicit saver(const saver_options& options = {});
    saver(const saver&) = delete;
    /// Waits for a checkpoint that is being written. Its error goes to the log.
    ~saver();

    /// Writes the checkpoint "run/model-0000001200-<8 digits>/" for save(s, "run/model", 1200) and returns its path. Then removes the oldest
    /// beyond max_to_keep. Throws failed_precondition with the names of all variables that have no value, and the errors of file_system.
    std::string save(const session& s, const std::string& prefix, const checkpoint_step& step);
    /// Saves on another thread, and returns as soon as it holds the values. Waits first if an earlier checkpoint is being written. Throws
    /// the error of an earlier one.
    void save_later(const session& s, const std::string& prefix, const checkpoint_step& step);
    /// Throws the error of an earlier save_later that has ended, once.
    void check();
    /// Waits for the checkpoint that is being written. Throws as check() does.
    void wait();

    /// Gives a session the state of a checkpoint, or of a single file that save() wrote. Variables need no initializer. Everything is read
    /// and checked before anything is changed. Throws not_found if there is no such checkpoint or the path is empty. Throws data_loss if it
    /// is damaged. Throws invalid_argument with all missing, extra and differing variables.
    void restore(const session& s, const std::string& path, const restore_options& how = {}) const;
    /// Restores the newest readable checkpoint of a directory. Returns its path, or "" if there is none at all. Skips damaged ones with a
    /// warning in the log. Throws data_loss if all are damaged.
    std::string restore_latest(const session& s, const std::string& directory, const restore_options& how = {}) const;

    /// Returns the paths of the checkpoints that this saver has written and kept, oldest first.
    std::vector<std::string> last_checkpoints() const;
    /// Returns the file system that the saver writes to.
    file_system& files() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Saves everything to one file: variables, queues, tables and random counters.
void save(const session& s, const std::string& path);
/// Restores a file that save() wrote, or a saver's checkpoint. See saver::restore.
void load(const session& s, const std::string& path, const restore_options& how = {});
/// Restores the bytes of such a file, in an array as to_cpp defines it.
void load(const session& s, std::span<const unsigned char> bytes, const restore_options& how = {});

/// Returns C++ code that defines `inline constexpr unsigned char name[]` with the values of all variables, for programs without files.
std::string to_cpp(const session& s, const std::string& name);

// Weights in the formats of other programs. `rename` maps the name of a variable to the name in the file. Text is saved only in
// TensorFlow's format.
void save_safetensors(const session& s, const std::string& path, const restore_options& how = {});
void load_safetensors(const session& s, const std::string& path, const restore_options& how = {});
void save_npz(const session& s, const std::string& path, const restore_options& how = {});
void load_npz(const session& s, const std::string& path, const restore_options& how = {});
/// Saves TensorFlow's checkpoints of version 2: tf.train.Saver restores "model.ckpt".
void save_tensor_bundle(const session& s, const std::string& prefix, const restore_options& how = {});
void load_tensor_bundle(const session& s, const std::string& prefix, const restore_options& how = {});

namespace detail {

/// Returns the variables that a saver saves: the given ones, or all variables of a graph except local ones.
std::vector<const node*> saved_variables(const graph& g, const std::vector<any_tensor>& given = {});
/// Returns the slices of their tables that the shards of partitioned variables hold, by the names of the shards.
std::map<std::string, saved_slice> partition_slices(const graph& g);
/// Returns a number that changes with the nodes of a graph: their names, ops, types and operands.
std::uint64_t graph_digest(const graph& g);
/// Returns the values of variables under their names. Throws failed_precondition with the names of variables without a value.
std::vector<named_array> variable_values(const session& s, const std::vector<const node*>& variables);
/// Gives variables the values of a file, and resources their saved states. All is compared before anything is changed: throws
/// invalid_argument with everything that does not fit.
void restore_variables(const session& s, const std::string& source, const std::vector<const node*>& variables,
                       const std::vector<named_array>& values, const restore_options& how,
                       const std::vector<saved_resource>& resources = {});

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/saver.ipp>
#include <rill/train/saver_values.ipp>
#endif
