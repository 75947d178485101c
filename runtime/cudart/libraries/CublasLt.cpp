//===- CublasLt.cpp - sizes that only descriptors know --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix of cublasLt's is a pointer and a layout, which is the library's own
// and says how much memory the matrix takes: the library is asked. This one is
// not linked with it.
//
// Source: cuBLAS, "cublasLtMatrixLayoutAttribute_t" and "cublasLtOrder_t".
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"

#include <cstddef>
#include <dlfcn.h>
#include <library_types.h>

namespace {

/// cublasLtMatrixLayoutAttribute_t
enum LayoutAttribute {
  Type = 0,
  Order = 1,
  Rows = 2,
  Columns = 3,
  LeadingDimension = 4,
  BatchCount = 5,
  BatchOffset = 6,
  PlaneOffset = 7,
  BatchMode = 8
};
/// cublasLtOrder_t; the others are tiles.
enum LayoutOrder { ColumnMajor = 0, RowMajor = 1 };

class Layout {
public:
  explicit Layout(const void *layout) : Described(layout) {}

  /// Of any width; 0, and not ok(), if the library does not know it.
  template <typename T> T get(LayoutAttribute attribute) {
    using GetAttribute = int (*)(const void *, int, void *, size_t, size_t *);
    static const auto Ask = reinterpret_cast<GetAttribute>(
        ::dlsym(RTLD_DEFAULT, "cublasLtMatrixLayoutGetAttribute"));
    T value{};
    Good &= Described && Ask &&
            Ask(Described, attribute, &value, sizeof value, nullptr) == 0;
    return value;
  }
  bool ok() const { return Good; }

private:
  const void *Described;
  bool Good = true;
};

/// Of an element; 0: not known.
int64_t bytesOf(uint32_t type) {
  switch (cudaDataType(type)) {
  case CUDA_C_64F:
    return 16;
  case CUDA_R_64F:
  case CUDA_C_32F:
    return 8;
  case CUDA_R_32F:
  case CUDA_R_32I:
  case CUDA_C_16F:
  case CUDA_C_16BF:
    return 4;
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return 2;
  case CUDA_R_8I:
  case CUDA_R_8U:
  case CUDA_R_8F_E4M3:
  case CUDA_R_8F_E5M2:
    return 1;
  default:
    return 0;
  }
}

} // namespace

extern "C" int64_t __dragon_matrix_bytes(const void *layout) {
  Layout of(layout);
  const int64_t element = bytesOf(of.get<uint32_t>(Type));
  const auto order = of.get<int32_t>(Order);
  const auto rows = of.get<int64_t>(Rows), columns = of.get<int64_t>(Columns),
             leading = of.get<int64_t>(LeadingDimension);
  const auto batches = of.get<int32_t>(BatchCount);
  const auto offset = of.get<int64_t>(BatchOffset);
  const auto planes = of.get<int64_t>(PlaneOffset);
  if (!of.ok() || !element || planes || rows < 1 || columns < 1 ||
      leading < 0 || batches < 1 || offset < 0 ||
      (order != ColumnMajor && order != RowMajor))
    return -1;
  // Versions that do not know the mode know strided batches only.
  Layout newer(layout);
  if (newer.get<uint32_t>(BatchMode) != 0)
    return -1;
  const int64_t lines = order == ColumnMajor ? columns : rows,
                length = order == ColumnMajor ? rows : columns;
  int64_t last, matrix, elements, all;
  if (__builtin_mul_overflow(lines - 1, leading, &last) ||
      __builtin_add_overflow(last, length, &matrix) ||
      __builtin_mul_overflow(int64_t(batches - 1), offset, &elements) ||
      __builtin_add_overflow(elements, matrix, &elements) ||
      __builtin_mul_overflow(elements, element, &all))
    return -1;
  return all;
}
