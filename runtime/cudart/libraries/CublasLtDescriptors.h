//===- CublasLtDescriptors.h - what descriptors of cublasLt say -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix of cublasLt's is a pointer and a layout, which is the library's own
// and says how much memory the matrix takes. A product's descriptor has
// pointers, too: to a bias, to what is kept for the way back, to scales. The
// library is asked for all of it; this one is not linked with it.
//
// Source: cuBLAS, "cublasLtMatrixLayoutAttribute_t", "cublasLtOrder_t",
// "cublasLtMatmulDescAttributes_t", "cublasLtPointerMode_t" and
// "cublasLtEpilogue_t".
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LIBRARIES_CUBLASLTDESCRIPTORS_H
#define DRAGON_RUNTIME_CUDART_LIBRARIES_CUBLASLTDESCRIPTORS_H

#include "runtime/cudart/libraries/Libraries.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dragon::light {

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
/// cublasLtMatmulDescAttributes_t
enum ProductAttribute {
  ComputeType = 0,
  ScaleType = 1,
  PointerMode = 2,
  TransposeA = 3,
  TransposeB = 4,
  TransposeC = 5,
  FillMode = 6,
  Epilogue = 7,
  BiasPointer = 8,
  BiasBatchStride = 10,
  AuxPointer = 11,
  AuxLeading = 12,
  AuxBatchStride = 13,
  AlphaBatchStride = 14,
  ScaleOfA = 17,
  ScaleOfB = 18,
  ScaleOfC = 19,
  ScaleOfD = 20,
  MaximumOfD = 21,
  AuxType = 22,
  ScaleOfAux = 23,
  MaximumOfAux = 24,
  BiasType = 26,
  ScaleModeOfA = 31,
  ScaleModeOfB = 32,
  ScaleModeOfC = 33,
  ScaleModeOfD = 34,
  ScaleModeOfAux = 35,
  OutScaleOfD = 36,
  OutScaleModeOfD = 37,
  FirstUnknownAttribute = 38, ///< the one for emulation is host memory
  LastProductAttribute = 63   ///< of versions to come, too
};
/// cublasLtPointerMode_t
enum {
  HostPointers = 0,
  DevicePointers = 1,
  DeviceVectors = 2,
  BetaIsZero = 3,
  BetaOnHost = 4
};
enum { NotTransposed = 0, FullMatrix = 2 };
/// cublasLtEpilogue_t: bits. The first ones work element by element; Aux is
/// what the others read on the way back.
enum {
  Plain = 1,
  Relu = 2,
  Bias = 4,
  Gelu = 32,
  ReluBack = 8,
  GeluBack = 64,
  BiasBack = 16,
  BiasBackOfA = 256,
  BiasBackOfB = 512,
  Aux = 128
};

/// Of an element of a cudaDataType; 0: not known.
int64_t bytesOf(uint32_t type);

/// A function of the library; null: there is none.
void *inLibrary(const char *symbol);
template <typename F> F *inLibrary(const char *symbol) {
  return reinterpret_cast<F *>(inLibrary(symbol));
}
using GetAttribute = int(const void *, int, void *, size_t, size_t *);
using SetAttribute = int(void *, int, const void *, size_t);

/// One of the library's, of which it is asked.
template <typename Attribute> class Descriptor {
public:
  Descriptor(const void *described, GetAttribute *ask)
      : Described(described), Ask(ask) {}

  /// Of any width; 0, and not ok(), if the library does not know it.
  template <typename T> T get(Attribute attribute) {
    T value{};
    Good &= Described && Ask &&
            Ask(Described, attribute, &value, sizeof value, nullptr) == 0;
    return value;
  }
  /// The same; `otherwise` if it is of a version that does not know it.
  template <typename T>
  T getNewer(Attribute attribute, T otherwise = T()) const {
    Descriptor asked(Described, Ask);
    const T value = asked.template get<T>(attribute);
    return asked.ok() ? value : otherwise;
  }
  bool ok() const { return Good; }

private:
  const void *Described;
  GetAttribute *Ask;
  bool Good = true;
};

Descriptor<LayoutAttribute> layoutOf(const void *layout);
Descriptor<ProductAttribute> productOf(const void *product);

/// What a layout says.
struct Matrix {
  explicit Matrix(const void *layout);

  /// Bytes from its pointer on; -1: not known.
  int64_t bytes() const;
  /// Nothing lies between its elements.
  bool isDense() const {
    return leading == length() && (batches == 1 || offset == leading * lines());
  }
  int64_t lines() const { return order == ColumnMajor ? columns : rows; }
  int64_t length() const { return order == ColumnMajor ? rows : columns; }
  int64_t bytesTo(int64_t row, int64_t column) const {
    return element * (order == ColumnMajor ? row + column * leading
                                           : row * leading + column);
  }

  bool known = false;
  uint32_t type;
  int32_t order, batches;
  int64_t element, rows, columns, leading, offset;
};

/// What the descriptor of a product says.
struct Product {
  explicit Product(const void *described);

  /// The type of the bias is known, if there is one, for a result and an
  /// operand of these types.
  bool knowsBias(const Matrix &a, const Matrix &d) const;
  /// Of an element of it; not known: as many as it may be.
  int64_t bytesOfBias(const Matrix &a, const Matrix &d) const;
  /// The memory that it uses besides its matrices, for so many rows from one
  /// on: the descriptor has pointers to it, or the scalars are such pointers.
  std::vector<AnnouncedUse> memoryBeside(const Matrix &a, const Matrix &d,
                                         int64_t row, int64_t rows,
                                         const void *alpha,
                                         const void *beta) const;

  const void *described;
  int32_t mode; ///< of pointers to scalars
  uint32_t epilogue;
  bool transposesA, transposesB;
  bool betaIsZero;       ///< whatever it points to
  int64_t hostBeta = 0;  ///< its bytes, if it is in host memory
  bool known;            ///< pieces of columns give what the whole gives
  bool isTheSameForRows; ///< and those of rows, each with its part of the bias
  int32_t biasType;      ///< -1: D's, or one that goes with it
  bool isTheSameForAll;  ///< and those of the batch
  bool hasSums; ///< and those of sums, by another beta, the last with the rest
  uint32_t scaleType;

private:
  void addScalars(std::vector<AnnouncedUse> &to, const Matrix &d,
                  const void *alpha, const void *beta) const;
  void addBias(std::vector<AnnouncedUse> &to, const Matrix &a, const Matrix &d,
               int64_t row, int64_t rows) const;
  void addAux(std::vector<AnnouncedUse> &to, const Matrix &d) const;
  void addScales(std::vector<AnnouncedUse> &to) const;
  void addUnknown(std::vector<AnnouncedUse> &to) const;
};

/// The same for a call of cublasLtMatmul's with these arguments.
std::vector<AnnouncedUse> memoryBeside(std::span<const uintptr_t> arguments);

} // namespace dragon::light

#endif // DRAGON_RUNTIME_CUDART_LIBRARIES_CUBLASLTDESCRIPTORS_H
