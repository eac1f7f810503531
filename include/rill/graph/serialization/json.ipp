// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/config.hpp>

#if RILL_KERNELS_HAVE_JSON // else rill::kernels is built without it
#include <rill/graph/serialization/json.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <map>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

using json = nlohmann::ordered_json;

template <class T> json json_of_element(const T& v) {
    if constexpr (is_complex<T>)
        return json::array({json_of_element(v.real()), json_of_element(v.imag())});
    else if constexpr (std::is_floating_point_v<T>) // JSON has neither infinities nor NaN
        return std::isfinite(v) ? json(v) : json(std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
        return v;
    else if constexpr (is_real_floating<T>)
        return json_of_element(static_cast<float>(v));
    else
        return static_cast<std::int64_t>(v.value);
}

inline json json_of(const any_array& a) {
    json out{{"type", to_string(a.type())}};
    constexpr index_t most = 16;
    auto& values = out["values"] = json::array();
    visit_dtype(a.dtype(), [&]<class T>(std::type_identity<T>) {
        for (const auto& v : a.elements<T>().first(static_cast<std::size_t>(std::min(most, a.size()))))
            values.push_back(json_of_element(v));
    });
    if (a.size() > most) values.push_back("...");
    return out;
}

inline json json_of(const index_list& list) {
    return std::vector<index_t>(list.extent.begin(), list.extent.begin() + std::max(list.rank, 0));
}

inline json json_of(const axis_list& axes) {
    json out = json::array();
    for (int i = 0; i < axes.count; ++i) out.push_back(axes[i]);
    return out;
}

inline json json_of(const reduction& r) {
    json out{{"how", to_string(r.how)}};
    if (r.axes.count > 0) out["axes"] = json_of(r.axes);
    if (r.keep_dims) out["keep_dims"] = true;
    return out;
}

inline json json_of(const fused_spec& s) {
    if (!s.body) return nullptr;
    constexpr const char* kinds[] = {"forward", "adjoint", "program", "by_result"};
    static_assert(std::size(kinds) == static_cast<std::size_t>(fused_spec::form::by_result) + 1);
    json out{{"program", s.body->key}, {"kind", kinds[static_cast<int>(s.kind)]}};
    for (const auto& l : s.leaves) {
        json leaf{{"input", l.input}};
        if (l.view.how != combine::map) leaf["view"] = json_of(l.view);
        out["leaves"].push_back(std::move(leaf));
    }
    for (const auto& r : s.results) {
        json result = json_of(r.reduce);
        if (r.like >= 0) result["like"] = r.like;
        out["results"].push_back(std::move(result));
    }
    for (const auto& v : s.scalars)
        visit_dtype(v.type, [&]<class T>(std::type_identity<T>) {
            if constexpr (std::is_trivially_copyable_v<T>) out["scalars"].push_back(json_of_element(v.as<T>()));
        });
    return out;
}

class field_json final : public uniform_visitor<field_json> {
public:
    template <class T> void visit(const char* name, const T& v) {
        if constexpr (std::is_same_v<T, dtype> || std::is_same_v<T, dims>)
            out[name] = to_string(v);
        else if constexpr (std::is_same_v<T, index_list> || std::is_same_v<T, axis_list> ||
                           std::is_same_v<T, any_array> || std::is_same_v<T, fused_spec>)
            out[name] = json_of(v);
        else
            out[name] = json_of_element(v);
    }
    json out = json::object();
};

inline json json_of(const body& b) {
    json out{{"region", b.of->name}};
    const auto list = [&](const char* name, const std::vector<endpoint>& ends) {
        for (const auto& e : ends) out[name].push_back(e ? json(name_of(e)) : json(nullptr));
    };
    list("arguments", b.arguments);
    list("results", b.results);
    list("captures", b.captures);
    for (const auto* e : b.effects) out["effects"].push_back(e->name);
    return out;
}

inline json json_of(const node& n) {
    json out{{"name", n.name}, {"op", n.op->kernel_name()}, {"version", n.op->version()}};
    if (n.op->name() != n.op->kernel_name()) out["signature"] = n.op->name();
    for (const auto& e : n.inputs) out["inputs"].push_back(name_of(e));
    for (const auto* c : n.control_inputs) out["after"].push_back(c->name);
    if (!n.device.empty()) out["device"] = n.device;
    if (n.colocated) out["colocated_with"] = n.colocated->name;
    if (const auto back = n.owner->back_edge(&n)) out["back_edge"] = name_of(back);
    if (n.inside) out["inside"] = n.inside->name;
    if (n.bodies)
        for (const auto& b : *n.bodies) out["bodies"].push_back(json_of(b));
    for (const auto& t : n.outputs) out["outputs"].push_back(to_string(t));
    field_json fields;
    n.op->fields(fields);
    if (!fields.out.empty()) out["fields"] = std::move(fields.out);
    return out;
}

} // namespace detail

RILL_COLD std::string to_json(const graph& g) {
    using detail::json;
    json out{{"rill", std::to_string(RILL_VERSION_MAJOR) + "." + std::to_string(RILL_VERSION_MINOR)},
             {"seed", g.seed()}};
    json nodes = json::array(), collections = json::object(), initializers = json::object();
    for (const auto* n : g.nodes()) {
        nodes.push_back(detail::json_of(*n));
        if (const auto* i = g.state().initializer(n)) initializers[n->name] = i->name;
    }
    for (const auto& [name, members] : g.state().collections())
        for (const auto& e : members) collections[name].push_back(name_of(e));
    out["nodes"] = std::move(nodes);
    out["collections"] = std::move(collections);
    out["initializers"] = std::move(initializers);
    return out.dump(2, ' ', false, json::error_handler_t::replace); // a text may be invalid UTF-8
}

}} // namespace rill::RILL_ABI
#endif
