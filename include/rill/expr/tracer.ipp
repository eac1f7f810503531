// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/tracer.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD tracer::tracer(std::vector<dtype> leaves, detail::vector<scalar_value> scalars)
    : leaves_(std::move(leaves)), scalars_(std::move(scalars)) {}
RILL_COLD tracer::~tracer() = default;

RILL_COLD int tracer::constant(const scalar_value& value) {
    for (std::size_t i = 0; i < scalars_.size(); ++i)
        if (i >= fixed_scalars_ && scalars_[i] == value) return scalar(i);
    scalars_.push_back(value);
    return scalar(scalars_.size() - 1);
}

RILL_COLD int tracer::emit(const elementwise_info& op, dtype type, std::vector<int> args) {
    const auto [at, fresh] = seen_.try_emplace({&op, type, args}, code_base + static_cast<int>(code_.size()));
    if (fresh) code_.push_back({&op, type, std::move(args)});
    return at->second;
}

RILL_COLD std::vector<int> tracer::append(const program& p) {
    std::vector<int> values;
    for (int i = 0; i < p.first_scalar(); ++i) values.push_back(leaf(i));
    for (std::size_t i = 0; i < p.scalars.size(); ++i) values.push_back(scalar(i));
    for (const auto& i : p.code) {
        std::vector<int> args;
        for (const int a : i.args) args.push_back(values[static_cast<std::size_t>(a)]);
        values.push_back(emit(*i.op, i.type, std::move(args)));
    }
    return values;
}

RILL_COLD dtype tracer::type_of(int value) const {
    if (value >= code_base) return code_[value - code_base].type;
    if (value >= scalar_base) return scalars_[value - scalar_base].type;
    return leaves_[value];
}

RILL_COLD program_ptr tracer::finish(const std::vector<int>& results) const {
    program p;
    p.leaves = leaves_;
    for (const auto& s : scalars_) p.scalars.push_back(s.type);
    const auto number = [&](int v) {
        if (v >= code_base) return p.first_instruction() + v - code_base;
        return v >= scalar_base ? p.first_scalar() + v - scalar_base : v;
    };
    for (auto i : code_) {
        for (auto& a : i.args) a = number(a);
        p.code.push_back(std::move(i));
    }
    for (const int r : results) p.results.push_back(number(r));
    p.key = spelled_key(p);
    return std::make_shared<const program>(std::move(p));
}

RILL_COLD program_ptr tracer::finish_op(int result) const {
    const auto spelled = finish({result});
    if (!is_one_op(*spelled)) return spelled;
    program p = *spelled;
    p.key = instruction_key(p, p.code[0]);
    return std::make_shared<const program>(std::move(p));
}

}} // namespace rill::RILL_ABI
