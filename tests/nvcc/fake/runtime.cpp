// SPDX-License-Identifier: BSD-3-Clause
// The functions of CUDA's runtime that programs of nvcc call for <rill/gpu.hpp>, over the host's memory.
#include "runtime.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <cuda_runtime_api.h>

namespace fake_cuda {

namespace {

constexpr std::size_t card_bytes = std::size_t(1) << 30;

/// Kernels in their order. A WHILE node holds those of its body, which each start runs once.
struct kernels_of_graph {
    std::vector<launch> all;
    std::vector<std::unique_ptr<kernels_of_graph>> bodies; // they come after all other kernels

    void append_to(std::vector<launch>& to) const {
        to.insert(to.end(), all.begin(), all.end());
        for (const auto& body : bodies) body->append_to(to);
    }
};
kernels_of_graph& contents(cudaGraph_t graph) { return *reinterpret_cast<kernels_of_graph*>(graph); }

struct card {
    std::mutex mutex;
    counts calls;
    std::map<void*, std::size_t> blocks; // of the card's memory
    std::size_t used = 0;
    cudaError_t next_wait = cudaSuccess; // an error that the next wait finds
    cudaError_t failed = cudaSuccess;    // it was found: all calls return it
    std::vector<launch> started;
    std::map<cudaStream_t, cudaGraph_t> captured; // per stream that captures
    int flags = 0;                                // copies of one byte to the host that read 1 from now on
    std::map<std::string, std::vector<std::size_t>>
        sizes; // per kernel of a loaded file, by its name: the sizes of its arguments
    std::map<const void*, std::vector<std::size_t>> sizes_of; // the same, by the address of its function on the host
    std::map<const void*, void*> file_of;                     // per function: the file that it was compiled in
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
/// Starts a kernel, or adds it to what its stream captures. Returns true if it was started.
bool start(card& c, launch made, cudaStream_t stream) {
    const auto captured = c.captured.find(stream);
    (captured == c.captured.end() ? c.started : contents(captured->second).all).push_back(std::move(made));
    return captured == c.captured.end();
}
/// Returns the bytes of an address or a number.
template <class T> std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}
cudaError_t start_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, cudaStream_t stream) {
    return call([&](card& c) {
        launch made{kernel, grid.x, block.x, {}};
        const auto& sizes = c.sizes_of[kernel];
        for (std::size_t i = 0; i < sizes.size(); ++i)
            made.arguments.emplace_back(static_cast<const char*>(arguments[i]), sizes[i]);
        if (start(c, std::move(made), stream)) ++c.calls.launches;
    });
}

/// Reads a number at an offset.
template <class T> T read(const char* from, std::size_t at = 0) {
    T value;
    std::memcpy(&value, from + at, sizeof value);
    return value;
}
/// Notes the sizes of the arguments of all kernels of a machine code file (ELF). A section .nv.info.NAME has attributes of a kernel;
/// attribute 0x17 is an argument.
void read_sizes(card& c, const char* elf) {
    const char* const sections = elf + read<std::uint64_t>(elf, 0x28);
    const auto size = read<std::uint16_t>(elf, 0x3a), count = read<std::uint16_t>(elf, 0x3c),
               names = read<std::uint16_t>(elf, 0x3e);
    const auto offset = [&](std::size_t section) { return read<std::uint64_t>(sections + section * size, 24); };
    const std::string prefix = ".nv.info.";
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = elf + offset(names) + read<std::uint32_t>(sections + i * size);
        if (name.compare(0, prefix.size(), prefix) != 0) continue;
        auto& sizes = c.sizes[name.substr(prefix.size())];
        const char* at = elf + offset(i);
        for (const char* const end = at + read<std::uint64_t>(sections + i * size, 32); at < end;) {
            const bool has_bytes = at[0] == 4;
            if (has_bytes && at[1] == 0x17) {
                const std::size_t number = read<std::uint16_t>(at, 8);
                if (sizes.size() <= number) sizes.resize(number + 1);
                sizes[number] = read<std::uint32_t>(at, 12) >> 18;
            }
            at += has_bytes ? 4 + read<std::uint16_t>(at, 2) : 4;
        }
    }
}

cudaError_t copy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    return call([&](card& c) {
        if (!start(c, {nullptr, 0, 0, {bytes_of(to), bytes_of(from), bytes_of(n)}}, stream)) return;
        if (c.failed != cudaSuccess) return;
        if (n > 0) std::memmove(to, from, n);
        if (n == 1 && kind == cudaMemcpyDeviceToHost && c.flags > 0) *static_cast<char*>(to) = (--c.flags, 1);
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
const std::vector<launch>& started() { return the_card().started; }
void reset() {
    the_card().calls = {};
    the_card().started.clear();
}
int files() {
    std::set<void*> all;
    for (const auto& each : the_card().started)
        if (const auto at = the_card().file_of.find(each.kernel); at != the_card().file_of.end())
            all.insert(at->second);
    return static_cast<int>(all.size());
}
void fail(int error) {
    auto& c = the_card();
    const std::lock_guard lock(c.mutex);
    c.next_wait = static_cast<cudaError_t>(error);
    if (error == cudaSuccess) c.failed = cudaSuccess;
}
void hold(int times) {
    auto& c = the_card();
    const std::lock_guard lock(c.mutex);
    c.flags = times;
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
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
    *value = which == cudaDevAttrComputeCapabilityMajor   ? 9
             : which == cudaDevAttrComputeCapabilityMinor ? 0
                                                          : 1024; // multiprocessors, threads, bytes: Thrust reads some
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
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy(to, from, n, kind, stream);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind) {
    const cudaError_t copied = copy(to, from, n, kind, nullptr), waited = wait();
    return copied != cudaSuccess ? copied : waited;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t n, cudaStream_t stream) {
    return call([&](card& c) {
        if (!start(c, {nullptr, 0, 0, {bytes_of(to), bytes_of(value), bytes_of(n)}}, stream)) return;
        ++c.calls.launches;
        if (c.failed == cudaSuccess) std::memset(to, value, n);
    });
}

// ---- streams, events -----------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    *stream = reinterpret_cast<cudaStream_t>(new int);
    return call();
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete reinterpret_cast<int*>(stream);
    return call();
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return wait(); }
cudaError_t cudaDeviceSynchronize() { return wait(); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return wait(); }
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return call([&](card& c) {
        *status = c.captured.count(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long*,
                                     cudaGraph_t*, const cudaGraphNode_t** nodes, const cudaGraphEdgeData**,
                                     std::size_t* count) {
    if (nodes) *nodes = nullptr, *count = 0;
    return cudaStreamIsCapturing(stream, status);
}

// ---- graphs: lists of kernels ----------------------------------------------------------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
    *graph = reinterpret_cast<cudaGraph_t>(new kernels_of_graph);
    return call();
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t*,
                                          const cudaGraphEdgeData*, std::size_t, cudaStreamCaptureMode) {
    return call([&](card& c) { c.captured[stream] = graph; });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return call([&](card& c) { *graph = c.captured.extract(stream).mapped(); });
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t, unsigned, unsigned) {
    *handle = 1;
    return call();
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, const cudaGraphEdgeData*,
                             std::size_t, cudaGraphNodeParams* what) {
    if (what->type != cudaGraphNodeTypeConditional || what->conditional.type != cudaGraphCondTypeWhile)
        return cudaErrorNotSupported;
    auto& bodies = contents(graph).bodies;
    bodies.push_back(std::make_unique<kernels_of_graph>());
    static thread_local cudaGraph_t body;
    body = reinterpret_cast<cudaGraph_t>(bodies.back().get());
    what->conditional.phGraph_out = &body;
    *node = nullptr;
    return call();
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
    auto all = std::make_unique<std::vector<launch>>();
    contents(graph).append_to(*all);
    *made = reinterpret_cast<cudaGraphExec_t>(all.release());
    return call([](card& c) { ++c.calls.captures; });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return call(); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete &contents(graph);
    return call();
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    delete reinterpret_cast<std::vector<launch>*>(graph);
    return call();
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
    return call([&](card& c) {
        const auto& all = *reinterpret_cast<std::vector<launch>*>(graph);
        c.started.insert(c.started.end(), all.begin(), all.end());
        ++c.calls.graphs;
    });
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
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t,
                             cudaStream_t stream) {
    return start_kernel(kernel, grid, block, arguments, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* kernel, void** arguments) {
    return start_kernel(kernel, how->gridDim, how->blockDim, arguments, how->stream);
}

// Machine code that is loaded at run time.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
    if (std::memcmp(code, "\177ELF", 4) != 0) return cudaErrorInvalidKernelImage;
    const auto* const handle = new char; // never unloaded
    *library = reinterpret_cast<cudaLibrary_t>(const_cast<char*>(handle));
    return call([&](card& c) {
        ++c.calls.programs;
        read_sizes(c, static_cast<const char*>(code));
        c.sizes_of[handle] = c.sizes["rill_program"];
    });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
    *kernel = reinterpret_cast<cudaKernel_t>(library);
    return std::strcmp(name, "rill_program") == 0 ? call() : cudaErrorSymbolNotFound;
}

// Functions that nvcc's own code calls.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t,
                               cudaStream_t stream) {
    return start_kernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, stream);
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
void** __cudaRegisterFatBinary(void* loaded) {
    // the address behind two numbers: a header of 16 bytes, then files, each behind a header that has its kind and sizes
    constexpr int machine_code = 2;
    const char* at = read<const char*>(static_cast<const char*>(loaded), 8);
    const char* const end = at + read<std::uint16_t>(at, 6) + read<std::uint64_t>(at, 8);
    for (at += read<std::uint16_t>(at, 6); at < end; at += read<std::uint32_t>(at, 4) + read<std::uint64_t>(at, 8))
        if (read<std::uint16_t>(at) == machine_code) read_sizes(the_card(), at + read<std::uint32_t>(at, 4));
    return static_cast<void**>(loaded);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** file, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
    the_card().sizes_of[function] = the_card().sizes[name];
    the_card().file_of[function] = file;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }

} // extern "C"
