//===- BufferProgramBuilder.cpp - host IR -> buffer program ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BufferProgramBuilder.h"

#include "passes/SourceNames.h"
#include "passes/lifetime/Aliases.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <optional>

using namespace llvm;

namespace dragon {

namespace {

class Builder {
public:
  Builder(Function &F, FunctionAnalysisManager &Analyses,
          const KernelSummaries &Kernels,
          ArrayRef<const GlobalVariable *> OwnGlobals, bool IsMain)
      : F(F), Kernels(Kernels), Locations(F), Pointers(F, Kernels, OwnGlobals),
        Evolution(Analyses.getResult<ScalarEvolutionAnalysis>(F)),
        Loops(Analyses.getResult<LoopAnalysis>(F)),
        Dominators(Analyses.getResult<DominatorTreeAnalysis>(F)),
        IsMain(IsMain) {}

  BuiltProgram build();

private:
  // What there is.
  void addBuffers();
  void addBlocks();
  void markFailures();
  void markFailingEdge(BasicBlock *From, BasicBlock *To);
  void findCycles();
  bool inCycle(const Instruction &I) const {
    return Cyclic.contains(I.getParent());
  }

  // Values.
  Position position(const Instruction &I);
  SizeId sizeOf(const SCEV *Bytes);
  const SCEV *bytesOf(const CallBase &Call, int Bytes, int Count);
  StreamId streamOf(const Value *Stream);
  StreamId launchStream(const CallBase &Launch);
  int fileOf(Value *File);
  bool descriptorEscapes(const Value *Descriptor) const;

  // Uses.
  enum class Side { Device, Host, Any };
  bool onSide(const MemoryObject &O, Side Which) const;
  void addUses(Event &E, const Value *Pointer, Side Which, bool Reads,
               bool Writes, const SCEV *Bytes);
  void addUses(Event &E, const TargetSet &Targets, const Value *Pointer,
               Side Which, bool Reads, bool Writes, const SCEV *Bytes);
  void addEscapedUses(Event &E, Side Which, bool Reads, bool Writes);
  void addUse(Event &E, BufferUse U);

  // Events.
  void visit(Instruction &I);
  void visitCall(CallBase &Call);
  void visitCopy(CallBase &Call, const CallEffect &Effect);
  void visitLaunch(CallBase &Call);
  void visitOpaque(CallBase &Call);
  Event event(EventKind Kind, const Instruction &I);
  void push(Event E, Instruction &I);

  // Host code that looks at buffers.
  void noteAccess(Instruction &I, const Value *Pointer);
  void addHostAccesses();
  void addHostAccess(Instruction &I, unsigned Buffer);
  void insertBefore(Event E, Instruction &I);

  Function &F;
  const KernelSummaries &Kernels;
  UserLocations Locations;
  Aliases Pointers;
  ScalarEvolution &Evolution;
  LoopInfo &Loops;
  DominatorTree &Dominators;
  bool IsMain;
  SmallPtrSet<const BasicBlock *, 16> Cyclic;
  BuiltProgram Result;
  DenseMap<unsigned, unsigned> BufferOf; ///< object -> buffer
  DenseMap<const BasicBlock *, unsigned> BlockOf;
  DenseMap<const SCEV *, SizeId> Sizes;
  DenseMap<const Value *, StreamId> Streams;
  DenseMap<const Value *, int> Files;
  SmallVector<std::pair<Instruction *, unsigned>, 16> Accesses;
};

// -- Buffers and blocks -----------------------------------------------------

void Builder::findCycles() {
  for (scc_iterator<Function *> Part = scc_begin(&F); !Part.isAtEnd(); ++Part)
    if (Part.hasCycle())
      Cyclic.insert_range(*Part);
}

Position Builder::position(const Instruction &I) {
  Position Result;
  if (const DILocation *L = Locations.of(I)) {
    Result = {L->getFilename().str(), L->getLine(), L->getColumn()};
    this->Result.Locations.try_emplace(
        {Result.File, Result.Line, Result.Column}, L);
  }
  return Result;
}

/// The variable's old value, for the case that cudaMalloc fails, is no use of
/// the buffer that it may be.
static bool onlyFeedsSlots(const Value *V,
                           SmallPtrSetImpl<const Value *> &Seen) {
  if (!Seen.insert(V).second)
    return true;
  return all_of(V->users(), [&](const User *U) {
    if (auto *Store = dyn_cast<StoreInst>(U))
      return Store->getValueOperand() == V &&
             isOutSlot(Store->getPointerOperand());
    return isa<PHINode>(U) && onlyFeedsSlots(U, Seen);
  });
}

void Builder::addBuffers() {
  const std::vector<MemoryObject> &Objects = Pointers.objects();
  for (unsigned O = 0; O < Objects.size(); ++O) {
    if (Objects[O].Kind != ObjectKind::Buffer)
      continue;
    auto *Call = const_cast<CallBase *>(cast<CallBase>(Objects[O].Site));
    const CallEffect &Effect = *callEffect(*Call);
    BuiltProgram::BufferSite Site{Call, Call};
    if (Effect.Kind == CallKind::AllocateInto) {
      // The load that FlatFunction put behind the call.
      Site.Pointer = nullptr;
      Value *Slot = Call->getArgOperand(Effect.Pointer);
      for (User *U : Slot->users())
        if (auto *Load = dyn_cast<LoadInst>(U))
          if (isOutSlot(Slot) && Dominators.dominates(Call, Load))
            Site.Pointer = Load;
    }
    Buffer B;
    B.Kind = Objects[O].Buffer;
    B.Name = bufferName(*Call);
    B.Bytes = sizeOf(bytesOf(*Call, Effect.Bytes, Effect.Count));
    B.Where = position(*Call);
    B.Escapes = Objects[O].Escapes || !Site.Pointer;
    B.EscapesTo = Objects[O].Escapes ? Objects[O].EscapesTo : "a variable";
    B.EscapesToKernel = Objects[O].EscapesToKernel;
    B.EscapesAt =
        position(Objects[O].EscapesAt ? *Objects[O].EscapesAt : *Call);
    B.Mappable = Call->getCalledFunction()->getName() == "cudaMalloc";
    // In a cycle, several may exist if one is referred to by anything but the
    // value that its call has just given.
    if (inCycle(*Call) && Site.Pointer) {
      for (Instruction &I : instructions(F)) {
        SmallPtrSet<const Value *, 8> Seen;
        if (&I == Site.Pointer || !I.getType()->isPointerTy() ||
            getUnderlyingObject(&I) == Site.Pointer || onlyFeedsSlots(&I, Seen))
          continue;
        for (const Target &T : Pointers.pointsTo(&I))
          B.Several |= T.Object == O;
      }
    }
    BufferOf[O] = Result.Program.Buffers.size();
    Result.Program.Buffers.push_back(std::move(B));
    Result.Sites.push_back(Site);
  }
}

/// `if (!__cudaPushCallConfiguration(...)) stub(...)`: pushing does not fail,
/// and if it did, there would only be less to be careful about, because nothing
/// is sure to happen in a launch. Null if B does not end so.
static const BasicBlock *launchBlock(const BasicBlock &B) {
  auto *Branch = dyn_cast<BranchInst>(B.getTerminator());
  if (!Branch || !Branch->isConditional())
    return nullptr;
  Value *Condition = Branch->getCondition();
  bool OnZero = false;
  if (auto *Compare = dyn_cast<ICmpInst>(Condition)) {
    auto *Zero = dyn_cast<ConstantInt>(Compare->getOperand(1));
    if (!Zero || !Zero->isZero() || !Compare->isEquality())
      return nullptr;
    OnZero = Compare->getPredicate() == ICmpInst::ICMP_EQ;
    Condition = Compare->getOperand(0);
  }
  auto *Push = dyn_cast<CallBase>(Condition);
  const Function *Callee = Push ? Push->getCalledFunction() : nullptr;
  if (!Callee || Callee->getName() != "__cudaPushCallConfiguration")
    return nullptr;
  return Branch->getSuccessor(OnZero ? 0 : 1);
}

/// Whether the program ends here with success: `exit(0)`.
static bool endsWell(const BasicBlock &B) {
  for (const Instruction &I : reverse(B)) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || !Callee->doesNotReturn())
      continue;
    if (!Callee->getName().ends_with_insensitive("exit") || Call->arg_empty())
      return false;
    auto *Code = dyn_cast<ConstantInt>(Call->getArgOperand(0));
    return !Code || Code->isZero();
  }
  return false;
}

void Builder::addBlocks() {
  for (BasicBlock &B : F) {
    if (!Dominators.isReachableFromEntry(&B))
      continue;
    BlockOf[&B] = Result.Program.Blocks.size();
    Block New;
    New.Name = B.hasName() ? B.getName().str()
                           : "b" + std::to_string(Result.Blocks.size());
    Result.Program.Blocks.push_back(std::move(New));
    Result.Blocks.push_back(&B);
  }
  for (auto &[B, Index] : BlockOf) {
    Block &New = Result.Program.Blocks[Index];
    const BasicBlock *Launch = launchBlock(*B);
    for (const BasicBlock *S : successors(B))
      if (!Launch || S == Launch)
        New.Successors.push_back(BlockOf[S]);
    const Instruction *End = B->getTerminator();
    New.Returns = isa<ReturnInst>(End) || isa<ResumeInst>(End);
    New.Fails =
        isa<ResumeInst>(End) || (isa<UnreachableInst>(End) && !endsWell(*B));
  }
}

void Builder::markFailingEdge(BasicBlock *From, BasicBlock *To) {
  if (!BlockOf.count(From))
    return;
  auto &Blocks = Result.Program.Blocks;
  unsigned P = BlockOf[From], S = BlockOf[To];
  if (Blocks[P].Successors.size() == 1) {
    Blocks[P].Fails = true;
    return;
  }
  Block Edge;
  Edge.Name = Blocks[P].Name + ".fails";
  Edge.Fails = true;
  Edge.Successors.push_back(S);
  for (unsigned &Successor : Blocks[P].Successors)
    if (Successor == S)
      Successor = Blocks.size();
  Blocks.push_back(std::move(Edge));
  Result.Blocks.push_back(nullptr);
}

/// Ways on which main returns a constant that is not 0.
void Builder::markFailures() {
  if (!IsMain || !F.getReturnType()->isIntegerTy())
    return;
  SetVector<PHINode *> Phis;
  for (BasicBlock &B : F) {
    auto *Return = dyn_cast<ReturnInst>(B.getTerminator());
    if (!Return || !BlockOf.count(&B))
      continue;
    Value *V = Return->getReturnValue();
    if (auto *C = dyn_cast<ConstantInt>(V); C && !C->isZero())
      Result.Program.Blocks[BlockOf[&B]].Fails = true;
    else if (auto *Phi = dyn_cast<PHINode>(V); Phi && Phi->getParent() == &B)
      Phis.insert(Phi);
  }
  for (unsigned I = 0; I < Phis.size(); ++I) {
    PHINode *Phi = Phis[I];
    for (unsigned In = 0; In < Phi->getNumIncomingValues(); ++In) {
      Value *V = Phi->getIncomingValue(In);
      BasicBlock *From = Phi->getIncomingBlock(In);
      if (auto *C = dyn_cast<ConstantInt>(V); C && !C->isZero())
        markFailingEdge(From, Phi->getParent());
      else if (auto *Next = dyn_cast<PHINode>(V);
               Next && Next->getParent() == From &&
               From->getSingleSuccessor() == Phi->getParent())
        Phis.insert(Next);
    }
  }
}

// -- Values -----------------------------------------------------------------

SizeId Builder::sizeOf(const SCEV *Bytes) {
  if (!Bytes || isa<SCEVCouldNotCompute>(Bytes))
    return 0;
  return Sizes.try_emplace(Bytes, Sizes.size() + 1).first->second;
}

const SCEV *Builder::bytesOf(const CallBase &Call, int Bytes, int Count) {
  auto Value = [&](int Position) -> const SCEV * {
    Type *I64 = Type::getInt64Ty(F.getContext());
    llvm::Value *V = Call.getArgOperand(Position);
    if (!V->getType()->isIntegerTy())
      return nullptr;
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

StreamId Builder::streamOf(const Value *Stream) {
  if (isa<ConstantPointerNull>(Stream))
    return DefaultStream;
  // Loads of one variable at two places may give two streams.
  return Streams.try_emplace(Stream, static_cast<StreamId>(Streams.size() + 1))
      .first->second;
}

/// The stub is called where __cudaPushCallConfiguration succeeded.
StreamId Builder::launchStream(const CallBase &Launch) {
  const BasicBlock *B = Launch.getParent();
  for (const Instruction *I = &Launch; B;) {
    for (; I; I = I->getPrevNode())
      if (auto *Push = dyn_cast<CallBase>(I))
        if (const Function *Callee = Push->getCalledFunction())
          if (Callee->getName() == "__cudaPushCallConfiguration")
            return streamOf(Push->getArgOperand(Push->arg_size() - 1));
    B = B->getSinglePredecessor();
    I = B ? B->getTerminator() : nullptr;
  }
  return UnknownStream;
}

/// A descriptor is one file as long as its value goes nowhere but to calls that
/// use it.
bool Builder::descriptorEscapes(const Value *Descriptor) const {
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

int Builder::fileOf(Value *File) {
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

// -- Uses -------------------------------------------------------------------

bool Builder::onSide(const MemoryObject &O, Side Which) const {
  if (O.Kind != ObjectKind::Buffer || Which == Side::Any)
    return true;
  // Managed memory is on both.
  return O.Buffer !=
         (Which == Side::Host ? BufferKind::Device : BufferKind::Host);
}

void Builder::addUse(Event &E, BufferUse U) {
  for (BufferUse &Known : E.Uses) {
    if (Known.Buffer != U.Buffer)
      continue;
    // Twice in one event: what is sure of each is not sure of both.
    Known.Must &= U.Must;
    Known.Whole &= U.Whole;
    Known.Reads |= U.Reads;
    Known.Writes |= U.Writes;
    return;
  }
  E.Uses.push_back(U);
}

void Builder::addEscapedUses(Event &E, Side Which, bool Reads, bool Writes) {
  const std::vector<MemoryObject> &Objects = Pointers.objects();
  for (unsigned O = 0; O < Objects.size(); ++O)
    if (Objects[O].Kind == ObjectKind::Buffer && Objects[O].Escapes &&
        onSide(Objects[O], Which)) {
      BufferUse U;
      U.Buffer = BufferOf[O];
      U.Reads = Reads;
      U.Writes = Writes;
      addUse(E, U);
    }
}

void Builder::addUses(Event &E, const TargetSet &Targets, const Value *Pointer,
                      Side Which, bool Reads, bool Writes, const SCEV *Bytes) {
  SmallVector<Target, 4> Possible;
  for (const Target &T : Targets)
    if (onSide(Pointers.objects()[T.Object], Which))
      Possible.push_back(T);
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
    const BuiltProgram::BufferSite &Site = Result.Sites[U.Buffer];
    U.Must =
        Possible.size() == 1 && T.Offset == 0 && Pointer &&
        (!inCycle(*Site.Call) || Pointer->stripPointerCasts() == Site.Pointer);
    SizeId Size = sizeOf(Bytes);
    U.Whole = U.Must && Size && Size == Result.Program.Buffers[U.Buffer].Bytes;
    // What is left of it when it is freed is known by where it begins.
    E.Blind |= Which == Side::Host && Writes && T.Offset != 0 &&
               Result.Program.Buffers[U.Buffer].Several;
    addUse(E, U);
  }
}

void Builder::addUses(Event &E, const Value *Pointer, Side Which, bool Reads,
                      bool Writes, const SCEV *Bytes) {
  addUses(E, Pointers.pointsTo(Pointer), Pointer, Which, Reads, Writes, Bytes);
}

// -- Events -----------------------------------------------------------------

Event Builder::event(EventKind Kind, const Instruction &I) {
  Event E;
  E.Kind = Kind;
  E.Where = position(I);
  if (auto *Call = dyn_cast<CallBase>(&I))
    E.Name = calleeName(*Call);
  return E;
}

void Builder::push(Event E, Instruction &I) {
  unsigned B = BlockOf[I.getParent()];
  Result.Program.Blocks[B].Events.push_back(std::move(E));
  Result.Instructions[B].push_back(&I);
}

void Builder::visitCopy(CallBase &Call, const CallEffect &Effect) {
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
  EventKind As = EventKind::Copy;
  Side ToSide = Side::Any, FromSide = Side::Any;
  if (Direction == HostToDevice) {
    As = HasTwin ? EventKind::CopyIn : EventKind::Copy;
    ToSide = Side::Device;
    FromSide = Side::Host;
  } else if (Direction == DeviceToHost) {
    As = HasTwin ? EventKind::CopyOut : EventKind::Copy;
    ToSide = Side::Host;
    FromSide = Side::Device;
  } else if (Direction == DeviceToDevice) {
    ToSide = FromSide = Side::Device;
  }
  Event E = event(As, Call);
  E.Bytes = sizeOf(Bytes);
  E.Stream = Effect.Stream >= 0 ? streamOf(Call.getArgOperand(Effect.Stream))
             : As == EventKind::Copy ? DefaultStream
                                     : Synchronous;
  addUses(E, From, FromSide, true, false, Bytes);
  addUses(E, To, ToSide, false, true, Bytes);
  if (As == EventKind::Copy) {
    noteAccess(Call, From);
    noteAccess(Call, To);
    erase_if(E.Uses, [&](const BufferUse &U) {
      return Result.Program.Buffers[U.Buffer].Kind == BufferKind::Host;
    });
  }
  push(std::move(E), Call);
}

void Builder::visitLaunch(CallBase &Call) {
  const Function &Stub = *Call.getCalledFunction();
  Event E = event(EventKind::Launch, Call);
  E.Stream = launchStream(Call);
  if (!Kernels.kernel(Stub).Record)
    Result.UnknownKernels.try_emplace(E.Name, E.Where);
  if (Kernels.touchesAnything(Stub)) {
    const std::vector<MemoryObject> &Objects = Pointers.objects();
    // Host memory, if its address is in device memory.
    SmallDenseSet<unsigned, 8> Reachable;
    for (unsigned O = 0; O < Objects.size(); ++O)
      if (Objects[O].Kind == ObjectKind::Buffer &&
          (Objects[O].Buffer != BufferKind::Host || Objects[O].Escapes)) {
        Reachable.insert(O);
        for (const Target &T : Pointers.contents(O))
          Reachable.insert(T.Object);
      }
    for (unsigned O = 0; O < Objects.size(); ++O) {
      if (Objects[O].Kind != ObjectKind::Buffer || !Reachable.count(O))
        continue;
      BufferUse U;
      U.Buffer = BufferOf[O];
      U.Reads = U.Writes = true;
      addUse(E, U);
    }
  }
  for (const llvm::Use &Operand : Call.args()) {
    unsigned Parameter = Call.getArgOperandNo(&Operand);
    TargetSet Targets = Pointers.pointsTo(Operand);
    if (!Call.isByValArgument(Parameter)) {
      PointerUse U = Kernels.use(Stub, Parameter, 0);
      if (U.Reads || U.Writes)
        addUses(E, Targets, Operand, Side::Any, U.Reads, U.Writes, nullptr);
      continue;
    }
    // A structure: the pointers that are stored in it.
    for (const Target &T : Targets) {
      for (const Target &Inner : Pointers.contents(T.Object)) {
        PointerUse U;
        if (T.Offset != Target::AnyOffset) {
          U.Reads = U.Writes = false;
          // The fields in which it may be.
          for (int64_t Offset = T.Offset; Offset < T.Offset + 4096;
               Offset += 4) {
            if (!Pointers.contents(T.Object, Offset).count(Inner))
              continue;
            PointerUse Field = Kernels.use(Stub, Parameter, Offset - T.Offset);
            U.Reads |= Field.Reads;
            U.Writes |= Field.Writes;
          }
          bool Anywhere =
              Pointers.contents(T.Object, T.Offset + 4096).count(Inner);
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

void Builder::visitOpaque(CallBase &Call) {
  if (Call.doesNotAccessMemory())
    return;
  // Functions of this unit that were left out: worth another try.
  if (const Function *Callee = Call.getCalledFunction();
      Callee && !Callee->isDeclaration()) {
    bool Given = any_of(Call.args(), [&](const llvm::Use &Operand) {
      return any_of(Pointers.pointsTo(Operand), [&](const Target &T) {
        return Pointers.objects()[T.Object].Kind == ObjectKind::Buffer;
      });
    });
    if (Given)
      Result.Missed.push_back(&Call);
  }
  Event E = event(EventKind::Opaque, Call);
  addEscapedUses(E, Side::Any, true, true);
  for (const llvm::Use &Operand : Call.args())
    noteAccess(Call, Operand);
  bool AnyFile = any_of(Pointers.objects(), [](const MemoryObject &O) {
    return O.Kind == ObjectKind::File && O.Escapes;
  });
  if (!E.Uses.empty() || AnyFile || !Files.empty())
    push(std::move(E), Call);
}

void Builder::visitCall(CallBase &Call) {
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
  if (!Effect)
    return visitOpaque(Call);
  switch (Effect->Kind) {
  case CallKind::AllocateInto:
  case CallKind::Allocate: {
    Event E = event(EventKind::Allocate, Call);
    BufferUse U;
    U.Buffer = BufferOf[*Pointers.objectOf(&Call)];
    U.Must = true;
    E.Uses.push_back(U);
    E.Bytes = Result.Program.Buffers[U.Buffer].Bytes;
    return push(std::move(E), Call);
  }
  case CallKind::Free: {
    bool OfDevice = Call.getCalledFunction()->getName() == "cudaFree" ||
                    Call.getCalledFunction()->getName() == "cudaFreeAsync";
    Event E = event(EventKind::Free, Call);
    addUses(E, Call.getArgOperand(Effect->Pointer),
            OfDevice ? Side::Device : Side::Host, false, false, nullptr);
    if (!E.Uses.empty())
      push(std::move(E), Call);
    return;
  }
  case CallKind::FreeAll: {
    Event E = event(EventKind::Free, Call);
    for (unsigned B = 0; B < Result.Program.Buffers.size(); ++B)
      if (Result.Program.Buffers[B].Kind != BufferKind::Host) {
        BufferUse U;
        U.Buffer = B;
        addUse(E, U);
      }
    return push(std::move(E), Call);
  }
  case CallKind::Copy:
    return visitCopy(Call, *Effect);
  case CallKind::Fill: {
    Event E = event(EventKind::Fill, Call);
    const SCEV *Bytes = bytesOf(Call, Effect->Bytes, CallEffect::None);
    E.Bytes = sizeOf(Bytes);
    E.Stream = Effect->Stream >= 0
                   ? streamOf(Call.getArgOperand(Effect->Stream))
                   : DefaultStream;
    addUses(E, Call.getArgOperand(Effect->Pointer), Side::Device, false, true,
            Bytes);
    noteAccess(Call, Call.getArgOperand(Effect->Pointer));
    return push(std::move(E), Call);
  }
  case CallKind::FileRead:
  case CallKind::FileWrite: {
    bool Reads = Effect->Kind == CallKind::FileRead;
    Event E = event(Reads ? EventKind::FileRead : EventKind::FileWrite, Call);
    const SCEV *Bytes = bytesOf(Call, Effect->Bytes, Effect->Count);
    E.Bytes = sizeOf(Bytes);
    E.File = fileOf(Call.getArgOperand(Effect->File));
    addUses(E, Call.getArgOperand(Effect->Pointer), Side::Host, !Reads, Reads,
            Bytes);
    return push(std::move(E), Call);
  }
  case CallKind::FileOpen: {
    Event E = event(EventKind::FileOpen, Call);
    E.File = fileOf(&Call);
    return push(std::move(E), Call);
  }
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
    Event E = event(EventKind::FileUse, Call);
    if (Effect->File >= 0) {
      Value *File = Call.getArgOperand(Effect->File);
      E.File = isa<ConstantPointerNull>(File) ? -1 : fileOf(File);
    }
    push(std::move(E), Call);
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

void Builder::visit(Instruction &I) {
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

// -- Host code --------------------------------------------------------------

void Builder::noteAccess(Instruction &I, const Value *Pointer) {
  for (const Target &T : Pointers.pointsTo(Pointer)) {
    const MemoryObject &O = Pointers.objects()[T.Object];
    if (O.Kind == ObjectKind::Buffer && O.Buffer != BufferKind::Device)
      Accesses.push_back({&I, BufferOf[T.Object]});
  }
}

void Builder::insertBefore(Event E, Instruction &I) {
  unsigned B = BlockOf[I.getParent()];
  std::vector<Instruction *> &Here = Result.Instructions[B];
  size_t At = 0;
  while (At < Here.size() && (Here[At] == &I || Here[At]->comesBefore(&I)))
    ++At;
  // In front of an event of the same call.
  while (At > 0 && Here[At - 1] == &I)
    --At;
  Here.insert(Here.begin() + At, &I);
  std::vector<Event> &Events = Result.Program.Blocks[B].Events;
  Events.insert(Events.begin() + At, std::move(E));
}

void Builder::addHostAccess(Instruction &I, unsigned Buffer) {
  auto IsOther = [&](const Instruction *Other) {
    return any_of(Accesses, [&](const auto &A) {
      return A.first == Other && A.second == Buffer;
    });
  };
  // Does the loop have events of the buffer other than accesses?
  auto HasTransfers = [&](const Loop &L) {
    for (const BasicBlock *B : L.blocks()) {
      unsigned Index = BlockOf[B];
      const auto &Events = Result.Program.Blocks[Index].Events;
      for (size_t E = 0; E < Events.size(); ++E)
        if (Events[E].Kind != EventKind::HostAccess && Events[E].find(Buffer) &&
            !IsOther(Result.Instructions[Index][E]))
          return true;
    }
    return false;
  };
  Instruction *At = &I;
  bool Repeated = false;
  for (Loop *L = Loops.getLoopFor(I.getParent()); L; L = L->getParentLoop()) {
    if (HasTransfers(*L)) {
      Repeated = true;
      break;
    }
    BasicBlock *Before = L->getLoopPreheader();
    if (!Before)
      break;
    At = Before->getTerminator();
  }
  std::string Name = "host code";
  if (auto *Call = dyn_cast<CallBase>(&I))
    Name = "'" + calleeName(*Call) + "'";
  // Once between transfers is enough.
  unsigned Index = BlockOf[At->getParent()];
  const auto &Here = Result.Instructions[Index];
  const auto &Events = Result.Program.Blocks[Index].Events;
  for (size_t E = Here.size(); E > 0; --E) {
    if (!(Here[E - 1] == At || Here[E - 1]->comesBefore(At)) ||
        !Events[E - 1].find(Buffer))
      continue;
    if (Events[E - 1].Kind == EventKind::HostAccess)
      return;
    break;
  }
  Event E = event(EventKind::HostAccess, I);
  E.Name = Name;
  E.Repeated = Repeated;
  E.Blind = Result.Program.Buffers[Buffer].Several;
  BufferUse U;
  U.Buffer = Buffer;
  U.Reads = U.Writes = true;
  E.Uses.push_back(U);
  insertBefore(std::move(E), *At);
}

void Builder::addHostAccesses() {
  // Only what is used by files or copies, or lives on both sides, matters.
  std::vector<bool> Matters(Result.Program.Buffers.size());
  for (unsigned B = 0; B < Matters.size(); ++B)
    Matters[B] = Result.Program.Buffers[B].Kind == BufferKind::Managed;
  for (const Block &B : Result.Program.Blocks)
    for (const Event &E : B.Events)
      if (E.Kind != EventKind::Allocate && E.Kind != EventKind::Free)
        for (const BufferUse &U : E.Uses)
          Matters[U.Buffer] = true;
  for (auto [I, Buffer] : Accesses)
    if (Matters[Buffer])
      addHostAccess(*I, Buffer);
}

BuiltProgram Builder::build() {
  findCycles();
  addBuffers();
  addBlocks();
  Result.Instructions.resize(Result.Program.Blocks.size());
  for (BasicBlock &B : F)
    if (BlockOf.count(&B))
      for (Instruction &I : B)
        visit(I);
  addHostAccesses();
  markFailures();
  Result.Program.spreadFailure();
  Result.Instructions.resize(Result.Program.Blocks.size());
  return std::move(Result);
}

} // namespace

BuiltProgram buildBufferProgram(Function &Flat,
                                FunctionAnalysisManager &Analyses,
                                const KernelSummaries &Kernels,
                                ArrayRef<const GlobalVariable *> OwnGlobals,
                                bool IsMain) {
  return Builder(Flat, Analyses, Kernels, OwnGlobals, IsMain).build();
}

} // namespace dragon
