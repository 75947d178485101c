//===- InitialValues.h - what device variables begin with -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cudaDeviceReset ends the context, and device variables begin anew. On the
// host processor they are variables of the program, so their values are written
// down when their module registers itself, before anybody could change one.
// Most begin with zeros in memory that no file is behind (.bss); of those only
// the place is kept.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MODULES_INITIALVALUES_H
#define DRAGON_RUNTIME_CUDART_MODULES_INITIALVALUES_H

#include "dragon/CompilerABI.h"

#include <cstddef>
#include <vector>

namespace dragon {

class InitialValues {
public:
  /// Keeps the values that a module's variables have; it has just been loaded.
  void remember(const dragon_module &unit);
  /// The module must still be loaded.
  void restore() const;

private:
  struct Part {
    char *at;
    size_t bytes;
    bool anonymous;             ///< pages that are given back come as zeros
    std::vector<char> contents; ///< empty: zeros
  };
  void add(char *at, size_t bytes, bool anonymous);
  std::vector<Part> Parts;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_MODULES_INITIALVALUES_H
