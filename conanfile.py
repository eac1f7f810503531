# SPDX-License-Identifier: BSD-3-Clause
import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, save
from conan.tools.scm import Version

# Flags of CUDA alone, which components can't have.
GPU_FLAGS = """target_compile_options(rill::gpu INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr>")
"""

# CUDA's runtime, which is no package of Conan's.
GPU_RUNTIME = """find_package(CUDAToolkit REQUIRED)
target_link_libraries(rill::gpu_kernels INTERFACE CUDA::cudart_static)
"""

required_conan_version = ">=2.0"


class RillConan(ConanFile):
    name = "rill"
    description = "Typed dataflow graphs for C++20"
    license = "BSD-3-Clause"
    topics = ("dataflow", "machine-learning", "automatic-differentiation", "expression-templates", "tensor")
    package_type = "static-library"  # header-library without kernels
    settings = "os", "arch", "compiler", "build_type"
    options = {name: [True, False] for name in ("with_distributed", "with_gpu", "with_gpu_kernels", "with_jit", "with_kernels", "with_onednn", "with_xsimd")}
    default_options = {"with_distributed": False, "with_gpu": False, "with_gpu_kernels": False, "with_jit": True, "with_kernels": True, "with_onednn": True, "with_xsimd": True}
    exports_sources = "CMakeLists.txt", "LICENSE", "include/*"
    test_package_folder = "tests/consumers/conan"
    no_copy_source = True

    def set_version(self):
        config = (Path(self.recipe_folder) / "include/rill/config.hpp").read_text()
        self.version = ".".join(re.findall(r"^#define RILL_VERSION_[A-Z]+ (\d+)$", config, re.M))

    def configure(self):
        if not self.options.with_kernels:
            self.package_type = "header-library"
            self.options.rm_safe("with_distributed")
            self.options.rm_safe("with_gpu_kernels")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # xtensor may ask for one version of xsimd, which ours then agrees to
        self.requires("xtensor/[>=0.24.3 <0.28]", transitive_headers=True)
        if self.options.with_xsimd:
            self.requires("xsimd/[>=8.1 <15]", transitive_headers=True)
        if self._with()["JIT"]:
            self.requires("xbyak/[>=6 <8]", transitive_headers=True)
        if self.options.get_safe("with_distributed"):  # headers of both are read when the library is made, and no later
            self.requires("cereal/[>=1.3 <2]")
            self.requires("cppzmq/[>=4.9 <5]", transitive_libs=True)

    def package_id(self):
        if not self.info.options.with_kernels:
            self.info.clear()  # the other options are definitions of whoever includes the headers

    def validate(self):
        check_min_cppstd(self, 20)
        least = {"gcc": "12", "clang": "16"}.get(str(self.settings.compiler))
        if least and Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration(f"rill needs {self.settings.compiler} {least} or newer")

    def generate(self):
        if not self.options.with_kernels:
            return
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        for part in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"RILL_BUILD_{part}"] = False
        for name, value in self._with().items():
            toolchain.cache_variables[f"RILL_WITH_{name}"] = value
        toolchain.cache_variables["RILL_GPU_KERNELS"] = bool(self.options.with_gpu_kernels)
        if self.options.with_distributed:
            toolchain.cache_variables["RILL_ZMQ_INCLUDE_DIR"] = self.dependencies["cppzmq"].cpp_info.includedirs[0]
        toolchain.generate()

    def build(self):
        if self.options.with_kernels:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target="rill_distributed" if self.options.with_distributed else "rill_kernels")
            if self.options.with_gpu_kernels:
                cmake.build(target="rill_gpu_kernels")

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        for ending in ("hpp", "ipp"):
            copy(self, f"*.{ending}", Path(self.source_folder) / "include", Path(self.package_folder) / "include")
        for library in ("librill_kernels.a", "rill_kernels.lib", "librill_distributed.a", "rill_distributed.lib", "librill_gpu_kernels.a"):
            copy(self, library, self.build_folder, Path(self.package_folder) / "lib", keep_path=False)
        save(self, Path(self.package_folder) / "cmake" / "rill_gpu.cmake", GPU_FLAGS)
        save(self, Path(self.package_folder) / "cmake" / "rill_gpu_kernels.cmake", GPU_RUNTIME)

    def _with(self):
        jit = self.options.with_jit and self.settings.arch == "x86_64" and self.settings.os in ("Linux", "FreeBSD", "Macos")
        return {"XSIMD": bool(self.options.with_xsimd), "JIT": bool(jit), "ONEDNN": bool(self.options.with_onednn), "BLAS": False,
                "ZMQ": bool(self.options.get_safe("with_distributed"))}

    def package_info(self):
        # A component each for the targets of our CMake package, under the same names. More may come.
        self.cpp_info.set_property("cmake_file_name", "rill")
        self.cpp_info.set_property("cmake_target_name", "rill::all")

        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "rill::rill")
        headers.set_property("pkg_config_name", "rill")
        headers.requires = ["xtensor::xtensor"] + ["xsimd::xsimd"] * bool(self.options.with_xsimd) + ["xbyak::xbyak"] * self._with()["JIT"]
        headers.defines = [f"RILL_WITH_{name}={int(value)}" for name, value in self._with().items()]
        headers.bindirs = headers.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            headers.system_libs = ["pthread", "dl"]

        if self.options.with_kernels:
            kernels = self.cpp_info.components["kernels"]
            kernels.set_property("cmake_target_name", "rill::kernels")
            kernels.set_property("pkg_config_name", "rill-kernels")
            kernels.requires = ["headers"]
            kernels.libs = ["rill_kernels"]
            kernels.defines = ["RILL_COMPILED=1"]
            if self.settings.os in ("Linux", "FreeBSD"): # programs contain the kernels that they name
                kernels.exelinkflags = kernels.sharedlinkflags = ["-Wl,--gc-sections"]

        if self.options.get_safe("with_distributed"):
            distributed = self.cpp_info.components["distributed"]
            distributed.set_property("cmake_target_name", "rill::distributed")
            distributed.set_property("pkg_config_name", "rill-distributed")
            distributed.requires = ["kernels", "cereal::cereal", "cppzmq::cppzmq"]
            distributed.libs = ["rill_distributed"]

        if self.options.with_gpu:  # headers, for sources that nvcc compiles
            gpu = self.cpp_info.components["gpu"]
            gpu.set_property("cmake_target_name", "rill::gpu")
            gpu.set_property("pkg_config_name", "rill-gpu")
            gpu.requires = ["headers"]
            gpu.defines = ["RILL_WITH_GPU=1"]
            gpu.bindirs = gpu.libdirs = []

        if self.options.get_safe("with_gpu_kernels"):  # compiled by nvcc, for sources of C++ alone
            compiled = self.cpp_info.components["gpu_kernels"]
            compiled.set_property("cmake_target_name", "rill::gpu_kernels")
            compiled.set_property("pkg_config_name", "rill-gpu-kernels")
            compiled.requires = ["kernels"]
            compiled.libs = ["rill_gpu_kernels"]
            compiled.exelinkflags = compiled.sharedlinkflags = ["-Wl,--undefined=rill_gpu_kernels"]

        modules = [f"cmake/rill_{name}.cmake" for name in ("gpu", "gpu_kernels") if self.options.get_safe(f"with_{name}")]
        self.cpp_info.set_property("cmake_build_modules", modules)
