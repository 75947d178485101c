# Compiler flags, required packages and the helpers every folder uses.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

option(DRAGON_BUILD_TESTS "Build the tests and the check-dragon target" ON)
option(DRAGON_BUILD_MLIR "Build the MLIR dialect, dragon-opt and dragon-translate" ON)
set(DRAGON_SANITIZE "" CACHE STRING "Sanitizers for our own code: address;undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# The build tree mirrors the prefix (bin/, lib/), so dragon-cc finds its parts the same way in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN")

find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
find_package(Threads REQUIRED)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
list(APPEND CMAKE_MODULE_PATH "${LLVM_CMAKE_DIR}")
if(DRAGON_BUILD_MLIR)
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endif()

# The CUDA toolkit: an installed one, else the wheels that scripts/setup put under the build tree.
set(DRAGON_CUDA_PATH "" CACHE PATH "CUDA toolkit that dragon-cc and the runtime are built against")
if(NOT DRAGON_CUDA_PATH)
  foreach(candidate "$ENV{CUDA_PATH}" /usr/local/cuda "${CMAKE_BINARY_DIR}/cuda")
    if(candidate AND EXISTS "${candidate}/include/cuda_runtime_api.h")
      set(DRAGON_CUDA_PATH "${candidate}" CACHE PATH "" FORCE)
      break()
    endif()
  endforeach()
endif()
if(NOT DRAGON_CUDA_PATH)
  message(FATAL_ERROR "no CUDA toolkit found: set DRAGON_CUDA_PATH to a CUDA 13 toolkit, or run "
                      "scripts/setup, which puts one under the build tree")
endif()

# What clang needs of a toolkit, as NVIDIA has it on PyPI.
set(DRAGON_CUDA_WHEELS "cuda-toolkit[cccl,crt,cudart,curand,nvcc,nvvm]==13.0.*")

set(DRAGON_WARNINGS -Wall -Wextra -Werror)
set(DRAGON_SANITIZE_FLAGS "")
foreach(sanitizer ${DRAGON_SANITIZE})
  list(APPEND DRAGON_SANITIZE_FLAGS "-fsanitize=${sanitizer}")
endforeach()
if(DRAGON_SANITIZE_FLAGS)
  list(APPEND DRAGON_SANITIZE_FLAGS -fno-omit-frame-pointer -fno-sanitize-recover=all)
endif()

# Headers of others are most of what is compiled: they are compiled once for all targets that have the same options, before their
# files. A file includes what it uses all the same. Not with a compiler launcher: ccache keeps nothing that was compiled with them.
option(DRAGON_PRECOMPILE "Precompile the headers of libraries" ON)
set(DRAGON_STANDARD_HEADERS <algorithm> <array> <atomic> <cerrno> <cstdint> <cstring> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector>)
set(DRAGON_RUNTIME_HEADERS ${DRAGON_STANDARD_HEADERS} <boost/icl/interval_map.hpp>
    <boost/icl/interval_set.hpp> <chrono> <condition_variable> <fmt/format.h> <shared_mutex> <thread>)
set(DRAGON_TEST_HEADERS ${DRAGON_STANDARD_HEADERS} <gmock/gmock.h> <gtest/gtest.h> <random>)
set(DRAGON_LLVM_HEADERS <llvm/ADT/MapVector.h> <llvm/ADT/STLExtras.h> <llvm/ADT/SetVector.h> <llvm/ADT/StringExtras.h>
    <llvm/ADT/StringMap.h> <llvm/ADT/StringSwitch.h> <llvm/Analysis/LoopInfo.h> <llvm/Analysis/ScalarEvolutionExpressions.h>
    <llvm/Analysis/ValueTracking.h> <llvm/IR/DebugInfoMetadata.h> <llvm/IR/Dominators.h> <llvm/IR/IRBuilder.h> <llvm/IR/InstIterator.h>
    <llvm/IR/IntrinsicInst.h> <llvm/IR/IntrinsicsNVPTX.h> <llvm/IR/Module.h> <llvm/IR/PassManager.h> <llvm/Support/raw_ostream.h>)
set(DRAGON_MLIR_HEADERS <mlir/Dialect/Affine/IR/AffineOps.h> <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/SCF/IR/SCF.h> <mlir/IR/Builders.h>
    <mlir/IR/BuiltinOps.h> <mlir/Interfaces/CallInterfaces.h> <mlir/Interfaces/ControlFlowInterfaces.h>
    <mlir/Interfaces/FunctionInterfaces.h> <mlir/Interfaces/LoopLikeInterface.h> <mlir/Pass/Pass.h>)
# dragon_precompile(target headers...)
function(dragon_precompile target)
  if(DRAGON_PRECOMPILE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
# The source of targets that compile headers and nothing else, for others with the same options.
set(DRAGON_NO_CODE "${PROJECT_SOURCE_DIR}/cmake/Headers.cpp")
# dragon_share_precompiled(target from): those of `from`.
function(dragon_share_precompiled target from)
  if(DRAGON_PRECOMPILE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

# What templates and headers of our own become is compiled once for several files. Of the product only where sanitizers make it slow,
# and where all is built once (scripts/): who works on it compiles one file after a change.
option(DRAGON_UNITY "Compile several files of the tests, and of the runtime under sanitizers, at a time" ON)
option(DRAGON_UNITY_PRODUCT "Compile several files of the compiler and the runtime at a time" OFF)
# dragon_unity(target)
function(dragon_unity target)
  if(DRAGON_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
# dragon_unity_product(target)
function(dragon_unity_product target)
  if(DRAGON_UNITY_PRODUCT)
    dragon_unity(${target})
  endif()
endfunction()

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

function(dragon_pass_options name)
  target_compile_features(${name} PUBLIC cxx_std_17)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 17)
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PROJECT_SOURCE_DIR}/include>"
                             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE ${DRAGON_WARNINGS})
endfunction()
add_library(DragonPassHeaders OBJECT EXCLUDE_FROM_ALL "${DRAGON_NO_CODE}")
dragon_pass_options(DragonPassHeaders)
dragon_precompile(DragonPassHeaders ${DRAGON_LLVM_HEADERS})

# dragon_pass_library(name sources...): a part of the compiler plugin, as one object library in C++17.
function(dragon_pass_library name)
  add_library(${name} STATIC ${ARGN})
  dragon_pass_options(${name})
  dragon_share_precompiled(${name} DragonPassHeaders)
  dragon_unity_product(${name})
endfunction()

# dragon_mlir_library(name sources...): a part of the MLIR front end.
function(dragon_mlir_library name)
  add_library(${name} STATIC ${ARGN})
  dragon_pass_options(${name})
  dragon_precompile(${name} ${DRAGON_LLVM_HEADERS} ${DRAGON_MLIR_HEADERS})
  target_include_directories(${name} SYSTEM PUBLIC "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>"
                             ${MLIR_INCLUDE_DIRS})
  # Their templates take long to compile; what they do takes no time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${name} PUBLIC MLIR LLVM)
  add_dependencies(${name} DragonDialectIncGen DragonPassesIncGen)
endfunction()

# Variables of threads by descriptors: a launch looks at five of them, and each look-up is a call otherwise.
set(DRAGON_RUNTIME_OPTIONS ${DRAGON_WARNINGS} ${DRAGON_SANITIZE_FLAGS})
if(NOT DRAGON_SANITIZE)
  list(APPEND DRAGON_RUNTIME_OPTIONS -mtls-dialect=gnu2)
endif()

function(dragon_runtime_options name)
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(${name} PRIVATE ${DRAGON_RUNTIME_OPTIONS})
  target_link_options(${name} PUBLIC ${DRAGON_SANITIZE_FLAGS})
  target_link_libraries(${name} PUBLIC Threads::Threads)
endfunction()
add_library(DragonRuntimeHeaders OBJECT EXCLUDE_FROM_ALL "${DRAGON_NO_CODE}")
dragon_runtime_options(DragonRuntimeHeaders)
dragon_precompile(DragonRuntimeHeaders ${DRAGON_RUNTIME_HEADERS})

# dragon_runtime_library(name sources... [HEADERS headers...]): a part of the runtime, as one static library in C++20, without
# exceptions crossing the C API. `headers` are of our own, below the project's folder: those that nearly all of its files include.
function(dragon_runtime_library name)
  cmake_parse_arguments(PARSE_ARGV 1 own "" "" "HEADERS")
  add_library(${name} STATIC ${own_UNPARSED_ARGUMENTS})
  dragon_runtime_options(${name})
  if(DRAGON_SANITIZE)
    dragon_unity(${name})
  else()
    dragon_unity_product(${name})
  endif()
  if(own_HEADERS)
    list(TRANSFORM own_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/")
    dragon_precompile(${name} ${DRAGON_RUNTIME_HEADERS} ${own_HEADERS})
  else()
    dragon_share_precompiled(${name} DragonRuntimeHeaders)
  endif()
endfunction()

# `ninja tidy`: clang-tidy over all of our sources, by the .clang-tidy of their folder. Slow.
find_program(DRAGON_RUN_CLANG_TIDY NAMES run-clang-tidy-${LLVM_VERSION_MAJOR} run-clang-tidy
             HINTS "${LLVM_TOOLS_BINARY_DIR}")
if(DRAGON_UNITY_PRODUCT)
  add_custom_target(tidy
    COMMAND "${CMAKE_COMMAND}" -E echo "clang-tidy does not find files that are compiled together: configure with -DDRAGON_UNITY_PRODUCT=OFF"
    COMMAND "${CMAKE_COMMAND}" -E false
    VERBATIM)
elseif(DRAGON_RUN_CLANG_TIDY)
  add_custom_target(tidy
    COMMAND ${DRAGON_RUN_CLANG_TIDY} -quiet -use-color=0 -p "${CMAKE_BINARY_DIR}"
            -clang-tidy-binary "${LLVM_TOOLS_BINARY_DIR}/clang-tidy" "^${PROJECT_SOURCE_DIR}/(passes|runtime|tools)/.*"
    USES_TERMINAL
    COMMENT "Running clang-tidy")
endif()
