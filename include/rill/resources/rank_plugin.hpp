// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The interface of plug-ins, which transfer messages between the ranks of a job. Plug-ins include only this header. A plug-in is a shared
// library with one function:
//
//     extern "C" const rill_rank_plugin* rill_rank_plugin_1();
//
// One thread calls all its functions, from `begin` to `end`.

extern "C" {

/// The functions of a plug-in. A request is a message in flight; null: it could not be started.
struct rill_rank_plugin {
    /// Joins the job. Returns null, or an error message. `tags`: the upper bound (exclusive) of message tags.
    const char* (*begin)(int* rank, int* ranks, int* tags);
    /// Starts to send, or to receive, `bytes` bytes at `data`, which must stay in place until the request has completed. Messages between
    /// two ranks with one tag arrive in order.
    void* (*send)(int to, int tag, const void* data, int bytes);
    void* (*receive)(int from, int tag, void* data, int bytes);
    /// Returns 1 for a completed request, which is then freed; 0 for a request in flight; -1 for a failed one.
    int (*is_over)(void* request);
    /// Returns the message of the last error.
    const char* (*problem)();
    /// Leaves the job. If `clean` is 0, requests are still in flight and the job ends with an error.
    void (*end)(int clean);
};

} // extern "C"
