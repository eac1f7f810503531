// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace faults {

// This program's operator new counts, and fails when it is told to. The functions hold for all threads.

enum class of_threads { all, own };

/// Lets the k-th allocation from now on fail (1: the next one), of all threads or of the calling one.
void fail_allocation(std::size_t k, of_threads which = of_threads::all);
/// Lets an allocation fail that brings the bytes allocated from now on above a limit.
void limit_bytes(std::size_t most);
/// Ends both. Returns true if an allocation has failed.
bool end_faults();
/// Returns how many allocations fail_allocation has counted so far.
std::size_t counted();
/// Returns how many blocks are allocated and not freed.
std::size_t live_blocks();

/// Lets each allocation of a call fail in turn: attempt() is called with the first one failing, then with the second, until none fails.
/// check(succeeded) follows each call. Returns how many allocations have failed. Throws what attempt() throws, unless it is bad_alloc or
/// an error of rill.
template <class Attempt, class Check>
std::size_t fail_each(const Attempt& attempt, const Check& check, of_threads which = of_threads::all);

} // namespace faults

#include <new>

#include <rill/core/error.hpp>

template <class Attempt, class Check>
std::size_t faults::fail_each(const Attempt& attempt, const Check& check, of_threads which) {
    for (std::size_t k = 1;; ++k) {
        bool succeeded = false;
        fail_allocation(k, which);
        try {
            attempt();
            succeeded = true;
        } catch (const std::bad_alloc&) {
        } catch (const rill::error&) {
        } catch (...) {
            end_faults();
            throw;
        }
        const bool failed = end_faults();
        check(succeeded);
        if (!failed) return k - 1;
    }
}
