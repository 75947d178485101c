# What is installed, as a prefix, as a Debian package (target package) and as a Python wheel (target wheel).

# Installing builds what is installed, whatever was built before (scripts/demo builds less), and nothing that is not.
add_custom_target(dragon-prefix)
# dragon_installed(targets...): they are built before anything is installed.
function(dragon_installed)
  add_dependencies(dragon-prefix ${ARGN})
endfunction()
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target dragon-prefix
                              COMMAND_ERROR_IS_FATAL ANY)")

# The Debian packages: what programs in MLIR need is one of its own, for LLVM's library of MLIR is as large as the rest together.
# dpkg-shlibdeps says which packages have the libraries that ours are linked with; named here are the programs that dragon-cc calls
# besides. A CUDA toolkit may come from elsewhere, as from PyPI.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dragon-cc)
set(CPACK_PACKAGE_VENDOR "the dragon-cc developers")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and runtime for CUDA programs on data larger than GPU memory")
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION "dragon-cc takes the place of nvcc. It finds out what each kernel reads, writes and
overwrites, and its runtime moves the data between files, host memory and GPU memory. Programs run without a GPU as well.")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# LLVM's folder has links to its libraries, which belong to the packages for developers.
file(REAL_PATH "${LLVM_LIBRARY_DIR}/libLLVM.so" llvm_library)
cmake_path(GET llvm_library PARENT_PATH llvm_library)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${llvm_library}" "${LLVM_LIBRARY_DIR}")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME dragon-cc)
set(CPACK_DEBIAN_UNSPECIFIED_FILE_NAME DEB-DEFAULT)
# LLVM's library is named as well: dpkg-shlibdeps may come upon it by the link of the developers' package, of which it
# knows nothing.
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS "clang-${LLVM_VERSION_MAJOR}, libllvm${LLVM_VERSION_MAJOR}, binutils, python3 (>= 3.11), python3-yaml")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS
    "cuda-toolkit-13-0 | cuda-toolkit-13, lld-${LLVM_VERSION_MAJOR}, libomp5-${LLVM_VERSION_MAJOR}")
if(DRAGON_BUILD_MLIR)
  list(APPEND CPACK_COMPONENTS_ALL mlir)
  set(CPACK_COMPONENT_MLIR_DESCRIPTION "dragon-cc for programs in MLIR: the dialect, its passes, dragon-opt and dragon-translate.")
  set(CPACK_DEBIAN_MLIR_PACKAGE_NAME dragon-cc-mlir)
  set(CPACK_DEBIAN_MLIR_PACKAGE_DEPENDS "dragon-cc (= ${PROJECT_VERSION})")
endif()
set(CPACK_STRIP_FILES ON)
include(CPack)

# The wheel: the prefix as the Python package dragon_cc. setuptools of Debian's Python makes it, without a network.
find_program(DRAGON_WHEEL_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
set(DRAGON_WHEEL_DIR "${CMAKE_BINARY_DIR}/wheel")
configure_file(cmake/wheel/setup.py.in wheel/setup.py @ONLY)
configure_file(cmake/wheel/dragon_cc/__init__.py.in wheel/__init__.py @ONLY)
add_custom_target(wheel
  COMMAND ${CMAKE_COMMAND} "-DBUILD=${CMAKE_BINARY_DIR}" "-DPYTHON=${DRAGON_WHEEL_PYTHON}"
          -P "${PROJECT_SOURCE_DIR}/cmake/wheel/MakeWheel.cmake"
  USES_TERMINAL
  COMMENT "Making the Python wheel")
add_dependencies(wheel dragon-prefix)
