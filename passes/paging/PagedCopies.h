//===- PagedCopies.h - kernels that fetch pages themselves ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an address is data, no summary says what of a buffer a kernel needs. So
// such a kernel gets a copy that computes the same and looks up where each
// address is that may be global (dragon/Paging.h):
//
//   v = load ptr p     ->     q = __dragon_page_read(p, <the view>)
//                             v = load ptr q
//
// A look-up of the same address says the same all along a launch: those that
// are repeated go, and those in loops that always run come in front of them.
// Those of accesses that go through memory step by step are made once for each
// page. The rest becomes the code of passes/paging/device, in line but for the
// way to fetch a page. The functions that the kernel calls have copies as well.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PAGING_PAGEDCOPIES_H
#define DRAGON_PASSES_PAGING_PAGEDCOPIES_H

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"
#include <string>

namespace dragon {

/// The symbol of the copy.
std::string pagedCopyName(llvm::StringRef Kernel);

/// The number of the architecture that F is compiled for: 90; 0: not known.
unsigned archOf(const llvm::Function &F);

/// Whose code fetches pages.
enum class PageCode {
  Gpu, ///< the threads of a warp together; sm_70 and later
  Cpu
};

/// Adds the copies of kernels of a module, which can have one (PageLegality.h),
/// and what they need. Without analyses no look-up goes: the optimiser comes
/// behind.
void addPagedCopies(llvm::ArrayRef<llvm::Function *> Kernels, PageCode How,
                    llvm::FunctionAnalysisManager *Analyses = nullptr);

/// Marks the kernels in the summary of which it does not say where they access
/// memory: the runtime looks for a copy. Their names, with the cause.
llvm::StringMap<std::string> choosePaged(ModuleSummary &Summary);

/// The remark on a kernel's copy, with its cause; `WhyNot`: that it has none.
void reportPagedCopy(llvm::Function &Kernel, llvm::StringRef Cause,
                     llvm::StringRef WhyNot);

/// `dragon-page-accesses`: for all kernels that can have a copy, as GPUs' code.
class PagedCopiesPass : public llvm::PassInfoMixin<PagedCopiesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &Analyses);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_PAGING_PAGEDCOPIES_H
