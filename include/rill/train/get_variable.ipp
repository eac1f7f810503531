// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/get_variable.hpp>

#include <rill/core/names.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD std::shared_ptr<const variables_in_scope> enter_variables(const std::string& name,
                                                                    const variable_scope_options& options) {
    if (!valid_name(name)) throw invalid_argument("variable_scope: '" + name + "' is not a valid name");
    auto inner = detail::make_shared<variables_in_scope>();
    if (const auto& outer = scopes().variables) *inner = *outer;
    inner->prefix += name + "/";
    inner->layers = detail::make_shared<std::map<std::string, int>>();
    if (options.reuse != reuse::never) inner->reuse = options.reuse;
    if (options.initializer) inner->initializer = options.initializer;
    return inner;
}

RILL_EXPORT RILL_COLD asked_variable ask_for_variable(const std::string& name, const tensor_type& type,
                                                      const std::source_location& where) {
    if (!valid_name(name)) throw invalid_argument("get_variable: '" + name + "' is not a valid name" + at_place(where));
    const auto& scope = scopes().variables;
    static std::recursive_mutex& making = *new std::recursive_mutex;
    asked_variable asked{std::unique_lock(making), {}, (scope ? scope->prefix : std::string()) + name};
    const auto how = scope ? scope->reuse : reuse::never;
    const node* const there = current_graph().state().find(asked.name);
    const auto text = [&] { return "get_variable: '" + asked.name + "'"; };
    if (!there) {
        if (how == reuse::always)
            throw not_found(text() +
                            " does not exist, and the scope says reuse::always: make it first, or say "
                            "reuse::automatic" +
                            at_place(where));
        return asked;
    }
    const std::string made = " (made at " + to_string(there->where) + ")";
    if (there->op->role() != op_role::variable) throw already_exists(text() + " is the name of another node" + made);
    if (how == reuse::never)
        throw already_exists(
            text() + " exists" + made +
            ": open its variable_scope with {.reuse = reuse::automatic} to share it, or one of another "
            "name to make a second one" +
            at_place(where));
    const auto& has = type_of({there, 0});
    if (has.type != type.type || !rules::compatible(has.shape, type.shape))
        throw invalid_argument(text() + " is " + to_string(has) + made + ", and asked for as " + to_string(type) +
                               at_place(where));
    asked.found = {there, 0};
    return asked;
}

RILL_COLD const any_initializer& initializer_in_scope() {
    static const any_initializer& none = *new any_initializer;
    const auto& scope = scopes().variables;
    return scope ? scope->initializer : none;
}

} // namespace detail

RILL_COLD any_tensor get_variable(const std::string& name, dtype type, const dims& shape,
                                  const any_initializer& initializer, const variable_options& options,
                                  const std::source_location& where) {
    const auto asked = detail::ask_for_variable(name, {type, shape}, where);
    if (asked.found) return any_tensor(asked.found);
    const detail::names_as_given exact;
    return any_variable(asked.name, type, shape, initializer, options, where);
}

}} // namespace rill::RILL_ABI
