//===- HostPlan.cpp - streams and waits of host functions -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lowering/HostPlan.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace dragon::ir {

//===----------------------------------------------------------------------===//
// Waits.
//===----------------------------------------------------------------------===//

/// The value that all views of a memref come from.
static Value rootOf(Value Memref) {
  while (auto View = Memref.getDefiningOp<ViewLikeOpInterface>())
    Memref = View.getViewSource();
  return Memref;
}

/// Whether an operation on the host may touch the buffer's contents, as far as
/// that can be seen from its uses.
static bool usedByHost(Value Memref) {
  return llvm::any_of(Memref.getUses(), [](OpOperand &Use) {
    Operation *User = Use.getOwner();
    if (isa<ViewLikeOpInterface>(User))
      return llvm::any_of(User->getResults(), [](Value View) {
        return isa<BaseMemRefType>(View.getType()) && usedByHost(View);
      });
    if (isa_and_nonnull<gpu::GPUDialect>(User->getDialect()))
      return isa<gpu::HostRegisterOp, gpu::HostUnregisterOp>(User);
    return !isa_and_nonnull<DragonDialect>(User->getDialect()) &&
           !isa<memref::DimOp>(User);
  });
}

static bool hostMayLook(Value Memref) {
  Value Root = rootOf(Memref);
  Operation *Source = Root.getDefiningOp();
  if (auto Alloc = dyn_cast_or_null<gpu::AllocOp>(Source))
    return Alloc.getHostShared() && usedByHost(Root);
  if (auto Alloc = dyn_cast_or_null<AllocOp>(Source)) {
    const MapFlags Flags = Alloc.getFlags().value_or(MapFlags::none);
    return !bitEnumContainsAll(Flags, MapFlags::volatile_) && usedByHost(Root);
  }
  return !isa_and_nonnull<MapOp>(Source) || usedByHost(Root);
}

/// The host sees what kernels of the module print.
static bool prints(gpu::GPUModuleOp Module) {
  return Module
      .walk([](Operation *Op) {
        auto Function = dyn_cast<LLVM::LLVMFuncOp>(Op);
        return isa<gpu::PrintfOp>(Op) ||
                       (Function && Function.getName() == "vprintf")
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void HostPlan::findWaits(ModuleOp Module) {
  llvm::DenseMap<StringAttr, bool> Silent;
  for (auto Kernels : Module.getOps<gpu::GPUModuleOp>())
    Silent[Kernels.getSymNameAttr()] = !prints(Kernels);
  auto isMemRef = [](Value V) { return isa<BaseMemRefType>(V.getType()); };
  Module.walk([&](Operation *Op) {
    if (isa<gpu::GPUModuleOp>(Op))
      return WalkResult::skip();
    bool Wait = false;
    if (auto Launch = dyn_cast<gpu::LaunchFuncOp>(Op)) {
      Wait = !Silent.lookup(Launch.getKernelModuleName()) ||
             llvm::any_of(Launch.getKernelOperands(), [&](Value V) {
               return isMemRef(V) ? hostMayLook(V)
                                  : isa<LLVM::LLVMPointerType>(V.getType());
             });
    } else if (auto Set = dyn_cast<gpu::MemsetOp>(Op)) {
      Wait = hostMayLook(Set.getDst());
    } else if (auto Copy = dyn_cast<gpu::MemcpyOp>(Op)) {
      // A copy waits itself where it writes memory of the host.
      Value Root = rootOf(Copy.getDst());
      Wait = !Root.getDefiningOp<memref::AllocOp>() &&
             !Root.getDefiningOp<memref::AllocaOp>() &&
             hostMayLook(Copy.getDst());
    }
    if (Wait)
      Waiting.insert(Op);
    if (isa<AllocOp>(Op) && usedByHost(Op->getResult(0)))
      Touched.insert(Op);
    if (auto Alloc = dyn_cast<gpu::AllocOp>(Op); Alloc && Alloc.getHostShared())
      Touched.insert(Op);
    return WalkResult::advance();
  });
}

//===----------------------------------------------------------------------===//
// Ends of streams.
//===----------------------------------------------------------------------===//

namespace {

bool isToken(Value V) { return isa<gpu::AsyncTokenType>(V.getType()); }

/// Tokens that may be one stream, and those that are out of sight.
class TokenWebs {
public:
  explicit TokenWebs(Operation *Function) {
    Function->walk([&](Operation *Op) {
      for (Value Result : Op->getResults())
        if (isToken(Result))
          addResult(Op, Result);
      for (Region &R : Op->getRegions())
        for (Block &B : R)
          for (BlockArgument Argument : B.getArguments())
            if (isToken(Argument)) {
              insert(Argument);
              if (B.isEntryBlock())
                Lost.push_back(Argument);
            }
      for (OpOperand &Operand : Op->getOpOperands())
        if (isToken(Operand.get()))
          addUse(Op, Operand);
    });
  }

  bool empty() const { return Webs.empty(); }
  bool escapes(Value Token) const {
    return llvm::any_of(Lost, [&](Value V) { return same(V, Token); });
  }
  bool same(Value A, Value B) const {
    return Webs.isEquivalent(A.getAsOpaquePointer(), B.getAsOpaquePointer());
  }
  template <typename Predicate>
  bool anyOf(Value Token, Predicate &&Holds) const {
    return llvm::any_of(Webs.members(Token.getAsOpaquePointer()), [&](void *V) {
      return Holds(Value::getFromOpaquePointer(V));
    });
  }

private:
  void insert(Value Token) { Webs.insert(Token.getAsOpaquePointer()); }
  void join(Value A, Value B) {
    Webs.unionSets(A.getAsOpaquePointer(), B.getAsOpaquePointer());
  }

  void addResult(Operation *Op, Value Token) {
    insert(Token);
    auto Async = dyn_cast<gpu::AsyncOpInterface>(Op);
    if (!Async)
      Lost.push_back(Token);
    else if (!Async.getAsyncDependencies().empty())
      join(Token, Async.getAsyncDependencies().front());
  }

  void addUse(Operation *Op, OpOperand &Operand) {
    if (Operand.get().getParentRegion() != Op->getParentRegion())
      Lost.push_back(Operand.get());
    if (auto Branch = dyn_cast<BranchOpInterface>(Op)) {
      if (auto Argument =
              Branch.getSuccessorBlockArgument(Operand.getOperandNumber()))
        join(Operand.get(), *Argument);
      else
        Lost.push_back(Operand.get());
    } else if (!isa<gpu::AsyncOpInterface, DiscardOp>(Op)) {
      Lost.push_back(Operand.get());
    }
  }

  llvm::EquivalenceClasses<void *> Webs;
  SmallVector<Value> Lost;
};

/// Whether the value may be used behind `op`, where it is defined by then.
bool isLiveAfter(const Liveness &Alive, Value V, Operation *Op) {
  Operation *Definition = V.getDefiningOp();
  if (Definition && Definition->getBlock() == Op->getBlock() &&
      Op->isBeforeInBlock(Definition))
    return false;
  return !Alive.isDeadAfter(V, Op);
}

} // namespace

void HostPlan::findEnds(Operation *Function) {
  TokenWebs Webs(Function);
  if (Webs.empty())
    return;
  Liveness Alive(Function);
  Function->walk([&](Operation *Op) {
    auto Async = dyn_cast<gpu::AsyncOpInterface>(Op);
    if (!Async && !isa<DiscardOp>(Op))
      return;
    // The streams that the operation has in hand: one of each web.
    SmallVector<Value, 4> Streams;
    for (Value Operand : Op->getOperands())
      if (isToken(Operand) && !llvm::is_contained(Streams, Operand))
        Streams.push_back(Operand);
    if (Async && Async.getAsyncToken() && Async.getAsyncDependencies().empty())
      Streams.push_back(Async.getAsyncToken());
    for (Value Stream : Streams) {
      const bool Alone = llvm::none_of(Streams, [&](Value Other) {
        return Other != Stream && Webs.same(Other, Stream);
      });
      if (Alone && !Webs.escapes(Stream) && !Webs.anyOf(Stream, [&](Value V) {
            return isLiveAfter(Alive, V, Op);
          }))
        Ending[Op].push_back(Stream);
    }
  });
}

HostPlan::HostPlan(ModuleOp Module) {
  findWaits(Module);
  for (auto Function : Module.getOps<FunctionOpInterface>())
    findEnds(Function);
}

} // namespace dragon::ir
