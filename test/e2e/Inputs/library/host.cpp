//===- host.cpp - library calls in a file without kernels -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "library.h"

int combineParts(LibraryHandle handle, int n, int part, const uint32_t *from,
                 uint32_t *to) {
  const uint32_t five = 5, three = 3;
  int status = 0;
  for (int i = 0; i < n && !status; i += part)
    status = libraryCombine(handle, part, &five, from + i, &three, to + i);
  return status;
}
