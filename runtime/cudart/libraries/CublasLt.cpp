//===- CublasLt.cpp - cublasLtMatmul in pieces ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product that does not fit is made in pieces, along its batch, rows and
// columns of its result and its sums: each has layouts of its own, which the
// library makes. What follows the product (cublasLtEpilogue_t) may have a bias
// for each row, which columns do not change; it comes behind the whole sum, and
// so with the last piece of it. The program's algorithm was chosen for the
// whole; for pieces the library chooses.
//
// Source: cuBLAS, "cublasLtMatmul", on algo = NULL, and what
// CublasLtDescriptors.h names.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "runtime/cudart/libraries/CublasLtDescriptors.h"

#include <array>
#include <cstring>
#include <library_types.h>
#include <optional>

using namespace dragon;
using namespace dragon::light;

namespace {

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

/// A product for a piece, while it is in use.
class ProductOfPiece {
public:
  /// `bytes`: from the whole's bias to that of the first row. A piece of a sum
  /// that is not the last is the product and nothing else.
  ProductOfPiece(const void *product, int64_t bytes, bool isLastOfSum);
  ~ProductOfPiece() {
    if (Own)
      inLibrary<int(void *)>("cublasLtMatmulDescDestroy")(Own);
  }
  ProductOfPiece(const ProductOfPiece &) = delete;
  ProductOfPiece &operator=(const ProductOfPiece &) = delete;

  /// Null: the library does not make it.
  const void *described() const { return Described; }

private:
  bool copy(const void *product);
  template <typename T> bool set(ProductAttribute which, const T &value) {
    return inLibrary<SetAttribute>("cublasLtMatmulDescSetAttribute")(
               Own, which, &value, sizeof value) == 0;
  }

  const void *Described;
  void *Own = nullptr;
};

ProductOfPiece::ProductOfPiece(const void *product, int64_t bytes,
                               bool isLastOfSum)
    : Described(product) {
  if (bytes == 0 && isLastOfSum)
    return;
  Described = nullptr;
  using Create = int(void **, int, int);
  auto of = productOf(product);
  const auto compute = of.get<int32_t>(ComputeType);
  const auto scale = of.get<int32_t>(ScaleType);
  // The library refuses a bias that is not asked for.
  const char *bias =
      isLastOfSum ? of.get<const char *>(BiasPointer) + bytes : nullptr;
  if (of.ok() &&
      inLibrary<Create>("cublasLtMatmulDescCreate")(&Own, compute, scale) ==
          0 &&
      copy(product) && (isLastOfSum || set(Epilogue, uint32_t(Plain))) &&
      set(BiasPointer, bias))
    Described = Own;
}

/// All that the library knows of it, by whatever version.
bool ProductOfPiece::copy(const void *product) {
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
  bytesOfBias = how.epilogue & Bias ? how.bytesOfBias(of[0], d) : 0;
  set(rows, d.rows, how.isTheSameForRows && how.knowsBias(of[0], d));
  set(sum, terms, how.hasSums && scalar);
  sum.scalar = beta;
  // Each piece of a sum rounds what it has to the type of D.
  if (sum.cut == DRAGON_LIBRARY_CUT_FREELY && d.type != how.scaleType)
    sum.cut = DRAGON_LIBRARY_CUT_LAST;
}

} // namespace

std::vector<AnnouncedUse>
light::memoryBeside(std::span<const uintptr_t> arguments) {
  auto at = [&](size_t index) {
    return reinterpret_cast<const void *>(arguments[index]);
  };
  if (arguments.size() < 12)
    return {};
  const Matrix d(at(11));
  return Product(at(1)).memoryBeside(Matrix(at(4)), d, 0, d.rows, at(2), at(7));
}

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
    const bool isLast = sum.begin + sum.count == cuts.terms;
    const ProductOfPiece part(product, rows.begin * cuts.bytesOfBias, isLast);
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
    std::vector<AnnouncedUse> uses =
        how.memoryBeside(of[0], of[3], rows.begin, rows.count, alpha, beta);
    uses.insert(
        uses.end(),
        {{partA.matrix(), partA.is().bytes(), DRAGON_LIBRARY_READ},
         {partB.matrix(), partB.is().bytes(), DRAGON_LIBRARY_READ},
         {old.matrix(), old.is().bytes(),
          uint32_t(readsOld ? DRAGON_LIBRARY_READ : DRAGON_LIBRARY_NOTHING)},
         {partD.matrix(), partD.is().bytes(),
          uint32_t(overwrites ? DRAGON_LIBRARY_OVERWRITE
                              : DRAGON_LIBRARY_WRITE)},
         {workspace, int64_t(workspaceBytes), DRAGON_LIBRARY_WRITE}});
    void *token = beginLibraryCall(*call, stream, uses, &cuts.pieces);
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
