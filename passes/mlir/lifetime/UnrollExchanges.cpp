//===- UnrollExchanges.cpp - -dragon-unroll-exchanges ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a loop whose buffers change places, a launch works on one buffer or
// another. The pass unrolls the loop until each buffer is back in its place.
// Each launch works on one buffer then:
//
//   scf.for ... iter_args(%x = %a, %y = %b) {     scf.for ... {
//     launch @step(%x, %y)                          launch @step(%a, %b)
//     scf.yield %y, %x                              launch @step(%b, %a)
//   }                                             }
//
// passes/lifetime does the same to such loops of C++ (BufferArrays.h).
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

#include <numeric>

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_DRAGONUNROLLEXCHANGES
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

/// Longer exchanges are not worth the code.
constexpr unsigned MostIterations = 4;

/// The number of iterations after which each memref is back in its place. It is
/// 1 if they do not change places, and 0 if they are not always the same ones.
unsigned periodOf(scf::ForOp Loop) {
  Block::BlockArgListType Args = Loop.getRegionIterArgs();
  Operation *Yield = Loop.getBody()->getTerminator();
  unsigned Period = 1;
  for (BlockArgument Arg : Args) {
    if (!isa<BaseMemRefType>(Arg.getType()))
      continue;
    unsigned Length = 0;
    Value V = Arg;
    do {
      auto At = dyn_cast<BlockArgument>(V);
      if (!At || At.getOwner() != Loop.getBody() || ++Length > MostIterations)
        return 0;
      V = Yield->getOperand(At.getArgNumber() - Loop.getNumInductionVars());
    } while (V != Arg);
    Period = std::lcm(Period, Length);
  }
  return Period <= MostIterations ? Period : 0;
}

class UnrollExchanges
    : public impl::DragonUnrollExchangesBase<UnrollExchanges> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> Loops;
    getOperation().walk([&](scf::ForOp Loop) {
      if (!Loop->getParentOfType<gpu::GPUModuleOp>() && periodOf(Loop) > 1 &&
          Loop.walk([](gpu::LaunchFuncOp) { return WalkResult::interrupt(); })
              .wasInterrupted())
        Loops.push_back(Loop);
    });
    for (scf::ForOp Loop : Loops) {
      const unsigned Period = periodOf(Loop);
      // The number of iterations that is computed must not be negative.
      if (!Loop.getStaticTripCount()) {
        OpBuilder Builder(Loop);
        Loop.setUpperBound(arith::MaxSIOp::create(Builder, Loop.getLoc(),
                                                  Loop.getUpperBound(),
                                                  Loop.getLowerBound()));
      }
      (void)loopUnrollByFactor(Loop,
                               Period); // a loop that cannot be unrolled stays
    }
  }
};

} // namespace

} // namespace dragon::ir
