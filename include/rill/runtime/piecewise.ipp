// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/piecewise.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/small_vector.hpp>
#include <rill/device/registry.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/array_slots.hpp>
#include <rill/runtime/bodies.hpp>
#include <rill/runtime/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// ---- a node that stands alone --------------------------------------------------------------------------------------------

struct alone_node::bound {
    std::vector<tensor_type> inputs, outputs;
    bound_region region; // of a node with bodies
    kernel run;          // of others
    std::size_t scratch = 0;
};

RILL_COLD alone_node::alone_node(subgraph::item it, const session_options& options,
                                 std::shared_ptr<resource_store> resources, const device_type& otherwise)
    : item_(std::move(it)), resources_(std::move(resources)), memory_(resources_->memory()) {
    compile_bodies(bodies_, item_, options, resources_, otherwise);
}

RILL_COLD std::shared_ptr<const alone_node::bound> alone_node::bind(std::span<const tensor_type> inputs) const {
    const std::lock_guard lock(mutex_);
    for (const auto& b : bound_)
        if (std::ranges::equal(b->inputs, inputs)) return b;
    auto made = std::make_shared<bound>();
    made->inputs.assign(inputs.begin(), inputs.end());
    if (item_.origin->bodies) {
        made->region = bind_region(item_, inputs, bodies_, memory_);
    } else {
        const auto& op = *item_.op;
        const auto& outputs = made->outputs = op.outputs({inputs, {}, {}});
        const auto type = op.kernel_type(inputs, outputs);
        const auto factory = find_kernel(cpu_device().name, op.kernel_name(), type);
        if (!factory)
            throw unimplemented("no kernel of " + std::string(op.name()) + " for " + std::string(to_string(type)) +
                                " is in this program");
        kernel_request request{inputs, outputs};
        request.pool = resources_->threads().for_ops();
        request.seed =
            op.seed() ? op.seed() : hash_combine(item_.origin->owner->seed(), hash_bytes(item_.origin->name));
        request.find_resource = resources_->finder(item_.origin);
        request.session = resources_->session();
        made->run = (*factory)(op.attributes(), request);
        made->scratch = request.scratch_bytes;
    }
    bound_.insert(bound_.begin(), made);
    if (bound_.size() > kept) bound_.pop_back();
    return made;
}

RILL_COLD std::vector<any_array> alone_node::run_kernel(std::span<const any_array> inputs, const step_context* context,
                                                        waiting* wait) const {
    small_vector<tensor_type, 4> types;
    for (const auto& in : inputs) types.push_back(in.type());
    const auto b = bind({types.data(), types.size()});
    if (b->region.step) return b->region.step->run_alone(inputs, context);
    std::vector<any_array> none, outputs;
    if (item_.op->sizes_itself())
        outputs.resize(item_.origin->outputs.size());
    else
        for (const auto& t : b->outputs) outputs.emplace_back(t.type, t.shape, memory_);
    array_slots slots(inputs, item_.op->sizes_itself() ? none : outputs);
    const memory_block scratch(memory_, b->scratch);
    auto args = slots.args(context, scratch.data());
    args.sized = outputs.data();
    args.wait = wait;
    b->run(args);
    return outputs;
}

RILL_COLD std::vector<any_array> alone_node::run(std::span<const any_array> inputs, const step_context* context,
                                                 waiting* wait) const {
    try {
        return run_kernel(inputs, context, wait);
    } catch (...) {
        rethrow();
    }
}

RILL_COLD std::unique_ptr<body_sequence> alone_node::begin(std::span<const any_array> inputs,
                                                           std::shared_ptr<const void>& keep) const {
    if (!item_.origin->bodies) return nullptr;
    try {
        small_vector<tensor_type, 4> types;
        for (const auto& in : inputs) types.push_back(in.type());
        const auto b = bind({types.data(), types.size()});
        keep = b;
        return b->region.step->begin(inputs);
    } catch (...) {
        rethrow();
    }
}

RILL_COLD void alone_node::rethrow() const {
    rethrow_described([&](const std::string& what) {
        return item_.op->label() + ": " + what + " (" + place_of(*item_.origin) + ")";
    });
}

RILL_COLD void alone_node::close() const {
    for (const auto& [b, p] : bodies_) p->close();
    const std::lock_guard lock(mutex_);
    bound_.clear();
}

// ---- the plan ------------------------------------------------------------------------------------------------------------

RILL_COLD piecewise_plan::piecewise_plan(const subgraph& g, const session_options& options,
                                         std::shared_ptr<resource_store> resources, const device_type& otherwise)
    : pieces_(detail::cut(g)), resources_(std::move(resources)), patience_(options.patience) {
    for (auto& p : pieces_.all) {
        const bool alone = p.alone.origin;
        lines_.push_back(alone ? nullptr : std::make_unique<plan>(std::move(p.part), options, resources_, otherwise));
        alone_.push_back(alone ? std::make_unique<alone_node>(p.alone, options, resources_, otherwise) : nullptr);
    }
    find_pinned(g);
    first_values_.resize(static_cast<std::size_t>(pieces_.values));
    for (const auto& h : pieces_.handles) {
        handles_.push_back(std::make_unique<alone_node>(h.of, options, resources_, otherwise));
        first_values_[h.value] = std::move(handles_.back()->run({}, nullptr, nullptr)[0]);
    }
    find_order();
}

RILL_COLD void piecewise_plan::find_pinned(const subgraph& g) {
    std::vector<const node*> written;
    for (const auto& it : g.items) {
        if (!it.origin) continue;
        if (it.op->ordering() != step_ordering::none) return; // what comes after it reads variables as they are then
        for (const int w : it.op->writes()) written.push_back(g.items[it.inputs[w].item].origin);
    }
    for (const auto& it : g.items)
        if (it.origin && it.op->role() == op_role::variable && std::ranges::find(written, it.origin) == written.end())
            pinned_.push_back(it.origin);
}

RILL_COLD void piecewise_plan::find_order() {
    const auto& all = pieces_.all;
    std::vector<int> giver(static_cast<std::size_t>(pieces_.values), -1);
    next_.resize(all.size());
    for (std::size_t k = 0; k < all.size(); ++k)
        for (const int v : all[k].gives) giver[v] = static_cast<int>(k);
    for (std::size_t k = 0; k < all.size(); ++k) {
        std::vector<int> before(all[k].after);
        for (const int v : all[k].takes)
            if (giver[v] >= 0) before.push_back(giver[v]);
        std::ranges::sort(before);
        before.erase(std::unique(before.begin(), before.end()), before.end());
        for (const int b : before) next_[b].push_back(k);
        missing_.push_back(static_cast<int>(before.size()));
    }
}

RILL_COLD void piecewise_plan::close() const noexcept {
    for (const auto& p : lines_)
        if (p) p->close();
    for (const auto& a : alone_)
        if (a) a->close();
    for (const auto& h : handles_) h->close();
}

// ---- a run ---------------------------------------------------------------------------------------------------------------

/// What the runs of a step share: the pieces that are ready, what is waited for, and what has come of it.
class step_events {
public:
    explicit step_events(const piecewise_plan& outermost, const step_context& context)
        : patience_(outermost.patience()), context_(context) {}

    struct piece {
        piecewise_run* of = nullptr;
        std::size_t number = 0;
    };
    void add(piece p) { ready_.push_back(p); }
    /// One that goes next; none is ready: it sleeps until something has come, and gives none.
    piece next();
    /// Something is started that comes later.
    completion later(piece p, std::function<bool()> give_up);
    /// Whether anything is given up; other things have come to their end.
    bool give_up() noexcept;

private:
    struct arrival {
        std::uint64_t ticket;
        std::exception_ptr problem;
        std::vector<any_array> outputs;
    };
    /// Shared with who brings it, perhaps when the step is over.
    struct arrivals {
        std::mutex mutex;
        std::condition_variable more;
        std::vector<arrival> all;
    };
    struct started {
        std::uint64_t ticket; // what comes a second time finds its ticket gone
        piece of;
        std::function<bool()> give_up;
    };

    void wait();
    void check_patience(environment::time_point since) const;
    std::string waited_for() const;

    const std::chrono::nanoseconds patience_;
    const step_context& context_;
    std::vector<piece> ready_;
    vector<started> started_;
    std::uint64_t last_ = 0;
    std::shared_ptr<arrivals> arrivals_; // made when something waits
};

RILL_COLD completion step_events::later(piece p, std::function<bool()> give_up) {
    if (!arrivals_) arrivals_ = std::make_shared<arrivals>();
    started_.push_back({++last_, p, std::move(give_up)});
    return
        [ticket = last_, into = std::weak_ptr(arrivals_)](std::exception_ptr problem, std::vector<any_array> outputs) {
            const auto to = into.lock(); // gone: the step has ended
            if (!to) return;
            const std::lock_guard lock(to->mutex);
            to->all.push_back({ticket, std::move(problem), std::move(outputs)});
            to->more.notify_one();
        };
}

RILL_COLD step_events::piece step_events::next() {
    if (ready_.empty()) {
        wait();
        return {};
    }
    context_.check();
    std::swap(ready_[context_.env().choose(ready_.size())], ready_.back());
    const piece p = ready_.back();
    ready_.pop_back();
    return p;
}

/// Cancelling is seen within a hundredth of a second.
RILL_COLD void step_events::wait() {
    constexpr auto look = std::chrono::milliseconds(10);
    const auto begin = context_.env().now();
    std::vector<arrival> here;
    for (;;) {
        {
            std::unique_lock lock(arrivals_->mutex);
            if (arrivals_->all.empty()) context_.env().wait(lock, arrivals_->more, look);
            here = std::exchange(arrivals_->all, {});
        }
        if (!here.empty()) break;
        try {
            context_.check();
            check_patience(begin);
        } catch (const error& why) {
            const auto what = waited_for();
            if (give_up()) throw_error(why.code(), std::string(why.what()) + "; it waits for " + what);
        } // else what all of them wait for is there, or comes at once: nothing of it is lost
    }
    for (auto& a : here) {
        const auto at =
            std::find_if(started_.begin(), started_.end(), [&](const auto& s) { return s.ticket == a.ticket; });
        if (at == started_.end()) continue;
        const piece p = at->of;
        erase_if(started_, [&](const auto& s) { return s.ticket == a.ticket; });
        p.of->arrived(p.number, std::move(a.problem), std::move(a.outputs));
    }
}

RILL_COLD void step_events::check_patience(environment::time_point since) const {
    if (patience_ == forever || context_.env().now() - since <= patience_) return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::chrono::duration<double>(patience_).count());
    throw deadline_exceeded(std::string("nothing has come for ") + text +
                            " s (session_options::patience) that the step waits for");
}

RILL_COLD std::string step_events::waited_for() const {
    std::string text;
    for (const auto& s : started_)
        text += (text.empty() ? "" : ", ") + place_of(*s.of.of->plan_.alone(s.of.number)->item().origin);
    return text;
}

RILL_COLD bool step_events::give_up() noexcept {
    bool any = false;
    erase_if(started_, [&](const auto& s) {
        const bool gone = !s.give_up || s.give_up();
        any = any || gone;
        return gone;
    });
    return any;
}

/// Where a node asks to come later.
class piecewise_run::place_to_wait final : public waiting {
public:
    place_to_wait(piecewise_run& run, std::size_t piece) : run_(run), piece_(piece) {}
    bool used() const { return used_; }

    completion later(std::function<bool()> give_up) override {
        used_ = true;
        return run_.events_->later({&run_, piece_}, std::move(give_up));
    }

private:
    piecewise_run& run_;
    std::size_t piece_;
    bool used_ = false;
};

/// The bodies of a node, and the one that runs.
struct piecewise_run::body_run {
    std::size_t piece;
    std::unique_ptr<body_sequence> bodies;
    std::shared_ptr<const void> keep;
    std::vector<any_array> feeds = {};
    std::unique_ptr<piecewise_run> now = {};
};

RILL_COLD piecewise_run::piecewise_run(const piecewise_plan& p, std::span<const any_array> feeds)
    : plan_(p), values_(p.first_values()), held_(p.cut().all.size()), missing_(p.missing()), left_(missing_.size()) {
    std::ranges::copy(feeds, values_.begin());
}

RILL_COLD piecewise_run::~piecewise_run() {
    for (std::size_t p = 0; p < held_.size(); ++p)
        if (held_[p]) plan_.line(p).release(std::move(held_[p]));
}

RILL_COLD void piecewise_run::run(const step_context& context) {
    std::vector<std::function<void()>> on_failure;
    auto mine = context;
    if (!mine.on_failure) mine.on_failure = &on_failure;
    step_events events(plan_, mine);
    try {
        begin(events, mine);
        run_to_end();
    } catch (...) {
        events.give_up();
        for (const auto& undo : on_failure) undo();
        throw;
    }
}

RILL_COLD void piecewise_run::begin(step_events& events, const step_context& context) {
    events_ = &events;
    context_ = &context;
    for (const auto* n : plan_.pinned())
        if (const auto v = plan_.resources().known_variable(n))
            if (auto version = v->read()) versions_.emplace(v.get(), std::move(version));
    for (std::size_t k = 0; k < missing_.size(); ++k)
        if (missing_[k] == 0) events.add({this, k});
}

RILL_COLD void piecewise_run::run_to_end() {
    while (left_ > 0) {
        if (const auto [of, p] = events_->next(); of) of->run_piece(p);
    }
}

RILL_COLD void piecewise_run::run_piece(std::size_t p) {
    bool done = true;
    try {
        if (plan_.alone(p))
            done = run_alone(p);
        else
            run_line(p);
    } catch (...) {
        rethrow_outwards();
    }
    if (done) complete(p);
}

RILL_COLD void piecewise_run::run_line(std::size_t p) {
    const auto& piece = plan_.cut().all[p];
    vector<any_array> in;
    for (const int v : piece.takes) in.push_back(values_[v]);
    auto& line = plan_.line(p);
    held_[p] = line.acquire(in);
    auto& step = *held_[p];
    step.memory->context = context_;
    step.memory->pinned = &versions_;
    std::vector<const void*> data;
    for (const auto& a : in) data.push_back(a.data());
    step.of->run(*step.memory, data);
    step.memory->pinned = nullptr;
    for (std::size_t k = 0; k < piece.gives.size(); ++k)
        values_[piece.gives[k]] = any_array(step.of->fetch_type(k).type, step.of->fetch_type(k).shape,
                                            step.of->fetch_data(*step.memory, k), nullptr);
}

RILL_COLD bool piecewise_run::run_alone(std::size_t p) {
    const auto& alone = *plan_.alone(p);
    vector<any_array> in;
    for (const int v : plan_.cut().all[p].takes) in.push_back(values_[v]);
    std::shared_ptr<const void> keep;
    if (auto bodies = alone.begin(in, keep)) {
        bodies_.push_back(std::make_unique<body_run>(body_run{p, std::move(bodies), std::move(keep)}));
        return go_on(p, {});
    }
    place_to_wait here(*this, p);
    auto outputs = alone.run(in, context_, alone.waits() ? &here : nullptr);
    if (here.used()) return false;
    give(p, std::move(outputs));
    return true;
}

/// Runs a node's bodies, up to one that is run in pieces: that goes on with the rest of the step.
RILL_COLD bool piecewise_run::go_on(std::size_t p, std::vector<any_array> given) {
    const auto at = std::find_if(bodies_.begin(), bodies_.end(), [&](const auto& b) { return b->piece == p; });
    auto& running = **at;
    running.now = nullptr;
    try {
        try {
            while (plan* next = running.bodies->next(given, running.feeds)) {
                context_->check();
                if (!next->in_pieces()) {
                    given = run_plan(*next, running.feeds, context_);
                    continue;
                }
                running.now = std::make_unique<piecewise_run>(*next->in_pieces(), running.feeds);
                running.now->outer_ = this;
                running.now->outer_piece_ = p;
                running.now->begin(*events_, *context_);
                if (running.now->left_ > 0) return false;
                given = running.now->all_fetched();
            }
        } catch (...) {
            running.bodies->rethrow();
        }
    } catch (...) {
        plan_.alone(p)->rethrow();
    }
    give(p, std::move(given));
    erase_if(bodies_, [&](const auto& b) { return b->piece == p; });
    return true;
}

RILL_COLD std::vector<any_array> piecewise_run::all_fetched() const {
    std::vector<any_array> all;
    for (std::size_t i = 0; i < plan_.cut().fetches.size(); ++i) all.push_back(owned_copy(fetched(i)));
    return all;
}

/// What is being handled, as an error of the nodes that this run is a body of.
RILL_COLD void piecewise_run::rethrow_outwards() const {
    if (!outer_) throw;
    try {
        for (const auto& b : outer_->bodies_)
            if (b->piece == outer_piece_) b->bodies->rethrow();
        throw;
    } catch (...) {
        try {
            outer_->plan_.alone(outer_piece_)->rethrow();
        } catch (...) {
            outer_->rethrow_outwards();
        }
    }
}

RILL_COLD void piecewise_run::arrived(std::size_t p, std::exception_ptr problem, std::vector<any_array> outputs) {
    if (problem) {
        try {
            try {
                std::rethrow_exception(problem);
            } catch (...) {
                plan_.alone(p)->rethrow();
            }
        } catch (...) {
            rethrow_outwards();
        }
    }
    give(p, std::move(outputs));
    complete(p);
}

RILL_COLD void piecewise_run::give(std::size_t p, std::vector<any_array> outputs) {
    const auto& gives = plan_.cut().all[p].gives;
    for (std::size_t k = 0; k < gives.size() && k < outputs.size(); ++k) values_[gives[k]] = std::move(outputs[k]);
}

/// May end this run, and with it its life: the node that it is a body of goes on.
RILL_COLD void piecewise_run::complete(std::size_t p) {
    for (const std::size_t n : plan_.next()[p])
        if (--missing_[n] == 0) events_->add({this, n});
    if (--left_ > 0 || !outer_) return;
    auto& outer = *outer_;
    const std::size_t piece = outer_piece_;
    bool done = false;
    try {
        done = outer.go_on(piece, all_fetched()); // this run is gone now
    } catch (...) {
        outer.rethrow_outwards();
    }
    if (done) outer.complete(piece);
}

}}} // namespace rill::RILL_ABI::detail
