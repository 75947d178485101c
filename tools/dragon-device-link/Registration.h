//===- Registration.h - the host's side of a device link --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host module that hands the linked fat binary to the CUDA runtime, as
// clang's own for a single unit does. When the program starts, each unit calls
// the function made for it here, which lets the unit register its kernels and
// variables with that binary:
//
//   unit b:                    __cudaRegisterLinkedBinary_1f0c(register, ..)
//   here:  h = __cudaRegisterFatBinary(wrapper), once;  register(h)
//
// The compiler plugin adds the kernel summaries to this module, for which
// metadata tell the units whose kernels they describe, and the contents of
// @dragon.fat_binary.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_DEVICE_LINK_REGISTRATION_H
#define DRAGON_TOOLS_DRAGON_DEVICE_LINK_REGISTRATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace dragon::devicelink {

/// LLVM IR.
void writeRegistration(llvm::raw_ostream &Out,
                       llvm::ArrayRef<std::string> Units);

} // namespace dragon::devicelink

#endif // DRAGON_TOOLS_DRAGON_DEVICE_LINK_REGISTRATION_H
