# Builds the CUDA of a CMake project with dragon-cc:
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=<prefix>/lib/cmake/dragon/dragon-toolchain.cmake ..
#
# CMake takes dragon-cc for clang, which it is, and links relocatable device code of clang's by itself, with nvlink. Here
# each link does that, as nvcc's do. CMake reads this file a second time for what it knows of clang, to be put right.
get_filename_component(CMAKE_CUDA_COMPILER "${CMAKE_CURRENT_LIST_DIR}/../../../bin/dragon-cc" ABSOLUTE)
# CMake wants the toolkit as well, and looks for it by itself: where dragon-cc's is another one, or in no usual place, it
# is told.
if(NOT DEFINED CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT})
  separate_arguments(dragon_flags UNIX_COMMAND "$ENV{CUDAFLAGS} ${CMAKE_CUDA_FLAGS}")
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" ${dragon_flags} --print-cuda-path
    OUTPUT_VARIABLE CUDAToolkit_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
  unset(dragon_flags)
endif()
set(CMAKE_USER_MAKE_RULES_OVERRIDE_CUDA "${CMAKE_CURRENT_LIST_FILE}")
set(CMAKE_CUDA_COMPILER_HAS_DEVICE_LINK_PHASE FALSE)
# What dragon-cc compiles for when it is not told: every GPU has that PTX translated.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 75 CACHE STRING "CUDA architectures")
endif()
# What has CUDA in it is linked by dragon-cc, even where C++ libraries would have it linked by their compiler (30).
set(CMAKE_CUDA_LINKER_PREFERENCE 40)
set(CMAKE_CUDA_LINKER_PREFERENCE_PROPAGATES 1)
# Where only a folder of the project has CUDA.
if(NOT DEFINED CMAKE_PROJECT_INCLUDE)
  set(CMAKE_PROJECT_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/dragon-language.cmake")
endif()
