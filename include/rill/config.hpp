// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Version, options and the few macros of the library. With CMake (installed packages, targets of a build tree), options come from a
// generated <rill/options.hpp>. A plain `-I include` detects header-only libraries and links to none.

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
// Machine code for expressions, on Unix for x86-64. xbyak writes it.
#if !defined(__x86_64__) || !defined(__LP64__) || !(defined(__unix__) || defined(__APPLE__)) || defined(__CYGWIN__)
#undef RILL_WITH_JIT
#define RILL_WITH_JIT 0
#elif !defined(RILL_WITH_JIT)
#if __has_include(<xbyak/xbyak.h>)
#define RILL_WITH_JIT 1
#else
#define RILL_WITH_JIT 0
#endif
#endif
#ifndef RILL_WITH_ONEDNN
#define RILL_WITH_ONEDNN                                                                                               \
    1 // loaded at the first large product, without header or linking; 0: never
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

// Optional third-party headers: 1 if rill::kernels contains the code that needs them. Without it, a program that includes such a rill
// header needs the third-party header.
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

// RILL_MORE_DEVICES: <a header> that names further devices for which kernels are compiled (device/devices.hpp). All files of a program
// must define it alike, or none may. RILL_WITH_GPU=1 and RILL_WITH_THRUST=1 are short forms for the devices of this library.
#ifndef RILL_MORE_DEVICES
#if defined(RILL_WITH_GPU) && RILL_WITH_GPU
#define RILL_MORE_DEVICES <rill/gpu.hpp>
#elif defined(RILL_WITH_THRUST) && RILL_WITH_THRUST
#define RILL_MORE_DEVICES <rill/thrust.hpp>
#endif
#endif
#ifdef RILL_MORE_DEVICES
#define RILL_DETAIL_MORE_DEVICES 1
#else
#define RILL_DETAIL_MORE_DEVICES 0
#endif

#ifndef RILL_COMPILED
#define RILL_COMPILED 0 // 1 if the program links rill::kernels, which then contains all non-template code
#endif
#ifndef RILL_IN_KERNELS
#define RILL_IN_KERNELS 0 // 1 in files of rill::kernels: they register nothing at program start
#endif
#ifndef RILL_DEFINE
#define RILL_DEFINE                                                                                                    \
    !RILL_COMPILED // definitions at the foot of ops: here, or in the one file of rill::kernels that says so
#endif
// ---- assumptions of the code -------------------------------------------------------------------------------
#if defined(_MSVC_LANG)
#define RILL_CPLUSPLUS _MSVC_LANG
#else
#define RILL_CPLUSPLUS __cplusplus
#endif
#if RILL_CPLUSPLUS < 202002L
#error "rill needs C++20: compile with -std=c++20 (or /std:c++20)"
#include <nothing more of rill is read without C++20> // stops here instead of thousands of errors
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
// RILL_FN marks a value function: it runs on the host, inside SIMD loops and inside GPU kernels, and is always inlined. Kernel speed
// then does not depend on the optimiser's inlining. Large value functions are RILL_HOST_DEVICE: the compiler decides about inlining.
// RILL_FRONT marks a function that users call with tensors and value functions call with numbers, such as tanh(x). Unlike RILL_FN it may
// call host functions, but it must not compute anything itself: nvcc silently compiles a constexpr function that calls a host function
// into nothing.
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

// RILL_INLINE marks definitions in *.ipp files; RILL_COLD marks those that run once per plan. Header-only programs compile RILL_COLD
// functions for size. This saves a tenth of the compile time and a sixth of the code.
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

// RILL_EXPORT marks objects that must be unique per process, even across shared libraries with hidden visibility: registries, exception
// types and the default graph.
#if defined(_WIN32)
#define RILL_EXPORT
#else
#define RILL_EXPORT __attribute__((visibility("default")))
#endif

// ---- inline namespaces -----------------------------------------------------------------------------------------------
// RILL_ABI names version and options, RILL_ISA the instruction set. Objects that are built differently thus link together without mixing
// their functions. Interfaces between files built with different options do not link.
#define RILL_DETAIL_JOIN(a, b, c, d, e, f, g, h) v##a##_##b##_o##c##d##e##f##g##h
#define RILL_DETAIL_NAME(a, b, c, d, e, f, g, h) RILL_DETAIL_JOIN(a, b, c, d, e, f, g, h)
#define RILL_ABI                                                                                                       \
    RILL_DETAIL_NAME(RILL_VERSION_MAJOR, RILL_VERSION_MINOR, RILL_WITH_XSIMD, RILL_WITH_JIT, RILL_WITH_ONEDNN,         \
                     RILL_WITH_BLAS, RILL_DETAIL_MORE_DEVICES, RILL_COMPILED)

// Files with and without RILL_COMPILED would silently have separate default graphs, scopes and registries. They therefore do not link
// into one program or shared library: both forms define the same symbol, in a section that is unique per form. The symbol is in a
// function, which link-time optimisation merges.
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

// Files compiled by nvcc use no SIMD registers: nvcc rejects vector types in code that a GPU might call. Their CPU kernels are plain
// loops. If linked, rill::kernels supplies faster ones, which take precedence.
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
