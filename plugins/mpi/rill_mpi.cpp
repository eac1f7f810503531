// SPDX-License-Identifier: BSD-3-Clause
// librill_mpi: messages between ranks by MPI, for collective_group({.engine = "mpi"}). rill loads it when such a group is made, so that no
// program needs MPI to be built. The ABI of MPI differs between its implementations, so this file is compiled by the mpicxx of the one that
// runs the job:
//     mpicxx -std=c++20 -O2 -fPIC -shared -I include plugins/mpi/rill_mpi.cpp -o librill_mpi.so
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <limits>
#include <memory>
#include <string>

#include <rill/resources/rank_plugin.hpp>

namespace {

MPI_Comm all = MPI_COMM_NULL; // a communicator of our own: the program's messages do not meet ours
bool is_ours = false;         // MPI was not started by the program
std::string last_problem;

/// Returns true if a call of MPI has succeeded; otherwise notes the problem.
bool succeeds(int code, const char* call) {
    if (code == MPI_SUCCESS) return true;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    last_problem = call;
    if (MPI_Error_string(code, text, &length) == MPI_SUCCESS)
        last_problem += ": " + std::string(text, static_cast<std::size_t>(length));
    return false;
}

const char* begin(int* rank, int* ranks, int* tags) {
    int has_begun = 0, level = 0;
    MPI_Initialized(&has_begun);
    if (has_begun) { // by the program, which calls MPI from its own threads
        MPI_Query_thread(&level);
        if (level < MPI_THREAD_MULTIPLE)
            return "the program has started MPI itself, and without MPI_THREAD_MULTIPLE";
    } else {
        if (!succeeds(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread"))
            return last_problem.c_str();
        is_ours = true;
    }
    if (!succeeds(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup")) return last_problem.c_str();
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(all, rank);
    MPI_Comm_size(all, ranks);
    int* most = nullptr;
    int is_known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &is_known);
    const int highest = is_known ? *most : 32767; // what the standard promises
    *tags = highest < std::numeric_limits<int>::max() ? highest + 1 : highest;
    return nullptr;
}

void* send(int to, int tag, const void* data, int bytes) {
    auto request = std::make_unique<MPI_Request>();
    if (!succeeds(MPI_Isend(data, bytes, MPI_BYTE, to, tag, all, request.get()), "MPI_Isend")) return nullptr;
    return request.release();
}

void* receive(int from, int tag, void* data, int bytes) {
    auto request = std::make_unique<MPI_Request>();
    if (!succeeds(MPI_Irecv(data, bytes, MPI_BYTE, from, tag, all, request.get()), "MPI_Irecv")) return nullptr;
    return request.release();
}

int is_over(void* of) {
    auto* const request = static_cast<MPI_Request*>(of);
    int over = 0;
    const bool fine = succeeds(MPI_Test(request, &over, MPI_STATUS_IGNORE), "MPI_Test");
    if (fine && !over) return 0;
    delete request;
    return fine ? 1 : -1;
}

const char* problem() { return last_problem.c_str(); }

void end(int clean) {
    int has_ended = 0;
    MPI_Finalized(&has_ended);
    if (has_ended || all == MPI_COMM_NULL) return;
    if (!clean) return; // MPI_Finalize would wait for the others; the launcher sees that it was not called, and ends the job
    MPI_Comm_free(&all);
    if (is_ours) MPI_Finalize();
}

const rill_rank_plugin functions{begin, send, receive, is_over, problem, end};

} // namespace

extern "C" const rill_rank_plugin* rill_rank_plugin_1();
extern "C" const rill_rank_plugin* rill_rank_plugin_1() { return &functions; }
