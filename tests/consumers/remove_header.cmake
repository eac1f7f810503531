# SPDX-License-Identifier: BSD-3-Clause
# Copies an installed prefix FROM to TO, without one HEADER.
file(REMOVE_RECURSE "${TO}")
file(COPY "${FROM}/" DESTINATION "${TO}")
file(GLOB_RECURSE headers "${TO}/*.hpp")
list(FILTER headers INCLUDE REGEX "/${HEADER}$")
list(LENGTH headers found)
if(NOT found EQUAL 1)
    message(FATAL_ERROR "${found} headers ${HEADER} below ${TO}, 1 expected")
endif()
file(REMOVE ${headers})
