// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <optional>

#include <rill/device/registry.hpp>
#include <rill/passes/subgraph.hpp>
#include <rill/runtime/memory_plan.hpp>
#include <rill/runtime/resources.hpp>
#include <rill/runtime/trace.hpp>

namespace rill::inline RILL_ABI::detail {

/// The memory of one running step: a pointer per slot. A segment keeps the frames that are not in use.
struct frame {
    std::vector<void*> slots;
    memory_block arena;
    std::vector<element_block> strings;                    // values that can't live in an arena
    std::vector<std::shared_ptr<element_block>> variables; // the versions this step holds
};

/// A straight line of steps bound to concrete shapes: kernels over slots, an arena laid out by lifetimes. Immutable and
/// shared by concurrent runs; each run has a frame.
class segment {
public:
    segment(const subgraph& g, std::span<const tensor_type> feeds, resource_store& resources, allocator& memory)
        : graph_(g), memory_(memory), feed_types_(feeds.begin(), feeds.end()) {
        infer();
        assign_slots(resources);
        bind_steps(resources);
        plan_memory();
        fold_constants();
    }

    bool serves(std::span<const tensor_type> feeds) const {
        return std::equal(feeds.begin(), feeds.end(), feed_types_.begin(), feed_types_.end());
    }

    const tensor_type& fetch_type(std::size_t i) const { return type_of(graph_.fetches[i]); }
    const void* fetch_data(const frame& f, std::size_t i) const {
        return f.slots[static_cast<std::size_t>(slot_of(graph_.fetches[i]))];
    }

    std::unique_ptr<frame> acquire() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto f = std::move(idle_.back());
                idle_.pop_back();
                return f;
            }
        }
        return make_frame();
    }
    void release(std::unique_ptr<frame> f) {
        for (auto& v : f->variables) v.reset();
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(f));
    }

    /// One step: the feeds' memory is borrowed until the frame is released.
    void run(frame& f, std::span<const void* const> feeds, step_trace* trace = nullptr) const {
        for (std::size_t i = 0; i < feeds.size(); ++i) f.slots[static_cast<std::size_t>(feed_slots_[i])] = const_cast<void*>(feeds[i]);
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            const auto& v = variables_[i];
            f.variables[i] = v.state->read();
            if (f.variables[i]) f.slots[static_cast<std::size_t>(v.slot)] = f.variables[i]->data();
            else if (v.read_at_start) throw_uninitialised(i);
        }
        std::size_t at = 0;
        try {
            if (trace) run_traced(f, *trace, at);
            else
                for (const std::size_t n = steps_.size(); at < n; ++at) run_step(f, steps_[at]);
        } catch (const error& problem) {
            throw_at(at, problem.code(), problem.what());
        } catch (const std::exception& problem) {
            std::throw_with_nested(internal(described(at, problem.what())));
        }
    }

    std::size_t arena_bytes() const noexcept { return arena_bytes_; }
    std::size_t steps() const noexcept { return steps_.size(); }

private:
    struct step {
        kernel run;
        std::int32_t inputs = 0, outputs = 0; // where its slot numbers begin in indices_
        std::int32_t writes = 0;              // so many variables are written, from write_list_[first_write] on
        std::int32_t first_write = 0;
        std::int32_t item = 0;
    };
    struct bound_variable {
        std::shared_ptr<variable_state> state;
        const node* origin;
        std::int32_t slot;
        bool read_at_start;
    };
    struct slot_value {
        tensor_type type;
        std::size_t bytes = 0;
        int first = -1, last = -1;
        enum class home { arena, scratch, string, feed, constant, variable, folded } where = home::arena;
        int in_place_of = -1;
    };

    const tensor_type& type_of(const subgraph::value& v) const {
        return types_[static_cast<std::size_t>(v.item)][static_cast<std::size_t>(v.port)];
    }
    int slot_of(const subgraph::value& v) const {
        return value_slot_[static_cast<std::size_t>(v.item)][static_cast<std::size_t>(v.port)];
    }

    // ---- binding -------------------------------------------------------------------------------------------------------

    void infer() {
        for (std::size_t i = 0; i < graph_.items.size(); ++i) {
            const auto& it = graph_.items[i];
            if (it.feed >= 0) {
                types_.push_back({feed_types_[static_cast<std::size_t>(it.feed)]});
                continue;
            }
            std::vector<tensor_type> in;
            for (const auto& v : it.inputs) in.push_back(type_of(v));
            if (it.is_copy()) {
                types_.push_back({in[0]});
                continue;
            }
            try {
                types_.push_back(it.origin->op->outputs(in));
            } catch (const error& problem) {
                std::string shapes;
                for (const auto& t : in) shapes += (shapes.empty() ? "" : ", ") + to_string(t);
                throw_error(problem.code(), it.origin->op->label() + ": " + problem.what() + " (" + shapes + "; " +
                                                place_of(*it.origin) + ")");
            }
            for (const auto& t : types_.back())
                if (!t.shape.complete())
                    throw unimplemented(it.origin->op->label() + ": the shape " + to_string(t) + " depends on data (" +
                                        place_of(*it.origin) + ")");
        }
    }

    void assign_slots(resource_store& resources) {
        value_slot_.resize(graph_.items.size());
        folded_.assign(graph_.items.size(), 0);
        for (std::size_t i = 0; i < graph_.items.size(); ++i) {
            const auto& it = graph_.items[i];
            const auto role = graph_.role(static_cast<int>(i));
            if (it.origin && role == op_role::ordinary && !it.inputs.empty() && it.after.empty() && !it.origin->op->stateful() &&
                it.origin->op->writes() == 0)
                folded_[i] = std::all_of(it.inputs.begin(), it.inputs.end(), [&](const auto& v) {
                    return graph_.role(v.item) == op_role::constant || folded_[static_cast<std::size_t>(v.item)];
                });
            for (std::size_t port = 0; port < types_[i].size(); ++port) {
                if (const int shared = aliased_slot(i, port); shared >= 0) {
                    value_slot_[i].push_back(shared);
                    continue;
                }
                slot_value s;
                s.type = types_[i][port];
                s.bytes = static_cast<std::size_t>(s.type.shape.size()) * size_of(s.type.type);
                using home = slot_value::home;
                if (it.feed >= 0) s.where = home::feed;
                else if (role == op_role::constant) s.where = home::constant;
                else if (role == op_role::variable) s.where = home::variable;
                else if (folded_[i]) s.where = home::folded;
                else if (s.type.type == dtype::string) s.where = home::string;
                value_slot_[i].push_back(static_cast<int>(slots_.size()));
                slots_.push_back(s);
            }
            if (it.feed >= 0) {
                feed_slots_.resize(std::max(feed_slots_.size(), static_cast<std::size_t>(it.feed) + 1));
                feed_slots_[static_cast<std::size_t>(it.feed)] = value_slot_[i][0];
            }
            if (role == op_role::variable)
                variables_.push_back({resources.variable(it.origin), it.origin, value_slot_[i][0], false});
        }
    }

    /// The slot of an input whose memory an output shares: of an alias, or of a write (its variable), else -1.
    int aliased_slot(std::size_t i, std::size_t port) const {
        const auto& it = graph_.items[i];
        if (!it.origin) return -1;
        if (static_cast<int>(port) < it.origin->op->writes()) return slot_of(it.inputs[port]);
        if (port != 0 || it.origin->op->alias() < 0) return -1;
        const int source = slot_of(it.inputs[static_cast<std::size_t>(it.origin->op->alias())]);
        const auto where = slots_[static_cast<std::size_t>(source)].where;
        // a variable may be written while the alias is in use: then the value is copied
        return where == slot_value::home::variable || folded_[i] ? -1 : source;
    }

    bool is_step(std::size_t i) const {
        const auto& it = graph_.items[i];
        if (it.feed >= 0) return false;
        if (!it.origin) return true;
        if (it.origin->op->role() != op_role::ordinary) return false;
        if (it.origin->outputs.empty()) return false; // control only
        const bool aliases = it.origin->op->alias() >= 0 && it.origin->op->writes() == 0 &&
                             slot_of({static_cast<int>(i), 0}) ==
                                 slot_of(it.inputs[static_cast<std::size_t>(it.origin->op->alias())]);
        return !aliases;
    }

    void bind_steps(resource_store& resources) {
        for (std::size_t i = 0; i < graph_.items.size(); ++i) {
            if (!is_step(i)) continue;
            const auto& it = graph_.items[i];
            std::vector<tensor_type> in;
            for (const auto& v : it.inputs) in.push_back(type_of(v));
            kernel_request request{in, types_[i]};
            if (it.origin) {
                request.seed = it.origin->op->seed() ? it.origin->op->seed()
                                                     : hash_combine(it.origin->owner->seed(), hash_bytes(it.origin->name));
                request.counter = [&] { return resources.counter(it.origin); };
            }
            step s;
            s.item = static_cast<std::int32_t>(i);
            s.run = it.origin ? bind_kernel(*it.origin, request) : copy_kernel(types_[i][0]);
            s.inputs = static_cast<std::int32_t>(indices_.size());
            for (const auto& v : it.inputs) indices_.push_back(slot_of(v));
            s.outputs = static_cast<std::int32_t>(indices_.size());
            for (const int o : value_slot_[i]) indices_.push_back(o);
            slot_value scratch;
            scratch.bytes = request.scratch_bytes;
            scratch.where = slot_value::home::scratch;
            indices_.push_back(static_cast<std::int32_t>(slots_.size()));
            slots_.push_back(scratch);
            if (it.origin && it.origin->op->writes() > 0) {
                s.writes = it.origin->op->writes();
                s.first_write = static_cast<std::int32_t>(write_list_.size());
                if (s.writes > most_writes) throw internal("an op that writes more than 8 variables");
                for (int w = 0; w < s.writes; ++w)
                    write_list_.push_back(variable_index(it.inputs[static_cast<std::size_t>(w)], *it.origin));
                // locked in one order, whatever the op's, so that concurrent steps can't block one another for ever
                std::sort(write_list_.begin() + s.first_write, write_list_.end(), [&](auto x, auto y) {
                    return std::less<>()(variables_[static_cast<std::size_t>(x)].state.get(),
                                         variables_[static_cast<std::size_t>(y)].state.get());
                });
            }
            (folded_[i] ? folded_steps_ : steps_).push_back(std::move(s));
        }
        note_start_reads();
    }

    std::int32_t variable_index(const subgraph::value& v, const node& writer) const {
        const int slot = slot_of(v);
        for (std::size_t i = 0; i < variables_.size(); ++i)
            if (variables_[i].slot == slot) return static_cast<std::int32_t>(i);
        throw invalid_argument(writer.op->label() + ": input '" + graph_.name_of(v.item) + "' is no variable (" +
                               place_of(writer) + ")");
    }

    /// Variables that are read before any write of this step must have a value when it starts.
    void note_start_reads() {
        std::vector<char> written(slots_.size());
        const auto read = [&](int slot) {
            for (auto& v : variables_)
                if (v.slot == slot && !written[static_cast<std::size_t>(slot)]) v.read_at_start = true;
        };
        for (const auto& s : steps_) {
            const auto& it = graph_.items[static_cast<std::size_t>(s.item)];
            const bool gives_value = it.origin && it.origin->op->initialises();
            for (std::size_t k = 0; k < it.inputs.size(); ++k)
                if (!(gives_value && k < static_cast<std::size_t>(s.writes))) read(slot_of(it.inputs[k]));
            for (int w = 0; w < s.writes; ++w)
                written[static_cast<std::size_t>(slot_of(it.inputs[static_cast<std::size_t>(w)]))] = 1;
        }
        for (const auto& f : graph_.fetches) read(slot_of(f));
    }

    static kernel bind_kernel(const node& n, kernel_request& request) {
        const auto type = n.op->kernel_type(request.inputs, request.outputs);
        const auto* factory = the_kernels().factories.find(kernel_key(n.op->kernel_name(), type));
        if (!factory)
            throw unimplemented("no kernel of " + std::string(n.op->name()) + " for " + std::string(to_string(type)) +
                                " is in this program (" + place_of(n) +
                                "): call the typed function somewhere, or include <rill/all_kernels.hpp>");
        try {
            return (*factory)(n.op->attributes(), request);
        } catch (const error& problem) {
            throw_error(problem.code(), n.op->label() + ": " + problem.what() + " (" + place_of(n) + ")");
        }
    }
    static kernel copy_kernel(const tensor_type& t) {
        const auto type = t.type;
        const index_t n = t.shape.size();
        return kernel([=](const kernel_args& a) { copy_elements(type, a.in<void>(0), a.out<void>(0), n); });
    }

    // ---- memory ------------------------------------------------------------------------------------------------------------

    void plan_memory() {
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            const auto touch = [&](int slot) {
                auto& s = slots_[static_cast<std::size_t>(slot)];
                if (s.first < 0) s.first = static_cast<int>(k);
                s.last = static_cast<int>(k);
            };
            const auto begin = static_cast<std::size_t>(steps_[k].inputs);
            const auto end = static_cast<std::size_t>(steps_[k].outputs) + value_slot_[static_cast<std::size_t>(steps_[k].item)].size() + 1;
            for (std::size_t j = begin; j < end; ++j) touch(indices_[j]);
        }
        for (const auto& f : graph_.fetches) slots_[static_cast<std::size_t>(slot_of(f))].last = static_cast<int>(steps_.size());
        reuse_inputs();
        std::vector<arena_value> values;
        std::vector<std::size_t> owner;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            auto& s = slots_[i];
            const bool in_arena = s.where == slot_value::home::arena || s.where == slot_value::home::scratch;
            if (!in_arena || s.bytes == 0 || s.first < 0 || s.in_place_of >= 0) continue;
            values.push_back({s.bytes, s.first, s.last, 0});
            owner.push_back(i);
        }
        arena_bytes_ = plan_arena(values);
        offsets_.assign(slots_.size(), npos);
        for (std::size_t i = 0; i < values.size(); ++i) offsets_[owner[i]] = values[i].offset;
        for (std::size_t i = 0; i < slots_.size(); ++i)
            if (const int owner_slot = slots_[i].in_place_of; owner_slot >= 0) offsets_[i] = offsets_[static_cast<std::size_t>(owner_slot)];
    }

    /// An elementwise result takes the place of an input of its size that ends with the same step.
    void reuse_inputs() {
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            const auto& it = graph_.items[static_cast<std::size_t>(steps_[k].item)];
            if (!it.origin || !it.origin->op->in_place()) continue;
            const int out = value_slot_[static_cast<std::size_t>(steps_[k].item)][0];
            auto& result = slots_[static_cast<std::size_t>(out)];
            if (result.where != slot_value::home::arena || result.bytes == 0) continue;
            for (const auto& v : it.inputs) {
                const int in = slot_of(v);
                const auto& input = slots_[static_cast<std::size_t>(in)];
                if (input.where != slot_value::home::arena || input.last != static_cast<int>(k) || input.first == static_cast<int>(k) ||
                    type_of(v).shape != result.type.shape || size_of(type_of(v).type) != size_of(result.type.type))
                    continue;
                // of a chain of results in one place, the first owns the memory and carries the lifetime of all
                result.in_place_of = input.in_place_of >= 0 ? input.in_place_of : in;
                slots_[static_cast<std::size_t>(result.in_place_of)].last = result.last;
                break;
            }
        }
    }

    /// What depends on constants alone is computed once, when the segment is bound.
    void fold_constants() {
        if (folded_steps_.empty()) return;
        auto f = make_frame();
        for (const auto& s : folded_steps_) {
            const auto i = static_cast<std::size_t>(s.item);
            for (const int o : value_slot_[i]) {
                auto& value = folded_values_[o];
                const auto& type = slots_[static_cast<std::size_t>(o)].type;
                value = any_array(type.type, type.shape, memory_);
                f->slots[static_cast<std::size_t>(o)] = value.mutable_data();
            }
            const memory_block scratch(memory_, slots_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(s.outputs) + value_slot_[i].size()])].bytes);
            f->slots[static_cast<std::size_t>(indices_[static_cast<std::size_t>(s.outputs) + value_slot_[i].size()])] = scratch.data();
            try {
                run_step(*f, s);
            } catch (const error& problem) {
                throw_error(problem.code(), graph_.items[i].origin->op->label() + ": " + problem.what() + " (" +
                                                place_of(*graph_.items[i].origin) + ")");
            }
        }
    }

    std::unique_ptr<frame> make_frame() const {
        auto f = std::make_unique<frame>();
        f->slots.resize(slots_.size());
        f->variables.resize(variables_.size());
        f->arena = memory_block(memory_, arena_bytes_);
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const auto& s = slots_[i];
            if (i < offsets_.size() && offsets_[i] != npos) {
                f->slots[i] = static_cast<std::byte*>(f->arena.data()) + offsets_[i];
            } else if (s.where == slot_value::home::string) {
                f->strings.emplace_back(memory_, dtype::string, s.type.shape.size());
                f->slots[i] = f->strings.back().data();
            } else if (s.where == slot_value::home::folded) {
                if (const auto at = folded_values_.find(static_cast<int>(i)); at != folded_values_.end())
                    f->slots[i] = const_cast<void*>(at->second.data());
            }
        }
        for (std::size_t i = 0; i < graph_.items.size(); ++i)
            if (graph_.role(static_cast<int>(i)) == op_role::constant)
                f->slots[static_cast<std::size_t>(value_slot_[i][0])] = const_cast<void*>(graph_.items[i].origin->op->constant()->data());
        return f;
    }

    // ---- running -----------------------------------------------------------------------------------------------------------

    void run_step(frame& f, const step& s) const {
        const kernel_args args{f.slots.data(), indices_.data() + s.inputs, indices_.data() + s.outputs};
        if (s.writes == 0) return s.run(args);
        write(f, s, args);
    }

    void write(frame& f, const step& s, const kernel_args& args) const {
        std::array<std::optional<variable_state::writer>, most_writes> held;
        const bool whole = graph_.items[static_cast<std::size_t>(s.item)].origin->op->initialises();
        for (int w = 0; w < s.writes; ++w) {
            const auto at = static_cast<std::size_t>(write_list_[static_cast<std::size_t>(s.first_write + w)]);
            auto& writer = held[static_cast<std::size_t>(w)];
            writer.emplace(*variables_[at].state, f.variables[at], whole);
            if (!writer->ready()) throw_uninitialised(at);
            f.slots[static_cast<std::size_t>(variables_[at].slot)] = writer->data();
        }
        s.run(args);
        for (int w = 0; w < s.writes; ++w) held[static_cast<std::size_t>(w)]->commit();
    }

    void run_traced(frame& f, step_trace& trace, std::size_t& at) const {
        const auto start = std::chrono::steady_clock::now();
        const auto now = [&] {
            return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
        };
        for (; at < steps_.size(); ++at) {
            step_trace::entry e;
            const auto& it = graph_.items[static_cast<std::size_t>(steps_[at].item)];
            e.node = graph_.name_of(steps_[at].item);
            e.op = it.origin ? std::string(it.origin->op->name()) : "Copy";
            e.begin = now();
            run_step(f, steps_[at]);
            e.end = now();
            trace.entries.push_back(std::move(e));
        }
    }

    [[noreturn]] void throw_uninitialised(std::size_t v) const {
        throw failed_precondition("variable '" + variables_[v].origin->name + "' (made at " + to_string(variables_[v].origin->where) +
                                  ") is uninitialized: run global_variables_initializer() first");
    }
    std::string described(std::size_t at, const char* what) const {
        const auto* n = graph_.items[static_cast<std::size_t>(steps_[at].item)].origin;
        return n ? n->op->label() + ": " + what + " (" + place_of(*n) + ")" : std::string(what);
    }
    [[noreturn]] void throw_at(std::size_t at, error_code code, const char* what) const { throw_error(code, described(at, what)); }

    static constexpr int most_writes = 8;
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    subgraph graph_;
    allocator& memory_;
    std::vector<tensor_type> feed_types_;
    std::vector<std::vector<tensor_type>> types_;
    std::vector<std::vector<int>> value_slot_;
    std::vector<char> folded_;
    std::vector<slot_value> slots_;
    std::vector<std::int32_t> feed_slots_, indices_, write_list_;
    std::vector<bound_variable> variables_;
    std::vector<step> steps_, folded_steps_;
    std::map<int, any_array> folded_values_;
    std::size_t arena_bytes_ = 0;
    std::vector<std::size_t> offsets_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<frame>> idle_;
};

} // namespace rill::inline RILL_ABI::detail
