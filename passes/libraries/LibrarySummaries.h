//===- LibrarySummaries.h - what library functions do to buffers *- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuBLAS and the like work on device memory in code that is not compiled here.
// What their functions do is written down in YAML (docs/summaries.md):
//
//   library: cuBLAS
//   prefixes: [cublas]
//   functions:
//   - name: cublas{T}gemm_v2
//     types: {S: 4, D: 8, C: 8, Z: 16}
//     parameters: [handle, transa, transb, m, n, k, alpha, A, lda, ...]
//     stream-of: handle
//     host: [{pointer: alpha, bytes: element}, {pointer: beta, ...}]
//     uses:
//     - {pointer: A, mode: read, bytes: element * lda * ...}
//     - {pointer: C, mode: read-write, bytes: ...,
//        overwrite-if: "*beta == 0 && ldc == m"}
//
// Files are read strictly: an unknown key, a bad value, a name that is no
// parameter is an error with file, line and column. A later file's description
// of a function replaces an earlier one's.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIBRARIES_LIBRARYSUMMARIES_H
#define DRAGON_PASSES_LIBRARIES_LIBRARYSUMMARIES_H

#include "passes/libraries/LibraryFunction.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dragon {

class LibrarySummaries {
public:
  /// The files in this order. An error names file, line and column.
  static llvm::Expected<LibrarySummaries>
  read(llvm::ArrayRef<std::string> Paths);
  llvm::Error add(llvm::MemoryBufferRef File);

  /// Null: nothing is known of it. Symbol: as in the object file.
  const LibraryFunction *find(llvm::StringRef Symbol,
                              unsigned NumArguments) const;
  /// The library that the symbol belongs to by its prefix; "" if none.
  llvm::StringRef libraryOf(llvm::StringRef Symbol) const;
  /// All that are described, in no order.
  void visit(llvm::function_ref<void(const LibraryFunction &)> See) const;
  std::vector<llvm::StringRef> prefixes() const;
  /// Whether the function puts what it is given into a descriptor, and calls
  /// with that one say themselves what they use. It is unknown otherwise.
  bool describes(llvm::StringRef Symbol) const {
    return Describing.contains(Symbol);
  }
  std::vector<llvm::StringRef> describing() const;
  /// One line a function, sorted: "cuBLAS: cublasSscal_v2(handle, n, ...)".
  void print(llvm::raw_ostream &To) const;
  bool empty() const { return BySymbol.empty() && ByQualifiedName.empty(); }

private:
  /// The description of a C++ function, with the sizes of its types.
  std::optional<LibraryFunction> instance(llvm::StringRef Symbol) const;

  using Functions = llvm::SmallVector<LibraryFunction, 1>;

  llvm::StringMap<LibraryFunction> BySymbol;
  /// By the last component of the name; overloads differ in the number of
  /// parameters.
  std::map<std::string, Functions> ByQualifiedName;
  std::vector<std::pair<std::string, std::string>> Prefixes; ///< -> library
  llvm::StringMap<std::string> Describing;                   ///< -> library
  /// C++ functions that were asked for; empty: not described.
  mutable llvm::StringMap<std::optional<LibraryFunction>> Instances;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIBRARIES_LIBRARYSUMMARIES_H
