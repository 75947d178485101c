//===- HostProgram.cpp - buffer programs of host functions ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/HostProgram.h"

#include "dragon/mlir/Dragon.h"
#include "passes/mlir/lifetime/TokenStreams.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dragon::ir {

namespace {

Position positionOf(Location Where) {
  Position Result;
  if (auto File = Where->findInstanceOf<FileLineColLoc>()) {
    Result.File = File.getFilename().str();
    Result.Line = File.getLine();
    Result.Column = File.getColumn();
  }
  return Result;
}

/// The memref that casts were made of.
Value withoutCasts(Value V) {
  for (;;) {
    Operation *Op = V.getDefiningOp();
    if (!Op || !isWholeView(Op))
      return V;
    V = Op->getOperand(0);
  }
}

/// Nothing is known of the kernel, or it follows pointers in memory.
bool touchesAnything(SummaryAttr Summary) {
  return !Summary ||
         bitEnumContainsAll(Summary.getKind(), KernelKind::touchesAnything) ||
         bitEnumContainsAll(Summary.getKind(), KernelKind::unknown);
}

class Reader {
public:
  Reader(FunctionOpInterface F, const TargetAnalysis &Memrefs)
      : F(F), Memrefs(Memrefs), Names(F) {}

  HostProgram run();

private:
  // Buffers.
  void addBuffers();
  void findEscapes();
  void findEscapes(Operation *Op);
  bool handsToCallee(OpOperand &Of);
  static bool endsOrDefers(Operation *Op);
  void escape(const Targets &T, Operation *To, const Twine &What);
  bool isSummary(Operation *Site);
  std::string nameOf(Value V);

  // Control flow.
  unsigned newBlock(mlir::Block *In, Operation *After, const Twine &Name);
  void addRegion(Region &R);
  unsigned addOperations(mlir::Block &B);
  unsigned addRegionOp(RegionBranchOpInterface Op, unsigned Now);
  void addEdge(unsigned From, unsigned To, ValueRange Given, ValueRange Taken);
  bool isRelevant(Operation *Op);

  // Events.
  void visit(Operation *Op, unsigned Now);
  void visitLaunch(gpu::LaunchFuncOp Launch, unsigned Now);
  void visitCopy(gpu::MemcpyOp Copy, unsigned Now);
  void visitOther(Operation *Op, unsigned Now);
  Event event(EventAction What, Operation *Op, const Twine &Name = "");
  void push(Event E, Operation *Op, unsigned Now);
  /// Of all that the memref may be.
  void addUses(Event &E, Value Memref, bool Reads, bool Writes,
               int Operand = -1, bool Testable = false);
  void addEscapedUses(Event &E, bool Reads, bool Writes);
  StreamId streamOf(Operation *Op);

  // Pointers.
  std::optional<unsigned> pointerOf(Value V);
  SmallVector<NameId, 1> namesOf(Value V);
  void addPointers();

  FunctionOpInterface F;
  const TargetAnalysis &Memrefs;
  AsmState Names;
  TokenStreams Tokens;
  HostProgram Result;
  llvm::DenseMap<Operation *, unsigned> BufferOf;
  /// The program's blocks that begin and end with a block.
  llvm::DenseMap<mlir::Block *, unsigned> EntryOf, EndOf;
  /// Region arguments, results and selects that are pointers: by their order.
  llvm::MapVector<Value, unsigned> PointerOf;
  /// What a block's arguments, or a region operation's results, get: block,
  /// predecessor and value.
  struct Incoming {
    unsigned To, From;
    Value V;
  };
  llvm::DenseMap<Value, SmallVector<Incoming, 2>> Given;
  llvm::DenseMap<Value, std::pair<unsigned, unsigned>> SelectAt;
  llvm::DenseMap<Value, unsigned> SelectConditions;
  llvm::DenseMap<Operation *, bool> Relevant;
  llvm::SmallSetVector<unsigned, 4> GivenAway; ///< buffers, to functions
};

//===----------------------------------------------------------------------===//
// Buffers.
//===----------------------------------------------------------------------===//

std::string Reader::nameOf(Value V) {
  if (auto Name = dyn_cast<NameLoc>(V.getLoc()))
    return Name.getName().str();
  std::string Text;
  llvm::raw_string_ostream To(Text);
  V.printAsOperand(To, Names);
  return Text;
}

/// In a loop, several may exist at a time if one is referred to by anything but
/// the value that its operation has just given.
bool Reader::isSummary(Operation *Site) {
  // A function that calls itself has one in each call.
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

/// Nothing on the host may look at what the operation allocates.
static bool isOfDevice(Operation *Site) {
  if (auto Alloc = dyn_cast<gpu::AllocOp>(Site))
    return !Alloc.getHostShared();
  auto Alloc = dyn_cast<AllocOp>(Site);
  return Alloc && Alloc.getDevice();
}

void Reader::addBuffers() {
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
    // What lies over a file is looked at by others.
    B.Escapes = isa<MapOp>(Op);
    if (B.Escapes) {
      B.EscapesTo = "the file";
      B.EscapesAt = B.Where;
    }
    BufferOf[Op] = unsigned(Result.Program.Buffers.size());
    Result.Program.Buffers.push_back(std::move(B));
    Result.Buffers.push_back(V);
  });
  for (unsigned I = 0; I < Result.Program.Buffers.size(); ++I)
    Result.Program.Buffers[I].Bytes = I + 1;
}

void Reader::escape(const Targets &T, Operation *To, const Twine &What) {
  for (Operation *Site : T.Sites)
    if (auto It = BufferOf.find(Site); It != BufferOf.end()) {
      Buffer &B = Result.Program.Buffers[It->second];
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
  // Returned, or yielded by what is not followed, it goes on.
  auto Effects = dyn_cast<MemoryEffectOpInterface>(Op);
  if (!Effects || isa<CallOpInterface>(Op) ||
      Op->hasTrait<OpTrait::IsTerminator>())
    return false;
  // Stored as a value it goes on.
  if (auto Store = dyn_cast<memref::StoreOp>(Op))
    return Of.get() != Store.getValue();
  return llvm::none_of(Op->getResultTypes(), [](Type T) {
    return !T.isIntOrFloat() && !isa<VectorType>(T);
  });
}

void Reader::findEscapes() {
  bool Calls = false;
  F->walk([&](Operation *Op) {
    findEscapes(Op);
    if (isa<CallOpInterface>(Op))
      for (OpOperand &Of : Op->getOpOperands())
        Calls |= isa<BaseMemRefType>(Of.get().getType()) && handsToCallee(Of);
  });
  if (!Calls)
    return;
  // What functions that are called do to this one's buffers. Copies are not
  // seen as such there, so what those buffers are for is not known.
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

/// Whether buffers go to a function that is known.
bool Reader::handsToCallee(OpOperand &Of) {
  if (!Memrefs.handsOn(Of))
    return false;
  bool Found = false;
  for (Operation *Site : Memrefs.of(Of.get()).Sites)
    if (auto It = BufferOf.find(Site); It != BufferOf.end()) {
      GivenAway.insert(It->second);
      Found = true;
    }
  return Found;
}

/// Whether the operation, in a function that is called, does to a buffer what
/// its caller does not see: ends it, or uses it after the call.
bool Reader::endsOrDefers(Operation *Op) {
  if (isa<gpu::DeallocOp, FreeOp, UnmapOp>(Op))
    return true;
  auto Async = dyn_cast<gpu::AsyncOpInterface>(Op);
  return Async &&
         (Async.getAsyncToken() || !Async.getAsyncDependencies().empty());
}

void Reader::findEscapes(Operation *Op) {
  for (OpOperand &Of : Op->getOpOperands())
    if (isa<BaseMemRefType>(Of.get().getType()) &&
        !keepsNothing(Op, Of, Memrefs))
      escape(Memrefs.of(Of.get()), Op,
             "'" + Op->getName().getStringRef() + "'");
  auto Launch = dyn_cast<gpu::LaunchFuncOp>(Op);
  if (!Launch)
    return;
  // A kernel that may keep the address.
  auto Kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      Launch, Launch.getKernel());
  SummaryAttr Summary = Kernel ? summaryOf(Kernel) : SummaryAttr();
  if (!touchesAnything(Summary))
    return;
  for (Value V : Launch.getKernelOperands())
    if (isa<BaseMemRefType>(V.getType())) {
      escape(Memrefs.of(V), Op, Launch.getKernelName().getValue());
      for (Operation *Site : Memrefs.of(V).Sites)
        if (auto It = BufferOf.find(Site); It != BufferOf.end())
          Result.Program.Buffers[It->second].EscapesToKernel |=
              Result.Program.Buffers[It->second].EscapesTo ==
              Launch.getKernelName().getValue();
    }
}

//===----------------------------------------------------------------------===//
// Events.
//===----------------------------------------------------------------------===//

Event Reader::event(EventAction What, Operation *Op, const Twine &Name) {
  Event E;
  E.What = What;
  E.Name = Name.str();
  E.Where = positionOf(Op->getLoc());
  E.Stream = Synchronous;
  return E;
}

void Reader::push(Event E, Operation *Op, unsigned Now) {
  Result.Program.Blocks[Now].Events.push_back(std::move(E));
  Result.Operations[Now].push_back(Op);
}

void Reader::addUses(Event &E, Value Memref, bool Reads, bool Writes,
                     int Operand, bool Testable) {
  const Targets T = Memrefs.of(Memref);
  const bool Moves = !E.is<LaunchEvent>();
  const std::optional<unsigned> By =
      T.known() && T.Whole ? pointerOf(withoutCasts(Memref)) : std::nullopt;
  if (By)
    E.Pointers.push_back({*By, Reads, Writes, Moves && T.Whole});
  for (Operation *Site : T.Sites) {
    auto It = BufferOf.find(Site);
    if (It == BufferOf.end())
      continue;
    const Buffer &B = Result.Program.Buffers[It->second];
    BufferUse U;
    U.Buffer = It->second;
    U.Reads = Reads;
    U.Writes = Writes;
    U.ByPointer = By.has_value();
    U.Must = T.known() && T.Sites.size() == 1 && T.Whole && !B.IsSummary;
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

void Reader::addEscapedUses(Event &E, bool Reads, bool Writes) {
  for (unsigned I = 0; I < Result.Program.Buffers.size(); ++I)
    if (Result.Program.Buffers[I].Escapes) {
      BufferUse U;
      U.Buffer = I;
      U.Reads = Reads;
      U.Writes = Writes;
      E.add(U);
    }
}

StreamId Reader::streamOf(Operation *Op) {
  auto Async = dyn_cast<gpu::AsyncOpInterface>(Op);
  if (!Async ||
      (!Async.getAsyncToken() && Async.getAsyncDependencies().empty()))
    return DefaultStream;
  std::optional<unsigned> Stream = Tokens.of(
      Async.getAsyncToken() ? Async.getAsyncToken()
                            : Value(Async.getAsyncDependencies().front()));
  return Stream ? StreamId(*Stream + 1) : UnknownStream;
}

void Reader::visitLaunch(gpu::LaunchFuncOp Launch, unsigned Now) {
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
    // Reads of what the same thread has written see no old contents.
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
  push(std::move(E), Launch, Now);
}

void Reader::visitCopy(gpu::MemcpyOp Copy, unsigned Now) {
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
  push(std::move(E), Copy, Now);
}

/// Host code, and what nothing is known of.
void Reader::visitOther(Operation *Op, unsigned Now) {
  // What is in its regions happens in any order, or not at all.
  bool Opaque = Op->getNumRegions() && isRelevant(Op);
  bool Waits = false, Takes = false;
  if (Opaque)
    Op->walk([&](Operation *Inner) {
      if (isBufferSite(Inner))
        escape(Memrefs.of(Inner->getResult(0)), Op,
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
    // What it does is not known.
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
  push(std::move(E), Op, Now);
}

void Reader::visit(Operation *Op, unsigned Now) {
  auto simple = [&](EventAction What, Value Memref, bool Reads, bool Writes) {
    Event E = event(What, Op, Op->getName().getStringRef());
    if (E.is<FillEvent>())
      E.Stream = streamOf(Op);
    addUses(E, Memref, Reads, Writes);
    push(std::move(E), Op, Now);
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
      .Case([&](gpu::MemcpyOp Copy) { visitCopy(Copy, Now); })
      .Case([&](gpu::LaunchFuncOp Launch) { visitLaunch(Launch, Now); })
      .Case([&](gpu::WaitOp Wait) {
        if (!Wait.getAsyncToken())
          push(event(BarrierEvent{}, Wait, "gpu.wait"), Wait, Now);
      })
      // What the program says itself stays; it moves nothing.
      .Case<DiscardOp, LastUseOp, NextUseOp, LaunchFollowsOp, PrefetchOp,
            OverwrittenOp>([](Operation *) {})
      .Case([&](arith::SelectOp Select) {
        if (isa<BaseMemRefType>(Select.getType()))
          SelectAt[Select.getResult()] = {
              Now, unsigned(Result.Program.Blocks[Now].Events.size())};
      })
      .Default([&](Operation *) {
        if (!isMemoryEffectFree(Op))
          visitOther(Op, Now);
      });
}

//===----------------------------------------------------------------------===//
// Control flow.
//===----------------------------------------------------------------------===//

unsigned Reader::newBlock(mlir::Block *In, Operation *After,
                          const Twine &Name) {
  dragon::Block B;
  B.Name = Name.str();
  Result.Program.Blocks.push_back(std::move(B));
  Result.Operations.emplace_back();
  Result.Extents.push_back({In, After, nullptr});
  return unsigned(Result.Program.Blocks.size()) - 1;
}

/// Whether what happens to buffers in its regions must be looked at piece by
/// piece.
bool Reader::isRelevant(Operation *Op) {
  auto It = Relevant.find(Op);
  if (It != Relevant.end())
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
  return Relevant[Op] = Found;
}

void Reader::addEdge(unsigned From, unsigned To, ValueRange Values,
                     ValueRange Taken) {
  SmallVector<unsigned, 2> &Successors = Result.Program.Blocks[From].Successors;
  if (!llvm::is_contained(Successors, To))
    Successors.push_back(To);
  for (auto [V, Argument] : llvm::zip(Values, Taken))
    if (isa<BaseMemRefType>(V.getType()))
      Given[Argument].push_back({To, From, V});
}

void Reader::addRegion(Region &R) {
  for (mlir::Block &B : R)
    if (!EntryOf.count(&B))
      EntryOf[&B] =
          newBlock(&B, nullptr, "b" + Twine(Result.Program.Blocks.size()));
  for (mlir::Block &B : R) {
    const unsigned End = EndOf[&B] = addOperations(B);
    Operation *Last = B.mightHaveTerminator() ? B.getTerminator() : nullptr;
    Result.Extents[End].End = Last;
    if (!Last)
      continue;
    if (auto Branch = dyn_cast<BranchOpInterface>(Last)) {
      for (unsigned I = 0; I < Last->getNumSuccessors(); ++I) {
        mlir::Block *To = Last->getSuccessor(I);
        // Operands that the operation makes itself stand in front.
        SuccessorOperands Operands = Branch.getSuccessorOperands(I);
        addEdge(
            End, EntryOf[To], Operands.getForwardedOperands(),
            To->getArguments().drop_front(Operands.getProducedOperandCount()));
      }
    } else if (R.getParentOp() == F) {
      Result.Program.Blocks[End].Returns =
          Last->hasTrait<OpTrait::ReturnLike>();
    }
  }
}

/// An operation whose regions are blocks of the program. Returns the block that
/// comes after it.
unsigned Reader::addRegionOp(RegionBranchOpInterface Op, unsigned Now) {
  Result.Extents[Now].End = Op;
  mlir::Block *In = Op->getBlock();
  for (Region &R : Op->getRegions())
    if (!R.empty())
      EntryOf[&R.front()] = newBlock(&R.front(), nullptr,
                                     "b" + Twine(Result.Program.Blocks.size()));
  const unsigned After =
      newBlock(In, Op, "b" + Twine(Result.Program.Blocks.size()));
  // A loop that surely runs is not left before its body.
  bool SurelyRuns = false;
  if (auto Loop = dyn_cast<LoopLikeOpInterface>(Op.getOperation()))
    if (std::optional<APInt> Trips = Loop.getStaticTripCount())
      SurelyRuns = !Trips->isZero();
  auto lead = [&](unsigned From, ArrayRef<RegionSuccessor> Successors,
                  llvm::function_ref<OperandRange(RegionSuccessor)> Operands,
                  bool AtEntry) {
    for (const RegionSuccessor &S : Successors) {
      if (S.isParent() && AtEntry && SurelyRuns)
        continue;
      const unsigned To =
          S.isParent() ? After : EntryOf[&S.getSuccessor()->front()];
      addEdge(From, To, Operands(S), S.getSuccessorInputs());
    }
  };
  SmallVector<RegionSuccessor> Successors;
  Op.getSuccessorRegions(RegionBranchPoint::parent(), Successors);
  lead(
      Now, Successors,
      [&](RegionSuccessor S) { return Op.getEntrySuccessorOperands(S); }, true);
  for (Region &R : Op->getRegions()) {
    if (R.empty())
      continue;
    addRegion(R);
    for (mlir::Block &B : R) {
      auto Last =
          dyn_cast<RegionBranchTerminatorOpInterface>(B.getTerminator());
      if (!Last)
        continue;
      Successors.clear();
      Last.getSuccessorRegions(
          SmallVector<Attribute>(Last->getNumOperands(), nullptr), Successors);
      lead(
          EndOf[&B], Successors,
          [&](RegionSuccessor S) { return Last.getSuccessorOperands(S); },
          false);
    }
  }
  return After;
}

unsigned Reader::addOperations(mlir::Block &B) {
  unsigned Now = EntryOf[&B];
  for (Operation &Op : B) {
    auto Regions = dyn_cast<RegionBranchOpInterface>(Op);
    if (Regions && isFollowed(&Op) && isRelevant(&Op))
      Now = addRegionOp(Regions, Now);
    else if (Op.getNumRegions())
      visitOther(&Op, Now);
    else
      visit(&Op, Now);
  }
  return Now;
}

//===----------------------------------------------------------------------===//
// Pointers.
//===----------------------------------------------------------------------===//

/// Region and block arguments, results of region operations and selects that
/// can be nothing but whole device buffers that the program knows.
std::optional<unsigned> Reader::pointerOf(Value V) {
  if (auto It = PointerOf.find(V); It != PointerOf.end())
    return It->second;
  const Targets T = Memrefs.of(V);
  if (!T.known() || !T.Whole || T.Sites.size() < 2)
    return std::nullopt;
  for (Operation *Site : T.Sites)
    if (!BufferOf.count(Site) ||
        Result.Program.Buffers[BufferOf[Site]].Kind != BufferKind::Device)
      return std::nullopt;
  Operation *Op = V.getDefiningOp();
  if (Op && !isa<arith::SelectOp, RegionBranchOpInterface>(Op))
    return std::nullopt;
  if (!Op && V.getParentBlock()->isEntryBlock() &&
      V.getParentBlock()->getParentOp() == F)
    return std::nullopt;
  return PointerOf.insert({V, unsigned(PointerOf.size())}).first->second;
}

SmallVector<NameId, 1> Reader::namesOf(Value V) {
  Value Base = withoutCasts(V);
  if (std::optional<unsigned> P = pointerOf(Base))
    return {Result.Program.nameOf(*P)};
  SmallVector<NameId, 1> Found;
  for (Operation *Site : Memrefs.of(V).Sites)
    if (auto It = BufferOf.find(Site); It != BufferOf.end())
      Found.push_back(It->second);
  return Found;
}

void Reader::addPointers() {
  std::vector<Pointer> Found;
  // What comes in may be pointers that no event has a use of, and so on.
  for (unsigned I = 0; I < PointerOf.size(); ++I) {
    Value V = PointerOf.begin()[I].first;
    Pointer P;
    P.Name = nameOf(V);
    if (auto Select = V.getDefiningOp<arith::SelectOp>()) {
      std::tie(P.Block, P.Index) = SelectAt[V];
      P.Condition = int(SelectConditions
                            .try_emplace(Select.getCondition(),
                                         unsigned(SelectConditions.size()))
                            .first->second);
      P.Incomings.push_back({1, namesOf(Select.getTrueValue())});
      P.Incomings.push_back({0, namesOf(Select.getFalseValue())});
    } else {
      for (const Incoming &In : Given[V]) {
        P.Block = In.To;
        if (!P.from(In.From))
          P.Incomings.push_back({In.From, namesOf(In.V)});
      }
    }
    Found.push_back(std::move(P));
  }
  std::vector<unsigned> Order(Found.size());
  for (unsigned I = 0; I < Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](unsigned A, unsigned B) {
    return std::tie(Found[A].Block, Found[A].Index, A) <
           std::tie(Found[B].Block, Found[B].Index, B);
  });
  for (unsigned I : Order)
    Result.Pointers.push_back(PointerOf.begin()[I].first);
  Result.Program.setPointers(std::move(Found), Order);
}

HostProgram Reader::run() {
  addBuffers();
  findEscapes();
  addRegion(F.getFunctionBody());
  addPointers();
  for (const auto &[To, Incomings] : Given)
    if (isa<OpResult>(To) &&
        llvm::all_of(Incomings, [&Incomings = Incomings](const Incoming &In) {
          return In.V == Incomings.front().V;
        }))
      Result.Leaves[Incomings.front().V] = To;
  return std::move(Result);
}

} // namespace

HostProgram readHostProgram(FunctionOpInterface F,
                            const TargetAnalysis &Memrefs) {
  return Reader(F, Memrefs).run();
}

} // namespace dragon::ir
