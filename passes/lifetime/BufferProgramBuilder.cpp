//===- BufferProgramBuilder.cpp - host IR -> buffer program ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BufferProgramBuilder.h"

#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/ProgramBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace dragon {

Event ProgramBuilder::event(EventAction What, const Instruction &I) {
  Event E;
  E.What = What;
  E.Where = position(I);
  if (auto *Call = dyn_cast<CallBase>(&I))
    E.Name = calleeName(*Call);
  return E;
}

void ProgramBuilder::push(Event E, Instruction &I) {
  unsigned B = BlockOf[I.getParent()];
  Result.Program.Blocks[B].Events.push_back(std::move(E));
  Result.Instructions[B].push_back(&I);
}

void ProgramBuilder::pushBarrier(CallBase &Call) {
  // Of several the first is enough.
  const std::vector<Event> &Here =
      Result.Program.Blocks[BlockOf[Call.getParent()]].Events;
  if (!Here.empty() && Here.back().is<BarrierEvent>())
    return;
  Event E = event(BarrierEvent{}, Call);
  E.Name = "'" + E.Name + "'";
  push(std::move(E), Call);
}

/// Whether a copy or fill of a size that is not the buffer's overwrites it may
/// be tested, on the device.
void ProgramBuilder::noteSize(Event &E, int BytesOperand) const {
  for (BufferUse &U : E.Uses)
    if (BytesOperand >= 0 && U.Writes && !U.Reads && U.Must && !U.Whole &&
        Result.Program.Buffers[U.Buffer].Kind != BufferKind::Host) {
      U.Testable = true;
      U.Operand = BytesOperand;
    }
}

void ProgramBuilder::visitCopy(CallBase &Call, const CallEffect &Effect) {
  Value *To = Call.getArgOperand(Effect.Pointer);
  Value *From = Call.getArgOperand(Effect.From);
  const SCEV *Bytes = bytesOf(Call, Effect.Bytes, Effect.Count);
  auto *Kind = dyn_cast<ConstantInt>(Call.getArgOperand(Effect.CopyKind));
  uint64_t Direction = Kind ? Kind->getZExtValue() : 4;
  enum : uint64_t { HostToHost, HostToDevice, DeviceToHost, DeviceToDevice };
  auto IsOn = [&](Value *V, Side Which) {
    TargetSet Targets = Pointers.pointsTo(V);
    return !Targets.empty() && all_of(Targets, [&](const Target &T) {
      const MemoryObject &O = Pointers.objects()[T.Object];
      return O.Kind == ObjectKind::Buffer && onSide(O, Which);
    });
  };
  if (Direction > DeviceToDevice) { // cudaMemcpyDefault
    if (IsOn(To, Side::Device) && IsOn(From, Side::Host))
      Direction = HostToDevice;
    else if (IsOn(To, Side::Host) && IsOn(From, Side::Device))
      Direction = DeviceToHost;
    else if (IsOn(To, Side::Device) && IsOn(From, Side::Device))
      Direction = DeviceToDevice;
  }
  // Only whole-range copies have a staging twin.
  bool HasTwin = Effect.Bytes >= 0;
  const SizedAction Size{sizeOf(Bytes)};
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
  Event E = event(As, Call);
  E.Stream = Effect.Stream >= 0  ? streamOf(Call.getArgOperand(Effect.Stream))
             : E.is<CopyEvent>() ? DefaultStream
                                 : Synchronous;
  addUses(E, From, FromSide, true, false, Bytes);
  noteCursor(E, 0, Call, static_cast<unsigned>(Effect.From));
  addUses(E, To, ToSide, false, true, Bytes);
  noteSize(E, Effect.Bytes);
  if (E.is<CopyEvent>()) {
    noteAccess(Call, From);
    noteAccess(Call, To);
    erase_if(E.Uses, [&](const BufferUse &U) {
      return Result.Program.Buffers[U.Buffer].Kind == BufferKind::Host;
    });
  }
  push(std::move(E), Call);
}

void ProgramBuilder::visitLaunch(CallBase &Call) {
  const Function &Stub = *Call.getCalledFunction();
  Event E = event(LaunchEvent{Kernels.sliceable(Stub)}, Call);
  E.Stream = launchStream(Call);
  if (!Kernels.kernel(Stub).Record)
    Result.UnknownKernels.try_emplace(E.Name, E.Where);
  if (Kernels.touchesAnything(Stub)) {
    const std::vector<MemoryObject> &Objects = Pointers.objects();
    // Host memory, if its address is in device memory or in such memory.
    SetVector<unsigned> Reachable;
    for (unsigned O = 0; O < Objects.size(); ++O)
      if (Objects[O].Kind == ObjectKind::Buffer &&
          (Objects[O].Buffer != BufferKind::Host || Objects[O].Escapes))
        Reachable.insert(O);
    for (unsigned I = 0; I < Reachable.size(); ++I)
      for (const Target &T : Pointers.contents(Reachable[I]))
        Reachable.insert(T.Object);
    for (unsigned O = 0; O < Objects.size(); ++O) {
      if (Objects[O].Kind != ObjectKind::Buffer || !Reachable.contains(O))
        continue;
      BufferUse U;
      U.Buffer = BufferOf[O];
      U.Reads = U.Writes = true;
      E.add(U);
    }
  }
  for (const llvm::Use &Operand : Call.args()) {
    unsigned Parameter = Call.getArgOperandNo(&Operand);
    TargetSet Targets = Pointers.pointsTo(Operand);
    if (!Call.isByValArgument(Parameter)) {
      PointerUse U = Kernels.use(Stub, Parameter, 0);
      const size_t First = E.Uses.size();
      if (U.Reads || U.Writes)
        addUses(E, Targets, Operand, Side::Any, U.Reads, U.Writes, nullptr);
      for (BufferUse &Use : drop_begin(E.Uses, First)) {
        for (const Target &T : Targets)
          if (auto It = BufferOf.find(T.Object);
              It != BufferOf.end() && It->second == Use.Buffer)
            noteElement(Use, Call, Operand, T, Targets.size() == 1);
        Use.Testable = U.MayOverwrite && (Use.Must || Use.MustElement);
        Use.Operand = Use.Testable ? static_cast<int>(Parameter) : -1;
      }
      noteCursor(E, First, Call, Parameter);
      continue;
    }
    // A structure: the pointers that are stored in it.
    for (const Target &T : Targets) {
      for (const Target &Inner : Pointers.contents(T.Object)) {
        PointerUse U;
        if (T.At.exact()) {
          U.Reads = U.Writes = false;
          // The fields in which it may be.
          for (int64_t Field = 0; Field < 4096; Field += 4) {
            if (!Pointers.contents(T.Object, T.At.plus(Field)).count(Inner))
              continue;
            PointerUse Used = Kernels.use(Stub, Parameter, Field);
            U.Reads |= Used.Reads;
            U.Writes |= Used.Writes;
          }
          bool Anywhere =
              Pointers.contents(T.Object, T.At.plus(4096)).count(Inner);
          U.Reads |= Anywhere;
          U.Writes |= Anywhere;
        }
        if (U.Reads || U.Writes)
          addUses(E, TargetSet{Inner}, nullptr, Side::Any, U.Reads, U.Writes,
                  nullptr);
      }
    }
  }
  push(std::move(E), Call);
}

/// Of numbers alone; errno is of no interest.
bool ProgramBuilder::isMath(const CallBase &Call) const {
  LibFunc Which;
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isDeclaration() &&
         Callee->getReturnType()->isFloatingPointTy() &&
         none_of(
             Callee->args(),
             [](const Argument &A) { return A.getType()->isPointerTy(); }) &&
         Library.getLibFunc(*Callee, Which);
}

void ProgramBuilder::visitOpaque(CallBase &Call) {
  if (Call.doesNotAccessMemory() || isMath(Call))
    return;
  if (const Function *Callee = Call.getCalledFunction()) {
    auto IsGiven = [&](auto &&Which) {
      return any_of(Call.args(), [&](const llvm::Use &Operand) {
        return any_of(Pointers.pointsTo(Operand), [&](const Target &T) {
          const MemoryObject &O = Pointers.objects()[T.Object];
          return O.Kind == ObjectKind::Buffer && Which(O);
        });
      });
    };
    // Functions of this unit that were left out: worth another try.
    if (!Callee->isDeclaration()) {
      if (IsGiven([](const MemoryObject &) { return true; }))
        Result.Missed.push_back(&Call);
    } else if (IsGiven([](const MemoryObject &O) {
                 return O.Buffer != BufferKind::Host;
               })) {
      Result.UnknownCalls.push_back(&Call);
      Result.UnknownCallees.try_emplace(calleeName(Call), position(Call));
    }
  }
  Event E = event(OpaqueEvent{}, Call);
  addEscapedUses(E, Side::Any, true, true);
  for (const llvm::Use &Operand : Call.args())
    noteAccess(Call, Operand);
  bool AnyFile = any_of(Pointers.objects(), [](const MemoryObject &O) {
    return O.Kind == ObjectKind::File && O.Escapes;
  });
  if (!E.Uses.empty() || AnyFile || !Files.empty())
    push(std::move(E), Call);
  else
    pushBarrier(Call);
}

void ProgramBuilder::visitAllocation(CallBase &Call) {
  BufferUse U;
  U.Buffer = BufferOf[*Pointers.objectOf(&Call)];
  U.Must = true;
  Event E =
      event(AllocateEvent{{Result.Program.Buffers[U.Buffer].Bytes}}, Call);
  E.Uses.push_back(U);
  push(std::move(E), Call);
}

void ProgramBuilder::visitFree(CallBase &Call, const CallEffect &Effect) {
  const StringRef Callee = Call.getCalledFunction()->getName();
  const bool OfDevice = Callee == "cudaFree" || Callee == "cudaFreeAsync";
  Event E = event(FreeEvent{}, Call);
  addUses(E, Call.getArgOperand(Effect.Pointer),
          OfDevice ? Side::Device : Side::Host, false, false, nullptr);
  if (!E.Uses.empty())
    push(std::move(E), Call);
}

void ProgramBuilder::visitFreeAll(CallBase &Call) {
  Event E = event(FreeEvent{}, Call);
  for (unsigned B = 0; B < Result.Program.Buffers.size(); ++B)
    if (Result.Program.Buffers[B].Kind != BufferKind::Host) {
      BufferUse U;
      U.Buffer = B;
      E.add(U);
    }
  push(std::move(E), Call);
}

void ProgramBuilder::visitFill(CallBase &Call, const CallEffect &Effect) {
  Value *To = Call.getArgOperand(Effect.Pointer);
  const SCEV *Bytes = bytesOf(Call, Effect.Bytes, CallEffect::None);
  Event E = event(FillEvent{{sizeOf(Bytes)}}, Call);
  E.Stream = Effect.Stream >= 0 ? streamOf(Call.getArgOperand(Effect.Stream))
                                : DefaultStream;
  addUses(E, To, Side::Device, false, true, Bytes);
  noteSize(E, Effect.Bytes);
  noteAccess(Call, To);
  push(std::move(E), Call);
}

void ProgramBuilder::visitFileTransfer(CallBase &Call,
                                       const CallEffect &Effect) {
  const bool Reads = Effect.Kind == CallKind::FileRead;
  const SCEV *Bytes = bytesOf(Call, Effect.Bytes, Effect.Count);
  const SizedAction Size{sizeOf(Bytes)};
  const FileAction File{fileOf(Call.getArgOperand(Effect.File))};
  Event E = event(Reads ? EventAction(FileReadEvent{File, Size})
                        : FileWriteEvent{File, Size},
                  Call);
  addUses(E, Call.getArgOperand(Effect.Pointer), Side::Host, !Reads, Reads,
          Bytes);
  push(std::move(E), Call);
}

void ProgramBuilder::visitCall(CallBase &Call) {
  if (isLaunch(Call))
    return visitLaunch(Call);
  if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&Call)) {
    noteAccess(Call, Memory->getDest());
    if (auto *Transfer = dyn_cast<AnyMemTransferInst>(Memory))
      noteAccess(Call, Transfer->getSource());
    return;
  }
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call)) {
    if (!Intrinsic->isAssumeLikeIntrinsic() && Call.mayReadOrWriteMemory())
      for (const llvm::Use &Operand : Call.args())
        noteAccess(Call, Operand);
    return;
  }
  const CallEffect *Effect = callEffect(Call);
  if (!Effect) {
    if (const LibraryFunction *Function = libraryFunction(Call))
      return visitLibrary(Call, *Function);
    return visitOpaque(Call);
  }
  if (Effect->IsBarrier)
    pushBarrier(Call);
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
    return push(event(FileOpenEvent{{fileOf(&Call)}}, Call), Call);
  case CallKind::StreamTransfer:
    for (const Target &T :
         Pointers.pointsTo(Call.getArgOperand(Effect->Pointer)))
      if (auto It = BufferOf.find(T.Object); It != BufferOf.end()) {
        Buffer &B = Result.Program.Buffers[It->second];
        B.StreamedBy = calleeName(Call);
        B.StreamedAt = position(Call);
      }
    [[fallthrough]];
  case CallKind::FileUse: {
    FileUseEvent Use;
    if (Effect->File >= 0) {
      Value *File = Call.getArgOperand(Effect->File);
      Use.File = isa<ConstantPointerNull>(File) ? -1 : fileOf(File);
    }
    push(event(Use, Call), Call);
    [[fallthrough]];
  }
  case CallKind::Publish:
  case CallKind::Parse:
  case CallKind::Neutral:
    for (const llvm::Use &Operand : Call.args())
      noteAccess(Call, Operand);
    return;
  case CallKind::Query:
    return;
  }
}

void ProgramBuilder::visit(Instruction &I) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    return visitCall(*Call);
  if (auto *Load = dyn_cast<LoadInst>(&I))
    noteAccess(I, Load->getPointerOperand());
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    noteAccess(I, Store->getPointerOperand());
  else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    noteAccess(I, Exchange->getPointerOperand());
  else if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    noteAccess(I, Update->getPointerOperand());
}

BuiltProgram ProgramBuilder::build() {
  findCycles();
  addBuffers();
  addBlocks();
  addArrays();
  Result.Instructions.resize(Result.Program.Blocks.size());
  for (BasicBlock &B : F)
    if (BlockOf.count(&B))
      for (Instruction &I : B)
        visit(I);
  addHostAccesses();
  for (const Loop *L : Loops)
    addLoopBarriers(*L);
  addCursors();
  addPointers();
  markFailures();
  Result.Program.spreadFailure();
  Result.Instructions.resize(Result.Program.Blocks.size());
  return std::move(Result);
}

BuiltProgram buildBufferProgram(Function &Flat,
                                FunctionAnalysisManager &Analyses,
                                const KernelSummaries &Kernels,
                                ArrayRef<const GlobalVariable *> OwnGlobals,
                                bool IsMain) {
  return ProgramBuilder(Flat, Analyses, Kernels, OwnGlobals, IsMain).build();
}

} // namespace dragon
