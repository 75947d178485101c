//===- BuilderUses.cpp - what calls mean by their arguments ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/ProgramBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace dragon {

Position ProgramBuilder::position(const Instruction &I) {
  Position Result;
  if (const DILocation *L = Locations.of(I)) {
    Result = {L->getFilename().str(), L->getLine(), L->getColumn()};
    this->Result.Locations.try_emplace(
        {Result.File, Result.Line, Result.Column}, L);
  }
  return Result;
}

SizeId ProgramBuilder::sizeOf(const SCEV *Bytes) {
  if (!Bytes || isa<SCEVCouldNotCompute>(Bytes))
    return 0;
  return Sizes.try_emplace(Bytes, Sizes.size() + 1).first->second;
}

const SCEV *ProgramBuilder::bytesOf(const CallBase &Call, int Bytes,
                                    int Count) {
  auto Value = [&](int Position) -> const SCEV * {
    Type *I64 = Type::getInt64Ty(F.getContext());
    llvm::Value *V = Call.getArgOperand(Position);
    if (!V->getType()->isIntegerTy())
      return nullptr;
    if (V->getType() == I64)
      return wideNumber(V);
    return Evolution.getTruncateOrZeroExtend(Evolution.getSCEV(V), I64);
  };
  if (Bytes < 0)
    return nullptr;
  const SCEV *Result = Value(Bytes);
  if (Count >= 0 && Result) {
    const SCEV *Times = Value(Count);
    Result = Times ? Evolution.getMulExpr(Result, Times) : nullptr;
  }
  return Result;
}

StreamId ProgramBuilder::streamOf(const Value *Stream) {
  if (isa<ConstantPointerNull>(Stream))
    return DefaultStream;
  // Loads of one variable at two places may give two streams.
  return Streams.try_emplace(Stream, static_cast<StreamId>(Streams.size() + 1))
      .first->second;
}

StreamId ProgramBuilder::launchStream(const CallBase &Launch) {
  const CallBase *Push = launchConfiguration(Launch);
  return Push ? streamOf(Push->getArgOperand(Push->arg_size() - 1))
              : static_cast<StreamId>(UnknownStream);
}

/// A descriptor is one file as long as its value goes nowhere but to calls that
/// use it.
bool ProgramBuilder::descriptorEscapes(const Value *Descriptor) const {
  if (!isa<CallBase>(Descriptor))
    return true;
  return any_of(Descriptor->users(), [&](const User *U) {
    if (isa<ICmpInst>(U))
      return false;
    auto *Call = dyn_cast<CallBase>(U);
    const CallEffect *Effect = Call ? callEffect(*Call) : nullptr;
    if (!Effect)
      return true;
    return Effect->Kind != CallKind::Query &&
           (Effect->File < 0 ||
            Call->getArgOperand(Effect->File) != Descriptor);
  });
}

int ProgramBuilder::fileOf(Value *File) {
  auto Index = [&](const Value *Key, bool Escapes) {
    auto [It, New] =
        Files.try_emplace(Key, static_cast<int>(Result.Program.Files.size()));
    if (New) {
      FileHandle Handle;
      auto *Open = dyn_cast<CallBase>(Key);
      Handle.Name = Open ? bufferName(*Open) : userName(Key->getName()).str();
      Handle.Escapes = Escapes;
      Result.Program.Files.push_back(std::move(Handle));
    }
    return It->second;
  };
  if (File->getType()->isIntegerTy())
    return Index(File, descriptorEscapes(File));
  TargetSet Targets = Pointers.pointsTo(File);
  if (Targets.empty())
    return -1;
  const MemoryObject &O = Pointers.objects()[Targets.begin()->Object];
  if (Targets.size() == 1 && O.Kind == ObjectKind::File) {
    auto *Open = cast<Instruction>(O.Site);
    // The descriptor below it may be used as well.
    bool Shared = any_of(File->users(), [](const User *U) {
      auto *Call = dyn_cast<CallBase>(U);
      return Call && Call->getCalledFunction() &&
             Call->getCalledFunction()->getName() == "fileno";
    });
    if (!inCycle(*Open) || File->stripPointerCasts() == Open)
      return Index(Open, O.Escapes || Shared);
  }
  for (const Target &T : Targets)
    if (!Pointers.objects()[T.Object].Escapes)
      return -1;
  // stderr and the like.
  if (auto *Load = dyn_cast<LoadInst>(File))
    if (isa<GlobalVariable>(Load->getPointerOperand()))
      return Index(Load->getPointerOperand(), true);
  return Index(File, true);
}

bool ProgramBuilder::onSide(const MemoryObject &O, Side Which) const {
  if (O.Kind != ObjectKind::Buffer || Which == Side::Any)
    return true;
  // Managed memory is on both.
  return O.Buffer !=
         (Which == Side::Host ? BufferKind::Device : BufferKind::Host);
}

void ProgramBuilder::addEscapedUses(Event &E, Side Which, bool Reads,
                                    bool Writes) {
  const std::vector<MemoryObject> &Objects = Pointers.objects();
  for (unsigned O = 0; O < Objects.size(); ++O)
    if (Objects[O].Kind == ObjectKind::Buffer && Objects[O].Escapes &&
        onSide(Objects[O], Which)) {
      BufferUse U;
      U.Buffer = BufferOf[O];
      U.Reads = Reads;
      U.Writes = Writes;
      E.add(U);
    }
}

void ProgramBuilder::addUses(Event &E, const TargetSet &Targets,
                             const Value *Pointer, Side Which, bool Reads,
                             bool Writes, const SCEV *Bytes) {
  SmallVector<Target, 4> Possible;
  for (const Target &T : Targets)
    if (onSide(Pointers.objects()[T.Object], Which))
      Possible.push_back(T);
  const std::optional<unsigned> By =
      Pointer && Possible.size() == Targets.size() ? pointerOf(Pointer)
                                                   : std::nullopt;
  if (By)
    notePointer(E, *By, Pointer, Reads, Writes, sizeOf(Bytes));
  for (const Target &T : Possible) {
    const MemoryObject &O = Pointers.objects()[T.Object];
    if (O.Kind != ObjectKind::Buffer) {
      E.OtherMemory |= Which == Side::Host;
      if (T.Object == Aliases::Unknown || O.Escapes)
        addEscapedUses(E, Which, Reads, Writes);
      continue;
    }
    // Host code may look at managed memory, unseen by the staging calls.
    E.OtherMemory |= Which == Side::Host && O.Buffer == BufferKind::Managed;
    BufferUse U;
    U.Buffer = BufferOf[T.Object];
    U.Reads = Reads;
    U.Writes = Writes;
    U.ByPointer = By.has_value();
    const BuiltProgram::BufferSite &Site = Result.Sites[U.Buffer];
    U.Must =
        Possible.size() == 1 && T.At == Place{0, 0} && Pointer &&
        (!inCycle(*Site.Call) || Pointer->stripPointerCasts() == Site.Pointer);
    SizeId Size = sizeOf(Bytes);
    U.Whole = U.Must && Size && Size == Result.Program.Buffers[U.Buffer].Bytes;
    // What is left of it when it is freed is known by where it begins.
    E.Unresolved |= Which == Side::Host && Writes && !(T.At == Place{0, 0}) &&
                    Result.Program.Buffers[U.Buffer].IsSummary;
    E.add(U);
  }
}

void ProgramBuilder::addUses(Event &E, const Value *Pointer, Side Which,
                             bool Reads, bool Writes, const SCEV *Bytes) {
  addUses(E, Pointers.pointsTo(Pointer), Pointer, Which, Reads, Writes, Bytes);
}

} // namespace dragon
