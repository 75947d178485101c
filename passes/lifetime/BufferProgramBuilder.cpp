//===- BufferProgramBuilder.cpp - host IR -> buffer program ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BufferProgramBuilder.h"

#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/BuilderFacts.h"
#include "passes/lifetime/CursorBuilder.h"
#include "passes/lifetime/ElementIndices.h"
#include "passes/lifetime/EventWriter.h"
#include "passes/lifetime/HostAccesses.h"
#include "passes/lifetime/LaunchEvents.h"
#include "passes/lifetime/LibraryEvents.h"
#include "passes/lifetime/PointerNames.h"
#include "passes/lifetime/ProgramShape.h"
#include "passes/lifetime/SymbolicValues.h"
#include "passes/lifetime/UseBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

namespace {

/// Visits the instructions of a function and makes events of its calls. Each of
/// the other classes does one part of the work, and all share the facts.
class ProgramBuilder {
public:
  ProgramBuilder(Function &F, FunctionAnalysisManager &Analyses,
                 const KernelSummaries &Kernels,
                 ArrayRef<const GlobalVariable *> OwnGlobals, bool IsMain)
      : Facts(F, Analyses, Kernels, OwnGlobals), Shape(Facts, Values, IsMain) {}

  BuiltProgram build();

private:
  void visit(Instruction &I);
  void visitCall(CallBase &Call);
  void noteSize(Event &E, int BytesOperand) const;
  void visitAllocation(CallBase &Call);
  void visitFree(CallBase &Call, const CallEffect &Effect);
  void visitFreeAll(CallBase &Call);
  void visitCopy(CallBase &Call, const CallEffect &Effect);
  void visitFill(CallBase &Call, const CallEffect &Effect);
  void visitFileTransfer(CallBase &Call, const CallEffect &Effect);
  bool isMath(const CallBase &Call) const;
  void visitOpaque(CallBase &Call);

  BuilderFacts Facts;
  SymbolicValues Values{Facts};
  ProgramShape Shape;
  ElementIndices Elements{Facts};
  PointerNames Names{Facts};
  UseBuilder Uses{Facts, Values, Names};
  CursorBuilder Cursors{Facts};
  EventWriter Writer{Facts};
  HostAccesses Accesses{Facts, Values, Writer};
  LaunchEvents Launches{Facts, Values, Uses, Elements, Cursors, Writer};
  LibraryEvents Libraries{Facts, Values, Uses, Accesses, Writer};
};

/// The runtime defers no copies that are smaller, as a rule.
constexpr uint64_t FewBytes = 1 << 20;

} // namespace

/// Whether a copy or fill of a size that is not the buffer's overwrites it may
/// be tested, on the device.
void ProgramBuilder::noteSize(Event &E, int BytesOperand) const {
  for (BufferUse &U : E.Uses)
    if (BytesOperand >= 0 && U.Writes && !U.Reads && U.Must && !U.Whole &&
        Facts.Result.Program.Buffers[U.Buffer].Kind != BufferKind::Host) {
      U.Testable = true;
      U.Operand = BytesOperand;
    }
}

void ProgramBuilder::visitCopy(CallBase &Call, const CallEffect &Effect) {
  Value *To = Call.getArgOperand(Effect.Pointer);
  Value *From = Call.getArgOperand(Effect.From);
  const SCEV *Bytes = Values.bytesOf(Call, Effect.Bytes, Effect.Count);
  auto *Kind = dyn_cast<ConstantInt>(Call.getArgOperand(Effect.CopyKind));
  uint64_t Direction = Kind ? Kind->getZExtValue() : 4;
  enum : uint64_t { HostToHost, HostToDevice, DeviceToHost, DeviceToDevice };
  auto IsOn = [&](Value *V, Side Which) {
    TargetSet Targets = Facts.Pointers.pointsTo(V);
    return !Targets.empty() && all_of(Targets, [&](const Target &T) {
      const MemoryObject &O = Facts.Pointers.objects()[T.Object];
      return O.Kind == ObjectKind::Buffer && Uses.onSide(O, Which);
    });
  };
  if (Direction > DeviceToDevice) { // cudaMemcpyDefault
    if (IsOn(To, Side::Device) && IsOn(From, Side::Host))
      Direction = HostToDevice;
    else if (IsOn(To, Side::Host) && IsOn(From, Side::Device))
      Direction = DeviceToHost;
    else if (IsOn(To, Side::Device) && IsOn(From, Side::Device))
      Direction = DeviceToDevice;
  } else {
    // The driver goes by the addresses: pinned memory is a source of copies
    // "from the device", too. A wrong direction says nothing of either side.
    auto IsElsewhere = [&](Value *V, bool Host) {
      const Side Said = Host ? Side::Host : Side::Device;
      TargetSet Targets = Facts.Pointers.pointsTo(V);
      return !Targets.empty() && none_of(Targets, [&](const Target &T) {
        return Uses.onSide(Facts.Pointers.objects()[T.Object], Said);
      });
    };
    if (IsElsewhere(To, Direction % 2 == 0) || IsElsewhere(From, Direction < 2))
      Direction = HostToHost;
  }
  // Only whole-range copies have a staging twin.
  bool HasTwin = Effect.Bytes >= 0;
  auto *Constant = dyn_cast_or_null<SCEVConstant>(Bytes);
  const SizedAction Size{Values.sizeOf(Bytes),
                         Constant && Constant->getAPInt().ult(FewBytes)};
  EventAction As = CopyEvent{Size};
  Side ToSide = Side::Any, FromSide = Side::Any;
  if (Direction == HostToDevice) {
    if (HasTwin)
      As = CopyInEvent{Size};
    ToSide = Side::Device;
    FromSide = Side::Host;
  } else if (Direction == DeviceToHost) {
    if (HasTwin)
      As = CopyOutEvent{Size};
    ToSide = Side::Host;
    FromSide = Side::Device;
  } else if (Direction == DeviceToDevice) {
    ToSide = FromSide = Side::Device;
  }
  Event E = Writer.event(As, Call);
  E.Stream = Effect.Stream >= 0
                 ? Values.streamOf(Call.getArgOperand(Effect.Stream))
             : E.is<CopyEvent>() ? DefaultStream
                                 : Synchronous;
  Uses.addUses(E, From, FromSide, true, false, Bytes);
  Cursors.noteCursor(E, 0, Call, static_cast<unsigned>(Effect.From));
  Uses.addUses(E, To, ToSide, false, true, Bytes);
  noteSize(E, Effect.Bytes);
  if (E.is<CopyEvent>()) {
    Accesses.noteAccess(Call, From, true);
    Accesses.noteAccess(Call, To);
    erase_if(E.Uses, [&](const BufferUse &U) {
      return Facts.Result.Program.Buffers[U.Buffer].Kind == BufferKind::Host;
    });
  }
  Writer.push(std::move(E), Call);
}

/// Of numbers alone; errno is of no interest.
/// Whether the function may put the string together itself, maybe later.
static bool mayBeComposed(const Value &String) {
  SmallVector<const Value *, 2> Objects;
  getUnderlyingObjects(&String, Objects);
  return any_of(Objects, [](const Value *Of) {
    return isa<AllocaInst>(Of) || isa<CallBase>(Of);
  });
}

/// Whether the call, if it succeeds, makes a file or empties one, at a path
/// that is where it is before. (What open does is for signal handlers as well,
/// and stays what it is.)
static bool makesFile(const CallBase &Call) {
  StringRef Mode;
  return Call.getCalledFunction()->getName().starts_with("fopen") &&
         getConstantStringInfo(Call.getArgOperand(1), Mode) &&
         (Mode == "w" || Mode == "wb") &&
         !mayBeComposed(*Call.getArgOperand(0));
}

bool ProgramBuilder::isMath(const CallBase &Call) const {
  LibFunc Which;
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isDeclaration() &&
         Callee->getReturnType()->isFloatingPointTy() &&
         none_of(
             Callee->args(),
             [](const Argument &A) { return A.getType()->isPointerTy(); }) &&
         Facts.Library.getLibFunc(*Callee, Which);
}

void ProgramBuilder::visitOpaque(CallBase &Call) {
  if (Call.doesNotAccessMemory() || isMath(Call))
    return;
  if (const Function *Callee = Call.getCalledFunction()) {
    auto IsGiven = [&](auto &&Which) {
      return any_of(Call.args(), [&](const llvm::Use &Operand) {
        return any_of(Facts.Pointers.pointsTo(Operand), [&](const Target &T) {
          const MemoryObject &O = Facts.Pointers.objects()[T.Object];
          return O.Kind == ObjectKind::Buffer && Which(O);
        });
      });
    };
    // Functions of this unit that were left out: worth another try.
    if (!Callee->isDeclaration()) {
      if (IsGiven([](const MemoryObject &) { return true; }))
        Facts.Result.Missed.push_back(&Call);
    } else if (!describedFunction(Call) && IsGiven([](const MemoryObject &O) {
                 return O.Buffer != BufferKind::Host;
               })) {
      Facts.Result.UnknownCalls.push_back(&Call);
      Facts.Result.UnknownCallees.try_emplace(calleeName(Call),
                                              Facts.position(Call));
    }
  }
  Event E = Writer.event(OpaqueEvent{}, Call);
  Uses.addEscapedUses(E, Side::Any, true, true);
  for (const llvm::Use &Operand : Call.args())
    Accesses.noteArgument(Call, Operand);
  bool AnyFile = any_of(Facts.Pointers.objects(), [](const MemoryObject &O) {
    return O.Kind == ObjectKind::File && O.Escapes;
  });
  if (!E.Uses.empty() || AnyFile || Values.hasFiles())
    Writer.push(std::move(E), Call);
  else
    Writer.pushBarrier(Call);
}

void ProgramBuilder::visitAllocation(CallBase &Call) {
  BufferUse U;
  U.Buffer = Facts.BufferOf[*Facts.Pointers.objectOf(&Call)];
  U.Must = true;
  Event E = Writer.event(
      AllocateEvent{{Facts.Result.Program.Buffers[U.Buffer].Bytes}}, Call);
  E.Uses.push_back(U);
  Writer.push(std::move(E), Call);
}

void ProgramBuilder::visitFree(CallBase &Call, const CallEffect &Effect) {
  const StringRef Callee = Call.getCalledFunction()->getName();
  const bool OfDevice = Callee == "cudaFree" || Callee == "cudaFreeAsync";
  Event E = Writer.event(FreeEvent{}, Call);
  Uses.addUses(E, Call.getArgOperand(Effect.Pointer),
               OfDevice ? Side::Device : Side::Host, false, false, nullptr);
  if (!E.Uses.empty())
    Writer.push(std::move(E), Call);
}

void ProgramBuilder::visitFreeAll(CallBase &Call) {
  Event E = Writer.event(FreeEvent{}, Call);
  for (unsigned B = 0; B < Facts.Result.Program.Buffers.size(); ++B)
    if (Facts.Result.Program.Buffers[B].Kind != BufferKind::Host) {
      BufferUse U;
      U.Buffer = B;
      E.add(U);
    }
  Writer.push(std::move(E), Call);
}

void ProgramBuilder::visitFill(CallBase &Call, const CallEffect &Effect) {
  Value *To = Call.getArgOperand(Effect.Pointer);
  const SCEV *Bytes = Values.bytesOf(Call, Effect.Bytes, CallEffect::None);
  Event E = Writer.event(FillEvent{{Values.sizeOf(Bytes)}}, Call);
  E.Stream = Effect.Stream >= 0
                 ? Values.streamOf(Call.getArgOperand(Effect.Stream))
                 : DefaultStream;
  Uses.addUses(E, To, Side::Device, false, true, Bytes);
  noteSize(E, Effect.Bytes);
  Accesses.noteAccess(Call, To);
  Writer.push(std::move(E), Call);
}

void ProgramBuilder::visitFileTransfer(CallBase &Call,
                                       const CallEffect &Effect) {
  const bool Reads = Effect.Kind == CallKind::FileRead;
  const SCEV *Bytes = Values.bytesOf(Call, Effect.Bytes, Effect.Count);
  const SizedAction Size{Values.sizeOf(Bytes)};
  const FileAction File{Values.fileOf(Call.getArgOperand(Effect.File))};
  Event E = Writer.event(Reads ? EventAction(FileReadEvent{File, Size})
                               : FileWriteEvent{File, Size},
                         Call);
  Uses.addUses(E, Call.getArgOperand(Effect.Pointer), Side::Host, !Reads, Reads,
               Bytes);
  Writer.push(std::move(E), Call);
}

void ProgramBuilder::visitCall(CallBase &Call) {
  if (isLaunch(Call))
    return Launches.visit(Call);
  if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&Call)) {
    Accesses.noteAccess(Call, Memory->getDest());
    if (auto *Transfer = dyn_cast<AnyMemTransferInst>(Memory))
      Accesses.noteAccess(Call, Transfer->getSource(), true);
    return;
  }
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call)) {
    if (!Intrinsic->isAssumeLikeIntrinsic() && Call.mayReadOrWriteMemory())
      for (const llvm::Use &Operand : Call.args())
        Accesses.noteArgument(Call, Operand);
    return;
  }
  const CallEffect *Effect = callEffect(Call);
  if (!Effect) {
    if (const LibraryFunction *Function = libraryFunction(Call))
      return Libraries.visit(Call, *Function);
    return visitOpaque(Call);
  }
  if (Effect->IsBarrier)
    Writer.pushBarrier(Call);
  switch (Effect->Kind) {
  case CallKind::AllocateInto:
  case CallKind::Allocate:
    return visitAllocation(Call);
  case CallKind::Free:
    return visitFree(Call, *Effect);
  case CallKind::FreeAll:
    return visitFreeAll(Call);
  case CallKind::Copy:
    return visitCopy(Call, *Effect);
  case CallKind::Fill:
    return visitFill(Call, *Effect);
  case CallKind::FileRead:
  case CallKind::FileWrite:
    return visitFileTransfer(Call, *Effect);
  case CallKind::FileOpen:
    return Writer.push(
        Writer.event(FileOpenEvent{{Values.fileOf(&Call)}, makesFile(Call)},
                     Call),
        Call);
  case CallKind::StreamTransfer:
    for (const Target &T :
         Facts.Pointers.pointsTo(Call.getArgOperand(Effect->Pointer)))
      if (auto It = Facts.BufferOf.find(T.Object); It != Facts.BufferOf.end()) {
        Buffer &B = Facts.Result.Program.Buffers[It->second];
        B.StreamedBy = calleeName(Call);
        B.StreamedAt = Facts.position(Call);
      }
    [[fallthrough]];
  case CallKind::FileUse: {
    FileUseEvent Use;
    if (Effect->File >= 0) {
      Value *File = Call.getArgOperand(Effect->File);
      Use.File = isa<ConstantPointerNull>(File) ? -1 : Values.fileOf(File);
    }
    Writer.push(Writer.event(Use, Call), Call);
    [[fallthrough]];
  }
  case CallKind::Publish:
  case CallKind::Parse:
  case CallKind::Neutral:
    for (const llvm::Use &Operand : Call.args())
      Accesses.noteArgument(Call, Operand);
    return;
  case CallKind::Query:
    return;
  }
}

void ProgramBuilder::visit(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return visitCall(*Call);
  if (auto *Load = dyn_cast<LoadInst>(&I))
    Accesses.noteAccess(I, Load->getPointerOperand(), true);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    Accesses.noteAccess(I, Store->getPointerOperand());
  else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    Accesses.noteAccess(I, Exchange->getPointerOperand());
  else if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    Accesses.noteAccess(I, Update->getPointerOperand());
}

BuiltProgram ProgramBuilder::build() {
  Shape.addBuffers();
  Shape.addBlocks();
  Elements.addArrays();
  Facts.Result.Instructions.resize(Facts.Result.Program.Blocks.size());
  for (BasicBlock &B : Facts.F)
    if (Facts.BlockOf.count(&B))
      for (Instruction &I : B)
        visit(I);
  Accesses.addHostAccesses();
  for (const Loop *L : Facts.Loops)
    Accesses.addLoopBarriers(*L);
  Cursors.addCursors();
  Names.addPointers();
  Shape.markFailures();
  Facts.Result.Program.spreadFailure();
  Facts.Result.Instructions.resize(Facts.Result.Program.Blocks.size());
  return std::move(Facts.Result);
}

BuiltProgram buildBufferProgram(Function &Flat,
                                FunctionAnalysisManager &Analyses,
                                const KernelSummaries &Kernels,
                                ArrayRef<const GlobalVariable *> OwnGlobals,
                                bool IsMain) {
  return ProgramBuilder(Flat, Analyses, Kernels, OwnGlobals, IsMain).build();
}

} // namespace dragon
