//===- HostPlan.cpp - streams and waits of host functions -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lowering/HostPlan.h"

#include "passes/mlir/lifetime/Targets.h"

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

namespace {

bool isMemRef(Value V) { return isa<BaseMemRefType>(V.getType()); }

/// Which allocations the host may look at, as far as the module shows.
class HostLooks {
public:
  explicit HostLooks(ModuleOp Module) : Memrefs(Module) {
    Module.walk([&](Operation *Op) {
      if (isa<gpu::GPUModuleOp>(Op))
        return WalkResult::skip();
      for (OpOperand &Operand : Op->getOpOperands())
        if (isMemRef(Operand.get()) && !isOfDevice(Op) &&
            !Memrefs.handsOn(Operand))
          for (Operation *Site : Memrefs.of(Operand.get()).Sites)
            LookedAt.insert(Site);
      return WalkResult::advance();
    });
  }

  /// By the module's own operations.
  bool touches(Operation *Site) const { return LookedAt.contains(Site); }

  enum Answer { No, Perhaps, Yes };
  Answer at(Value Memref) const {
    const Targets Known = Memrefs.of(Memref);
    if (llvm::any_of(Known.Sites,
                     [&](Operation *Site) { return seesSite(Site); }))
      return Yes;
    return Known.Elsewhere ? Perhaps : No;
  }

private:
  /// Operations that touch contents in the order of the device's work, if any.
  static bool isOfDevice(Operation *Op) {
    return isa_and_nonnull<gpu::GPUDialect, DragonDialect>(Op->getDialect()) &&
           !isa<gpu::HostRegisterOp, gpu::HostUnregisterOp>(Op);
  }

  bool seesSite(Operation *Site) const {
    if (!touches(Site))
      return false;
    if (auto Alloc = dyn_cast<gpu::AllocOp>(Site))
      return Alloc.getHostShared();
    if (auto Alloc = dyn_cast<AllocOp>(Site))
      return !Alloc.getDevice() &&
             !bitEnumContainsAll(Alloc.getFlags().value_or(MapFlags::none),
                                 MapFlags::volatile_);
    return true;
  }

  TargetAnalysis Memrefs;
  llvm::DenseSet<Operation *> LookedAt;
};

} // namespace

static bool isHostMemory(Value Memref) {
  while (auto View = Memref.getDefiningOp<ViewLikeOpInterface>())
    Memref = View.getViewSource();
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(
      Memref.getDefiningOp());
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
  const HostLooks Looks(Module);
  Module.walk([&](Operation *Op) {
    if (isa<gpu::GPUModuleOp>(Op))
      return WalkResult::skip();
    SmallVector<Value, 4> Changed;
    bool Wait = false;
    if (auto Launch = dyn_cast<gpu::LaunchFuncOp>(Op)) {
      Wait = !Silent.lookup(Launch.getKernelModuleName());
      llvm::append_range(Changed, Launch.getKernelOperands());
    } else if (auto Set = dyn_cast<gpu::MemsetOp>(Op)) {
      Changed.push_back(Set.getDst());
    } else if (auto Copy = dyn_cast<gpu::MemcpyOp>(Op)) {
      // It waits itself where it writes memory of the host.
      if (!isHostMemory(Copy.getDst()))
        Changed.push_back(Copy.getDst());
    }
    SmallVector<Value, 1> &ToAsk = Asked[Op];
    for (Value V : Changed) {
      if (isa<LLVM::LLVMPointerType>(V.getType()))
        ToAsk.push_back(V);
      if (!isMemRef(V))
        continue;
      const HostLooks::Answer Seen = Looks.at(V);
      Wait |= Seen == HostLooks::Yes;
      if (Seen == HostLooks::Perhaps)
        ToAsk.push_back(V);
    }
    if (Wait)
      Waiting.insert(Op);
    if (Wait || ToAsk.empty())
      Asked.erase(Op);
    if (auto Alloc = dyn_cast<AllocOp>(Op);
        Alloc && !Alloc.getDevice() && Looks.touches(Op))
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
