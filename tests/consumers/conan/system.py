# SPDX-License-Identifier: BSD-3-Clause
from os.path import join

from conan import ConanFile
from conan.tools.files import copy


class SystemConan(ConanFile):
    """xtensor, xtl, xsimd, xbyak, cereal or cppzmq of this machine as a package, for check.py: `conan create system.py --name xtl --version 0.7.2`."""

    package_type = "header-library"
    options = {"prefix": ["ANY"]}
    default_options = {"prefix": "/usr"}

    def requirements(self):
        if self.name == "xtensor":
            self.requires("xtl/[*]")

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "zmq*" if self.name == "cppzmq" else f"{self.name}/*", join(str(self.options.prefix), "include"), join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", self.name)
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        if self.name == "cppzmq":
            self.cpp_info.system_libs = ["zmq"]
