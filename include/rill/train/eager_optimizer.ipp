// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/eager_optimizer.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <rill/resources/resource_store.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD endpoint eager_states::add(const eager_state& v) {
    const endpoint made = add_variable(v.state()->type(), v.name(), {.collections = {}}, {});
    values_[made.from->name] = v.state(); // each graph makes it in the same order, hence under the same name
    return made;
}

RILL_COLD std::shared_ptr<local_session_core> eager_states::session_of(const graph& g) {
    auto core = make_local_session_core(g, session_options{});
    plan_key first_values;
    std::vector<const node*> fresh;
    for (const node* n : g.nodes()) {
        if (n->op->role() != op_role::variable) continue;
        const auto known = values_.find(n->name);
        if (known == values_.end()) {
            fresh.push_back(n);
            first_values.targets.push_back(g.state().initializer(n));
        } else if (known->second->type() == n->outputs[0]) {
            core->share(n, known->second);
        } else {
            throw invalid_argument("eager_optimizer: '" + n->name + "' was " + to_string(known->second->type()) +
                                   " before, and is " + to_string(n->outputs[0]) + " now (" + place_of(*n) + ")");
        }
    }
    if (fresh.empty()) return core;
    core->find_run(first_values)->run({});
    for (const node* n : fresh) values_[n->name] = core->shared(n);
    return core;
}

}}} // namespace rill::RILL_ABI::detail
