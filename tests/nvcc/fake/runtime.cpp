// SPDX-License-Identifier: BSD-3-Clause
// The functions of CUDA's runtime that programs of nvcc call for <rill/gpu.hpp>, over the host's memory.
#include "runtime.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <cuda_runtime_api.h>

namespace fake_cuda {

namespace {

constexpr std::size_t card_bytes = std::size_t(1) << 30;

struct card {
    std::mutex mutex;
    counts calls;
    std::map<void*, std::size_t> blocks; // of the card's memory
    std::size_t used = 0;
    cudaError_t next_wait = cudaSuccess; // an error that the next wait finds
    cudaError_t failed = cudaSuccess;    // it was found: all calls return it
};

card& the_card() {
    static auto& only = *new card;
    return only;
}

/// Counts a call by `count`. Returns the error that all calls return after a failure.
template <class F> cudaError_t call(const F& count) {
    auto& c = the_card();
    const std::lock_guard lock(c.mutex);
    count(c);
    return c.failed;
}
cudaError_t call() {
    return call([](card&) {});
}
cudaError_t wait() {
    return call([](card& c) {
        ++c.calls.waits;
        if (c.next_wait != cudaSuccess) c.failed = c.next_wait;
    });
}
cudaError_t copy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind) {
    return call([&](card& c) {
        if (c.failed != cudaSuccess) return;
        if (n > 0) std::memmove(to, from, n);
        ++(kind == cudaMemcpyHostToDevice   ? c.calls.copies_in
           : kind == cudaMemcpyDeviceToHost ? c.calls.copies_out
                                            : c.calls.copies_within);
    });
}

struct configuration {
    dim3 grid, block;
    std::size_t shared = 0;
    cudaStream_t stream = nullptr;
};
thread_local configuration pushed;

} // namespace

counts& counted() { return the_card().calls; }
void reset() { the_card().calls = {}; }
void fail(int error) {
    auto& c = the_card();
    const std::lock_guard lock(c.mutex);
    c.next_wait = static_cast<cudaError_t>(error);
    if (error == cudaSuccess) c.failed = cudaSuccess;
}
std::size_t total() { return card_bytes; }
std::size_t in_use() { return the_card().used; }

} // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

// ---- devices, errors ---------------------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return call();
}
cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return call();
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? call() : cudaErrorInvalidDevice; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
    *value = 1024; // of multiprocessors, threads, bytes of shared memory: Thrust reads some
    return call();
}
cudaError_t cudaGetLastError() { return call(); }
cudaError_t cudaPeekAtLastError() { return call(); }
const char* cudaGetErrorName(cudaError_t error) {
    if (error == cudaSuccess) return "cudaSuccess";
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaError";
}
const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : "the fake card has failed";
}

// ---- memory ------------------------------------------------------------------------------------------------------------------

cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
    return call([&](card& c) { *all = card_bytes, *left = card_bytes - c.used; });
}
cudaError_t cudaMalloc(void** block, std::size_t bytes) {
    auto& c = the_card();
    const std::lock_guard lock(c.mutex);
    ++c.calls.allocations;
    if (c.failed != cudaSuccess) return c.failed;
    if (bytes > card_bytes - c.used) return cudaErrorMemoryAllocation;
    *block = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (!*block) return cudaErrorMemoryAllocation;
    std::memset(*block, 0, bytes);
    c.blocks.emplace(*block, bytes);
    c.used += bytes;
    return cudaSuccess;
}
cudaError_t cudaFree(void* block) {
    auto& c = the_card();
    const std::lock_guard lock(c.mutex);
    ++c.calls.releases;
    if (const auto at = c.blocks.find(block); at != c.blocks.end()) {
        c.used -= at->second;
        c.blocks.erase(at);
        std::free(block);
    }
    return c.failed;
}
cudaError_t cudaMallocHost(void** block, std::size_t bytes) {
    *block = std::malloc(bytes);
    return call([](card& c) { ++c.calls.allocations; });
}
cudaError_t cudaFreeHost(void* block) {
    std::free(block);
    return call([](card& c) { ++c.calls.releases; });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind kind, cudaStream_t) {
    return copy(to, from, n, kind);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind) {
    const cudaError_t copied = copy(to, from, n, kind), waited = wait();
    return copied != cudaSuccess ? copied : waited;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t n, cudaStream_t) {
    return call([&](card& c) {
        ++c.calls.launches;
        if (c.failed == cudaSuccess) std::memset(to, value, n);
    });
}

// ---- streams, events -----------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    static int number = 0;
    *stream = reinterpret_cast<cudaStream_t>(&number);
    return call();
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return call(); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return wait(); }
cudaError_t cudaDeviceSynchronize() { return wait(); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return wait(); }
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long*, cudaGraph_t*,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**, std::size_t*) {
    *status = cudaStreamCaptureStatusNone;
    return call();
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
    *status = cudaStreamCaptureStatusNone;
    return call();
}

// ---- kernels -------------------------------------------------------------------------------------------------------------------

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* of, const void*) {
    *of = {};
    of->binaryVersion = of->ptxVersion = 75;
    of->maxThreadsPerBlock = 1024;
    return call();
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return call(); }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t,
                                                                  unsigned) {
    *blocks = 1;
    return call();
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
    *blocks = 1;
    return call();
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
    return call([](card& c) { ++c.calls.launches; });
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
    return call([](card& c) { ++c.calls.launches; });
}

// Functions that nvcc's own code calls.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
    return call([](card& c) { ++c.calls.launches; });
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
    pushed = {grid, block, shared, stream};
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
    *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared;
    *static_cast<cudaStream_t*>(stream) = pushed.stream;
    return cudaSuccess;
}
void** __cudaRegisterFatBinary(void*) {
    static void* handle = nullptr;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }

} // extern "C"
