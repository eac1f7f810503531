// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/saver.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include <rill/core/hash.hpp>
#include <rill/io/checkpoint.hpp>

// The values that a saver saves: variables, slices of partitioned ones, and resources.

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::vector<const node*> saved_variables(const graph& g, const std::vector<any_tensor>& given) {
    std::vector<const node*> all;
    for (const auto& v : given) {
        const node* n = v ? variable_of(v.end()) : nullptr;
        if (!n)
            throw invalid_argument("saver: " +
                                   (v ? "'" + v.name() + "' is not a variable" : std::string("a null handle was given")));
        all.push_back(n);
    }
    if (!given.empty()) return all;
    std::set<const node*> local;
    for (const auto& e : g.collection(collections::local_variables)) local.insert(e.from);
    for (const auto* n : g.nodes())
        if (n->op->role() == op_role::variable && !local.contains(n)) all.push_back(n);
    return all;
}

/// Removes a whole number and the mark after it from the start of a text. Returns -1 if there is none.
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
    std::set<std::string, std::less<>> others; // variables that are not shards
    for (const auto* n : g.nodes())
        if (n->op->role() == op_role::variable) others.insert(n->name);
    for (const auto& [collection, members] : g.state().collections()) {
        std::string_view how = collection;
        if (!how.starts_with(collections::partitions)) continue;
        how.remove_prefix(std::string_view(collections::partitions).size());
        const bool in_turn = how.starts_with("mod:");
        how.remove_prefix(how.find(':') + 1);
        const index_t rows = take_number(how, ":"), shards = take_number(how, ":");
        if (rows < 1 || shards < 1) continue;
        std::map<std::string, saved_slice> of_table;
        for (const auto& e : members) {
            const std::string& name = e.from->name;
            const auto part = name.rfind("/part_");
            std::string_view number = std::string_view(name).substr(part == std::string::npos ? name.size() : part + 6);
            const index_t k = take_number(number, "");
            if (k < 0 || k >= shards || !number.empty()) continue; // a name that was made unique: saved as it is
            const dims& own = type_of(e).shape;
            if (own.rank < 1) continue;
            dims shape = own;
            shape[0] = rows;
            of_table[name] = {.of = name.substr(0, part),
                              .shape = shape,
                              .axis = 0,
                              .start = in_turn ? k : k * (rows / shards) + std::min(k, rows % shards),
                              .extent = own[0],
                              .step = in_turn ? shards : 1};
        }
        // Shards are saved as they are if one of them has a name of its own. The same holds if their table has the name of a variable.
        const bool is_whole = of_table.size() == static_cast<std::size_t>(shards) &&
                              std::all_of(of_table.begin(), of_table.end(), [&](const auto& part) {
                                  return part.second.of == of_table.begin()->second.of;
                              });
        if (is_whole && !others.contains(of_table.begin()->second.of)) all.merge(of_table);
    }
    if (all.empty()) return all;
    const auto shards = all;
    for (const auto* n : g.nodes()) { // optimizers' slots "t/part_0/m" lie in "t/m" as the shard does in "t"
        const auto slash = n->name.rfind('/');
        if (n->op->role() != op_role::variable || slash == std::string::npos) continue;
        const auto of = shards.find(n->name.substr(0, slash));
        if (of == shards.end() || n->outputs[0].shape != of->second.own_shape()) continue;
        auto slot = of->second;
        slot.of += n->name.substr(slash);
        if (!others.contains(slot.of)) all[n->name] = std::move(slot);
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
    std::string unfit; // existing state whose kind differs from the saved one
    const auto try_fit = [&](const auto& check) {
        try {
            check();
        } catch (const invalid_argument& problem) {
            unfit += "; " + std::string(problem.what());
        } catch (const failed_precondition& problem) { // a table that is initialised from a file
            unfit += "; " + std::string(problem.what());
        }
    };
    std::vector<std::pair<const node*, const any_array*>> found;
    std::map<std::string, std::string> renamed = how.rename;
    std::set<std::string> taken;
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
        taken.insert(name); // and stays: an array may be the value of several variables
    }
    for (const auto& name : taken) there.erase(name);
    if (!how.allow_extra)
        for (const auto& [name, value] : there) extra.push_back(name);
    for (const auto& [name, other] : renamed) unknown.push_back(name);
    for (const auto& r : resources) try_fit([&] { core_of(s)->check_resource(r); });
    if (!missing.empty() || !extra.empty() || !differing.empty() || !unknown.empty() || !unfit.empty())
        throw invalid_argument("restore: '" + source + "' is not of this graph's variables" +
                               listed("missing in the file", missing) + listed("only in the file", extra) +
                               listed("of other types", differing) + listed("renamed, but not variables", unknown) +
                               unfit);
    for (const auto& [n, value] : found) core_of(s)->restore_variable(n, *value);
    for (const auto& r : resources) core_of(s)->restore_resource(r);
}

// Resources are saved as "@session:<kind>:<container>:<name>:<part>" (or "@process:…"). ':' and '%' in names are written as "%3a" and
// "%25".

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
    std::erase_if(slices, [&](const auto& slice) { // an older checkpoint has the shards themselves
        return from.has(slice.first) || rest.rename.contains(slice.first);
    });
    const auto variables = saved_variables(s.graph(), given);
    std::vector<named_array> values;
    std::vector<saved_resource> resources;
    if (given.empty()) {
        values = from.read_all(slices);
        resources = take_resources(values);
    } else { // only what is requested: other parts of the checkpoint may be missing
        for (const auto* n : variables) {
            const auto other = rest.rename.find(n->name);
            const std::string& name = other == rest.rename.end() ? n->name : other->second;
            if (const auto slice = slices.find(n->name); slice != slices.end() && from.has(slice->second.of))
                values.push_back({n->name, from.read_slice(slice->second)});
            else if (from.has(name))
                values.push_back({name, from.read(name)});
        }
    }
    restore_variables(s, from.info().path, variables, values, rest, resources);
}

/// Returns the values of variables, and unless some are given the state of resources. Queue runners pause meanwhile.
inline std::vector<named_array> all_state(const session& s, const std::vector<any_tensor>& given) {
    const auto variables = saved_variables(s.graph(), given);
    if (!given.empty()) return variable_values(s, variables);
    closed_gate runners(core_of(s)->background());
    for (;;) { // again if the end of a wait has let a runner's step go on
        const auto seen = runners.wait_until_idle();
        auto all = variable_values(s, variables);
        add_resources(s, all);
        if (runners.is_idle_since(seen)) return all;
    }
}

/// Returns the values of variables under their names in a file.
inline std::vector<named_array> renamed_values(const session& s, const restore_options& how) {
    auto all = variable_values(s, saved_variables(s.graph()));
    for (auto& a : all)
        if (const auto other = how.rename.find(a.name); other != how.rename.end()) a.name = other->second;
    return all;
}

}}} // namespace rill::RILL_ABI::detail
