//===- Calls.cpp - kernels with what they call ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/Calls.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dragon::ir {

namespace {

/// Operations of a kernel with all that it calls.
constexpr size_t MostOperations = 20000;

/// The gpu dialect does not say that functions may be inlined into kernels.
class KernelInliner : public InlinerInterface {
public:
  using InlinerInterface::InlinerInterface;
  using InlinerInterface::isLegalToInline;

  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
};

FunctionOpInterface calleeOf(CallOpInterface Call) {
  auto Callee = dyn_cast_or_null<FunctionOpInterface>(Call.resolveCallable());
  return Callee && !Callee.isExternal() ? Callee : FunctionOpInterface();
}

/// Whether the function is called, directly or not, by itself.
bool isRecursive(FunctionOpInterface Function) {
  llvm::SetVector<Operation *> Reached;
  Reached.insert(Function);
  for (size_t I = 0; I < Reached.size(); ++I) {
    const bool Found = Reached[I]
                           ->walk([&](CallOpInterface Call) {
                             Operation *Callee = calleeOf(Call);
                             if (Callee == Function)
                               return WalkResult::interrupt();
                             if (Callee)
                               Reached.insert(Callee);
                             return WalkResult::advance();
                           })
                           .wasInterrupted();
    if (Found)
      return true;
  }
  return false;
}

size_t operationsOf(Operation *Op) {
  size_t Count = 0;
  Op->walk([&](Operation *) { ++Count; });
  return Count;
}

bool takeIn(CallOpInterface Call, FunctionOpInterface Callee,
            InlinerInterface &Interface) {
  Region &Body = Callee.getFunctionBody();
  // Several blocks have no place in the region of a loop or condition.
  if (!Body.hasOneBlock() && !isa<FunctionOpInterface>(Call->getParentOp()))
    return false;
  if (TypeRange(Body.getArgumentTypes()) != TypeRange(Call.getArgOperands()) ||
      TypeRange(Callee.getResultTypes()) != TypeRange(Call->getResultTypes()))
    return false;
  InlinerConfig Config;
  if (failed(inlineRegion(Interface, Config.getCloneCallback(), &Body, Call,
                          Call.getArgOperands(), Call->getResults(),
                          Call.getLoc())))
    return false;
  Call.erase();
  return true;
}

} // namespace

bool callsFunctions(gpu::GPUFuncOp Kernel) {
  return Kernel.walk([](CallOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void takeInCalls(gpu::GPUFuncOp Kernel) {
  KernelInliner Interface(Kernel.getContext());
  size_t Size = operationsOf(Kernel);
  llvm::DenseSet<Operation *> Left;
  for (bool Changed = true; Changed;) {
    Changed = false;
    SmallVector<CallOpInterface> Calls;
    Kernel.walk([&](CallOpInterface Call) {
      if (!Left.contains(Call))
        Calls.push_back(Call);
    });
    for (CallOpInterface Call : Calls) {
      FunctionOpInterface Callee = calleeOf(Call);
      const size_t Added = Callee ? operationsOf(Callee) : 0;
      if (Callee && Size + Added <= MostOperations && !isRecursive(Callee) &&
          takeIn(Call, Callee, Interface)) {
        Size += Added;
        Changed = true;
      } else {
        Left.insert(Call);
      }
    }
  }
}

} // namespace dragon::ir
