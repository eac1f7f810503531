# SPDX-License-Identifier: BSD-3-Clause
# Runs the steps of the vcpkg port without vcpkg, whose functions stand here in short (for release alone), and builds a program
# with what comes out. vcpkg itself is not needed; what it does beyond these functions is not tested.
#   cmake -DFEATURES=kernels;xsimd -DPORTS=<folder of ports> -DSOURCE=<rill> -DOUT=<folder> -P check.cmake
cmake_minimum_required(VERSION 3.25)
set(PORT rill)
set(VCPKG_BUILD_TYPE release)
set(CURRENT_PACKAGES_DIR "${OUT}/packages")
file(REMOVE_RECURSE "${OUT}")

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_from_github)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_SOURCE_PATH;REPO;REF;SHA512;HEAD_REF" "")
    if(NOT arg_REF STREQUAL "v${VERSION}")
        message(FATAL_ERROR "the port asks for ${arg_REF}, not v${VERSION}")
    endif()
    file(COPY "${SOURCE}/CMakeLists.txt" "${SOURCE}/LICENSE" "${SOURCE}/include" DESTINATION "${OUT}/source")
    set(${arg_OUT_SOURCE_PATH} "${OUT}/source" PARENT_SCOPE)
endfunction()

function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    set(options "")
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature option)
        set(chosen OFF)
        if(feature IN_LIST FEATURES)
            set(chosen ON)
        endif()
        list(APPEND options -D${option}=${chosen})
    endwhile()
    set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    run(${CMAKE_COMMAND} -S "${arg_SOURCE_PATH}" -B "${OUT}/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -DFETCHCONTENT_FULLY_DISCONNECTED=ON ${arg_OPTIONS}
        -DRILL_KERNEL_LEVELS= -DRILL_KERNEL_RARE_TYPES=OFF) # more of the same kernels, and minutes of it
endfunction()

function(vcpkg_cmake_install)
    run(${CMAKE_COMMAND} --build "${OUT}/build" --target install)
endfunction()

function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    file(INSTALL "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/cmake")
    set(targets "${CURRENT_PACKAGES_DIR}/share/${PORT}/rillTargets.cmake")
    file(READ "${targets}" text)
    string(REGEX REPLACE "(get_filename_component\\(_IMPORT_PREFIX [^\n]*\n)+"
        "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)\n" text "${text}")
    file(WRITE "${targets}" "${text}")
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
endfunction()

# ---- the version is said in three files beside the library --------------------------------------------------------------
file(STRINGS "${SOURCE}/include/rill/config.hpp" version REGEX "^#define RILL_VERSION_[A-Z]+ [0-9]+$")
string(REGEX MATCHALL "[0-9]+" version "${version}")
list(JOIN version "." version)
foreach(file "ports/rill/vcpkg.json;version" "versions/baseline.json;default;rill;baseline" "versions/r-/rill.json;versions;0;version")
    list(POP_FRONT file name)
    file(READ "${SOURCE}/docs/packages/vcpkg/${name}" text)
    string(JSON VERSION GET "${text}" ${file})
    if(NOT VERSION STREQUAL version)
        message(FATAL_ERROR "docs/packages/vcpkg/${name} says ${VERSION}, include/rill/config.hpp ${version}")
    endif()
endforeach()

include("${PORTS}/rill/portfile.cmake")

foreach(name include/rill/rill.hpp include/rill/options.hpp share/rill/rillConfig.cmake share/rill/usage share/rill/copyright)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${name}")
        message(FATAL_ERROR "the port leaves out ${name}")
    endif()
endforeach()
file(GLOB_RECURSE files LIST_DIRECTORIES ON "${CURRENT_PACKAGES_DIR}/*") # vcpkg refuses folders that are empty
foreach(folder IN LISTS files)
    file(GLOB inside "${folder}/*")
    if(IS_DIRECTORY "${folder}" AND NOT inside)
        message(FATAL_ERROR "the port leaves an empty folder: ${folder}")
    endif()
endforeach()

if("gpu" IN_LIST FEATURES)
    run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/../gpu" -B "${OUT}/gpu" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=75
        "-DCMAKE_CUDA_COMPILER=${NVCC}" -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "-Drill_DIR=${CURRENT_PACKAGES_DIR}/share/rill")
    run(${CMAKE_COMMAND} --build "${OUT}/gpu")
    run("${OUT}/gpu/consumer")
    return() # the other features have tests of their own
endif()
set(components "")
if("kernels" IN_LIST FEATURES)
    set(components kernels)
endif()
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/../find_package" -B "${OUT}/consumer" -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "-Drill_DIR=${CURRENT_PACKAGES_DIR}/share/rill" "-DPARTS=${components}")
run(${CMAKE_COMMAND} --build "${OUT}/consumer")
if("distributed" IN_LIST FEATURES)
    run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/../distributed" -B "${OUT}/distributed" -DCMAKE_BUILD_TYPE=Release
        -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "-Drill_DIR=${CURRENT_PACKAGES_DIR}/share/rill")
    run(${CMAKE_COMMAND} --build "${OUT}/distributed")
    run("${OUT}/distributed/consumer")
endif()
file(GLOB programs "${OUT}/consumer/headers" "${OUT}/consumer/consumer")
foreach(program IN LISTS programs)
    run("${program}")
endforeach()
