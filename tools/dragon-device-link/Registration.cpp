//===- Registration.cpp - the host's side of a device link ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-device-link/Registration.h"

#include "tools/dragon-device-link/DeviceUnits.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dragon::devicelink {

void writeRegistration(raw_ostream &Out, ArrayRef<std::string> Units) {
  Out << "@dragon.fat_binary = external constant i8\n"
         "@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } "
         "{ i32 1180844977, i32 1, ptr @dragon.fat_binary, ptr null }, "
         "section \".nvFatBinSegment\", align 8\n"
         "@handle = internal global ptr null, align 8\n"
         "\n"
         "declare ptr @__cudaRegisterFatBinary(ptr)\n"
         "declare void @__cudaUnregisterFatBinary(ptr)\n"
         "declare i32 @atexit(ptr)\n"
         "\n"
         "define internal void @unregister() {\n"
         "  %known = load ptr, ptr @handle, align 8\n"
         "  call void @__cudaUnregisterFatBinary(ptr %known)\n"
         "  ret void\n"
         "}\n"
         "\n"
         "define internal ptr @binary() {\n"
         "entry:\n"
         "  %known = load ptr, ptr @handle, align 8\n"
         "  %none = icmp eq ptr %known, null\n"
         "  br i1 %none, label %first, label %done\n"
         "first:\n"
         "  %new = call ptr @__cudaRegisterFatBinary("
         "ptr @__cuda_fatbin_wrapper)\n"
         "  store ptr %new, ptr @handle, align 8\n"
         "  %ignored = call i32 @atexit(ptr @unregister)\n"
         "  br label %done\n"
         "done:\n"
         "  %result = phi ptr [ %known, %entry ], [ %new, %first ]\n"
         "  ret ptr %result\n"
         "}\n";
  for (const std::string &Unit : Units)
    Out << "\ndefine hidden void @" << RegisterPrefix << Unit
        << "(ptr %register, ptr %wrapper, ptr %unit, ptr %callback) {\n"
           "  %binary = call ptr @binary()\n"
           "  call void %register(ptr %binary)\n"
           "  ret void\n"
           "}\n";

  Out << "\n!dragon.linked = !{!0}\n!0 = !{";
  ListSeparator Comma;
  for (const std::string &Unit : Units)
    Out << Comma << "!\"" << Unit << "\"";
  Out << "}\n";
}

} // namespace dragon::devicelink
