//===- HostEvents.cpp - operations as events ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/HostEvents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dragon::ir {

Event HostEvents::event(EventAction What, Operation *Op, const Twine &Name) {
  Event E;
  E.What = What;
  E.Name = Name.str();
  E.Where = positionOf(Op->getLoc());
  E.Stream = Synchronous;
  return E;
}

void HostEvents::push(Event E, Operation *Op, unsigned Block) {
  Result.Program.Blocks[Block].Events.push_back(std::move(E));
  Result.Operations[Block].push_back(Op);
}

void HostEvents::addUses(Event &E, Value Memref, bool Reads, bool Writes,
                         int Operand, bool Testable) {
  const Targets T = Memrefs.of(Memref);
  const bool Moves = !E.is<LaunchEvent>();
  const std::optional<unsigned> By =
      T.known() && T.Whole ? Pointers.of(withoutCasts(Memref)) : std::nullopt;
  if (By)
    E.Pointers.push_back({*By, Reads, Writes, Moves && T.Whole});
  for (Operation *Site : T.Sites) {
    const std::optional<unsigned> Number = Buffers.of(Site);
    if (!Number)
      continue;
    BufferUse U;
    U.Buffer = *Number;
    U.Reads = Reads;
    U.Writes = Writes;
    U.ByPointer = By.has_value();
    U.Must = T.known() && T.Sites.size() == 1 && T.Whole &&
             !Buffers[*Number].IsSummary;
    U.Whole = U.Must && Moves;
    U.Testable = Testable && U.Must;
    U.Operand = U.Testable ? Operand : -1;
    E.add(U);
  }
  if (T.Elsewhere) {
    E.OtherMemory = true;
    addEscapedUses(E, Reads, Writes);
  }
}

void HostEvents::addEscapedUses(Event &E, bool Reads, bool Writes) {
  for (unsigned I = 0; I < Result.Program.Buffers.size(); ++I)
    if (Result.Program.Buffers[I].Escapes) {
      BufferUse U;
      U.Buffer = I;
      U.Reads = Reads;
      U.Writes = Writes;
      E.add(U);
    }
}

StreamId HostEvents::streamOf(Operation *Op) {
  auto Async = dyn_cast<gpu::AsyncOpInterface>(Op);
  if (!Async ||
      (!Async.getAsyncToken() && Async.getAsyncDependencies().empty()))
    return DefaultStream;
  std::optional<unsigned> Stream = Tokens.of(
      Async.getAsyncToken() ? Async.getAsyncToken()
                            : Value(Async.getAsyncDependencies().front()));
  return Stream ? StreamId(*Stream + 1) : UnknownStream;
}

void HostEvents::addLaunch(gpu::LaunchFuncOp Launch, unsigned Block) {
  auto Kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      Launch, Launch.getKernel());
  SummaryAttr Summary = Kernel ? summaryOf(Kernel) : SummaryAttr();
  const bool Sliceable =
      Summary && bitEnumContainsAll(Summary.getKind(), KernelKind::sliceable);
  Event E =
      event(LaunchEvent{Sliceable}, Launch, Launch.getKernelName().getValue());
  E.Stream = streamOf(Launch);
  const bool Anything = touchesAnything(Summary);
  if (Anything)
    for (unsigned I = 0; I < Result.Program.Buffers.size(); ++I)
      if (Result.Program.Buffers[I].Escapes || !Summary) {
        BufferUse U;
        U.Buffer = I;
        U.Reads = U.Writes = true;
        E.add(U);
      }
  uint32_t Lowered = 0;
  for (auto [I, V] : llvm::enumerate(Launch.getKernelOperands())) {
    auto T = dyn_cast<MemRefType>(V.getType());
    if (!T) {
      Lowered += 1;
      continue;
    }
    PointerAttr Pointer;
    for (PointerAttr P :
         Summary ? Summary.getPointers() : ArrayRef<PointerAttr>())
      if (P.getArgument() == Lowered + 1)
        Pointer = P;
    Lowered += 3 + 2 * uint32_t(T.getRank());
    if (Anything || !Pointer || Pointer.getMode() == Mode::any) {
      addUses(E, V, true, true);
      continue;
    }
    const bool ReadFirst =
        bitEnumContainsAll(Pointer.getKind(), PointerKind::readFirst);
    const bool Writes = Pointer.getMode() == Mode::write ||
                        Pointer.getMode() == Mode::readWrite;
    // A thread that reads what it has written itself sees no old contents.
    const bool Reads = Pointer.getMode() == Mode::read ||
                       (Pointer.getMode() == Mode::readWrite && ReadFirst);
    const bool MayOverwrite =
        Writes && !Reads &&
        llvm::any_of(Pointer.getAccesses(), [](AccessAttr A) {
          return bitEnumContainsAll(A.getKind(), AccessKind::write) &&
                 bitEnumContainsAll(A.getKind(), AccessKind::exact);
        });
    if (Reads || Writes)
      addUses(E, V, Reads, Writes, int(I), MayOverwrite);
  }
  push(std::move(E), Launch, Block);
}

void HostEvents::addCopy(gpu::MemcpyOp Copy, unsigned Block) {
  const Targets To = Memrefs.of(Copy.getDst()),
                From = Memrefs.of(Copy.getSrc());
  EventAction What = CopyEvent{};
  if (To.known() && From.Sites.empty())
    What = CopyInEvent{};
  else if (From.known() && To.Sites.empty())
    What = CopyOutEvent{};
  Event E = event(What, Copy, "gpu.memcpy");
  const StreamId Stream = streamOf(Copy);
  E.Stream =
      Stream == DefaultStream && !E.is<CopyEvent>() ? Synchronous : Stream;
  addUses(E, Copy.getSrc(), true, false);
  addUses(E, Copy.getDst(), false, true);
  push(std::move(E), Copy, Block);
}

void HostEvents::addWhole(Operation *Op, unsigned Block) {
  // The operations in the regions run in any order, or not at all.
  bool Opaque = Op->getNumRegions() && Buffers.areUsedInside(Op);
  bool Waits = false, Takes = false;
  if (Opaque)
    Op->walk([&](Operation *Inner) {
      if (isBufferSite(Inner))
        Buffers.escape(Memrefs.of(Inner->getResult(0)), Op,
                       "'" + Op->getName().getStringRef() + "'");
    });
  Event E =
      event(HostAccessEvent{}, Op, "'" + Op->getName().getStringRef() + "'");
  Op->walk([&](Operation *Inner) {
    const bool Calls = isa<CallOpInterface>(Inner);
    const bool IsOurs =
        isa_and_nonnull<gpu::GPUDialect, DragonDialect>(Inner->getDialect());
    Opaque |= Calls;
    Waits |= IsOurs && !Calls;
    if (Calls || IsOurs) {
      for (Value V : Inner->getOperands())
        if (isa<BaseMemRefType>(V.getType()))
          addUses(E, V, true, true);
      return;
    }
    Takes |= isa<LoopLikeOpInterface>(Inner);
    // An operation that does not tell its effects may do anything.
    Opaque |= !isa<MemoryEffectOpInterface>(Inner) &&
              !Inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
              !Inner->hasTrait<OpTrait::IsTerminator>();
    if (isMemoryEffectFree(Inner) || isa<memref::DimOp>(Inner))
      return;
    for (Value V : Inner->getOperands())
      if (isa<BaseMemRefType>(V.getType()) && !Memrefs.of(V).Sites.empty())
        addUses(E, V,
                hasEffect<MemoryEffects::Read>(Inner, V) ||
                    !isa<MemoryEffectOpInterface>(Inner),
                !hasEffect<MemoryEffects::Read>(Inner, V) ||
                    hasEffect<MemoryEffects::Write>(Inner, V));
  });
  if (Opaque) {
    E.What = OpaqueEvent{};
    if (auto Call = dyn_cast<CallOpInterface>(Op))
      if (auto Symbol = dyn_cast<SymbolRefAttr>(Call.getCallableForCallee()))
        E.Name = Symbol.getLeafReference().str();
    addEscapedUses(E, true, true);
  } else if (E.Uses.empty()) {
    if (!Waits && !Takes)
      return;
    E.What = BarrierEvent{};
  }
  push(std::move(E), Op, Block);
}

void HostEvents::add(Operation *Op, unsigned Block) {
  auto simple = [&](EventAction What, Value Memref, bool Reads, bool Writes) {
    Event E = event(What, Op, Op->getName().getStringRef());
    if (E.is<FillEvent>())
      E.Stream = streamOf(Op);
    addUses(E, Memref, Reads, Writes);
    push(std::move(E), Op, Block);
  };
  llvm::TypeSwitch<Operation *>(Op)
      .Case<gpu::AllocOp, AllocOp>([&](auto Alloc) {
        simple(AllocateEvent{}, Alloc.getMemref(), false, false);
      })
      .Case([&](MapOp Map) {
        simple(AllocateEvent{}, Map.getMemref(), false, false);
        simple(HostAccessEvent{}, Map.getMemref(), false, true);
      })
      .Case<gpu::DeallocOp, FreeOp>([&](auto Free) {
        simple(FreeEvent{}, Free.getMemref(), false, false);
      })
      .Case([&](UnmapOp Unmap) {
        simple(HostAccessEvent{}, Unmap.getMemref(), true, false);
        simple(FreeEvent{}, Unmap.getMemref(), false, false);
      })
      .Case([&](SyncOp Sync) {
        simple(HostAccessEvent{}, Sync.getMemref(), true, false);
      })
      .Case([&](gpu::MemsetOp Set) {
        simple(FillEvent{}, Set.getDst(), false, true);
      })
      .Case([&](gpu::MemcpyOp Copy) { addCopy(Copy, Block); })
      .Case([&](gpu::LaunchFuncOp Launch) { addLaunch(Launch, Block); })
      .Case([&](gpu::WaitOp Wait) {
        if (!Wait.getAsyncToken())
          push(event(BarrierEvent{}, Wait, "gpu.wait"), Wait, Block);
      })
      // The program's own directives stay as they are. They move nothing.
      .Case<DiscardOp, LastUseOp, NextUseOp, LaunchFollowsOp, PrefetchOp,
            OverwrittenOp>([](Operation *) {})
      .Case([&](arith::SelectOp Select) {
        if (isa<BaseMemRefType>(Select.getType()))
          Pointers.addSelect(
              Select.getResult(), Block,
              unsigned(Result.Program.Blocks[Block].Events.size()));
      })
      .Default([&](Operation *) {
        if (!isMemoryEffectFree(Op))
          addWhole(Op, Block);
      });
}

} // namespace dragon::ir
