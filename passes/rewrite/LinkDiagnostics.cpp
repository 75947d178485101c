//===- LinkDiagnostics.cpp - remarks of code without sources --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LinkDiagnostics.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

namespace {

/// And there would be warnings of loops that could not be unrolled as the user
/// asked, those in system headers included: they are for compilations to give.
class LinkDiagnostics : public DiagnosticHandler {
public:
  explicit LinkDiagnostics(std::unique_ptr<DiagnosticHandler> Other)
      : Other(std::move(Other)) {}

  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (Info.getKind() == DK_OptimizationFailure)
      return true;
    auto *Remark = dyn_cast<DiagnosticInfoOptimizationBase>(&Info);
    if (!Remark || Remark->getSeverity() != DS_Remark)
      return Other->handleDiagnostics(Info);
    const char *Option = Remark->isPassed()   ? "-Rpass="
                         : Remark->isMissed() ? "-Rpass-missed="
                                              : "-Rpass-analysis=";
    errs() << Remark->getLocationStr() << ": remark: " << Remark->getMsg()
           << " [" << Option << Remark->getPassName() << "]\n";
    return true;
  }
  bool isAnalysisRemarkEnabled(StringRef Pass) const override {
    return Other->isAnalysisRemarkEnabled(Pass);
  }
  bool isMissedOptRemarkEnabled(StringRef Pass) const override {
    return Other->isMissedOptRemarkEnabled(Pass);
  }
  bool isPassedOptRemarkEnabled(StringRef Pass) const override {
    return Other->isPassedOptRemarkEnabled(Pass);
  }
  bool isAnyRemarkEnabled() const override {
    return Other->isAnyRemarkEnabled();
  }

private:
  std::unique_ptr<DiagnosticHandler> Other;
};

} // namespace

void printLinkRemarks(LLVMContext &Context) {
  if (Context.getDiagHandlerPtr())
    Context.setDiagnosticHandler(
        std::make_unique<LinkDiagnostics>(Context.getDiagnosticHandler()),
        /*RespectFilters=*/true);
}

} // namespace dragon
