# The manual pages: help2man makes those of our tools of what they print with --help and of docs/man/<tool>.h2m, what a page has
# besides; those of the tools for MLIR, whose --help is LLVM's whole list, are written by hand (docs/man/<tool>.1).
find_program(DRAGON_HELP2MAN help2man)
if(NOT DRAGON_HELP2MAN)
  message(STATUS "no help2man: dragon-cc is built and installed without manual pages (Debian: help2man)")
  return()
endif()

set(manuals "")
foreach(tool dragon-cc dragon-info dragon-report dragon-demo)
  set(DRAGON_TOOL "${CMAKE_BINARY_DIR}/bin/${tool}")
  configure_file(docs/man/help.sh.in "man/help/${tool}" @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(needed "${DRAGON_TOOL}")
  if(TARGET ${tool})
    set(needed ${tool})
  endif()
  if(tool STREQUAL dragon-report)
    set(needed "${PROJECT_SOURCE_DIR}/tools/dragon-report/dragon_report/cli.py")
  endif()
  add_custom_command(
    OUTPUT "${CMAKE_BINARY_DIR}/man/${tool}.1"
    COMMAND ${DRAGON_HELP2MAN} --no-info "--source=dragon-cc ${PROJECT_VERSION}" --version-string=${PROJECT_VERSION}
            "--include=${PROJECT_SOURCE_DIR}/docs/man/${tool}.h2m" "--output=${CMAKE_BINARY_DIR}/man/${tool}.1"
            "${CMAKE_BINARY_DIR}/man/help/${tool}"
    DEPENDS ${needed} "${PROJECT_SOURCE_DIR}/docs/man/${tool}.h2m" "${CMAKE_BINARY_DIR}/man/help/${tool}"
    COMMENT "${tool}.1")
  list(APPEND manuals "${CMAKE_BINARY_DIR}/man/${tool}.1")
endforeach()
add_custom_target(dragon-manuals DEPENDS ${manuals})
dragon_installed(dragon-manuals)
install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
if(DRAGON_BUILD_MLIR)
  install(FILES docs/man/dragon-opt.1 docs/man/dragon-translate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mlir)
endif()
