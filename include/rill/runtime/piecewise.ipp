// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/piecewise.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rill/device/registry.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/array_slots.hpp>
#include <rill/runtime/bodies.hpp>
#include <rill/runtime/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// ---- a node that stands alone --------------------------------------------------------------------------------------------

struct alone_node::bound {
    std::vector<tensor_type> inputs;
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
        const auto outputs = op.outputs({inputs, {}, {}});
        const auto type = op.kernel_type(inputs, outputs);
        const auto factory = find_kernel(cpu_device().name, op.kernel_name(), type);
        if (!factory)
            throw unimplemented("no kernel of " + std::string(op.name()) + " for " + std::string(to_string(type)) +
                                " is in this program");
        kernel_request request{inputs, outputs};
        request.pool = resources_->threads().for_ops();
        made->run = (*factory)(op.attributes(), request);
        made->scratch = request.scratch_bytes;
    }
    bound_.insert(bound_.begin(), made);
    if (bound_.size() > kept) bound_.pop_back();
    return made;
}

RILL_COLD std::vector<any_array> alone_node::run_kernel(std::span<const any_array> inputs, const step_context* context,
                                                        const completion* done) const {
    std::vector<tensor_type> types;
    for (const auto& in : inputs) types.push_back(in.type());
    const auto b = bind(types);
    if (b->region.step) return b->region.step->run_alone(inputs, context);
    std::vector<any_array> none, outputs(item_.origin->outputs.size());
    array_slots slots(inputs, none);
    const memory_block scratch(memory_, b->scratch);
    auto args = slots.args(context, scratch.data());
    args.sized = outputs.data();
    args.done = done;
    b->run(args);
    return outputs;
}

RILL_COLD std::vector<any_array> alone_node::run(std::span<const any_array> inputs, const step_context* context,
                                                 const completion* done) const {
    try {
        return run_kernel(inputs, context, done);
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
    std::vector<const node*> written;
    for (const auto& it : g.items)
        if (it.origin)
            for (const int w : it.op->writes()) written.push_back(g.items[it.inputs[w].item].origin);
    for (const auto& it : g.items)
        if (it.origin && it.op->role() == op_role::variable && std::ranges::find(written, it.origin) == written.end())
            pinned_.push_back(it.origin);
}

RILL_COLD void piecewise_plan::close() const noexcept {
    for (const auto& p : lines_)
        if (p) p->close();
    for (const auto& a : alone_)
        if (a) a->close();
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

RILL_COLD piecewise_run::piecewise_run(const piecewise_plan& p, std::span<const any_array> feeds)
    : plan_(p), values_(static_cast<std::size_t>(p.cut().values)), held_(p.cut().all.size()), next_(held_.size()),
      arrivals_(std::make_shared<arrivals>()) {
    std::ranges::copy(feeds, values_.begin());
    std::vector<int> giver(values_.size(), -1);
    const auto& all = p.cut().all;
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
        if (before.empty()) ready_.push_back(k);
    }
}

RILL_COLD piecewise_run::~piecewise_run() {
    for (std::size_t p = 0; p < held_.size(); ++p)
        if (held_[p]) plan_.line(p).release(std::move(held_[p]));
}

RILL_COLD void piecewise_run::run(const step_context& context) {
    for (const auto* n : plan_.pinned())
        if (const auto v = plan_.resources().known_variable(n))
            if (auto version = v->read()) versions_.emplace(v.get(), std::move(version));
    std::size_t left = missing_.size();
    while (left > 0) {
        if (ready_.empty()) {
            const std::size_t before = waiting_;
            wait(context);
            left -= before - waiting_;
            continue;
        }
        context.check();
        const std::size_t p = ready_.back();
        ready_.pop_back();
        if (plan_.alone(p) && plan_.alone(p)->waits()) {
            start_alone(p, context);
            continue;
        }
        run_piece(p, context);
        complete(p);
        --left;
    }
}

RILL_COLD void piecewise_run::run_piece(std::size_t p, const step_context& context) {
    const auto& piece = plan_.cut().all[p];
    vector<any_array> in;
    for (const int v : piece.takes) in.push_back(values_[v]);
    if (const auto* alone = plan_.alone(p)) {
        auto out = alone->run(in, &context, nullptr);
        for (std::size_t k = 0; k < out.size(); ++k) values_[piece.gives[k]] = std::move(out[k]);
        return;
    }
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

RILL_COLD void piecewise_run::start_alone(std::size_t p, const step_context& context) {
    std::vector<any_array> in;
    for (const int v : plan_.cut().all[p].takes) in.push_back(values_[v]);
    const completion done = [p, into = std::weak_ptr(arrivals_)](std::exception_ptr problem,
                                                                 std::vector<any_array> outputs) {
        const auto to = into.lock(); // gone: the step has ended
        if (!to) return;
        const std::lock_guard lock(to->mutex);
        if (std::ranges::find(to->came, p) != to->came.end()) return;
        to->came.push_back(p);
        to->all.push_back({p, std::move(problem), std::move(outputs)});
        to->more.notify_one();
    };
    plan_.alone(p)->run(in, &context, &done);
    ++waiting_;
}

/// Takes what has arrived; sleeps until something has. Cancelling is seen within a hundredth of a second.
RILL_COLD void piecewise_run::wait(const step_context& context) {
    using clock = std::chrono::steady_clock;
    constexpr auto look = std::chrono::milliseconds(10);
    const auto begin = clock::now();
    std::vector<arrivals::arrival> here;
    for (;;) {
        std::unique_lock lock(arrivals_->mutex);
        if (arrivals_->all.empty()) arrivals_->more.wait_for(lock, look);
        here = std::exchange(arrivals_->all, {});
        if (!here.empty()) break;
        lock.unlock();
        context.check();
        if (plan_.patience() != forever && clock::now() - begin > plan_.patience())
            throw deadline_exceeded(
                "nothing has come for " +
                std::to_string(std::chrono::duration_cast<std::chrono::seconds>(plan_.patience()).count()) +
                " s (session_options::patience) that the step waits for");
    }
    for (auto& a : here) {
        --waiting_;
        if (a.problem) {
            try {
                std::rethrow_exception(a.problem);
            } catch (...) {
                plan_.alone(a.piece)->rethrow();
            }
        }
        const auto& gives = plan_.cut().all[a.piece].gives;
        for (std::size_t k = 0; k < gives.size() && k < a.outputs.size(); ++k)
            values_[gives[k]] = std::move(a.outputs[k]);
        complete(a.piece);
    }
}

RILL_COLD void piecewise_run::complete(std::size_t p) {
    for (const std::size_t n : next_[p])
        if (--missing_[n] == 0) ready_.push_back(n);
}

}}} // namespace rill::RILL_ABI::detail
