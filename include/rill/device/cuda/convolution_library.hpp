// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Convolutions by cuDNN, which is loaded at run time. Without it, programs start and compute convolutions with their own kernels. For files
// that are compiled with the headers of CUDA's runtime. Where cudnn.h is missing, no convolution is computed by cuDNN.
//
// These are cuDNN's convolution calls of version 7, not its graphs of operations. Graphs would also know padding of one side, and other
// layouts of filters, but few of their engines do. The calls need a third of the code, and choose among the same engines.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include <cuda_runtime_api.h>

#include <rill/core/error.hpp>
#include <rill/core/half.hpp>
#include <rill/core/log.hpp>
#include <rill/core/platform.hpp>
#include <rill/core/window.hpp>

#if __has_include(<cudnn.h>)
#define RILL_WITH_CUDNN 1
#include <cudnn.h>
#else
#define RILL_WITH_CUDNN 0
#endif

namespace rill { inline namespace RILL_ABI { namespace detail {

#if RILL_WITH_CUDNN

/// The functions of cuDNN that we call.
struct cudnn_functions {
    decltype(&cudnnGetVersion) version = nullptr;
    decltype(&cudnnCreate) create = nullptr;
    decltype(&cudnnSetStream) set_stream = nullptr;
    decltype(&cudnnCreateTensorDescriptor) create_tensor = nullptr;
    decltype(&cudnnSetTensor4dDescriptor) set_tensor = nullptr;
    decltype(&cudnnCreateFilterDescriptor) create_filter = nullptr;
    decltype(&cudnnSetFilter4dDescriptor) set_filter = nullptr;
    decltype(&cudnnCreateConvolutionDescriptor) create_convolution = nullptr;
    decltype(&cudnnSetConvolution2dDescriptor) set_convolution = nullptr;
    decltype(&cudnnSetConvolutionMathType) set_math = nullptr;
    decltype(&cudnnGetConvolutionForwardAlgorithm_v7) choose_forward = nullptr;
    decltype(&cudnnGetConvolutionBackwardDataAlgorithm_v7) choose_input = nullptr;
    decltype(&cudnnGetConvolutionBackwardFilterAlgorithm_v7) choose_filter = nullptr;
    decltype(&cudnnGetConvolutionForwardWorkspaceSize) forward_bytes = nullptr;
    decltype(&cudnnGetConvolutionBackwardDataWorkspaceSize) input_bytes = nullptr;
    decltype(&cudnnGetConvolutionBackwardFilterWorkspaceSize) filter_bytes = nullptr;
    decltype(&cudnnConvolutionForward) forward = nullptr;
    decltype(&cudnnConvolutionBackwardData) input = nullptr;
    decltype(&cudnnConvolutionBackwardFilter) filter = nullptr;

    /// Returns the functions of the version whose header this program was compiled with; null if that library is missing.
    static const cudnn_functions* find() {
        static const auto found = [] {
            cudnn_functions f;
            void* const library = load_library(("libcudnn.so." + std::to_string(CUDNN_MAJOR)).c_str());
            const auto load = [&](auto& to, const char* name) { return load_function(library, name, to); };
            const bool all = library && load(f.version, "cudnnGetVersion") && is_right(f.version()) &&
                             load(f.create, "cudnnCreate") && load(f.set_stream, "cudnnSetStream") &&
                             load(f.create_tensor, "cudnnCreateTensorDescriptor") &&
                             load(f.set_tensor, "cudnnSetTensor4dDescriptor") &&
                             load(f.create_filter, "cudnnCreateFilterDescriptor") &&
                             load(f.set_filter, "cudnnSetFilter4dDescriptor") &&
                             load(f.create_convolution, "cudnnCreateConvolutionDescriptor") &&
                             load(f.set_convolution, "cudnnSetConvolution2dDescriptor") &&
                             load(f.set_math, "cudnnSetConvolutionMathType") &&
                             load(f.choose_forward, "cudnnGetConvolutionForwardAlgorithm_v7") &&
                             load(f.choose_input, "cudnnGetConvolutionBackwardDataAlgorithm_v7") &&
                             load(f.choose_filter, "cudnnGetConvolutionBackwardFilterAlgorithm_v7") &&
                             load(f.forward_bytes, "cudnnGetConvolutionForwardWorkspaceSize") &&
                             load(f.input_bytes, "cudnnGetConvolutionBackwardDataWorkspaceSize") &&
                             load(f.filter_bytes, "cudnnGetConvolutionBackwardFilterWorkspaceSize") &&
                             load(f.forward, "cudnnConvolutionForward") &&
                             load(f.input, "cudnnConvolutionBackwardData") &&
                             load(f.filter, "cudnnConvolutionBackwardFilter");
            return std::pair(all, f);
        }();
        return found.first ? &found.second : nullptr;
    }

private:
    static bool is_right(std::size_t version) { return version / (CUDNN_MAJOR < 9 ? 1000 : 10000) == CUDNN_MAJOR; }
};

/// Convolutions of one GPU by cuDNN. The algorithm of a shape is chosen once; results are the same from run to run. Images are [batch, height,
/// width, channels], filters [out, height, width, in]. The padding of an axis is the same on both sides.
class convolution_library {
public:
    /// Returns true if cuDNN is found, and has convolutions of T.
    template <class T> static bool is_found() { return has_type<T> && cudnn_functions::find(); }

    /// Returns true if cuDNN computes a part of a convolution of T on the current GPU. The first call for a shape chooses the algorithm and
    /// may allocate its workspace. A step is captured in a later run than its first, so captures do neither.
    template <class T> bool serves(convolution_part part, const convolution_shape& s) {
        if constexpr (has_type<T>) {
            const std::lock_guard lock(mutex_);
            return plan_of<T>(part, s).serves;
        } else {
            return false;
        }
    }

    /// Computes a part of a convolution in a stream of the current GPU: the result c of image a and filter b, the gradient c by the image of
    /// filter a and gradient b, or the gradient c by the filter of image a and gradient b. Returns false if cuDNN does not compute it.
    template <class T>
    bool convolve(convolution_part part, const convolution_shape& s, const T* a, const T* b, T* c,
                  cudaStream_t stream) {
        if constexpr (has_type<T>) {
            const std::lock_guard lock(mutex_);
            plan& with = plan_of<T>(part, s);
            if (with.serves &&
                (functions_->set_stream(handle_, stream) != CUDNN_STATUS_SUCCESS || !start(part, with, a, b, c)))
                give_up(with, stream);
            return with.serves;
        } else {
            return false;
        }
    }

private:
    static constexpr std::size_t most_workspace = std::size_t(256) << 20;
    // cuDNN has no double with channels innermost
    template <class T>
    static constexpr bool has_type = std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

    struct plan {
        cudnnTensorDescriptor_t x = nullptr, y = nullptr;
        cudnnFilterDescriptor_t f = nullptr;
        cudnnConvolutionDescriptor_t how = nullptr;
        int algorithm = 0;
        std::size_t workspace_bytes = 0;
        bool serves = false;
    };
    using key = std::array<std::int64_t, 17>;

    template <class T> static constexpr cudnnDataType_t type_of() {
        if (std::is_same_v<T, float>) return CUDNN_DATA_FLOAT;
        return std::is_same_v<T, half> ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
    }

    /// Opens the library at the first convolution. Returns false if it is missing or refuses the GPU.
    bool is_ready() {
        if (!opened_) {
            opened_ = true;
            functions_ = cudnn_functions::find();
            if (functions_ && functions_->create(&handle_) != CUDNN_STATUS_SUCCESS) functions_ = nullptr;
        }
        return functions_ != nullptr;
    }
    template <class T> plan& plan_of(convolution_part part, const convolution_shape& s) {
        const auto &ay = s.window.axis[1], &ax = s.window.axis[2];
        const key of{static_cast<std::int64_t>(part),
                     type_of<T>(),
                     s.window.batch,
                     s.in,
                     s.out,
                     ay.in,
                     ay.out,
                     ay.size,
                     ay.stride,
                     ay.dilation,
                     ay.before,
                     ax.in,
                     ax.out,
                     ax.size,
                     ax.stride,
                     ax.dilation,
                     ax.before};
        auto known = plans_.find(of);
        if (known == plans_.end()) known = plans_.emplace(of, make_plan<T>(part, s)).first;
        return known->second;
    }
    template <class T> plan make_plan(convolution_part part, const convolution_shape& s) {
        const auto& w = s.window;
        const auto &ay = w.axis[1], &ax = w.axis[2];
        // cuDNN counts elements in 32 bits
        constexpr index_t most = std::numeric_limits<std::int32_t>::max();
        plan p;
        if (w.batch * w.pixels() * s.in > most || w.batch * w.windows() * s.out > most ||
            w.positions() * s.in * s.out > most || !is_ready())
            return p;
        const auto n = [](index_t i) { return static_cast<int>(i); };
        const auto good = [](cudnnStatus_t status) { return status == CUDNN_STATUS_SUCCESS; };
        const auto& cudnn = *functions_;
        constexpr auto type = type_of<T>();
        const bool made =
            good(cudnn.create_tensor(&p.x)) && good(cudnn.create_tensor(&p.y)) && good(cudnn.create_filter(&p.f)) &&
            good(cudnn.create_convolution(&p.how)) &&
            good(cudnn.set_tensor(p.x, CUDNN_TENSOR_NHWC, type, n(w.batch), n(s.in), n(ay.in), n(ax.in))) &&
            good(cudnn.set_tensor(p.y, CUDNN_TENSOR_NHWC, type, n(w.batch), n(s.out), n(ay.out), n(ax.out))) &&
            good(cudnn.set_filter(p.f, type, CUDNN_TENSOR_NHWC, n(s.out), n(s.in), n(ay.size), n(ax.size))) &&
            good(cudnn.set_convolution(p.how, n(ay.before), n(ax.before), n(ay.stride), n(ax.stride), n(ay.dilation),
                                       n(ax.dilation), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT)) &&
            // the default would round the numbers of float to TF32
            good(cudnn.set_math(p.how, std::is_same_v<T, float> ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH));
        if (!made) return p;
        switch (part) {
        case convolution_part::forward:
            choose<cudnnConvolutionFwdAlgoPerf_t>(p, cudnn.choose_forward, cudnn.forward_bytes, p.x, p.f, p.how, p.y);
            break;
        case convolution_part::input:
            choose<cudnnConvolutionBwdDataAlgoPerf_t>(p, cudnn.choose_input, cudnn.input_bytes, p.f, p.y, p.how, p.x);
            break;
        case convolution_part::filter:
            choose<cudnnConvolutionBwdFilterAlgoPerf_t>(p, cudnn.choose_filter, cudnn.filter_bytes, p.x, p.y, p.how,
                                                        p.f);
            break;
        }
        return p;
    }
    /// Takes the first algorithm that cuDNN recommends, whose sums have a fixed order, and for whose workspace there is memory.
    template <class Result, class Choose, class Bytes, class... D>
    void choose(plan& p, Choose choose_by, Bytes bytes_of, D... descriptors) {
        std::array<Result, 16> all{};
        int found = 0;
        if (choose_by(handle_, descriptors..., static_cast<int>(all.size()), &found, all.data()) !=
            CUDNN_STATUS_SUCCESS)
            return;
        for (int i = 0; i < found && !p.serves; ++i) {
            const Result& r = all[static_cast<std::size_t>(i)];
            if (r.status != CUDNN_STATUS_SUCCESS || r.determinism != CUDNN_DETERMINISTIC) continue;
            p.algorithm = static_cast<int>(r.algo);
            p.serves = bytes_of(handle_, descriptors..., r.algo, &p.workspace_bytes) == CUDNN_STATUS_SUCCESS &&
                       make_room(p.workspace_bytes);
        }
    }
    /// Makes the workspace at least so large. A smaller one is kept, since captured steps may hold its address: all together take less than
    /// twice the largest.
    bool make_room(std::size_t bytes) {
        if (bytes > most_workspace) return false;
        if (bytes <= workspace_bytes_) return true;
        const std::size_t wanted = std::bit_ceil(bytes);
        void* block = nullptr;
        if (cudaMalloc(&block, wanted) != cudaSuccess) {
            cudaGetLastError(); // a refused allocation is not sticky
            return false;
        }
        workspace_ = block;
        workspace_bytes_ = wanted;
        return true;
    }
    /// Leaves a shape to other kernels after a failure. Throws while kernels are captured: the capture is refused, and a later run decides.
    static void give_up(plan& with, cudaStream_t stream) {
        cudaGetLastError(); // the next kernel would report it
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaStreamIsCapturing(stream, &status);
        if (status != cudaStreamCaptureStatusNone) throw internal("cuDNN does not compute a convolution in a capture");
        with.serves = false;
        log_message(log_level::warning, "cuDNN has failed: a convolution on a GPU is computed by rill's own kernels");
    }
    bool start(convolution_part part, const plan& p, const void* a, const void* b, void* c) {
        const float one = 1, zero = 0;
        const auto& cudnn = *functions_;
        const auto bytes = p.workspace_bytes;
        switch (part) {
        case convolution_part::forward:
            return cudnn.forward(handle_, &one, p.x, a, p.f, b, p.how,
                                 static_cast<cudnnConvolutionFwdAlgo_t>(p.algorithm), workspace_, bytes, &zero, p.y,
                                 c) == CUDNN_STATUS_SUCCESS;
        case convolution_part::input:
            return cudnn.input(handle_, &one, p.f, a, p.y, b, p.how,
                               static_cast<cudnnConvolutionBwdDataAlgo_t>(p.algorithm), workspace_, bytes, &zero, p.x,
                               c) == CUDNN_STATUS_SUCCESS;
        case convolution_part::filter:
            return cudnn.filter(handle_, &one, p.x, a, p.y, b, p.how,
                                static_cast<cudnnConvolutionBwdFilterAlgo_t>(p.algorithm), workspace_, bytes, &zero,
                                p.f, c) == CUDNN_STATUS_SUCCESS;
        }
        return false;
    }

    std::mutex mutex_;
    bool opened_ = false;
    const cudnn_functions* functions_ = nullptr;
    cudnnHandle_t handle_ = nullptr;
    void* workspace_ = nullptr; // one is enough: the convolutions of a GPU run one after another
    std::size_t workspace_bytes_ = 0;
    std::map<key, plan> plans_;
};

#else

/// Stands in for cuDNN where its header is missing: it computes nothing.
class convolution_library {
public:
    template <class T> static bool is_found() { return false; }
    template <class T> bool serves(convolution_part, const convolution_shape&) { return false; }
    template <class T> bool convolve(convolution_part, const convolution_shape&, const T*, const T*, T*, cudaStream_t) {
        return false;
    }
};

#endif

}}} // namespace rill::RILL_ABI::detail
