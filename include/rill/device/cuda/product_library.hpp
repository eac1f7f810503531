// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Matrix products by cuBLASLt, which is loaded at run time. Without it, programs start and compute products with their own kernels. For
// files that nvcc compiles.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

#include <cublasLt.h>

#include <rill/core/platform.hpp>
#include <rill/device/thrust/products.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The functions of cuBLASLt that we call.
struct cublas_functions {
    decltype(&cublasLtCreate) create = nullptr;
    decltype(&cublasLtMatmulDescCreate) create_operation = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) set_operation = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) choose = nullptr;
    decltype(&cublasLtMatmul) multiply = nullptr;

    /// Returns the functions of the version whose header this program was compiled with; null if that library is missing.
    static const cublas_functions* find() {
        static const auto found = [] {
            cublas_functions f;
            void* const library = load_library(("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)).c_str());
            const auto load = [&](auto& to, const char* name) { return load_function(library, name, to); };
            const bool all = library && load(f.create, "cublasLtCreate") &&
                             load(f.create_operation, "cublasLtMatmulDescCreate") &&
                             load(f.set_operation, "cublasLtMatmulDescSetAttribute") &&
                             load(f.create_layout, "cublasLtMatrixLayoutCreate") &&
                             load(f.create_preference, "cublasLtMatmulPreferenceCreate") &&
                             load(f.set_preference, "cublasLtMatmulPreferenceSetAttribute") &&
                             load(f.destroy_preference, "cublasLtMatmulPreferenceDestroy") &&
                             load(f.choose, "cublasLtMatmulAlgoGetHeuristic") && load(f.multiply, "cublasLtMatmul");
            return std::pair(all, f);
        }();
        return found.first ? &found.second : nullptr;
    }
};

/// Matrix products of one GPU by cuBLASLt. The algorithm of a shape is chosen once; results are the same from run to run.
class product_library {
public:
    /// Computes a product in a stream of the current GPU. Returns false if cuBLASLt is missing or does not support the product; c is
    /// then unchanged.
    template <class T> bool multiply(const product_arguments<T>& all, cudaStream_t stream) {
        if constexpr (type_of<T>() == no_type) {
            return false;
        } else {
            const std::lock_guard lock(mutex_);
            if (!is_ready()) return false;
            const auto bits = std::bit_cast<std::uintptr_t>(all.a) | std::bit_cast<std::uintptr_t>(all.b) |
                              std::bit_cast<std::uintptr_t>(all.c) | std::uintptr_t(256);
            const auto alignment = static_cast<std::uint32_t>(bits & -bits);
            const int epilogue =
                (all.last.row ? CUBLASLT_EPILOGUE_BIAS : 0) | (all.last.rectified ? CUBLASLT_EPILOGUE_RELU : 0);
            const key of{all.m, all.n, all.k, type_of<T>() * 4 + 2 * all.trans_a + all.trans_b, epilogue, alignment};
            auto known = plans_.find(of);
            if (known == plans_.end()) known = plans_.emplace(of, make_plan(of, all)).first;
            const plan& with = known->second;
            if (!with.serves) return false;
            if (all.last.row) set(with.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, all.last.row);
            using C = compute_type<T>;
            const C one(1), zero(0);
            // row-major matrices are transposed column-major ones: swap the operands
            return functions_->multiply(handle_, with.operation, &one, all.b, with.b, all.a, with.a, &zero, all.c,
                                        with.c, all.c, with.c, &with.algorithm, workspace_, workspace_bytes,
                                        stream) == CUBLAS_STATUS_SUCCESS;
        }
    }

private:
    static constexpr std::size_t workspace_bytes = std::size_t(32) << 20; // NVIDIA's recommendation for Hopper
    static constexpr int no_type = -1;

    struct plan {
        cublasLtMatmulDesc_t operation = nullptr;
        cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
        cublasLtMatmulAlgo_t algorithm{};
        bool serves = false;
    };
    using key = std::array<std::int64_t, 6>; // m, n, k, type and transposes, epilogue, alignment

    template <class T> static constexpr int type_of() {
        if (std::is_same_v<T, float>) return CUDA_R_32F;
        if (std::is_same_v<T, double>) return CUDA_R_64F;
        if (std::is_same_v<T, half>) return CUDA_R_16F;
        return std::is_same_v<T, bfloat16> ? int(CUDA_R_16BF) : no_type;
    }

    /// Opens the library at the first product. Returns false if it is missing, or there is no memory for its workspace.
    bool is_ready() {
        if (!opened_) {
            opened_ = true;
            functions_ = cublas_functions::find();
            if (functions_ && (functions_->create(&handle_) != CUBLAS_STATUS_SUCCESS ||
                               cudaMalloc(&workspace_, workspace_bytes) != cudaSuccess)) {
                cudaGetLastError(); // a refused allocation is not sticky
                functions_ = nullptr;
            }
        }
        return functions_ != nullptr;
    }
    template <class V> bool set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t what, const V& value) {
        return functions_->set_operation(operation, what, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
    }
    template <class T> plan make_plan(const key& of, const product_arguments<T>& all) {
        constexpr auto type = static_cast<cudaDataType_t>(type_of<T>());
        constexpr bool wide = std::is_same_v<T, double>;
        const auto layout = [&](cublasLtMatrixLayout_t& to, index_t rows, index_t columns) {
            return functions_->create_layout(&to, type, static_cast<std::uint64_t>(columns),
                                             static_cast<std::uint64_t>(rows), columns) == CUBLAS_STATUS_SUCCESS;
        };
        const auto transposed = [](bool yes) { return static_cast<std::int32_t>(yes ? CUBLAS_OP_T : CUBLAS_OP_N); };
        plan p;
        const bool made =
            functions_->create_operation(&p.operation, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                         wide ? CUDA_R_64F : CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
            set(p.operation, CUBLASLT_MATMUL_DESC_TRANSA, transposed(all.trans_b)) &&
            set(p.operation, CUBLASLT_MATMUL_DESC_TRANSB, transposed(all.trans_a)) &&
            (of[4] == 0 || set(p.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(of[4]))) &&
            (!all.last.row || set(p.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, all.last.row)) &&
            layout(p.a, all.trans_a ? all.k : all.m, all.trans_a ? all.m : all.k) &&
            layout(p.b, all.trans_b ? all.n : all.k, all.trans_b ? all.k : all.n) && layout(p.c, all.m, all.n);
        cublasLtMatmulPreference_t wishes = nullptr;
        if (!made || functions_->create_preference(&wishes) != CUBLAS_STATUS_SUCCESS) return p;
        const auto wish = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
            functions_->set_preference(wishes, what, &value, sizeof value);
        };
        wish(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t(workspace_bytes));
        // the order of in-place sums would depend on the scheduling of thread blocks
        wish(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
             std::uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE));
        for (const auto what : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
            wish(what, static_cast<std::uint32_t>(of[5]));
        cublasLtMatmulHeuristicResult_t best{};
        int found = 0;
        p.serves = functions_->choose(handle_, p.operation, p.b, p.a, p.c, p.c, wishes, 1, &best, &found) ==
                       CUBLAS_STATUS_SUCCESS &&
                   found > 0 && best.state == CUBLAS_STATUS_SUCCESS;
        p.algorithm = best.algo;
        functions_->destroy_preference(wishes);
        return p;
    }

    std::mutex mutex_;
    bool opened_ = false;
    const cublas_functions* functions_ = nullptr;
    cublasLtHandle_t handle_ = nullptr;
    void* workspace_ = nullptr; // one is enough: the products of a GPU run one after another
    std::map<key, plan> plans_;
};

}}} // namespace rill::RILL_ABI::detail
