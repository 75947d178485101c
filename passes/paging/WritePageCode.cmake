# IR, OUTPUT: a source file that has the text of two files of LLVM IR, for GPUs and the host processor.
set(text "#include \"passes/paging/PageCode.h\"\n\nnamespace dragon {\n")
set(names GpuPageCode CpuPageCode)
foreach(file name IN ZIP_LISTS IR names)
  file(READ "${file}" ir)
  string(APPEND text "const char *const ${name} = R\"IR(${ir})IR\";\n")
endforeach()
string(APPEND text "} // namespace dragon\n")
file(WRITE "${OUTPUT}" "${text}")
