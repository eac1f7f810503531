// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/device/lane.hpp>
#include <rill/device/primitives.hpp>

// Kernels for updates of variables: one thread per element.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The arrays of an update, and its constants, which lie in device memory.
template <class F, class T, std::size_t S, std::size_t I, std::size_t C> struct update_arrays_of {
    std::array<const T*, S> was;
    std::array<T*, S> state;
    std::array<const T*, I> in;
    const T* constants;

    struct loaded {
        std::array<lane<T>, S> state;
        std::array<lane<T>, I> in;
        std::array<lane<T>, C> constants;
    };

    /// Reads the elements at `at`, with inputs that `input(k)` returns.
    template <class Input> RILL_FN loaded load(index_t at, const Input& input) const {
        loaded all;
        for (std::size_t k = 0; k < S; ++k) all.state[k] = lane<T>(was[k][at]);
        for (std::size_t k = 0; k < I; ++k) all.in[k] = lane<T>(input(k));
        for (std::size_t k = 0; k < C; ++k) all.constants[k] = lane<T>(constants[k]);
        return all;
    }
    /// Updates the elements at `at`.
    RILL_FN void finish(index_t at, loaded all) const {
        F::run(all.state, all.in, all.constants);
        for (std::size_t k = 0; k < S; ++k) state[k][at] = all.state[k].v;
    }
    template <class Input> RILL_FN void run(index_t at, const Input& input) const { finish(at, load(at, input)); }
};

template <class F, class T, std::size_t S, std::size_t I, std::size_t C> struct update_element {
    update_arrays_of<F, T, S, I, C> of;
    RILL_FN auto load(index_t i) const {
        return of.load(i, [&](std::size_t k) { return of.in[k][i]; });
    }
    RILL_FN void finish(index_t i, const typename update_arrays_of<F, T, S, I, C>::loaded& all) const {
        of.finish(i, all);
    }
};

/// A function object that updates column i of the slices ids[k], for all k in order.
template <class F, class T, class Id, std::size_t S, std::size_t I, std::size_t C> struct update_column {
    update_arrays_of<F, T, S, I, C> of;
    const Id* ids;
    index_t count, inner;
    RILL_FN void operator()(index_t i) const {
        for (index_t k = 0; k < count; ++k)
            of.run(static_cast<index_t>(ids[k]) * inner + i, [&](std::size_t n) { return of.in[n][k * inner + i]; });
    }
};

/// An order of slices by id; slices with equal ids are ordered by number.
template <class Id> struct lower_id {
    const Id* ids;
    RILL_FN bool operator()(index_t i, index_t j) const { return ids[i] < ids[j]; }
};

struct count_slices {
    index_t* to;
    RILL_FN void operator()(index_t i) const { to[i] = i; }
};

/// A function object that updates one element of the slice of each id, with the sum of that id's inputs. `order` holds the
/// slices sorted by id.
template <class F, class T, class Id, std::size_t S, std::size_t I, std::size_t C> struct update_run {
    update_arrays_of<F, T, S, I, C> of;
    const Id* ids;
    const index_t* order;
    index_t count, inner;
    RILL_FN void operator()(index_t i) const {
        const index_t first = i / inner, j = i % inner;
        const Id id = ids[order[first]];
        if (first > 0 && ids[order[first - 1]] == id) return; // not the first of its id
        of.run(static_cast<index_t>(id) * inner + j, [&](std::size_t n) {
            lane<T> sum(of.in[n][order[first] * inner + j]);
            for (index_t p = first + 1; p < count && ids[order[p]] == id; ++p)
                sum = sum + lane<T>(of.in[n][order[p] * inner + j]);
            return sum.v;
        });
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
