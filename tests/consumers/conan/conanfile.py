# SPDX-License-Identifier: BSD-3-Clause
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class ConsumerConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires(self.tested_reference_str)

    def generate(self):
        options = self.dependencies["rill"].options
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        distributed = bool(options.get_safe("with_distributed"))
        gpu = bool(options.with_gpu)
        if gpu:  # CMake would take the standard for CUDA's as well, and 3.25 does not know C++20 there
            toolchain.blocks.remove("cppstd")
        toolchain.cache_variables["TARGET"] = ("rill::distributed" if distributed else "rill::gpu" if gpu
                                               else "rill::kernels" if options.with_kernels else "rill::rill")
        toolchain.cache_variables["SOURCE"] = ("../distributed/main.cpp" if distributed else "../gpu/main.cu" if gpu
                                               else "main.cpp")
        toolchain.preprocessor_definitions["EXPECT_COMPILED"] = int(bool(options.with_kernels))
        on_x86 = self.settings.arch == "x86_64" and self.settings.os in ("Linux", "FreeBSD", "Macos")
        toolchain.preprocessor_definitions["EXPECT_JIT"] = int(bool(options.with_jit) and on_x86)
        toolchain.preprocessor_definitions["EXPECT_ONEDNN"] = int(bool(options.with_onednn))
        toolchain.preprocessor_definitions["EXPECT_XSIMD"] = int(bool(options.with_xsimd))
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "consumer"), env="conanrun")
