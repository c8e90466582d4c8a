# SPDX-License-Identifier: Apache-2.0
# Device code: RIDGE_CUDA AUTO (when nvcc is there), ON (an error without it) or OFF. CMake's CUDA
# language is not used, so that configuring needs neither nvcc nor a GPU.
set(RIDGE_CUDA AUTO CACHE STRING "Compile device code: AUTO (when nvcc is there), ON, OFF")
set_property(CACHE RIDGE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(RIDGE_NVCC "")
if(NOT RIDGE_CUDA STREQUAL OFF)
    find_program(RIDGE_NVCC_PATH nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
        PATH_SUFFIXES bin)
    if(RIDGE_NVCC_PATH)
        set(RIDGE_NVCC ${RIDGE_NVCC_PATH})
    elseif(RIDGE_CUDA STREQUAL ON)
        message(FATAL_ERROR "RIDGE_CUDA=ON and no nvcc: not in PATH, CUDA_HOME or /usr/local/cuda")
    endif()
endif()
if(RIDGE_NVCC)
    set(RIDGE_CUDA_CODE "sm_80 sm_90a, PTX for newer ones")
else()
    set(RIDGE_CUDA_CODE "")
    message(STATUS "kernels: no nvcc, built without device code (RIDGE_CUDA=${RIDGE_CUDA})")
endif()

# Not compressed: packed code needs a driver that knows the packing.
set(RIDGE_NVCC_FLAGS -std=c++17 -no-compress -O3 -lineinfo -Xptxas=-v,-warn-spills -Werror all-warnings)
set(RIDGE_NVCC_ARCHITECTURES -gencode arch=compute_80,code=sm_80
    -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=compute_80)
