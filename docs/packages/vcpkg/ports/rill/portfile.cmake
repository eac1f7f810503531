# In a checkout, as an overlay port or in a registry of kind `filesystem`, this builds the checkout.
cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../../..")
if(NOT EXISTS "${SOURCE_PATH}/include/rill/config.hpp")
    vcpkg_from_github(
        OUT_SOURCE_PATH SOURCE_PATH
        REPO OWNER/rill # this and the sum are filled in with the first release
        REF "v${VERSION}"
        SHA512 0
        HEAD_REF main
    )
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options
    FEATURES
        blas        RILL_WITH_BLAS
        distributed RILL_WITH_ZMQ
        gpu         RILL_GPU
        gpu-kernels RILL_GPU_KERNELS
        jit         RILL_WITH_JIT
        kernels     RILL_KERNELS
        xsimd       RILL_WITH_XSIMD
)
if(NOT "kernels" IN_LIST FEATURES)
    set(VCPKG_BUILD_TYPE release) # headers are the same for debugging
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${feature_options}
        -DRILL_INSTALL=ON
        -DRILL_BUILD_TESTS=OFF
        -DRILL_BUILD_EXAMPLES=OFF
        -DRILL_BUILD_BENCH=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rill)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/licenses")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
