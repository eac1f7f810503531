// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/saver.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <rill/core/hash.hpp>
#include <rill/core/log.hpp>
#include <rill/io/npy.hpp>
#include <rill/io/safetensors.hpp>
#include <rill/io/shard.hpp>
#include <rill/io/tensor_bundle.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD std::vector<const node*> saved_variables(const graph& g, const std::vector<any_tensor>& given) {
    std::vector<const node*> all;
    for (const auto& v : given) {
        const node* n = v ? variable_of(v.end()) : nullptr;
        if (!n)
            throw invalid_argument("saver: " +
                                   (v ? "'" + v.name() + "' is no variable" : std::string("a null handle was given")));
        all.push_back(n);
    }
    if (!given.empty()) return all;
    std::set<const node*> local;
    for (const auto& e : g.collection(collections::local_variables)) local.insert(e.from);
    for (const auto* n : g.nodes())
        if (n->op->role() == op_role::variable && !local.contains(n)) all.push_back(n);
    return all;
}

/// Takes a whole number and the mark behind it away from a text. Returns -1 if there is none.
inline index_t take_number(std::string_view& text, std::string_view mark) {
    index_t n = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (problem != std::errc() || !text.starts_with(mark)) return -1;
    text.remove_prefix(mark.size());
    return n;
}

RILL_COLD std::map<std::string, saved_slice> partition_slices(const graph& g) {
    std::map<std::string, saved_slice> all;
    for (const auto& [collection, members] : g.state().collections()) {
        std::string_view how = collection;
        if (!how.starts_with(collections::partitions)) continue;
        how.remove_prefix(std::string_view(collections::partitions).size());
        const bool in_turn = how.starts_with("mod:");
        how.remove_prefix(how.find(':') + 1);
        const index_t rows = take_number(how, ":"), shards = take_number(how, ":");
        if (rows < 1 || shards < 1) continue;
        for (const auto& e : members) {
            const std::string& name = e.from->name;
            const auto part = name.rfind("/part_");
            std::string_view number = std::string_view(name).substr(part == std::string::npos ? name.size() : part + 6);
            const index_t k = take_number(number, "");
            if (k < 0 || k >= shards || !number.empty()) continue; // a name that was made unique: saved as it is
            const dims& own = type_of(e).shape;
            dims shape = own;
            shape[0] = rows;
            all[name] = {.of = name.substr(0, part),
                         .shape = shape,
                         .axis = 0,
                         .start = in_turn ? k : k * (rows / shards) + std::min(k, rows % shards),
                         .extent = own[0],
                         .step = in_turn ? shards : 1};
        }
    }
    return all;
}

RILL_COLD std::uint64_t graph_digest(const graph& g) {
    std::uint64_t digest = 0;
    const auto add = [&](std::uint64_t part) { digest = hash_combine(digest, part); };
    for (const auto* n : g.nodes()) {
        add(hash_bytes(n->name));
        add(hash_bytes(n->op->name()));
        for (const auto& t : n->outputs) add(hash_bytes(to_string(t)));
        for (const auto& e : n->inputs) {
            add(hash_bytes(e.from->name));
            add(static_cast<std::uint64_t>(e.port));
        }
    }
    return digest;
}

inline std::string listed(const char* what, const std::vector<std::string>& names) {
    std::string text;
    constexpr std::size_t most = 10;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i ? ", '" : "'") + names[i] + "'";
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return names.empty() ? std::string() : std::string("; ") + what + ": " + text;
}

RILL_COLD std::vector<named_array> variable_values(const session& s, const std::vector<const node*>& variables) {
    std::vector<named_array> all;
    std::vector<std::string> without;
    for (const auto* n : variables) {
        any_array value = core_of(s)->variable_value(n);
        if (value.empty())
            without.push_back(n->name);
        else
            all.push_back({n->name, std::move(value)});
    }
    if (!without.empty())
        throw failed_precondition("save: run the initializer first" + listed("variables without a value", without));
    return all;
}

RILL_COLD void restore_variables(const session& s, const std::string& source, const std::vector<const node*>& variables,
                                 const std::vector<named_array>& values, const restore_options& how,
                                 const std::vector<saved_resource>& resources) {
    std::map<std::string, const any_array*> there;
    for (const auto& v : values) there[v.name] = &v.value;
    std::vector<std::string> missing, extra, differing, unknown;
    std::string unfit; // state that is there, and of another kind than the saved one
    const auto try_fit = [&](const auto& check) {
        try {
            check();
        } catch (const invalid_argument& problem) {
            unfit += "; " + std::string(problem.what());
        } catch (const failed_precondition& problem) { // a table that is filled from a file
            unfit += "; " + std::string(problem.what());
        }
    };
    std::vector<std::pair<const node*, const any_array*>> found;
    std::map<std::string, std::string> renamed = how.rename;
    for (const auto* n : variables) {
        std::string name = n->name;
        if (const auto other = renamed.find(name); other != renamed.end()) {
            name = other->second;
            renamed.erase(other);
        }
        const auto at = there.find(name);
        if (at == there.end()) {
            if (!how.allow_missing) missing.push_back(name);
            continue;
        }
        if (at->second->type() != n->outputs[0])
            differing.push_back(n->name + " (here " + to_string(n->outputs[0]) + ", there " +
                                to_string(at->second->type()) + ")");
        else
            try_fit([&, value = at->second] { core_of(s)->check_variable(n, *value); });
        found.emplace_back(n, at->second);
        there.erase(at);
    }
    if (!how.allow_extra)
        for (const auto& [name, value] : there) extra.push_back(name);
    for (const auto& [name, other] : renamed) unknown.push_back(name);
    for (const auto& r : resources) try_fit([&] { core_of(s)->check_resource(r); });
    if (!missing.empty() || !extra.empty() || !differing.empty() || !unknown.empty() || !unfit.empty())
        throw invalid_argument("restore: '" + source + "' is not of this graph's variables" +
                               listed("missing in the file", missing) + listed("only in the file", extra) +
                               listed("of other types", differing) + listed("renamed, but no variables", unknown) +
                               unfit);
    for (const auto& [n, value] : found) core_of(s)->restore_variable(n, *value);
    for (const auto& r : resources) core_of(s)->restore_resource(r);
}

// Resources are saved as "@session:<kind>:<container>:<name>:<part>" (or "@process:…"); ':' and '%' within are written as "%3a" and "%25".

inline std::string escaped_part(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == ':' ? "%3a" : c == '%' ? "%25" : std::string(1, c);
    return out;
}

inline std::string unescaped_part(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto code = text.substr(i, 3);
        const bool escape = code == "%3a" || code == "%25";
        out += !escape ? text[i] : code == "%3a" ? ':' : '%';
        if (escape) i += 2;
    }
    return out;
}

inline void add_resources(const session& s, std::vector<named_array>& to) {
    for (auto& r : core_of(s)->saved_resources()) {
        const std::string name = std::string(r.of_process ? "@process:" : "@session:") + escaped_part(r.kind) + ":" +
                                 escaped_part(r.container) + ":" + escaped_part(r.name) + ":";
        for (auto& part : r.parts) to.push_back({name + escaped_part(part.name), std::move(part.value)});
    }
}

/// Moves the parts of resources out of `from`, which keeps the variables.
inline std::vector<saved_resource> take_resources(std::vector<named_array>& from) {
    std::map<std::string, saved_resource> all;
    std::vector<named_array> variables;
    for (auto& a : from) {
        if (!a.name.starts_with("@")) {
            variables.push_back(std::move(a));
            continue;
        }
        std::vector<std::string> parts;
        std::string_view rest = a.name;
        for (std::size_t end; (end = rest.find(':')) != std::string_view::npos; rest.remove_prefix(end + 1))
            parts.push_back(unescaped_part(rest.substr(0, end)));
        if (parts.size() != 4 || (parts[0] != "@session" && parts[0] != "@process"))
            throw data_loss("the checkpoint names the state of a resource '" + a.name + "'");
        auto& r = all[a.name.substr(0, a.name.rfind(':'))];
        r.of_process = parts[0] == "@process";
        r.kind = parts[1];
        r.container = parts[2];
        r.name = parts[3];
        r.parts.push_back({unescaped_part(rest), std::move(a.value)});
    }
    from = std::move(variables);
    std::vector<saved_resource> list;
    for (auto& [name, r] : all) list.push_back(std::move(r));
    return list;
}

inline void restore_from(const session& s, const checkpoint_reader& from, const std::vector<any_tensor>& given,
                         const restore_options& how) {
    restore_options rest = how;
    auto slices = partition_slices(s.graph());
    std::set<std::string> tables;
    for (auto& [name, part] : slices) {
        tables.insert(part.of);
        if (const auto other = how.rename.find(part.of); other != how.rename.end()) part.of = other->second;
    }
    for (const auto& table : tables) rest.rename.erase(table);
    std::erase_if(slices, [&](const auto& s) { // an older checkpoint has the shards themselves
        return from.has(s.first) || rest.rename.contains(s.first);
    });
    auto values = from.read_all(slices);
    const auto resources = take_resources(values);
    if (!given.empty()) rest.allow_extra = true;
    restore_variables(s, from.info().path, saved_variables(s.graph(), given), values, rest,
                      given.empty() ? resources : std::vector<saved_resource>());
}

inline std::vector<named_array> all_state(const session& s, const std::vector<any_tensor>& given) {
    auto all = variable_values(s, saved_variables(s.graph(), given));
    if (given.empty()) add_resources(s, all);
    return all;
}

/// Returns the values of variables under the names that a file has.
inline std::vector<named_array> renamed_values(const session& s, const restore_options& how) {
    auto all = variable_values(s, saved_variables(s.graph()));
    for (auto& a : all)
        if (const auto other = how.rename.find(a.name); other != how.rename.end()) a.name = other->second;
    return all;
}

} // namespace detail

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

    /// Writes a checkpoint and removes the oldest ones.
    std::string write(const std::string& prefix, std::vector<named_array> arrays, std::int64_t step, const graph& of) {
        const auto directory = detail::directory_of(prefix);
        {
            const std::lock_guard lock(mutex);
            if (!known.contains(prefix)) adopt(directory, detail::base_of(prefix));
            known.insert(prefix);
        }
        const auto how = how_to_write(prefix, step, of);
        const auto path = detail::write_checkpoint(prefix, std::move(arrays), how);
        const std::lock_guard lock(mutex);
        last_id[prefix] = detail::hex_of(how.id);
        kept.push_back({path, detail::seconds_now()});
        if (options.max_to_keep <= 0) return path;
        const auto most =
            static_cast<std::size_t>(std::max(options.max_to_keep, 2)); // the last one may turn out to be damaged
        while (kept.size() > most) {
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

    /// Returns the options of a checkpoint of a graph, with what its manifest tells of it.
    checkpoint_write_options how_to_write(const std::string& prefix, std::int64_t step, const graph& of) {
        checkpoint_write_options how{.step = step,
                                     .files = options.files,
                                     .shards = options.shards,
                                     .id = detail::draw_checkpoint_id(),
                                     .slices = detail::partition_slices(of)};
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(detail::graph_digest(of)));
        how.metadata["graph"] = digits;
        const std::lock_guard lock(mutex);
        if (const auto last = last_id.find(prefix); last != last_id.end()) how.metadata["previous"] = last->second;
        return how;
    }

    /// Removes what an interrupted run has left, and counts the newest checkpoints of earlier runs as this saver's own.
    void adopt(const std::string& directory, const std::string& base) {
        detail::remove_unfinished(directory, base, files());
        auto there = checkpoints_in(directory, files());
        std::erase_if(there,
                      [&](const auto& c) { return !detail::is_checkpoint_name(detail::base_of(c.path), base); });
        if (!there.empty()) last_id[detail::joined_path(directory, base)] = there.front().id;
        if (options.max_to_keep > 0)
            there.resize(std::min(there.size(), static_cast<std::size_t>(options.max_to_keep)));
        for (const auto& c : there) kept.push_front({c.path, c.time}); // they come newest first
    }

    const saver_options options;
    std::mutex mutex; // for kept, known, last_id, next_forever
    std::deque<written> kept;
    std::set<std::string> known; // prefixes
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
    if (state_->writer.joinable()) state_->writer.join(); // of another thread's call, meanwhile
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
    for (const auto& c : checkpoints_in(directory, state_->files())) try {
            restore(s, c.path, how);
            return c.path;
        } catch (const data_loss& problem) {
            log_message(log_level::warning, "passed over: " + std::string(problem.what()));
        }
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
