# cmake -DBUILD=... -DPYTHON=... -P MakeWheel.cmake: installs the build into a Python package and makes a wheel of it in BUILD.
set(work "${BUILD}/wheel")
foreach(module pip setuptools wheel)
  execute_process(COMMAND "${PYTHON}" -c "import ${module}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "no module ${module} in '${PYTHON}', with which the wheel is made; install the Debian packages python3-pip, "
                        "python3-setuptools and python3-wheel, or name another Python with -DDRAGON_WHEEL_PYTHON=")
  endif()
endforeach()
file(REMOVE_RECURSE "${work}/source")
file(MAKE_DIRECTORY "${work}/source")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --strip --prefix "${work}/source/dragon_cc"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(COPY "${work}/setup.py" DESTINATION "${work}/source")
file(COPY "${work}/__init__.py" DESTINATION "${work}/source/dragon_cc")
execute_process(COMMAND "${PYTHON}" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation --no-index
                        -w "${work}" "${work}/source"
                OUTPUT_FILE "${work}/log" ERROR_FILE "${work}/log" RESULT_VARIABLE failed)
if(failed)
  file(READ "${work}/log" log)
  message(FATAL_ERROR "${log}")
endif()
file(REMOVE_RECURSE "${work}/source")
file(GLOB wheels "${work}/dragon_cc-*.whl")
foreach(wheel ${wheels})
  get_filename_component(name "${wheel}" NAME)
  file(RENAME "${wheel}" "${BUILD}/${name}")
  message(STATUS "made ${BUILD}/${name}")
endforeach()
