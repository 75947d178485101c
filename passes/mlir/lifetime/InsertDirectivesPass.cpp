//===- InsertDirectivesPass.cpp - -dragon-insert-directives ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"
#include "passes/mlir/lifetime/Insertion.h"
#include "passes/placement/BufferProgramText.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_DRAGONINSERTDIRECTIVES
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

class InsertDirectivesPass
    : public impl::DragonInsertDirectivesBase<InsertDirectivesPass> {
  using DragonInsertDirectivesBase::DragonInsertDirectivesBase;

  void runOnOperation() override {
    if (!print)
      for (auto F : getOperation().getOps<FunctionOpInterface>())
        removeDirectives(F);
    const TargetAnalysis Memrefs(getOperation());
    PlacementOptions Options;
    Options.Staging = Options.Zeros = Options.Deferral = false;
    Options.Wavefront = wavefront;
    for (auto F : getOperation().getOps<FunctionOpInterface>()) {
      if (F.isExternal() || !usesBuffers(F))
        continue;
      HostProgram Read = readHostProgram(F, Memrefs);
      Placement Decisions = place(Read.Program, Options);
      if (print) {
        llvm::outs() << "buffer program of " << F.getName() << ":\n";
        printBufferProgram(Read.Program, llvm::outs());
        printPlacement(Read.Program, Decisions, llvm::outs());
        continue;
      }
      insertDirectives(F, Read, Decisions);
      for (const Finding &Found : Decisions.Findings)
        tell(F, Read, Found);
    }
  }

  static bool usesBuffers(FunctionOpInterface F) {
    return F
        ->walk([](Operation *Op) {
          return isBufferSite(Op) || isa<gpu::LaunchFuncOp>(Op)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Gives the finding to MLIR's remark engine, its arguments by their keys as
  /// well.
  static void tell(FunctionOpInterface F, const HostProgram &Read,
                   const Finding &Found) {
    Location Where = Found.Where.Line
                         ? Location(FileLineColLoc::get(
                               F.getContext(), Found.Where.File,
                               Found.Where.Line, Found.Where.Column))
                     : Found.Buffer < Read.Buffers.size()
                         ? Read.Buffers[Found.Buffer].getLoc()
                         : F->getLoc();
    const llvm::StringRef Name = remarkName(Found.Why.Id);
    const auto Options =
        remark::RemarkOpts::name(Name).category("dragon").function(F.getName());
    auto say = [&](remark::detail::InFlightRemark Remark) {
      Remark << remarkText(Found.Why);
    };
    switch (remarkKind(Found.Why.Id)) {
    case dragon::RemarkKind::Passed:
      return say(remark::passed(Where, Options));
    case dragon::RemarkKind::Missed:
      return say(remark::missed(Where, Options));
    case dragon::RemarkKind::Analysis:
      return say(remark::analysis(Where, Options));
    }
  }
};

} // namespace

} // namespace dragon::ir
