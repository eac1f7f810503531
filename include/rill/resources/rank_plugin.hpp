// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What a library that carries messages between the ranks of a job gives to rill, and nothing else: plug-ins include this header alone. A
// plug-in is a shared library with one function:
//
//     extern "C" const rill_rank_plugin* rill_rank_plugin_1();
//
// One thread calls all its functions, from `begin` to `end`.

extern "C" {

/// A request is a message that is under way; null: none could be made.
struct rill_rank_plugin {
    /// Joins the job. Returns null, or what is wrong. `tags`: the numbers that messages may carry are below it.
    const char* (*begin)(int* rank, int* ranks, int* tags);
    /// Starts to send, or to receive, `bytes` bytes at `data`, which stay where they are until the request is over. Messages between two ranks
    /// with one tag arrive in order.
    void* (*send)(int to, int tag, const void* data, int bytes);
    void* (*receive)(int from, int tag, void* data, int bytes);
    /// Returns 1 for a request that is over, which is gone then, 0 for one that is under way, and -1 for one that has failed.
    int (*is_over)(void* request);
    /// Returns what was wrong last.
    const char* (*problem)();
    /// Leaves the job. `clean` is 0 if requests are still under way: the job ends with an error.
    void (*end)(int clean);
};

} // extern "C"
