// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Version, options and the few macros of the library. Options come from a generated <rill/options.hpp> where CMake made
// one (installed packages, the targets of a build tree); a plain `-I include` finds header-only libraries by itself and
// links to nothing.

#if __has_include(<rill/options.hpp>)
#include <rill/options.hpp>
#endif

#define RILL_VERSION_MAJOR 0
#define RILL_VERSION_MINOR 1
#define RILL_VERSION_PATCH 0
#define RILL_VERSION (RILL_VERSION_MAJOR * 10000 + RILL_VERSION_MINOR * 100 + RILL_VERSION_PATCH)

#ifndef RILL_WITH_XSIMD
#if __has_include(<xsimd/xsimd.hpp>)
#define RILL_WITH_XSIMD 1
#else
#define RILL_WITH_XSIMD 0
#endif
#endif
#ifndef RILL_WITH_ONEDNN
#define RILL_WITH_ONEDNN                                                                                               \
    1 // looked for when the first large product comes; neither header nor linking is needed. 0: never
#endif
#ifndef RILL_WITH_BLAS
#define RILL_WITH_BLAS 0 // CBLAS; needs linking
#endif

#ifndef RILL_WITH_ZMQ // clusters of several processes; needs linking, in programs that include <rill/distributed.hpp>
#if __has_include(<zmq.hpp>)
#define RILL_WITH_ZMQ 1
#else
#define RILL_WITH_ZMQ 0
#endif
#endif

// Headers that some of ours need and others do not: whether rill::kernels holds what is made of them. Without it, a program that
// includes such a header of ours needs them itself.
#ifndef RILL_KERNELS_HAVE_CEREAL
#if __has_include(<cereal/cereal.hpp>)
#define RILL_KERNELS_HAVE_CEREAL 1
#else
#define RILL_KERNELS_HAVE_CEREAL 0
#endif
#endif
#ifndef RILL_KERNELS_HAVE_JSON
#if __has_include(<nlohmann/json.hpp>)
#define RILL_KERNELS_HAVE_JSON 1
#else
#define RILL_KERNELS_HAVE_JSON 0
#endif
#endif

// RILL_MORE_DEVICES: <a header> that names devices beside the CPU, for which kernels are compiled too (device/devices.hpp).
// The same in all files of a program, or in none.
#ifdef RILL_MORE_DEVICES
#define RILL_DETAIL_MORE_DEVICES 1
#else
#define RILL_DETAIL_MORE_DEVICES 0
#endif

#ifndef RILL_COMPILED
#define RILL_COMPILED 0 // 1 where the program links rill::kernels: what is no template is then compiled once, there
#endif
#ifndef RILL_IN_KERNELS
#define RILL_IN_KERNELS 0 // 1 in the files of rill::kernels, which register nothing at program start
#endif
#ifndef RILL_DEFINE
#define RILL_DEFINE                                                                                                    \
    !RILL_COMPILED // definitions at the foot of ops: here, or in the one file of rill::kernels that says so
#endif
// ---- stance: what the code relies on -------------------------------------------------------------------------------
#if defined(_MSVC_LANG)
#define RILL_CPLUSPLUS _MSVC_LANG
#else
#define RILL_CPLUSPLUS __cplusplus
#endif
#if RILL_CPLUSPLUS < 202002L
#error "rill needs C++20: compile with -std=c++20 (or /std:c++20)"
#include <nothing more of rill is read without C++20> // thousands of errors would follow
#endif
#if !defined(__cpp_exceptions)
#error "rill reports errors by exceptions: compile without -fno-exceptions"
#endif
#if !defined(__cpp_rtti)
#error "rill needs run-time type information: compile without -fno-rtti"
#endif
#if defined(__FAST_MATH__) && !defined(RILL_ALLOW_FAST_MATH)
#error "-ffast-math breaks exp, NaN and infinity in rill's kernels: compile without it, or define RILL_ALLOW_FAST_MATH"
#endif
#if RILL_COMPILED && RILL_DETAIL_MORE_DEVICES
#error "rill::kernels is compiled for the CPU alone: with RILL_MORE_DEVICES use the headers without it"
#endif
static_assert(sizeof(void*) == 8, "rill supports 64-bit targets only");
#if defined(__BYTE_ORDER__)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rill supports little-endian targets only");
#endif

// ---- host and device -------------------------------------------------------------------------------------------------
// RILL_FN marks a value function: it runs on the host, inside SIMD loops and inside GPU kernels, and is always inlined
// (kernel speed then does not depend on what the optimiser thinks of a call). A large one is RILL_HOST_DEVICE: the compiler decides.
// RILL_FRONT marks a function that users call with tensors and value functions call with numbers, as tanh(x). It may call functions of
// the host, which RILL_FN must not. It must not compute anything itself: nvcc compiles a constexpr function that calls a function of the
// host into nothing, in silence.
#if defined(_MSC_VER) && !defined(__clang__)
#define RILL_FORCE_INLINE __forceinline
#define RILL_NO_INLINE __declspec(noinline)
#else
#define RILL_FORCE_INLINE inline __attribute__((always_inline))
#define RILL_NO_INLINE __attribute__((noinline))
#endif
#if defined(__CUDACC__)
#define RILL_HOST_DEVICE __host__ __device__
#else
#define RILL_HOST_DEVICE
#endif
#define RILL_FN RILL_HOST_DEVICE RILL_FORCE_INLINE
#define RILL_FRONT constexpr RILL_FORCE_INLINE

// RILL_INLINE marks the definitions in *.ipp files, RILL_COLD those among them that run once a plan: header-only programs
// compile them for size, which takes a tenth less time and a sixth less code.
#if RILL_COMPILED
#define RILL_INLINE
#define RILL_COLD
#elif defined(__GNUC__)
#define RILL_INLINE inline
#define RILL_COLD inline __attribute__((cold))
#else
#define RILL_INLINE inline
#define RILL_COLD inline
#endif

// RILL_EXPORT: registries, exception types and the default graph are one per process, also across shared libraries
// built with hidden visibility.
#if defined(_WIN32)
#define RILL_EXPORT
#else
#define RILL_EXPORT __attribute__((visibility("default")))
#endif

// ---- inline namespaces -----------------------------------------------------------------------------------------------
// RILL_ABI names version and options, RILL_ISA the instruction set: objects built differently link together without
// mixing one another's functions. What is passed between files built with different options does not link.
#define RILL_DETAIL_JOIN(a, b, c, d, e, f, g) v##a##_##b##_o##c##d##e##f##g
#define RILL_DETAIL_NAME(a, b, c, d, e, f, g) RILL_DETAIL_JOIN(a, b, c, d, e, f, g)
#define RILL_ABI                                                                                                       \
    RILL_DETAIL_NAME(RILL_VERSION_MAJOR, RILL_VERSION_MINOR, RILL_WITH_XSIMD, RILL_WITH_ONEDNN, RILL_WITH_BLAS,        \
                     RILL_DETAIL_MORE_DEVICES, RILL_COMPILED)

// Files with RILL_COMPILED and files without would have a default graph, scopes and registries each, in silence: in one program
// (or one shared library) they don't link. Either form defines the same symbol, in a section that is kept once for each form.
// A function holds it, which link-time optimisation merges.
#define RILL_DETAIL_TEXT_OF(x) #x
#define RILL_DETAIL_TEXT(x) RILL_DETAIL_TEXT_OF(x)
#define RILL_DETAIL_FORM(a, b) rill_##a##_##b##_headers_alone_and_rill_kernels_in_one_program
#define RILL_DETAIL_FORM_NAME(a, b) RILL_DETAIL_FORM(a, b)
#define RILL_DETAIL_CLASH RILL_DETAIL_TEXT(RILL_DETAIL_FORM_NAME(RILL_VERSION_MAJOR, RILL_VERSION_MINOR))
#if defined(__ELF__) && !defined(__CUDACC__)
namespace rill { inline namespace RILL_ABI { namespace detail {
[[gnu::used, gnu::noinline]] inline void one_form_in_a_program() {
    asm(".pushsection .rodata." RILL_DETAIL_CLASH
        ", \"aG\", %progbits, " RILL_DETAIL_TEXT(RILL_ABI) ", comdat\n"
                                                           ".globl " RILL_DETAIL_CLASH "\n"
                                                           ".hidden " RILL_DETAIL_CLASH "\n" RILL_DETAIL_CLASH
                                                           ": .byte 0\n"
                                                           ".popsection");
}
}}} // namespace rill::RILL_ABI::detail
#elif defined(_MSC_VER)
#pragma detect_mismatch(RILL_DETAIL_CLASH, RILL_DETAIL_TEXT(RILL_COMPILED))
#endif

// A file of nvcc has no SIMD registers: nvcc refuses vector types in all that a GPU might call. Its kernels for the CPU are plain loops;
// those of rill::kernels take precedence where they are linked.
#if defined(__CUDACC__)
#define RILL_SIMD_REGISTERS 0
#else
#define RILL_SIMD_REGISTERS RILL_WITH_XSIMD
#endif
#if defined(__CUDACC__)
#define RILL_ISA_LEVEL 0
#define RILL_ISA_BASE isa_nvcc
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define RILL_ISA_LEVEL 4
#define RILL_ISA_BASE isa_avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define RILL_ISA_LEVEL 3
#define RILL_ISA_BASE isa_avx2
#elif defined(__SSE4_2__)
#define RILL_ISA_LEVEL 2
#define RILL_ISA_BASE isa_sse4
#elif defined(__x86_64__) || defined(_M_X64)
#define RILL_ISA_LEVEL 1
#define RILL_ISA_BASE isa_sse2
#elif defined(__aarch64__) || defined(_M_ARM64)
#define RILL_ISA_LEVEL 1
#define RILL_ISA_BASE isa_neon
#else
#define RILL_ISA_LEVEL 0
#define RILL_ISA_BASE isa_plain
#endif
#if defined(__FAST_MATH__)
#define RILL_DETAIL_ISA_JOIN(a) a##_fast
#else
#define RILL_DETAIL_ISA_JOIN(a) a
#endif
#define RILL_DETAIL_ISA_NAME(a) RILL_DETAIL_ISA_JOIN(a)
#define RILL_ISA RILL_DETAIL_ISA_NAME(RILL_ISA_BASE)
