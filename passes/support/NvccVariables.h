//===- NvccVariables.h - variables that only nvcc has -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kinds of variables that clang's CUDA does not compile, and which our
// headers (share/dragon/overlay/dragon-nvcc) declare in its own terms:
//
// * `__managed__ int v;` is a device variable with the annotation
//   "dragon-managed". Device code is as it is; for a GPU the variable gets the
//   attribute that places it in managed memory. The host has it at an address
//   that the runtime knows once the module is loaded:
//     v = 3;   ->   if (!v.managed) __cudaInitModule(0);  *v.managed = 3;
//   and registers v.managed instead of its shadow of v. An extern declaration
//   has no annotation in clang's output, but its section: the host's say so by
//   that as well, and use the v.managed of the file that defines v.
//
// * `texture<float> t;` has clang's attribute for texture references. Clang
//   makes it an i64 for the device that is to become a .texref. It stays an
//   i64, and holds a texture object, which the headers write and read.
//
// And `__cluster_dims__(x, y, z)` of a kernel, which clang forgets, is the
// annotation "dragon-cluster": it becomes the attribute that NVPTX knows.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_NVCCVARIABLES_H
#define DRAGON_PASSES_SUPPORT_NVCCVARIABLES_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// True if M was changed.
bool lowerDeviceVariables(llvm::Module &M);

/// An error if a managed variable is used in a way that there is no code for.
llvm::Expected<bool> lowerManagedVariables(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_NVCCVARIABLES_H
