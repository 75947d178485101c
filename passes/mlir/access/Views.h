//===- Views.h - where a memref of a kernel points --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows a memref through casts and subviews to the kernel's argument that it
// is a part of:
//
//   %s = memref.subview %a[%o] [8] [2] : memref<?xf32> to ...
//     -> argument a, from element %o on, every second
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_ACCESS_VIEWS_H
#define DRAGON_PASSES_MLIR_ACCESS_VIEWS_H

#include "passes/mlir/access/IndexExprs.h"

#include <optional>
#include <vector>

namespace dragon::ir {

struct View {
  enum class Base {
    Argument, ///< of the kernel
    Local,    ///< memory of a thread or a block
    Constant, ///< a global that nobody writes
    Global,   ///< another one
    Unknown
  };
  Base Kind = Base::Unknown;
  unsigned Argument = 0;
  /// From the aligned pointer of the argument, in elements; nothing if it is
  /// not known where in it.
  std::optional<Index> Offset;
  std::vector<Index> Strides; ///< in elements
};

class Views {
public:
  explicit Views(IndexExprs &Exprs) : Exprs(Exprs) {}

  View of(mlir::Value Memref);
  /// The number of the element at these indices; nothing if it is not known
  /// where it is.
  std::optional<Index> element(const View &Of, llvm::ArrayRef<Index> Indices);

private:
  View ofArgument(mlir::BlockArgument Argument);
  View ofSubView(mlir::Operation *Op);
  /// The same memory, laid out as T says, if T says it in numbers.
  View laidOutAs(View From, mlir::MemRefType T);

  IndexExprs &Exprs;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_ACCESS_VIEWS_H
