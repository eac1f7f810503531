// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/piecewise.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <exception>
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

/// What nodes that wait have brought, until the step takes it.
struct piecewise_run::arrivals {
    struct arrival {
        std::size_t piece;
        std::exception_ptr problem;
        std::vector<any_array> outputs;
    };
    std::mutex mutex;
    std::condition_variable more;
    std::vector<arrival> all;
    std::vector<std::size_t> came; // pieces that have brought theirs: a second time does not count
};

/// Where a node asks to come later.
class piecewise_run::place_to_wait final : public waiting {
public:
    place_to_wait(piecewise_run& run, std::size_t piece) : run_(run), piece_(piece) {}
    bool used() const { return used_; }

    completion later(std::function<bool()> give_up) override {
        if (!run_.arrivals_) run_.arrivals_ = std::make_shared<arrivals>();
        run_.waiting_.emplace_back(piece_, std::move(give_up));
        used_ = true;
        return [p = piece_, into = std::weak_ptr(run_.arrivals_)](std::exception_ptr problem,
                                                                  std::vector<any_array> outputs) {
            const auto to = into.lock(); // gone: the step has ended
            if (!to) return;
            const std::lock_guard lock(to->mutex);
            if (std::ranges::find(to->came, p) != to->came.end()) return;
            to->came.push_back(p);
            to->all.push_back({p, std::move(problem), std::move(outputs)});
            to->more.notify_one();
        };
    }

private:
    piecewise_run& run_;
    std::size_t piece_;
    bool used_ = false;
};

RILL_COLD piecewise_run::piecewise_run(const piecewise_plan& p, std::span<const any_array> feeds)
    : plan_(p), values_(p.first_values()), held_(p.cut().all.size()), missing_(p.missing()), left_(missing_.size()) {
    std::ranges::copy(feeds, values_.begin());
    for (std::size_t k = 0; k < missing_.size(); ++k)
        if (missing_[k] == 0) ready_.push_back(k);
}

RILL_COLD piecewise_run::~piecewise_run() {
    for (std::size_t p = 0; p < held_.size(); ++p)
        if (held_[p]) plan_.line(p).release(std::move(held_[p]));
}

RILL_COLD void piecewise_run::run(const step_context& context) {
    for (const auto* n : plan_.pinned())
        if (const auto v = plan_.resources().known_variable(n))
            if (auto version = v->read()) versions_.emplace(v.get(), std::move(version));
    if (context.on_failure) return run_or_give_up(context); // of the step that this is part of
    std::vector<std::function<void()>> on_failure;
    auto mine = context;
    mine.on_failure = &on_failure;
    try {
        run_or_give_up(mine);
    } catch (...) {
        for (const auto& undo : on_failure) undo();
        throw;
    }
}

RILL_COLD void piecewise_run::run_or_give_up(const step_context& context) {
    try {
        run_to_end(context);
    } catch (...) {
        give_up_waiting();
        throw;
    }
}

RILL_COLD void piecewise_run::run_to_end(const step_context& context) {
    while (left_ > 0) {
        if (ready_.empty()) {
            wait(context);
            continue;
        }
        context.check();
        const std::size_t p = ready_.back();
        ready_.pop_back();
        if (plan_.alone(p)) {
            if (!run_alone(p, context)) continue;
        } else {
            run_line(p, context);
        }
        complete(p);
    }
}

RILL_COLD void piecewise_run::run_line(std::size_t p, const step_context& context) {
    const auto& piece = plan_.cut().all[p];
    vector<any_array> in;
    for (const int v : piece.takes) in.push_back(values_[v]);
    auto& line = plan_.line(p);
    held_[p] = line.acquire(in);
    auto& step = *held_[p];
    step.memory->context = &context;
    step.memory->pinned = &versions_;
    std::vector<const void*> data;
    for (const auto& a : in) data.push_back(a.data());
    step.of->run(*step.memory, data);
    step.memory->pinned = nullptr;
    for (std::size_t k = 0; k < piece.gives.size(); ++k)
        values_[piece.gives[k]] = any_array(step.of->fetch_type(k).type, step.of->fetch_type(k).shape,
                                            step.of->fetch_data(*step.memory, k), nullptr);
}

RILL_COLD bool piecewise_run::run_alone(std::size_t p, const step_context& context) {
    vector<any_array> in;
    for (const int v : plan_.cut().all[p].takes) in.push_back(values_[v]);
    place_to_wait here(*this, p);
    auto outputs = plan_.alone(p)->run(in, &context, plan_.alone(p)->waits() ? &here : nullptr);
    if (here.used()) return false;
    give(p, std::move(outputs));
    return true;
}

RILL_COLD void piecewise_run::give(std::size_t p, std::vector<any_array> outputs) {
    const auto& gives = plan_.cut().all[p].gives;
    for (std::size_t k = 0; k < gives.size() && k < outputs.size(); ++k) values_[gives[k]] = std::move(outputs[k]);
}

/// Takes what has arrived; sleeps until something has. Cancelling is seen within a hundredth of a second.
RILL_COLD void piecewise_run::wait(const step_context& context) {
    constexpr auto look = std::chrono::milliseconds(10);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<arrivals::arrival> here;
    for (;;) {
        {
            std::unique_lock lock(arrivals_->mutex);
            if (arrivals_->all.empty()) arrivals_->more.wait_for(lock, look);
            here = std::exchange(arrivals_->all, {});
        }
        if (!here.empty()) break;
        try {
            context.check();
            check_patience(begin);
        } catch (const error& why) {
            const auto who = waits_for();
            if (give_up_waiting()) throw_error(why.code(), std::string(why.what()) + "; it waits for " + who);
        } // else what all of them wait for is there, or comes at once: nothing of it is lost
    }
    for (auto& a : here) {
        erase_if(waiting_, [&](const auto& w) { return w.first == a.piece; });
        if (a.problem) {
            try {
                std::rethrow_exception(a.problem);
            } catch (...) {
                plan_.alone(a.piece)->rethrow();
            }
        }
        give(a.piece, std::move(a.outputs));
        complete(a.piece);
    }
}

RILL_COLD void piecewise_run::check_patience(std::chrono::steady_clock::time_point since) const {
    const auto most = plan_.patience();
    if (most == forever || std::chrono::steady_clock::now() - since <= most) return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::chrono::duration<double>(most).count());
    throw deadline_exceeded(std::string("nothing has come for ") + text +
                            " s (session_options::patience) that the step waits for");
}

RILL_COLD std::string piecewise_run::waits_for() const {
    std::string text;
    for (const auto& [p, how] : waiting_) text += (text.empty() ? "" : ", ") + place_of(*plan_.alone(p)->item().origin);
    return text;
}

/// Whether any node is given up; others have come to their end.
RILL_COLD bool piecewise_run::give_up_waiting() noexcept {
    bool any = false;
    erase_if(waiting_, [&](const auto& w) {
        const bool gone = !w.second || w.second();
        any = any || gone;
        return gone;
    });
    return any;
}

RILL_COLD void piecewise_run::complete(std::size_t p) {
    --left_;
    for (const std::size_t n : plan_.next()[p])
        if (--missing_[n] == 0) ready_.push_back(n);
}

}}} // namespace rill::RILL_ABI::detail
