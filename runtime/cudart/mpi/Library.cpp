//===- Library.cpp - the MPI library of the process -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/mpi/Library.h"

#include "runtime/trace/Log.h"

#include <cstring>
#include <dlfcn.h>
#include <string>
#include <string_view>

namespace dragon::mpi {

namespace {

/// MPI_MAX_LIBRARY_VERSION_STRING is 256 or 8192.
constexpr size_t MostVersionBytes = 8192;

const Interface *interfaceOf(std::string_view version) {
  const auto names = [&](std::string_view what) {
    return version.find(what) != std::string_view::npos;
  };
  if (names("Open MPI"))
    return &OpenMpi;
  return names("MPICH") || names("Intel(R) MPI") || names("MVAPICH") ? &Mpich
                                                                     : nullptr;
}

} // namespace

Word Library::handleAt(const void *array, size_t index) const {
  Word value = 0;
  std::memcpy(&value,
              static_cast<const char *>(array) + index * Constants->handleBytes,
              Constants->handleBytes);
  return value;
}

bool Library::open(void *function) {
  // Also where MPI was loaded for one library alone (RTLD_LOCAL).
  Dl_info where;
  void *object = ::dladdr(function, &where)
                     ? ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                     : nullptr;
  const auto find = [&](const std::string &name) {
    void *found = object ? ::dlsym(object, name.c_str()) : nullptr;
    return found ? found : ::dlsym(RTLD_DEFAULT, name.c_str());
  };
  const auto version = reinterpret_cast<int (*)(char *, int *)>(
      find("PMPI_Get_library_version"));
  std::string text(MostVersionBytes, '\0');
  int length = 0;
  if (!version || version(text.data(), &length))
    return false;
  text.resize(std::strlen(text.c_str()));
  Constants = interfaceOf(text);
  if (!Constants) {
    log(LogLevel::Info,
        "MPI library '{}' is not known: it is given device pointers as "
        "they are",
        text.substr(0, text.find('\n')));
    return false;
  }
  bool complete = true;
  const auto bind = [&]<typename Call>(Call *&call, const char *name) {
    call = reinterpret_cast<Call *>(find(std::string("PMPI_") + name));
    complete &= call != nullptr;
  };
#define DRAGON_BIND(name) bind(Calls.name, #name)
  DRAGON_BIND(Comm_call_errhandler);
  DRAGON_BIND(Comm_rank);
  DRAGON_BIND(Comm_size);
  DRAGON_BIND(Comm_test_inter);
  DRAGON_BIND(Get_elements_x);
  DRAGON_BIND(Test_cancelled);
  DRAGON_BIND(Type_get_extent_x);
  DRAGON_BIND(Type_get_true_extent_x);
  DRAGON_BIND(Type_size_x);
  DRAGON_BIND(Unpack);
#undef DRAGON_BIND
  Word *const handles[] = {&RequestNull, &ByteType, &World, &Self};
  const Word values[] = {Constants->nullRequest, Constants->byteType,
                         Constants->world, Constants->self};
  for (size_t i = 0; i < std::size(handles); ++i) {
    *handles[i] =
        values[i] ? values[i] : reinterpret_cast<Word>(find(OpenMpiSymbols[i]));
    complete &= *handles[i] != 0;
  }
  return complete;
}

const Library *Library::get(void *function) {
  static Library library;
  static const bool usable = library.open(function);
  return usable ? &library : nullptr;
}

} // namespace dragon::mpi
