//===- CublasLt.cpp - what only cublasLt's descriptors know ---------------===//
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
// A product that does not fit is made in pieces, along its batch, rows and
// columns of its result and its sums: each has layouts of its own, which the
// library makes. What follows the product (cublasLtEpilogue_t) may have a bias
// for each row, which columns do not change; it comes behind the whole sum. The
// program's algorithm was chosen for the whole; for pieces the library chooses.
//
// Source: cuBLAS, "cublasLtMatrixLayoutAttribute_t", "cublasLtOrder_t",
// "cublasLtMatmulDescAttributes_t", "cublasLtEpilogue_t", and "cublasLtMatmul",
// on algo = NULL.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <library_types.h>
#include <optional>
#include <vector>

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
  MaximumOfD = 21,
  BiasType = 26,
  ScaleModeOfA = 31,
  ScaleModeOfB = 32,
  ScaleModeOfC = 33,
  ScaleModeOfD = 34,
  LastProductAttribute = 63 ///< of versions to come, too
};
enum { HostPointers = 0, DevicePointers = 1, BetaIsZero = 3 };
enum { NotTransposed = 0, FullMatrix = 2 };
/// cublasLtEpilogue_t: bits, of which these work element by element.
enum { Plain = 1, Relu = 2, Bias = 4, Gelu = 32 };

template <typename F> F *inLibrary(const char *symbol) {
  return reinterpret_cast<F *>(::dlsym(RTLD_DEFAULT, symbol));
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

Descriptor<LayoutAttribute> layoutOf(const void *layout) {
  static auto *ask =
      inLibrary<GetAttribute>("cublasLtMatrixLayoutGetAttribute");
  return {layout, ask};
}
Descriptor<ProductAttribute> productOf(const void *product) {
  static auto *ask = inLibrary<GetAttribute>("cublasLtMatmulDescGetAttribute");
  return {product, ask};
}

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

/// Some of a batch, and of each matrix some rows and columns, with a layout
/// while it is in use.
class Part {
public:
  using Range = dragon_library_range;
  Part(const Matrix &of, const void *matrix, const void *layout, Range batch,
       Range rows, Range columns);
  ~Part() {
    if (Own)
      inLibrary<int(void *)>("cublasLtMatrixLayoutDestroy")(Own);
  }
  Part(const Part &) = delete;
  Part &operator=(const Part &) = delete;

  void *matrix() const { return const_cast<char *>(First); }
  const void *layout() const { return Described; }
  const Matrix &is() const { return Itself; }

private:
  Matrix Itself;
  const char *First;
  const void *Described; ///< null: the library does not make it
  void *Own = nullptr;
};

Part::Part(const Matrix &of, const void *matrix, const void *layout,
           Range batch, Range rows, Range columns)
    : Itself(of), First(static_cast<const char *>(matrix)), Described(layout) {
  if (!of.known || (batch.count == of.batches && rows.count == of.rows &&
                    columns.count == of.columns))
    return;
  using Create = int(void **, uint32_t, uint64_t, uint64_t, int64_t);
  auto *set = inLibrary<SetAttribute>("cublasLtMatrixLayoutSetAttribute");
  const auto number = int32_t(batch.count);
  const bool made = inLibrary<Create>("cublasLtMatrixLayoutCreate")(
                        &Own, of.type, uint64_t(rows.count),
                        uint64_t(columns.count), of.leading) == 0 &&
                    set(Own, Order, &of.order, sizeof of.order) == 0 &&
                    set(Own, BatchCount, &number, sizeof number) == 0 &&
                    set(Own, BatchOffset, &of.offset, sizeof of.offset) == 0;
  Described = made ? Own : nullptr;
  Itself.batches = number;
  Itself.rows = rows.count;
  Itself.columns = columns.count;
  First += of.bytesTo(rows.begin, columns.begin) +
           batch.begin * of.offset * of.element;
}

/// What the descriptor of a product says.
struct Product {
  explicit Product(const void *described);

  bool transposesA, transposesB;
  bool betaIsZero;       ///< whatever it points to
  int64_t hostBeta = 0;  ///< its bytes, if it is in host memory
  bool known;            ///< pieces of columns give what the whole gives
  bool isTheSameForRows; ///< and those of rows, each with its part of the bias
  bool hasBias;
  int32_t biasType;     ///< -1: D's, or one that goes with it
  bool isTheSameForAll; ///< and those of the batch
  bool isNothingElse;   ///< and those of sums, by another beta
  uint32_t scaleType;
};

Product::Product(const void *described) {
  auto of = productOf(described);
  const auto mode = of.get<int32_t>(PointerMode);
  const auto epilogue = of.get<uint32_t>(Epilogue);
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
  hasBias = epilogue & Bias;
  biasType = of.getNewer<int32_t>(BiasType, -1);
  isTheSameForAll = oneAlpha && !of.getNewer<int64_t>(BiasBatchStride);
  isNothingElse = mode == HostPointers && epilogue == Plain;
}

/// A product whose bias begins at a later row, while it is in use.
class ProductFromRow {
public:
  /// `bytes`: between the two biases; 0: as it is.
  ProductFromRow(const void *product, int64_t bytes);
  ~ProductFromRow() {
    if (Own)
      inLibrary<int(void *)>("cublasLtMatmulDescDestroy")(Own);
  }
  ProductFromRow(const ProductFromRow &) = delete;
  ProductFromRow &operator=(const ProductFromRow &) = delete;

  /// Null: the library does not make it.
  const void *described() const { return Described; }

private:
  bool copy(const void *product);

  const void *Described;
  void *Own = nullptr;
};

ProductFromRow::ProductFromRow(const void *product, int64_t bytes)
    : Described(product) {
  if (bytes == 0)
    return;
  Described = nullptr;
  using Create = int(void **, int, int);
  auto of = productOf(product);
  const auto compute = of.get<int32_t>(ComputeType);
  const auto scale = of.get<int32_t>(ScaleType);
  const char *bias = of.get<const char *>(BiasPointer) + bytes;
  if (of.ok() &&
      inLibrary<Create>("cublasLtMatmulDescCreate")(&Own, compute, scale) ==
          0 &&
      copy(product) &&
      inLibrary<SetAttribute>("cublasLtMatmulDescSetAttribute")(
          Own, BiasPointer, &bias, sizeof bias) == 0)
    Described = Own;
}

/// All that the library knows of it, by whatever version.
bool ProductFromRow::copy(const void *product) {
  auto *set = inLibrary<SetAttribute>("cublasLtMatmulDescSetAttribute");
  auto *get = inLibrary<GetAttribute>("cublasLtMatmulDescGetAttribute");
  for (int which = PointerMode; which <= LastProductAttribute; ++which) {
    size_t bytes = 0;
    if (get(product, which, nullptr, 0, &bytes) != 0 || bytes == 0)
      continue;
    std::vector<unsigned char> value(bytes), now(bytes);
    if (get(product, which, value.data(), bytes, nullptr) != 0 ||
        get(Own, which, now.data(), bytes, nullptr) != 0 ||
        (value != now && set(Own, which, value.data(), bytes) != 0))
      return false;
  }
  return true;
}

/// A one of that type, and what is behind it; nothing: it is not known.
using Scalar = std::array<unsigned char, 16>;
std::optional<Scalar> oneOf(uint32_t type) {
  auto is = [](auto value) {
    Scalar scalar{};
    std::memcpy(scalar.data(), &value, sizeof value);
    return scalar;
  };
  switch (cudaDataType(type)) {
  case CUDA_R_64F:
  case CUDA_C_64F:
    return is(1.0);
  case CUDA_R_32F:
  case CUDA_C_32F:
    return is(1.0F);
  case CUDA_R_16F:
    return is(uint16_t(0x3c00));
  case CUDA_R_32I:
    return is(int32_t(1));
  default:
    return std::nullopt;
  }
}

/// A, B, C and D.
using Matrices = std::array<Matrix, 4>;

/// Along what the product may be cut, the last one the soonest to change.
struct Cuts {
  Cuts(const Matrices &of, const Product &how, const void *beta);
  Cuts(const Cuts &) = delete;
  Cuts &operator=(const Cuts &) = delete;

  dragon_library_pieces pieces{nullptr, 4, {}};
  Part::Range &batch = pieces.range[0], &columns = pieces.range[1],
              &rows = pieces.range[2], &sum = pieces.range[3];
  /// All of these say what they are.
  bool known;
  const int64_t terms; ///< of a sum
  int64_t bytesOfBias; ///< of a row; 0: there is none
  Scalar one{};        ///< if sums may be cut
};

Cuts::Cuts(const Matrices &of, const Product &how, const void *beta)
    : known(how.known), terms(how.transposesA ? of[0].rows : of[0].columns) {
  const std::optional<Scalar> scalar = oneOf(how.scaleType);
  one = scalar.value_or(Scalar{});
  const Matrix &d = of[3];
  bool inBatch = how.isTheSameForAll;
  for (const Matrix &matrix : of) {
    known &= matrix.known;
    inBatch &= matrix.batches == d.batches;
  }
  auto set = [this](Part::Range &range, int64_t count, bool may) {
    range.begin = 0;
    range.count = count;
    range.cut =
        known && may ? DRAGON_LIBRARY_CUT_FREELY : DRAGON_LIBRARY_CUT_NEVER;
  };
  set(batch, d.batches, inBatch);
  set(columns, d.columns, true);
  // The bias has D's type but where operands or results are small ones.
  const bool knowsBias =
      d.element > 1 && of[0].element > 1 &&
      (how.biasType == -1 || uint32_t(how.biasType) == d.type);
  bytesOfBias = how.hasBias ? d.element : 0;
  set(rows, d.rows, how.isTheSameForRows && (!how.hasBias || knowsBias));
  set(sum, terms, how.isNothingElse && scalar);
  sum.scalar = beta;
  // Each piece of a sum rounds what it has to the type of D.
  if (sum.cut == DRAGON_LIBRARY_CUT_FREELY && d.type != how.scaleType)
    sum.cut = DRAGON_LIBRARY_CUT_LAST;
}

} // namespace

extern "C" int64_t __dragon_matrix_bytes(const void *layout) {
  return Matrix(layout).bytes();
}

extern "C" int __dragon_light_matmul(
    const dragon_library_call *call, dragon_light_matmul *matmul, void *handle,
    const void *product, const void *alpha, const void *a, const void *layoutA,
    const void *b, const void *layoutB, const void *beta, const void *c,
    const void *layoutC, void *d, const void *layoutD, const void *algorithm,
    void *workspace, size_t workspaceBytes, void *stream) {
  constexpr int AllocationFailed = 3; // CUBLAS_STATUS_ALLOC_FAILED
  const Matrices of{Matrix(layoutA), Matrix(layoutB), Matrix(layoutC),
                    Matrix(layoutD)};
  const Product how(product);
  const bool zero = how.betaIsZero ||
                    (how.hostBeta && __dragon_host_zero(beta, how.hostBeta));
  Cuts cuts(of, how, beta);
  const Part::Range &batch = cuts.batch, &columns = cuts.columns,
                    &rows = cuts.rows, &sum = cuts.sum;
  while (true) {
    const Part partA(of[0], a, layoutA, batch, how.transposesA ? sum : rows,
                     how.transposesA ? rows : sum);
    const Part partB(of[1], b, layoutB, batch, how.transposesB ? columns : sum,
                     how.transposesB ? sum : columns);
    const Part partC(of[2], c, layoutC, batch, rows, columns);
    const Part partD(of[3], d, layoutD, batch, rows, columns);
    const ProductFromRow part(product, rows.begin * cuts.bytesOfBias);
    if (!partA.layout() || !partB.layout() || !partC.layout() ||
        !partD.layout() || !part.described()) {
      __dragon_library_next(nullptr, &cuts.pieces, /*failed=*/1);
      return AllocationFailed;
    }
    // Those behind the first add to D.
    const bool adds = sum.begin != 0;
    const Part &old = adds ? partD : partC;
    const bool readsOld = (!zero || adds) && old.matrix() != partD.matrix();
    const bool overwrites = zero && !adds && cuts.known && partD.is().isDense();
    void *token = __dragon_library_begin(
        call, 1, stream, 6, partA.matrix(), partA.is().bytes(),
        DRAGON_LIBRARY_READ, partB.matrix(), partB.is().bytes(),
        DRAGON_LIBRARY_READ, old.matrix(), old.is().bytes(),
        readsOld ? DRAGON_LIBRARY_READ : DRAGON_LIBRARY_NOTHING, partD.matrix(),
        partD.is().bytes(),
        overwrites ? DRAGON_LIBRARY_OVERWRITE : DRAGON_LIBRARY_WRITE, workspace,
        int64_t(workspaceBytes), DRAGON_LIBRARY_WRITE, &cuts.pieces, int64_t(0),
        DRAGON_LIBRARY_PIECES);
    if (token == DRAGON_LIBRARY_AGAIN)
      continue;
    if (!token)
      return AllocationFailed;
    const bool isWhole = batch.count == of[3].batches &&
                         columns.count == of[3].columns &&
                         rows.count == of[3].rows && sum.count == cuts.terms;
    const int status = matmul(
        handle, part.described(), alpha, partA.matrix(), partA.layout(),
        partB.matrix(), partB.layout(), adds ? cuts.one.data() : beta,
        old.matrix(), old.layout(), partD.matrix(), partD.layout(),
        isWhole ? algorithm : nullptr, workspace, workspaceBytes, stream);
    if (!__dragon_library_next(token, &cuts.pieces, status != 0))
      return status;
  }
}
