# cmake -DNM=... -DLIBRARY=libdragonrt.so -DTEMPLATE=StandIns.s.in -DOUTPUT=... -P WriteStandIns.cmake
# One stand-in for each function that the library exports. But for those of memory (InterposeMemory.cpp): to load the library
# takes memory and releases some. And for those that make processes: whether a program calls them is read in the names that it
# takes from libraries (StartAhead.cpp); ForeignCalls.cpp leads such calls to the runtime.
cmake_minimum_required(VERSION 3.25)
set(of_memory free realloc reallocarray munmap mremap madvise mprotect pkey_mprotect mmap mmap64)
set(of_processes fork vfork clone)
execute_process(COMMAND "${NM}" -D --defined-only -P "${LIBRARY}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
file(READ "${TEMPLATE}" text)
string(REPLACE "\n" ";" lines "${symbols}")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_]+)(@@DRAGON_1)? [TW] ")
    if(CMAKE_MATCH_1 IN_LIST of_memory OR CMAKE_MATCH_1 IN_LIST of_processes)
      continue()
    endif()
    string(APPEND text "\tdragon_stand_in ${CMAKE_MATCH_1}\n")
  elseif(line MATCHES "^([A-Za-z0-9_]+)(@@[A-Za-z0-9_]+)? [^A]")
    message(FATAL_ERROR "'${CMAKE_MATCH_1}' is exported by ${LIBRARY} and is no function: there is no stand-in for it")
  endif()
endforeach()
# Objects of other versions, of which another library was known, keep their own.
string(SHA256 hash "${text}")
string(SUBSTRING "${hash}" 0 16 hash)
string(REPLACE "dragon_stand_ins" "dragon_stand_ins_${hash}" text "${text}")
string(APPEND text "\t.purgem dragon_stand_in\n\t.text\n")
file(WRITE "${OUTPUT}" "${text}")
