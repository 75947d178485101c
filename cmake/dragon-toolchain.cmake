# Builds the CUDA of a CMake project with dragon-cc:
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=<prefix>/lib/cmake/dragon/dragon-toolchain.cmake ..
#
# CMake takes dragon-cc for nvcc, so -DCMAKE_CUDA_COMPILER=dragon-cc alone will do for most projects. This file has all programs
# with CUDA linked by dragon-cc, also those of C++ sources, whose directives -flto then inserts, and it makes no step of the
# device link: each link has that. CMake reads this file a second time after what it knows of nvcc, to put that right.
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
# Older CMake does not know that nvcc has these.
foreach(standard 20 23)
  if(NOT DEFINED CMAKE_CUDA${standard}_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA${standard}_STANDARD_COMPILE_OPTION "-std=c++${standard}")
    set(CMAKE_CUDA${standard}_EXTENSION_COMPILE_OPTION "-std=gnu++${standard}")
  endif()
endforeach()
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
