//===- CublasLtDescriptors.cpp - what descriptors of cublasLt say ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/libraries/CublasLtDescriptors.h"

#include "dragon/CompilerABI.h"

#include <algorithm>
#include <dlfcn.h>
#include <library_types.h>

namespace dragon::light {

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

void *inLibrary(const char *symbol) {
  if (void *found = ::dlsym(RTLD_DEFAULT, symbol))
    return found;
  // Of a module of Python's, perhaps: its libraries are not everyone's.
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (void *library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD))
      return ::dlsym(library, symbol);
  return nullptr;
}

Descriptor<LayoutAttribute> layoutOf(const void *layout) {
  static auto *ask =
      inLibrary<GetAttribute>("cublasLtMatrixLayoutGetAttribute");
  return {layout, ask};
}
Descriptor<ProductAttribute> productOf(const void *product) {
  static auto *ask = inLibrary<GetAttribute>("cublasLtMatmulDescGetAttribute");
  return {product, ask};
}

Matrix::Matrix(const void *layout) {
  auto of = layoutOf(layout);
  type = of.get<uint32_t>(Type);
  element = bytesOf(type);
  order = of.get<int32_t>(Order);
  rows = of.get<int64_t>(Rows);
  columns = of.get<int64_t>(Columns);
  leading = of.get<int64_t>(LeadingDimension);
  batches = of.get<int32_t>(BatchCount);
  offset = of.get<int64_t>(BatchOffset);
  const auto planes = of.get<int64_t>(PlaneOffset);
  // Versions that do not know the mode know strided batches only.
  known = of.ok() && element && !planes && rows >= 1 && columns >= 1 &&
          leading >= 0 && batches >= 1 && offset >= 0 &&
          (order == ColumnMajor || order == RowMajor) &&
          !of.getNewer<uint32_t>(BatchMode);
}

int64_t Matrix::bytes() const {
  int64_t last, matrix, elements, all;
  if (!known || __builtin_mul_overflow(lines() - 1, leading, &last) ||
      __builtin_add_overflow(last, length(), &matrix) ||
      __builtin_mul_overflow(int64_t(batches - 1), offset, &elements) ||
      __builtin_add_overflow(elements, matrix, &elements) ||
      __builtin_mul_overflow(elements, element, &all))
    return -1;
  return all;
}

Product::Product(const void *product) : described(product) {
  auto of = productOf(product);
  mode = of.get<int32_t>(PointerMode);
  epilogue = of.get<uint32_t>(Epilogue);
  transposesA = of.get<int32_t>(TransposeA) != NotTransposed;
  transposesB = of.get<int32_t>(TransposeB) != NotTransposed;
  betaIsZero = mode == BetaIsZero;
  scaleType = of.get<uint32_t>(ScaleType);
  if (mode == HostPointers)
    hostBeta = bytesOf(scaleType);
  known = of.get<int32_t>(TransposeC) == NotTransposed &&
          of.get<int32_t>(FillMode) == FullMatrix &&
          !(epilogue & ~uint32_t(Plain | Relu | Bias | Gelu));
  known &= of.ok() && !of.getNewer<const void *>(MaximumOfD);
  for (const auto scale :
       {ScaleModeOfA, ScaleModeOfB, ScaleModeOfC, ScaleModeOfD})
    known &= !of.getNewer<int32_t>(scale); // one for all
  const bool oneAlpha = mode == HostPointers || mode == DevicePointers;
  isTheSameForRows = oneAlpha;
  biasType = of.getNewer<int32_t>(BiasType, -1);
  isTheSameForAll = oneAlpha && !of.getNewer<int64_t>(BiasBatchStride);
  hasSums = mode == HostPointers;
}

bool Product::knowsBias(const Matrix &a, const Matrix &d) const {
  // It has D's type but where operands or results are small ones.
  return !(epilogue & Bias) ||
         (d.element > 1 && a.element > 1 &&
          (biasType == -1 || uint32_t(biasType) == d.type));
}

int64_t Product::bytesOfBias(const Matrix &a, const Matrix &d) const {
  if (biasType != -1)
    return bytesOf(uint32_t(biasType));
  return d.element > 1 && a.element > 1 ? d.element : 4;
}

std::vector<AnnouncedUse> Product::memoryBeside(const Matrix &a,
                                                const Matrix &d, int64_t row,
                                                int64_t rows, const void *alpha,
                                                const void *beta) const {
  std::vector<AnnouncedUse> uses;
  addScalars(uses, d, alpha, beta);
  addBias(uses, a, d, row, rows);
  addAux(uses, d);
  addScales(uses);
  addUnknown(uses);
  return uses;
}

void Product::addScalars(std::vector<AnnouncedUse> &to, const Matrix &d,
                         const void *alpha, const void *beta) const {
  if (mode == HostPointers)
    return;
  const int64_t one = bytesOf(scaleType);
  const bool isOne = mode == DevicePointers;
  const int64_t bytes =
      isOne && one ? one
      : !isOne && one && d.known &&
              !productOf(described).getNewer<int64_t>(AlphaBatchStride)
          ? one * d.rows
          : -1;
  to.push_back({alpha, bytes, DRAGON_LIBRARY_READ});
  if (mode == DevicePointers || mode == DeviceVectors)
    to.push_back({beta, bytes, DRAGON_LIBRARY_READ});
}

void Product::addBias(std::vector<AnnouncedUse> &to, const Matrix &a,
                      const Matrix &d, int64_t row, int64_t rows) const {
  const bool isWritten = epilogue & (BiasBack | BiasBackOfA | BiasBackOfB);
  if (!isWritten && !(epilogue & Bias))
    return;
  auto of = productOf(described);
  const auto *first = of.get<const char *>(BiasPointer);
  const auto stride = of.getNewer<int64_t>(BiasBatchStride);
  const int64_t element = bytesOfBias(a, d);
  int64_t bytes = -1;
  if (element && d.known && stride >= 0) {
    const int64_t elements = isWritten ? std::max(d.rows, d.columns) : rows;
    bytes = element * ((d.batches - 1) * stride + elements);
    first += isWritten ? 0 : row * element;
  }
  to.push_back(
      {first, bytes,
       uint32_t(isWritten ? DRAGON_LIBRARY_WRITE : DRAGON_LIBRARY_READ)});
}

void Product::addAux(std::vector<AnnouncedUse> &to, const Matrix &d) const {
  if (!(epilogue & Aux))
    return;
  auto of = productOf(described);
  const auto leading = of.getNewer<int64_t>(AuxLeading),
             stride = of.getNewer<int64_t>(AuxBatchStride);
  const auto type = of.getNewer<int32_t>(AuxType, -1);
  // Of gelu inputs in D's type, or one that is not as small; of relu bits.
  int64_t bits = 1;
  if (!(epilogue & (Relu | ReluBack)))
    bits = 8 * (type == -1 ? std::max<int64_t>(d.element, 2)
                           : bytesOf(uint32_t(type)));
  int64_t bytes = -1;
  if (d.known && d.order == ColumnMajor && leading > 0 && stride >= 0 && bits)
    bytes = (((d.batches - 1) * stride + d.columns * leading) * bits + 7) / 8;
  to.push_back(
      {of.getNewer<const void *>(AuxPointer), bytes,
       uint32_t(epilogue & (ReluBack | GeluBack) ? DRAGON_LIBRARY_READ
                                                 : DRAGON_LIBRARY_WRITE)});
}

void Product::addScales(std::vector<AnnouncedUse> &to) const {
  auto of = productOf(described);
  constexpr auto ForAll = LastProductAttribute; // not a mode
  struct Scale {
    ProductAttribute pointer, mode;
    uint32_t use;
  };
  for (const Scale &scale :
       {Scale{ScaleOfA, ScaleModeOfA, DRAGON_LIBRARY_READ},
        Scale{ScaleOfB, ScaleModeOfB, DRAGON_LIBRARY_READ},
        Scale{ScaleOfC, ScaleModeOfC, DRAGON_LIBRARY_READ},
        Scale{ScaleOfD, ScaleModeOfD, DRAGON_LIBRARY_READ},
        Scale{ScaleOfAux, ScaleModeOfAux, DRAGON_LIBRARY_READ},
        Scale{OutScaleOfD, OutScaleModeOfD, DRAGON_LIBRARY_WRITE},
        Scale{MaximumOfD, ForAll, DRAGON_LIBRARY_WRITE},
        Scale{MaximumOfAux, ForAll, DRAGON_LIBRARY_WRITE}})
    if (const auto *pointer = of.getNewer<const void *>(scale.pointer)) {
      const bool isOne =
          scale.mode == ForAll || !of.getNewer<int32_t>(scale.mode);
      to.push_back({pointer, isOne ? int64_t(sizeof(float)) : -1, scale.use});
    }
}

/// Attributes of later versions: those that are as wide as a pointer.
void Product::addUnknown(std::vector<AnnouncedUse> &to) const {
  static const std::vector<int> Newer = [this] {
    std::vector<int> found;
    auto *ask = inLibrary<GetAttribute>("cublasLtMatmulDescGetAttribute");
    for (int which = FirstUnknownAttribute;
         ask && which <= LastProductAttribute; ++which)
      if (size_t bytes = 0; ask(described, which, nullptr, 0, &bytes) == 0 &&
                            bytes == sizeof(void *))
        found.push_back(which);
    return found;
  }();
  auto of = productOf(described);
  for (const int which : Newer)
    to.push_back({of.getNewer<const void *>(ProductAttribute(which)), -1,
                  DRAGON_LIBRARY_WRITE});
}

} // namespace dragon::light
