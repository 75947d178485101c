# Included after a project's first project() (CMAKE_PROJECT_INCLUDE of dragon-toolchain.cmake). A program that has CUDA in any of its
# libraries is linked by dragon-cc, and CMake has the rules for that where the language is enabled. So it is enabled for all of the
# project, also where only a folder with libraries asks for it.
get_property(dragon_is_trial GLOBAL PROPERTY IN_TRY_COMPILE)
if(CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR AND NOT dragon_is_trial)
  enable_language(CUDA)
endif()
unset(dragon_is_trial)
