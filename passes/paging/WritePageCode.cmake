# IR, OUTPUT: a source file that has the text of the files of LLVM IR, each in a constant of the file's name.
set(text "#include \"passes/paging/PageCode.h\"\n\nnamespace dragon {\n")
foreach(file IN LISTS IR)
  file(READ "${file}" ir)
  get_filename_component(name "${file}" NAME_WE)
  string(APPEND text "const char *const ${name} = R\"IR(${ir})IR\";\n")
endforeach()
string(APPEND text "} // namespace dragon\n")
file(WRITE "${OUTPUT}" "${text}")
