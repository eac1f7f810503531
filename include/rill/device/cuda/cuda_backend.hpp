// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The back end of the Thrust device on a GPU: CUDA kernels, and Thrust's sort in preallocated memory. No call waits. For files that nvcc
// compiles.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include <rill/device/cuda/gpus.hpp>
#include <rill/device/cuda/kernels.hpp>
#include <rill/device/cuda/program_compiler.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/numbers.hpp>
#include <rill/device/thrust/products.hpp>
#include <rill/device/thrust/program_arguments.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A lock on the error record while a kernel writes it. All kernels of a GPU run one after the other, so one lock per file is enough.
static __device__ int error_record_lock = 0;

/// Records the first refused element of a step, unless an earlier step has failed.
__device__ inline void note_refused(error_record* errors, std::int32_t step, const error_site* where,
                                    const refused_element& found) {
    for (bool done = false; !done;) {
        if (atomicCAS(&error_record_lock, 0, 1) != 0) continue;
        __threadfence();
        const volatile error_record* const now = errors;
        const bool earlier = step < now->step || (step == now->step && where == now->where && found.at < now->found.at);
        if (earlier) {
            errors->where = where;
            errors->found = found;
            errors->step = step;
        }
        __threadfence();
        atomicExch(&error_record_lock, 0);
        done = true;
    }
}

template <class F> struct refuse_element {
    F find;
    error_record* errors;
    const error_site* where;
    std::int32_t step;

    __device__ void operator()(index_t i) const {
        if (errors->step < step) return;
        const refused_element found = find(i);
        if (found.at >= 0) note_refused(errors, step, where, found);
    }
};

/// Reports a division by zero of a structure S. Each compiled file has sticky errors of its own: this kernel reads those of the file that
/// compiled the kernel of S, since the linker takes both from one file.
template <class S> struct refuse_divisions {
    error_record* errors;
    const error_site* where;
    std::int32_t step;

    __device__ void operator()(index_t) const {
        if (device_sticky_errors & integer_division_by_zero) note_refused(errors, step, where, {});
        device_sticky_errors &= ~integer_division_by_zero;
    }
};

/// An allocator of scratch memory for a Thrust algorithm, which frees blocks in reverse order.
class scratch_allocator {
public:
    using value_type = char;

    scratch_allocator(void* memory, std::size_t bytes) : next_(static_cast<char*>(memory)), left_(bytes) {}
    char* allocate(std::ptrdiff_t bytes) {
        const std::size_t wanted = (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
        if (wanted > left_) throw internal("Thrust asks for more scratch memory than was planned");
        left_ -= wanted;
        return std::exchange(next_, next_ + wanted);
    }
    void deallocate(char*, std::size_t) {} // all of it is free when the algorithm ends

private:
    char* next_;
    std::size_t left_;
};

/// A guard that selects the GPU on which kernels of this thread start.
class kernels_on {
public:
    explicit kernels_on(const gpu_instance& gpu) : device_(gpu.number()), before_(std::exchange(current(), &gpu)) {}
    ~kernels_on() { current() = before_; }
    kernels_on(const kernels_on&) = delete;

    static const gpu_instance*& current() {
        static thread_local const gpu_instance* gpu = nullptr;
        return gpu;
    }

private:
    selected_gpu device_;
    const gpu_instance* before_;
};

} // namespace detail

/// The back end of thrust_device on GPUs. Kernels start in the stream of their GPU. No call waits or allocates. Data errors go to the error
/// record, which must exist.
struct cuda_backend {
    /// True if the device has kernels for elements of T. Complex numbers and text stay on the CPU.
    template <class T> static constexpr bool takes = std::is_trivially_copyable_v<T> && !detail::is_std_complex<T>;
    static constexpr bool runs_on_host = false, tells_dense = true;

    template <class T> static T* at(T* p) { return p; }
    static std::optional<execution_context> enter(const execution_context& on) { return on; }
    /// Selects the GPU of a request while a kernel for it is bound.
    static detail::kernels_on bind_for(const kernel_request& request) { return detail::kernels_on(gpu_of(request)); }
    static kernel on_instance(kernel inner, const kernel_request& request) {
        return kernel([inner = std::move(inner), &gpu = gpu_of(request)](const kernel_args& a) {
            const detail::kernels_on here(gpu);
            inner(a);
        });
    }

    template <class F> static void each(const execution_context& on, index_t n, const F& f) { start(n, f, guard(on)); }
    /// Combines the elements of lines. Short lines get a thread, longer ones a warp or a block. If elements of neighbouring lines are
    /// adjacent, one thread per line reads them coalesced. This requires enough lines to occupy the GPU.
    template <class F>
    static void fold(const execution_context& on, index_t n, index_t length, detail::line_layout layout, const F& f) {
        constexpr index_t busy = 1 << 15;
        const bool across = layout == detail::line_layout::across && n >= busy;
        const int group = across || length < 16 ? 1 : length < 1024 ? detail::warp_threads : detail::block_threads;
        launch(&detail::fold_lines<F>, n, detail::block_threads / group, f, n, group, guard(on));
    }
    /// Computes rows: short rows by a warp, long ones by a block.
    template <class F> static void each_row(const execution_context& on, index_t n, const F& f) {
        constexpr index_t is_long = 512;
        const int group = f.columns < is_long ? detail::warp_threads : detail::block_threads;
        launch(f.columns < is_long ? &detail::run_rows<detail::warp_row, F> : &detail::run_rows<detail::block_row, F>,
               n, detail::block_threads / group, f, n, group, guard(on));
    }
    /// Computes a product by the library. The library knows no failure guard: after a failure it computes an unused product.
    template <class T> static bool multiply(const execution_context&, const detail::product_arguments<T>& all) {
        return current().products().multiply(all, stream());
    }
    /// Computes convolutions by the library, likewise (library_convolution.hpp).
    template <class T> static bool has_convolutions() { return detail::convolution_library::is_found<T>(); }
    template <class T> static bool convolves(convolution_part part, const convolution_shape& s) {
        return current().card().convolutions().serves<T>(part, s);
    }
    template <class T>
    static bool convolve(convolution_part part, const convolution_shape& s, const T* a, const T* b, T* c) {
        return current().card().convolutions().convolve(part, s, a, b, c, stream());
    }
    template <class F>
    static void refuse_first(const execution_context& on, index_t n, const F& find, const error_site& where) {
        start(n, detail::refuse_element<F>{find, record_of(on), &where, on.step}, {});
    }
    /// Compiles a program by NVRTC. Returns an empty function without it, and for programs that may divide integers: these report divisions
    /// by zero to a variable of the file that nvcc compiled.
    static detail::program_kernel compile(const program& p, std::span<const detail::leaf_form> leaves, int rank) {
        if (divides_integers(p)) return {};
        auto source = detail::program_source::of(p, leaves, rank);
        if (!source) return {};
        const auto code = detail::program_compiler::of_process().kernel_of(*source, current().card().number());
        if (!code) return {};
        return
            [code, source = std::move(*source)](const execution_context& on, const detail::elementwise_launch& args) {
                const auto words = detail::program_arguments<cuda_backend>(source, args);
                const int elements = detail::elements_of_thread(args.space.total, source.is_dense());
                launch(args.space.total, detail::block_threads * elements, [&](unsigned blocks) {
                    detail::start_program(code, blocks, words.data(), args.space.total, elements, guard(on), stream());
                });
            };
    }
    template <class S> static void refuse_zero_division(const execution_context& on) {
        start(1, detail::refuse_divisions<S>{record_of(on), &detail::zero_division(), on.step}, {});
    }
    static constexpr std::size_t sort_scratch(index_t n, std::size_t element) {
        return 2 * static_cast<std::size_t>(n) * element + (std::size_t(1) << 16);
    }
    template <class T, class Less>
    static void sort(const execution_context&, T* first, index_t n, const Less& less, void* memory) {
        detail::scratch_allocator scratch(memory, sort_scratch(n, sizeof(T)));
        thrust::stable_sort(thrust::cuda::par_nosync(scratch).on(stream()), first, first + n, less);
    }

private:
    static const gpu_instance& gpu_of(const kernel_request& request) {
        return request.space ? gpu_instance::of(*request.space) : *the_gpus().at(0);
    }
    static const gpu_instance& current() {
        const auto* const gpu = detail::kernels_on::current();
        return gpu ? *gpu : *the_gpus().at(0);
    }
    static cudaStream_t stream() { return current().stream(); }
    static detail::failure_guard guard(const execution_context& on) {
        return {on.errors ? &on.errors->step : nullptr, on.step};
    }
    static error_record* record_of(const execution_context& on) {
        if (!on.errors) throw internal("a GPU reports errors in data to a record, and the context has none");
        return on.errors;
    }
    /// Starts a kernel over n elements; each block of threads takes `each`.
    template <class... P, class... A>
    static void launch(void (*kernel)(P...), index_t n, index_t each, const A&... args) {
        launch(n, each, [&](unsigned blocks) { kernel<<<blocks, detail::block_threads, 0, stream()>>>(args...); });
    }
    template <class Start> static void launch(index_t n, index_t each, const Start& start) {
        if (n == 0) return;
        const index_t blocks = (n + each - 1) / each;
        if (blocks > std::numeric_limits<std::int32_t>::max())
            throw unimplemented("a kernel over " + std::to_string(n) + " elements: a GPU starts fewer threads");
        start(static_cast<unsigned>(blocks));
        if (const cudaError_t result = cudaPeekAtLastError(); result != cudaSuccess)
            detail::check_cuda(result, current().card().name() + ": a kernel could not start");
    }
    template <class F> static void start(index_t n, const F& f, const detail::failure_guard& guard) {
        const int elements = detail::elements_of_thread(n, detail::loads_together<F>());
        launch(&detail::run_elements<F>, n, detail::block_threads * elements, f, n, elements, guard);
    }
};

}} // namespace rill::RILL_ABI
