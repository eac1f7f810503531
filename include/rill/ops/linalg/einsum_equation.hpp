// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <rill/core/shape_rules.hpp>

// The equations of einsum, such as "ij,jk->ik". Literals are parsed at compile time.

namespace rill { inline namespace RILL_ABI {

/// An equation as a template argument: einsum<"ij,jk->ik">.
template <std::size_t N> struct einsum_text {
    char text[N];

    consteval einsum_text(const char (&literal)[N]) { std::copy_n(literal, N, text); }
    constexpr std::string_view view() const { return {text, N - 1}; }
};

/// An equation: a term of labels for each operand, then the result's term. Digits stand for the axes of an ellipsis. An equation with an
/// ellipsis has no other digits.
struct einsum_equation {
    static constexpr int most = 8; // the limit of operands

    int operands = 0;
    std::array<std::array<char, max_rank>, most + 1> terms{};
    std::array<int, most + 1> ranks{};
    const char* broken = nullptr; // the reason for which it does not parse, or null
    std::optional<int> axis = {}; // the axis that the reason refers to

    constexpr int rank(int term) const { return ranks[static_cast<std::size_t>(term)]; }
    constexpr std::string_view term(int i) const {
        return {terms[static_cast<std::size_t>(i)].data(), static_cast<std::size_t>(rank(i))};
    }
    /// Returns the place of a label in a term, or -1. (std::string_view::find of a temporary is not constant to g++ 12.)
    constexpr int place(int term, char label) const {
        for (int k = 0; k < rank(term); ++k)
            if (terms[static_cast<std::size_t>(term)][static_cast<std::size_t>(k)] == label) return k;
        return -1;
    }
    constexpr bool has(int term, char label) const { return place(term, label) >= 0; }
    constexpr void set_term(int i, std::string_view labels) {
        ranks[static_cast<std::size_t>(i)] = static_cast<int>(labels.size());
        std::copy(labels.begin(), labels.end(), terms[static_cast<std::size_t>(i)].begin());
    }
    /// Returns true if one operand alone has the label, and the result does not.
    constexpr bool is_lone(char label) const {
        int found = 0;
        for (int i = 0; i <= operands; ++i) found += has(i, label);
        return found == 1;
    }
    /// Returns the labels of the product of `left` and operand i that later operands or the result need.
    std::string after(std::string_view left, int i) const;
};

/// Parses an equation for operands of these ranks (-1: unknown). Returns the equation, or the reason why it does not parse.
template <std::size_t N>
constexpr einsum_equation parse_einsum(std::string_view text, const std::array<int, N>& ranks) {
    einsum_equation e;
    const auto broken = [&](const char* why) {
        e.broken = why;
        return e;
    };
    if (N > einsum_equation::most) return broken("there are more than 8 operands");
    e.operands = static_cast<int>(N);
    std::size_t arrow = 0;
    while (arrow < text.size() && text.substr(arrow, 2) != "->") ++arrow;
    std::string_view left = text.substr(0, arrow);
    int ellipsis = 0; // the most axes of any ellipsis
    bool has_digits = false, has_dots = false;
    // reads one term; `rank` is -1 for the result, and if only the labels tell
    const auto read = [&](std::string_view from, std::size_t at, int rank, bool is_result) -> const char* {
        std::array<char, max_rank> labels{};
        int count = 0, dots = -1;
        for (std::size_t i = 0; i < from.size(); ++i) {
            const char c = from[i];
            if (c == ' ') continue;
            if (from.substr(i, 3) == "...") {
                if (dots >= 0) return "a term has two ellipses";
                dots = count;
                has_dots = true;
                if (has_digits) return "labels beside an ellipsis are letters";
                i += 2;
                continue;
            }
            const bool is_label = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!is_label) return "a label is not a letter";
            has_digits = has_digits || c <= '9';
            if (has_digits && has_dots) return "labels beside an ellipsis are letters";
            for (int k = 0; k < count; ++k)
                if (labels[static_cast<std::size_t>(k)] == c) return "a label occurs twice in one term";
            if (count == max_rank) return "a term has more than 8 labels";
            labels[static_cast<std::size_t>(count++)] = c;
        }
        if (dots < 0) {
            if (rank >= 0 && rank != count) return "an operand does not have as many axes as its term";
        } else {
            if (!is_result && rank < 0) return "an ellipsis takes an operand of known rank";
            const int axes = is_result ? ellipsis : rank - count;
            if (axes < 0) return "an operand has fewer axes than its term";
            if (count + axes > max_rank) return "a term has more than 8 labels";
            if (axes > ellipsis) ellipsis = axes;
            for (int k = count - 1; k >= dots; --k)
                labels[static_cast<std::size_t>(k + axes)] = labels[static_cast<std::size_t>(k)];
            for (int k = 0; k < axes; ++k)
                labels[static_cast<std::size_t>(dots + k)] = static_cast<char>('0' + axes - 1 - k);
            count += axes;
        }
        e.terms[at] = labels;
        e.ranks[at] = count;
        return nullptr;
    };
    for (std::size_t i = 0; i < N; ++i) {
        std::size_t comma = 0;
        while (comma < left.size() && left[comma] != ',') ++comma;
        if ((comma == left.size()) != (i + 1 == N)) return broken("there are not as many terms as operands");
        if (const char* why = read(left.substr(0, comma), i, ranks[i], false)) return broken(why);
        left = left.substr(std::min(left.size(), comma + 1));
    }
    if (arrow < text.size()) {
        if (const char* why = read(text.substr(arrow + 2), N, -1, true)) return broken(why);
        for (const char label : e.term(e.operands)) {
            bool known = false;
            for (int i = 0; i < e.operands; ++i) known = known || e.has(i, label);
            if (!known) return broken("a label of the result is in no operand");
        }
        return e;
    }
    for (int label = '0'; label <= 'z'; ++label) { // axes of an ellipsis first, from the outermost on
        const char c = static_cast<char>(label <= '9' ? '9' - (label - '0') : label);
        int found = 0;
        for (int i = 0; i < e.operands; ++i) found += e.has(i, c);
        if (found != 1 && !(found > 1 && c <= '9')) continue;
        if (e.ranks[N] == max_rank) return broken("the result has more than 8 labels");
        e.terms[N][static_cast<std::size_t>(e.ranks[N]++)] = c;
    }
    return e;
}

/// Returns the last `count` axes of `rank`.
constexpr axis_list last_axes(int rank, int count) {
    axis_list all;
    for (int i = rank < count ? 0 : rank - count; i < rank; ++i) all.push(i);
    return all;
}

/// Returns the equation of tensordot for tensors of these ranks.
constexpr einsum_equation tensordot_equation(int rank_a, int rank_b, const axis_list& of_a, const axis_list& of_b) {
    einsum_equation e;
    e.operands = 2;
    const auto broken = [&](const char* why, std::optional<int> axis = {}) {
        e.broken = why;
        e.axis = axis;
        return e;
    };
    if (rank_a < 0 || rank_b < 0) return broken("the ranks must be known");
    if (of_a.count != of_b.count) return broken("there are more axes of one operand than of the other");
    e.ranks = {rank_a, rank_b, 0};
    for (int i = 0; i < rank_a; ++i) e.terms[0][static_cast<std::size_t>(i)] = static_cast<char>('a' + i);
    for (int i = 0; i < rank_b; ++i) e.terms[1][static_cast<std::size_t>(i)] = static_cast<char>('A' + i);
    for (int i = 0; i < of_a.count; ++i) {
        const int a = rules::normal_axis(of_a[i], rank_a), b = rules::normal_axis(of_b[i], rank_b);
        if (a < 0 || b < 0) return broken("an axis is out of range", a < 0 ? of_a[i] : of_b[i]);
        const char label = e.terms[0][static_cast<std::size_t>(a)];
        const bool taken = e.terms[1][static_cast<std::size_t>(b)] >= 'a';
        if (taken || e.has(1, label)) return broken("an axis is named twice", taken ? of_b[i] : of_a[i]);
        e.terms[1][static_cast<std::size_t>(b)] = label;
    }
    for (int t = 0; t < 2; ++t)
        for (const char label : e.term(t)) {
            if (e.has(1 - t, label)) continue;
            if (e.ranks[2] == max_rank) return broken("the result would have more than 8 dimensions");
            e.terms[2][static_cast<std::size_t>(e.ranks[2]++)] = label;
        }
    return e;
}

namespace rules {

/// Returns the shape of an equation's result for operands of these shapes.
template <std::size_t N> constexpr shape_result einsum(const einsum_equation& e, const std::array<dims, N>& shapes) {
    if (e.broken) return {dims::unknown(), e.broken};
    const auto extent = [&](char label, const char*& broken) {
        index_t known = dyn;
        for (std::size_t i = 0; i < N; ++i) {
            const int at = e.place(static_cast<int>(i), label);
            if (at < 0 || !shapes[i].known_rank()) continue;
            const index_t here = shapes[i][at];
            if (!extents_compatible(known, here)) broken = "two axes with one label have different extents";
            if (known == dyn) known = here;
        }
        return known;
    };
    const char* broken = nullptr;
    for (std::size_t i = 0; i < N; ++i) {
        if (shapes[i].known_rank() && shapes[i].rank != e.rank(static_cast<int>(i)))
            return {dims::unknown(), "an operand does not have as many axes as its term"};
        for (const char label : e.term(static_cast<int>(i))) extent(label, broken);
    }
    dims r;
    for (const char label : e.term(e.operands)) r.push(extent(label, broken));
    return {r, broken};
}

} // namespace rules

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::string einsum_equation::after(std::string_view left, int i) const {
    if (i + 1 == operands) return std::string(term(operands));
    std::string labels;
    const auto take = [&](std::string_view from) {
        for (const char label : from) {
            bool needed = false;
            for (int k = i + 1; k <= operands; ++k) needed = needed || has(k, label);
            if (needed && labels.find(label) == std::string::npos) labels += label;
        }
    };
    take(left);
    take(term(i));
    return labels;
}

}} // namespace rill::RILL_ABI
#endif
