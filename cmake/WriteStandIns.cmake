# cmake -DNM=... -DLIBRARY=libdragonrt.so -DTEMPLATE=StandIns.s.in -DOUTPUT=... -P WriteStandIns.cmake
# One stand-in for each function that the library exports.
execute_process(COMMAND "${NM}" -D --defined-only -P "${LIBRARY}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
file(READ "${TEMPLATE}" text)
string(REPLACE "\n" ";" lines "${symbols}")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_]+)(@@DRAGON_1)? [TW] ")
    string(APPEND text "\tdragon_stand_in ${CMAKE_MATCH_1}\n")
  elseif(line MATCHES "^([A-Za-z0-9_]+)(@@[A-Za-z0-9_]+)? [^A]")
    message(FATAL_ERROR "'${CMAKE_MATCH_1}' is exported by ${LIBRARY} and is no function: there is no stand-in for it")
  endif()
endforeach()
string(APPEND text "\t.purgem dragon_stand_in\n\t.text\n")
file(WRITE "${OUTPUT}" "${text}")
