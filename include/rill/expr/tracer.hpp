// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>
#include <vector>

#include <rill/device/lane.hpp>
#include <rill/device/registry.hpp>

namespace rill::inline RILL_ABI {

/// Builds a program instruction by instruction; equal instructions become one.
class tracer {
public:
    tracer(std::vector<dtype> leaves, std::vector<scalar_value> scalars)
        : leaves_(std::move(leaves)), scalars_(std::move(scalars)) {}

    // Values are numbered while their kinds are still growing: the kind sits in the upper bits until `finish`.
    static constexpr int scalar_base = 1 << 20, code_base = 1 << 21;

    int leaf(int i) const { return i; }
    int scalar(std::size_t i) const { return scalar_base + static_cast<int>(i); }

    int constant(const scalar_value& value) {
        for (std::size_t i = 0; i < scalars_.size(); ++i)
            if (i >= fixed_scalars_ && scalars_[i] == value) return scalar(i);
        scalars_.push_back(value);
        return scalar(scalars_.size() - 1);
    }
    /// The first n scalars are the node's own: constants are never merged with them, whatever their value.
    void fix_scalars(std::size_t n) { fixed_scalars_ = n; }

    int emit(std::string_view op, dtype type, std::vector<int> args) {
        auto key = std::pair(std::string(op) + ":" + std::string(to_string(type)), args);
        const auto [at, fresh] = seen_.try_emplace(std::move(key), code_base + static_cast<int>(code_.size()));
        if (fresh) code_.push_back({std::string(op), type, std::move(args)});
        return at->second;
    }

    dtype type_of(int value) const {
        if (value >= code_base) return code_[static_cast<std::size_t>(value - code_base)].type;
        if (value >= scalar_base) return scalars_[static_cast<std::size_t>(value - scalar_base)].type;
        return leaves_[static_cast<std::size_t>(value)];
    }

    /// The finished program; its key spells it out.
    program_ptr finish(const std::vector<int>& results) const {
        program p;
        p.leaves = leaves_;
        for (const auto& s : scalars_) p.scalars.push_back(s.type);
        const auto number = [&](int v) {
            if (v >= code_base) return p.first_instruction() + v - code_base;
            return v >= scalar_base ? p.first_scalar() + v - scalar_base : v;
        };
        p.key = "program";
        for (const auto d : leaves_) p.key += " " + std::string(to_string(d));
        p.key += ";";
        for (const auto d : p.scalars) p.key += " " + std::string(to_string(d));
        for (auto i : code_) {
            p.key += "; " + i.op + ":" + std::string(to_string(i.type));
            for (auto& a : i.args) p.key += " " + std::to_string(a = number(a));
            p.code.push_back(std::move(i));
        }
        p.key += " ->";
        for (const int r : results) {
            p.results.push_back(number(r));
            p.key += " " + std::to_string(p.results.back());
        }
        return std::make_shared<const program>(std::move(p));
    }
    const std::vector<scalar_value>& scalars() const { return scalars_; }

private:
    std::vector<dtype> leaves_;
    std::vector<scalar_value> scalars_;
    std::size_t fixed_scalars_ = 0;
    std::vector<program::instruction> code_;
    std::map<std::pair<std::string, std::vector<int>>, int> seen_;
};

/// A value of a program under construction: the third kind of value that value functions and pullbacks run on.
/// Literals stay literals until they meet a traced value.
template <class T> class symbol {
public:
    using value_type = T;
    static constexpr bool is_symbol = true;

    symbol(tracer& t, int id) : tracer_(&t), id_(id) {}
    template <class A>
        requires std::is_arithmetic_v<A>
    constexpr symbol(A literal) : literal_(detail::convert<T>(literal)) {}

    bool is_literal() const { return tracer_ == nullptr; }
    tracer* where() const { return tracer_; }
    const T& literal() const { return literal_; }
    int id(tracer& t) const { return is_literal() ? t.constant(scalar_value(literal_)) : id_; }

    /// An op over traced values, as one instruction.
    template <class Op, class... V> static auto traced(const V&... args);

private:
    tracer* tracer_ = nullptr;
    int id_ = -1;
    T literal_{};
};

template <class X>
concept symbolic = requires { std::remove_cvref_t<X>::is_symbol; };

} // namespace rill::inline RILL_ABI
