//===- SummaryCopy.h - a summary blob, aligned and validated ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view on a blob wants it 8-byte aligned. What was read from a file or lies
// in a constant need not be: the view here is on a copy.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_SUMMARYCOPY_H
#define DRAGON_PASSES_ACCESS_SUMMARYCOPY_H

#include "dragon/FootprintEval.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstring>
#include <memory>
#include <string>

namespace dragon {

class SummaryCopy {
public:
  /// Fails on a malformed blob, and says what is wrong with it.
  static llvm::Expected<std::unique_ptr<SummaryCopy>>
  open(llvm::StringRef Blob) {
    auto Copy = std::make_unique<SummaryCopy>();
    Copy->Aligned = std::make_unique<uint64_t[]>(Blob.size() / 8 + 1);
    std::memcpy(Copy->Aligned.get(), Blob.data(), Blob.size());
    std::string Message;
    if (!SummaryView::open(Copy->Aligned.get(), Blob.size(), Copy->View,
                           Message))
      return llvm::createStringError(Message);
    return std::move(Copy);
  }

  const SummaryView &view() const { return View; }
  const SummaryHeader &header() const {
    return *reinterpret_cast<const SummaryHeader *>(Aligned.get());
  }

private:
  std::unique_ptr<uint64_t[]> Aligned;
  SummaryView View;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_SUMMARYCOPY_H
