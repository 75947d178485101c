//===- HostBuffers.cpp - buffers of a host function --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/HostBuffers.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace dragon::ir {

Position positionOf(Location Where) {
  Position Result;
  if (auto File = Where->findInstanceOf<FileLineColLoc>()) {
    Result.File = File.getFilename().str();
    Result.Line = File.getLine();
    Result.Column = File.getColumn();
  }
  return Result;
}

Value withoutCasts(Value V) {
  for (;;) {
    Operation *Op = V.getDefiningOp();
    if (!Op || !isWholeView(Op))
      return V;
    V = Op->getOperand(0);
  }
}

bool touchesAnything(SummaryAttr Summary) {
  return !Summary ||
         bitEnumContainsAll(Summary.getKind(), KernelKind::touchesAnything) ||
         bitEnumContainsAll(Summary.getKind(), KernelKind::unknown);
}

std::optional<unsigned> HostBuffers::of(Operation *Site) const {
  auto It = Numbers.find(Site);
  return It == Numbers.end() ? std::nullopt : std::optional(It->second);
}

std::string HostBuffers::nameOf(Value V) {
  if (auto Name = dyn_cast<NameLoc>(V.getLoc()))
    return Name.getName().str();
  std::string Text;
  llvm::raw_string_ostream To(Text);
  V.printAsOperand(To, Names);
  return Text;
}

/// Whether several buffers of the operation may exist at a time. In a loop they
/// may if another value than the operation's result refers to one.
bool HostBuffers::isSummary(Operation *Site) {
  // A function that calls itself has a buffer of its own in each call.
  for (BlockArgument Argument : F.getArguments())
    if (isa<BaseMemRefType>(Argument.getType()) &&
        llvm::is_contained(Memrefs.of(Argument).Sites, Site))
      return true;
  bool InLoop = false;
  for (Operation *Op = Site; Op != F; Op = Op->getParentOp())
    InLoop |= isa<LoopLikeOpInterface>(Op->getParentOp()) ||
              !Op->getParentRegion()->hasOneBlock();
  if (!InLoop)
    return false;
  bool Result = false;
  F->walk([&](Operation *Op) {
    auto look = [&](Value V) {
      if (isa<BaseMemRefType>(V.getType()) &&
          (!isa<OpResult>(V) || !isa<memref::CastOp>(V.getDefiningOp())))
        Result |= V.getDefiningOp() != Site &&
                  llvm::is_contained(Memrefs.of(V).Sites, Site);
    };
    for (Value V : Op->getResults())
      look(V);
    for (Region &R : Op->getRegions())
      for (mlir::Block &B : R)
        for (Value V : B.getArguments())
          look(V);
  });
  return Result;
}

/// Whether the operation allocates memory that the host may not touch.
static bool isOfDevice(Operation *Site) {
  if (auto Alloc = dyn_cast<gpu::AllocOp>(Site))
    return !Alloc.getHostShared();
  auto Alloc = dyn_cast<AllocOp>(Site);
  return Alloc && Alloc.getDevice();
}

void HostBuffers::addAll() {
  F->walk([&](Operation *Op) {
    if (!isBufferSite(Op))
      return;
    Value V = Op->getResult(0);
    Buffer B;
    B.Name = nameOf(V);
    B.Kind = isOfDevice(Op) ? BufferKind::Device : BufferKind::Managed;
    B.Where = positionOf(Op->getLoc());
    B.IsSummary = isSummary(Op);
    auto Alloc = dyn_cast<AllocOp>(Op);
    B.Mappable = B.Kind == BufferKind::Device &&
                 cast<MemRefType>(V.getType()).getLayout().isIdentity() &&
                 !(Alloc && Alloc.getFlags());
    // Others can look at the file that the buffer lies over.
    B.Escapes = isa<MapOp>(Op);
    if (B.Escapes) {
      B.EscapesTo = "the file";
      B.EscapesAt = B.Where;
    }
    Numbers[Op] = unsigned(Result.Program.Buffers.size());
    Result.Program.Buffers.push_back(std::move(B));
    Result.Buffers.push_back(V);
  });
  for (unsigned I = 0; I < Result.Program.Buffers.size(); ++I)
    Result.Program.Buffers[I].Bytes = I + 1;
}

void HostBuffers::escape(const Targets &T, Operation *To, const Twine &What) {
  for (Operation *Site : T.Sites)
    if (std::optional<unsigned> Number = of(Site)) {
      Buffer &B = (*this)[*Number];
      if (B.Escapes)
        continue;
      B.Escapes = true;
      B.EscapesTo = What.str();
      B.EscapesAt = positionOf(To->getLoc());
    }
}

/// Whether the operation does nothing with the memref but touch its bytes, or
/// make another memref of it that is followed.
static bool keepsNothing(Operation *Op, OpOperand &Of,
                         const TargetAnalysis &Memrefs) {
  if (isa<gpu::LaunchFuncOp, gpu::MemcpyOp, gpu::MemsetOp, gpu::DeallocOp>(
          Op) ||
      isa_and_nonnull<DragonDialect>(Op->getDialect()) || Memrefs.handsOn(Of))
    return true;
  // A memref goes on if it is returned, or yielded by an operation whose
  // results are not followed.
  auto Effects = dyn_cast<MemoryEffectOpInterface>(Op);
  if (!Effects || isa<CallOpInterface>(Op) ||
      Op->hasTrait<OpTrait::IsTerminator>())
    return false;
  // A memref goes on, too, if it is the value of a store.
  if (auto Store = dyn_cast<memref::StoreOp>(Op))
    return Of.get() != Store.getValue();
  return llvm::none_of(Op->getResultTypes(), [](Type T) {
    return !T.isIntOrFloat() && !isa<VectorType>(T);
  });
}

/// Whether the operation of a called function does something to a buffer that
/// the caller does not see: it frees the buffer, or uses it after the call.
static bool endsOrDefers(Operation *Op) {
  if (isa<gpu::DeallocOp, FreeOp, UnmapOp>(Op))
    return true;
  auto Async = dyn_cast<gpu::AsyncOpInterface>(Op);
  return Async &&
         (Async.getAsyncToken() || !Async.getAsyncDependencies().empty());
}

void HostBuffers::findEscapes() {
  bool Calls = false;
  F->walk([&](Operation *Op) {
    findEscapes(Op);
    if (isa<CallOpInterface>(Op))
      for (OpOperand &Of : Op->getOpOperands())
        Calls |= isa<BaseMemRefType>(Of.get().getType()) && handsToCallee(Of);
  });
  if (!Calls)
    return;
  // Called functions may do something to the buffers, too. Their copies are no
  // events of this program, so nothing is known about what such a buffer is
  // for.
  F->getParentOfType<ModuleOp>().walk<WalkOrder::PreOrder>([&](Operation *Op) {
    if (Op == F || isa<gpu::GPUModuleOp>(Op))
      return WalkResult::skip();
    findEscapes(Op);
    if (endsOrDefers(Op))
      for (Value V : Op->getOperands())
        if (isa<BaseMemRefType>(V.getType()))
          escape(Memrefs.of(V), Op, "'" + Op->getName().getStringRef() + "'");
    return WalkResult::advance();
  });
  for (unsigned I : GivenAway)
    Result.Program.Buffers[I].Mappable &= Result.Program.Buffers[I].Escapes;
}

/// Whether the operand hands buffers to a known function. Notes which.
bool HostBuffers::handsToCallee(OpOperand &Of) {
  if (!Memrefs.handsOn(Of))
    return false;
  bool Found = false;
  for (Operation *Site : Memrefs.of(Of.get()).Sites)
    if (std::optional<unsigned> Number = of(Site)) {
      GivenAway.insert(*Number);
      Found = true;
    }
  return Found;
}

void HostBuffers::findEscapes(Operation *Op) {
  for (OpOperand &Of : Op->getOpOperands())
    if (isa<BaseMemRefType>(Of.get().getType()) &&
        !keepsNothing(Op, Of, Memrefs))
      escape(Memrefs.of(Of.get()), Op,
             "'" + Op->getName().getStringRef() + "'");
  auto Launch = dyn_cast<gpu::LaunchFuncOp>(Op);
  if (!Launch)
    return;
  // A kernel that touches anything may keep the address.
  auto Kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      Launch, Launch.getKernel());
  SummaryAttr Summary = Kernel ? summaryOf(Kernel) : SummaryAttr();
  if (!touchesAnything(Summary))
    return;
  for (Value V : Launch.getKernelOperands())
    if (isa<BaseMemRefType>(V.getType())) {
      escape(Memrefs.of(V), Op, Launch.getKernelName().getValue());
      for (Operation *Site : Memrefs.of(V).Sites)
        if (std::optional<unsigned> Number = of(Site))
          (*this)[*Number].EscapesToKernel |=
              (*this)[*Number].EscapesTo == Launch.getKernelName().getValue();
    }
}

bool HostBuffers::areUsedInside(Operation *Op) {
  auto It = UsedInside.find(Op);
  if (It != UsedInside.end())
    return It->second;
  bool Found = false;
  for (Region &R : Op->getRegions())
    R.walk([&](Operation *Inner) {
      Found |=
          isa_and_nonnull<gpu::GPUDialect, DragonDialect>(Inner->getDialect());
      for (Value V : Inner->getResults())
        Found |=
            isa<BaseMemRefType>(V.getType()) && !Memrefs.of(V).Sites.empty();
    });
  return UsedInside[Op] = Found;
}

} // namespace dragon::ir
