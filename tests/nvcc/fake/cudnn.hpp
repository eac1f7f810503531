// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A cuDNN for tests (cudnn.cpp), which programs load instead of NVIDIA's.

#include <cuda_runtime_api.h>

namespace fake_cudnn {

/// The calls so far.
struct counts {
    int handles = 0;
    int choices = 0;               // questions for algorithms
    int convolutions = 0;          // parts that were computed or refused
    cudaStream_t stream = nullptr; // that of the last one
};

/// The number of images for which cuDNN has no algorithm.
inline constexpr int refused_batch = 7;

} // namespace fake_cudnn

extern "C" fake_cudnn::counts* fake_cudnn_counts();
