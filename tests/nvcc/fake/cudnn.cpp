// SPDX-License-Identifier: BSD-3-Clause
// A libcudnn.so of tests: the functions that device/cuda/convolution_library.hpp calls, by plain loops over the host's memory. They read what
// their descriptors say, and refuse what cuDNN refuses. With FAKE_CUDNN_VERSION it gives another version.
#include "cudnn.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include <cudnn.h>

#include <rill/core/half.hpp>

#ifndef FAKE_CUDNN_VERSION
#define FAKE_CUDNN_VERSION CUDNN_VERSION
#endif

struct cudnnContext {
    cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
    cudnnDataType_t type{};
    int n = 0, c = 0, h = 0, w = 0;
};
struct cudnnFilterStruct {
    cudnnDataType_t type{};
    int out = 0, in = 0, h = 0, w = 0;
};
struct cudnnConvolutionStruct {
    int pad[2] = {}, stride[2] = {}, dilation[2] = {};
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

fake_cudnn::counts calls;

// the numbers of the three that are recommended
constexpr int unordered_algorithm = 0, good_algorithm = 1, large_algorithm = 2;

bool fits(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t f, cudnnConvolutionDescriptor_t how,
          cudnnTensorDescriptor_t y) {
    const auto windows = [&](int i, int in, int size) {
        return 1 + (in + 2 * how->pad[i] - ((size - 1) * how->dilation[i] + 1)) / how->stride[i];
    };
    return x->type == f->type && x->type == y->type && x->n == y->n && x->c == f->in && y->c == f->out &&
           y->h == windows(0, x->h, f->h) && y->w == windows(1, x->w, f->w) &&
           how->math == (x->type == CUDNN_DATA_FLOAT ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
}

std::size_t bytes_for(cudnnTensorDescriptor_t x) { return static_cast<std::size_t>(x->h) * 1000; }

/// Recommends three algorithms: one whose sums have no fixed order, one whose workspace is too large, and a good one.
template <class Result>
cudnnStatus_t recommend(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t f, cudnnConvolutionDescriptor_t how,
                        cudnnTensorDescriptor_t y, int most, int* count, Result* all) {
    ++calls.choices;
    if (!fits(x, f, how, y)) return CUDNN_STATUS_BAD_PARAM;
    if (x->n == fake_cudnn::refused_batch) return CUDNN_STATUS_NOT_SUPPORTED;
    if (most < 3) return CUDNN_STATUS_BAD_PARAM;
    *count = 3;
    for (const int algorithm : {unordered_algorithm, large_algorithm, good_algorithm}) {
        *all = {};
        all->algo = static_cast<decltype(all->algo)>(algorithm);
        all->determinism = algorithm == unordered_algorithm ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;
        ++all;
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t workspace(cudnnTensorDescriptor_t x, int algorithm, std::size_t* bytes) {
    *bytes = algorithm == large_algorithm ? std::size_t(1) << 40 : bytes_for(x);
    return CUDNN_STATUS_SUCCESS;
}

struct operands {
    const void *x, *f, *y;
    void* result;
};

/// Calls visit(at in x, at in f, at in y) for all products.
template <class F>
void each_product(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t f, cudnnConvolutionDescriptor_t how,
                  cudnnTensorDescriptor_t y, const F& visit) {
    for (int n = 0; n < y->n; ++n)
        for (int oy = 0; oy < y->h; ++oy)
            for (int ox = 0; ox < y->w; ++ox)
                for (int ky = 0; ky < f->h; ++ky)
                    for (int kx = 0; kx < f->w; ++kx) {
                        const int iy = oy * how->stride[0] - how->pad[0] + ky * how->dilation[0],
                                  ix = ox * how->stride[1] - how->pad[1] + kx * how->dilation[1];
                        if (iy < 0 || iy >= x->h || ix < 0 || ix >= x->w) continue;
                        for (int o = 0; o < f->out; ++o)
                            for (int c = 0; c < f->in; ++c)
                                visit(((n * x->h + iy) * x->w + ix) * x->c + c,
                                      ((o * f->h + ky) * f->w + kx) * f->in + c,
                                      ((n * y->h + oy) * y->w + ox) * y->c + o);
                    }
}

enum class part { forward, input, filter };

template <class T>
void compute(part which, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t f, cudnnConvolutionDescriptor_t how,
             cudnnTensorDescriptor_t y, const operands& all) {
    const auto *const xs = static_cast<const T*>(all.x), *const fs = static_cast<const T*>(all.f),
                      *const ys = static_cast<const T*>(all.y);
    const std::size_t n = static_cast<std::size_t>(which == part::forward ? y->n * y->h * y->w * y->c
                                                   : which == part::input ? x->n * x->h * x->w * x->c
                                                                          : f->out * f->h * f->w * f->in);
    auto* const sums = new double[n]();
    each_product(x, f, how, y, [&](int i, int j, int k) {
        if (which == part::forward) sums[k] += double(float(xs[i])) * double(float(fs[j]));
        if (which == part::input) sums[i] += double(float(fs[j])) * double(float(ys[k]));
        if (which == part::filter) sums[j] += double(float(xs[i])) * double(float(ys[k]));
    });
    for (std::size_t i = 0; i < n; ++i) static_cast<T*>(all.result)[i] = T(static_cast<float>(sums[i]));
    delete[] sums;
}

cudnnStatus_t start(part which, cudnnHandle_t handle, const void* alpha, const void* beta, cudnnTensorDescriptor_t x,
                    cudnnFilterDescriptor_t f, cudnnConvolutionDescriptor_t how, cudnnTensorDescriptor_t y,
                    int algorithm, void* memory, std::size_t bytes, const operands& all) {
    ++calls.convolutions;
    calls.stream = handle->stream;
    if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0) return CUDNN_STATUS_BAD_PARAM;
    if (!fits(x, f, how, y) || algorithm != good_algorithm || bytes < bytes_for(x)) return CUDNN_STATUS_BAD_PARAM;
    for (const void* p : {all.x, all.f, all.y, static_cast<const void*>(all.result)})
        if (reinterpret_cast<std::uintptr_t>(p) % 16 != 0) return CUDNN_STATUS_BAD_PARAM;
    std::memset(memory, 0xff, bytes);
    if (x->type == CUDNN_DATA_FLOAT) compute<float>(which, x, f, how, y, all);
    if (x->type == CUDNN_DATA_HALF) compute<rill::half>(which, x, f, how, y, all);
    if (x->type == CUDNN_DATA_BFLOAT16) compute<rill::bfloat16>(which, x, f, how, y, all);
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

extern "C" {

fake_cudnn::counts* fake_cudnn_counts() { return &calls; }

std::size_t cudnnGetVersion() { return FAKE_CUDNN_VERSION; }
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
    ++calls.handles;
    *handle = new cudnnContext;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) {
    *made = new cudnnTensorStruct;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t t, cudnnTensorFormat_t format, cudnnDataType_t type,
                                         int n, int c, int h, int w) {
    *t = {type, n, c, h, w};
    return format == CUDNN_TENSOR_NHWC && n > 0 && c > 0 && h > 0 && w > 0 ? CUDNN_STATUS_SUCCESS
                                                                           : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made) {
    *made = new cudnnFilterStruct;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t f, cudnnDataType_t type, cudnnTensorFormat_t format,
                                         int k, int c, int h, int w) {
    *f = {type, k, c, h, w};
    return format == CUDNN_TENSOR_NHWC && k > 0 && c > 0 && h > 0 && w > 0 ? CUDNN_STATUS_SUCCESS
                                                                           : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made) {
    *made = new cudnnConvolutionStruct;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t how, int pad_h, int pad_w, int u, int v,
                                              int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
    *how = {{pad_h, pad_w}, {u, v}, {dilation_h, dilation_w}};
    const bool good = mode == CUDNN_CROSS_CORRELATION && type == CUDNN_DATA_FLOAT && pad_h >= 0 && pad_w >= 0;
    return good && u > 0 && v > 0 && dilation_h > 0 && dilation_w > 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t how, cudnnMathType_t math) {
    how->math = math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t f,
                                                     const cudnnConvolutionDescriptor_t how,
                                                     const cudnnTensorDescriptor_t y, int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* all) {
    return recommend(x, f, how, y, most, count, all);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, const cudnnFilterDescriptor_t f,
                                                          const cudnnTensorDescriptor_t y,
                                                          const cudnnConvolutionDescriptor_t how,
                                                          const cudnnTensorDescriptor_t x, int most, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* all) {
    return recommend(x, f, how, y, most, count, all);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                            const cudnnTensorDescriptor_t y,
                                                            const cudnnConvolutionDescriptor_t how,
                                                            const cudnnFilterDescriptor_t f, int most, int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* all) {
    return recommend(x, f, how, y, most, count, all);
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                      const cudnnFilterDescriptor_t, const cudnnConvolutionDescriptor_t,
                                                      const cudnnTensorDescriptor_t,
                                                      cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
    return workspace(x, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t, const cudnnConvolutionDescriptor_t,
    const cudnnTensorDescriptor_t x, cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
    return workspace(x, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t, const cudnnConvolutionDescriptor_t,
    const cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
    return workspace(x, algorithm, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x,
                                      const void* xs, const cudnnFilterDescriptor_t f, const void* fs,
                                      const cudnnConvolutionDescriptor_t how, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* memory, std::size_t bytes, const void* beta,
                                      const cudnnTensorDescriptor_t y, void* ys) {
    return start(part::forward, handle, alpha, beta, x, f, how, y, algorithm, memory, bytes, {xs, fs, nullptr, ys});
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, const cudnnFilterDescriptor_t f,
                                           const void* fs, const cudnnTensorDescriptor_t y, const void* ys,
                                           const cudnnConvolutionDescriptor_t how,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* memory, std::size_t bytes,
                                           const void* beta, const cudnnTensorDescriptor_t x, void* xs) {
    return start(part::input, handle, alpha, beta, x, f, how, y, algorithm, memory, bytes, {nullptr, fs, ys, xs});
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x,
                                             const void* xs, const cudnnTensorDescriptor_t y, const void* ys,
                                             const cudnnConvolutionDescriptor_t how,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* memory, std::size_t bytes,
                                             const void* beta, const cudnnFilterDescriptor_t f, void* fs) {
    return start(part::filter, handle, alpha, beta, x, f, how, y, algorithm, memory, bytes, {xs, nullptr, ys, fs});
}

} // extern "C"
