//===- LoopSlicing.cpp - copies of kernels that run part of a loop --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopSlicing.h"

#include "passes/slicing/LoopChain.h"
#include "passes/slicing/LoopExits.h"
#include "passes/slicing/LoopLegality.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr uint64_t SharedAlignment = 16;
/// Local memory is kept in words of these bytes.
constexpr uint64_t WordBytes = 4;

/// A variable in shared memory that a block keeps; 0 bytes: what is dynamic.
struct KeptVariable {
  GlobalVariable *Variable;
  uint64_t Bytes;
  uint64_t Offset; ///< in what the block keeps
};

/// What a thread and a block keep from launch to launch.
struct KeptState {
  SmallVector<PHINode *, 8> Phis; ///< the largest ones first
  SmallVector<AllocaInst *, 4> Locals;
  SmallVector<KeptVariable, 4> Variables;
  uint64_t PhiBytes = 0, ThreadBytes = 0, BlockBytes = 0;
  bool KeepsDynamic = false;
};

Type *keptType(Type *T) {
  const auto *Int = dyn_cast<IntegerType>(T);
  return Int ? IntegerType::get(
                   T->getContext(),
                   unsigned(PowerOf2Ceil(std::max(8u, Int->getBitWidth()))))
             : T;
}

uint64_t keptBytes(const PHINode &Phi) {
  return PowerOf2Ceil(
      Phi.getDataLayout().getTypeStoreSize(keptType(Phi.getType())));
}

/// Bytes that a thread keeps of it: whole words.
uint64_t keptBytes(const AllocaInst &Local) {
  // Those of unknown size are not kept (LoopLegality.h).
  const auto Bytes = Local.getAllocationSize(Local.getDataLayout());
  return Bytes ? alignTo(Bytes->getFixedValue(), WordBytes) : 0;
}

KeptState stateOf(Loop &L, const LoopLegality &Legality,
                  ValueToValueMapTy &Map) {
  const SetVector<GlobalVariable *> &Shared = Legality.Shared;
  KeptState State;
  for (uint64_t Bytes = 16; Bytes; Bytes /= 2)
    for (PHINode &Phi : L.getHeader()->phis())
      if (keptBytes(Phi) == Bytes) {
        State.Phis.push_back(&Phi);
        State.ThreadBytes += Bytes;
      }
  State.PhiBytes = State.ThreadBytes;
  State.ThreadBytes = alignTo(State.ThreadBytes, WordBytes);
  for (AllocaInst *Local : Legality.Locals) {
    State.Locals.push_back(cast<AllocaInst>(Map[Local]));
    State.ThreadBytes += keptBytes(*Local);
  }
  for (GlobalVariable *Variable : Shared) {
    if (Variable->isDeclaration()) {
      State.KeepsDynamic = true;
      continue;
    }
    const uint64_t Bytes =
        Variable->getDataLayout().getTypeAllocSize(Variable->getValueType());
    State.Variables.push_back({Variable, Bytes, State.BlockBytes});
    State.BlockBytes += alignTo(Bytes, SharedAlignment);
  }
  // All dynamic variables are the same memory.
  if (State.KeepsDynamic)
    State.Variables.push_back(
        {*find_if(Shared, [](GlobalVariable *V) { return V->isDeclaration(); }),
         0, State.BlockBytes});
  return State;
}

class LoopCutter {
public:
  /// `Map`: what of the kernel became what of the copy.
  LoopCutter(Function &Copy, Loop &L, const LoopToCut &Cut,
             ValueToValueMapTy &Map)
      : Copy(Copy), L(L), State(stateOf(L, Cut.Legality, Map)),
        Chain(Cut.Chain), Where(Chain ? Map[Chain->Where] : nullptr),
        OwnIteration(Chain ? Map[Chain->Iteration] : nullptr),
        Round(Chain && Chain->Round ? Map[Chain->Round] : nullptr),
        NumExtra(6 + (Chain ? Chain->NumLoops + Chain->NumNests : 0)),
        Area(argument(0)), Begin(argument(1)), End(argument(2)),
        First(argument(3)), Blocks(argument(4)), Dynamic(argument(5)) {}

  void cut();
  const KeptState &state() const { return State; }

private:
  void computePlaces(Instruction &Before);
  Value *placeAt(IRBuilder<> &B, uint64_t Before, uint64_t Bytes);
  Value *placeOf(IRBuilder<> &B, const PHINode &Phi);
  void growLocals();
  void copyLocals(IRBuilder<> &B, bool Save);
  /// Copies the block's shared memory, from or to the state.
  void copyShared(IRBuilder<> &B, bool Save);
  void copyBytes(IRBuilder<> &B, Value *To, Value *From, Value *Bytes,
                 unsigned Width);
  BasicBlock *addRestore(BasicBlock &Front);
  BasicBlock *addSave();
  void barrier(IRBuilder<> &B) {
    B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                      ArrayRef<Type *>(), {B.getInt32(0)});
  }

  Value *addIteration(BasicBlock &Front, BasicBlock &Restored);
  Value *isStopped(IRBuilder<> &B, Value *Iteration);

  Value *argument(unsigned Extra) {
    return Copy.getArg(unsigned(Copy.arg_size()) - NumExtra + Extra);
  }

  Function &Copy;
  Loop &L;
  KeptState State;
  const LoopChain *const Chain;
  Value *const Where, *const OwnIteration, *const Round;
  const unsigned NumExtra;
  Value *const Area, *const Begin, *const End, *const First, *const Blocks,
                                                                 *const Dynamic;
  Value *Threads = nullptr;       ///< that keep something
  Value *Thread = nullptr;        ///< among them
  Value *ThreadOfBlock = nullptr; ///< 32 bits, as the next
  Value *ThreadsOfBlock = nullptr;
  Value *BlockArea = nullptr; ///< where the block keeps its shared memory
};

/// The thread's and the block's numbers, and what depends on them alone.
void LoopCutter::computePlaces(Instruction &Before) {
  IRBuilder<> B(&Before);
  auto read = [&](Intrinsic::ID Id) -> Value * {
    return B.CreateIntrinsic(Id, ArrayRef<Type *>(), {});
  };
  Value *BlockDim[3] = {read(Intrinsic::nvvm_read_ptx_sreg_ntid_x),
                        read(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
                        read(Intrinsic::nvvm_read_ptx_sreg_ntid_z)};
  Value *GridDim[3] = {read(Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
                       read(Intrinsic::nvvm_read_ptx_sreg_nctaid_y),
                       read(Intrinsic::nvvm_read_ptx_sreg_nctaid_z)};
  Value *Tid[3] = {read(Intrinsic::nvvm_read_ptx_sreg_tid_x),
                   read(Intrinsic::nvvm_read_ptx_sreg_tid_y),
                   read(Intrinsic::nvvm_read_ptx_sreg_tid_z)};
  Value *Block[3] = {read(Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                     read(Intrinsic::nvvm_read_ptx_sreg_ctaid_y),
                     read(Intrinsic::nvvm_read_ptx_sreg_ctaid_z)};
  auto linear = [&](Value *const At[3], Value *const Of[3], Type *T) {
    Value *Sum = B.CreateZExt(At[2], T);
    for (unsigned D : {1u, 0u})
      Sum = B.CreateAdd(B.CreateMul(Sum, B.CreateZExt(Of[D], T)),
                        B.CreateZExt(At[D], T));
    return Sum;
  };
  auto product = [&](Value *const Of[3], Type *T) {
    return B.CreateMul(
        B.CreateMul(B.CreateZExt(Of[0], T), B.CreateZExt(Of[1], T)),
        B.CreateZExt(Of[2], T));
  };
  Type *Wide = B.getInt64Ty();
  ThreadOfBlock = linear(Tid, BlockDim, B.getInt32Ty());
  ThreadsOfBlock = product(BlockDim, B.getInt32Ty());
  Value *BlockNumber = B.CreateSub(linear(Block, GridDim, Wide), First);
  Value *PerBlock = B.CreateZExt(ThreadsOfBlock, Wide);
  Threads = B.CreateMul(Blocks, PerBlock);
  Thread = B.CreateAdd(B.CreateMul(BlockNumber, PerBlock),
                       B.CreateZExt(ThreadOfBlock, Wide));
  if (State.Variables.empty())
    return;
  auto roundedUp = [&](Value *Bytes) {
    return B.CreateAnd(B.CreateAdd(Bytes, B.getInt64(SharedAlignment - 1)),
                       B.getInt64(~(SharedAlignment - 1)));
  };
  Value *Each = B.getInt64(State.BlockBytes);
  if (State.KeepsDynamic)
    Each = B.CreateAdd(Each, roundedUp(B.CreateZExt(Dynamic, Wide)));
  Value *OfThreads =
      roundedUp(B.CreateMul(Threads, B.getInt64(State.ThreadBytes)));
  BlockArea = B.CreatePtrAdd(
      Area, B.CreateAdd(OfThreads, B.CreateMul(BlockNumber, Each)));
}

/// The thread's `Bytes` of those that the threads keep of one thing: one
/// thread's behind the other's. `Before`: what a thread keeps of others.
Value *LoopCutter::placeAt(IRBuilder<> &B, uint64_t Before, uint64_t Bytes) {
  return B.CreatePtrAdd(Area,
                        B.CreateAdd(B.CreateMul(Threads, B.getInt64(Before)),
                                    B.CreateMul(Thread, B.getInt64(Bytes))));
}

Value *LoopCutter::placeOf(IRBuilder<> &B, const PHINode &Phi) {
  uint64_t Before = 0;
  for (const PHINode *Other : State.Phis) {
    if (Other == &Phi)
      break;
    Before += keptBytes(*Other);
  }
  return placeAt(B, Before, keptBytes(Phi));
}

/// Variables of whole words, which live from the beginning to the end.
void LoopCutter::growLocals() {
  for (AllocaInst *Local : State.Locals) {
    Type *Words =
        ArrayType::get(Type::getIntNTy(Copy.getContext(), 8 * WordBytes),
                       keptBytes(*Local) / WordBytes);
    IRBuilder<> B(Local);
    auto *Grown = B.CreateAlloca(Words, Local->getAddressSpace());
    Grown->setAlignment(std::max(Local->getAlign(), Align(WordBytes)));
    for (User *By : make_early_inc_range(Local->users()))
      if (auto *Mark = dyn_cast<LifetimeIntrinsic>(By))
        Mark->eraseFromParent();
    Local->replaceAllUsesWith(Grown);
    Grown->takeName(Local);
    Local->eraseFromParent();
    *find(State.Locals, Local) = Grown;
  }
}

void LoopCutter::copyLocals(IRBuilder<> &B, bool Save) {
  uint64_t Before = alignTo(State.PhiBytes, WordBytes);
  Type *Word = B.getIntNTy(8 * WordBytes);
  for (AllocaInst *Local : State.Locals)
    for (uint64_t At = 0; At < keptBytes(*Local);
         At += WordBytes, Before += WordBytes) {
      Value *Here = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Local, At);
      Value *There = placeAt(B, Before, WordBytes);
      B.CreateStore(B.CreateLoad(Word, Save ? Here : There),
                    Save ? There : Here);
    }
}

/// for (i = thread of block; i < Bytes / Width; i += threads of block)
///   To[i] = From[i];
void LoopCutter::copyBytes(IRBuilder<> &B, Value *To, Value *From, Value *Bytes,
                           unsigned Width) {
  LLVMContext &Context = Copy.getContext();
  Type *Element = IntegerType::get(Context, Width * 8);
  Value *Count = B.CreateUDiv(Bytes, B.getInt32(Width));
  BasicBlock *Before = B.GetInsertBlock();
  BasicBlock *Head = BasicBlock::Create(Context, "dragon.copy", &Copy);
  BasicBlock *Body = BasicBlock::Create(Context, "dragon.copy.body", &Copy);
  BasicBlock *After = BasicBlock::Create(Context, "dragon.copied", &Copy);
  B.CreateBr(Head);
  B.SetInsertPoint(Head);
  PHINode *At = B.CreatePHI(B.getInt32Ty(), 2);
  At->addIncoming(ThreadOfBlock, Before);
  B.CreateCondBr(B.CreateICmpULT(At, Count), Body, After);
  B.SetInsertPoint(Body);
  Value *Index = B.CreateZExt(At, B.getInt64Ty());
  B.CreateStore(B.CreateLoad(Element, B.CreateGEP(Element, From, Index)),
                B.CreateGEP(Element, To, Index));
  At->addIncoming(B.CreateAdd(At, ThreadsOfBlock), Body);
  B.CreateBr(Head);
  B.SetInsertPoint(After);
}

void LoopCutter::copyShared(IRBuilder<> &B, bool Save) {
  if (State.Variables.empty())
    return;
  // What other threads did before is done.
  barrier(B);
  for (const KeptVariable &Kept : State.Variables) {
    Value *Bytes = Kept.Bytes ? B.getInt32(uint32_t(Kept.Bytes)) : Dynamic;
    Value *There = B.CreatePtrAdd(BlockArea, B.getInt64(Kept.Offset));
    Value *From = Save ? Kept.Variable : There;
    Value *To = Save ? There : Kept.Variable;
    const bool InWords =
        Kept.Variable->getPointerAlignment(Copy.getDataLayout()) >= 4 &&
        Kept.Bytes && Kept.Bytes % 4 == 0;
    copyBytes(B, To, From, Bytes, InWords ? 4 : 1);
  }
  if (!Save)
    barrier(B);
}

/// What a launch behind the first one does in front of the loop.
BasicBlock *LoopCutter::addRestore(BasicBlock &Front) {
  BasicBlock *Head = L.getHeader();
  BasicBlock *Restore =
      BasicBlock::Create(Copy.getContext(), "dragon.restore", &Copy, Head);
  IRBuilder<> B(Restore);
  copyShared(B, false);
  copyLocals(B, false);
  SmallVector<std::pair<PHINode *, Value *>, 8> Values;
  for (PHINode *Phi : State.Phis) {
    Type *T = Phi->getType(), *Kept = keptType(T);
    Value *Loaded = B.CreateLoad(Kept, placeOf(B, *Phi));
    Values.emplace_back(Phi, Kept == T ? Loaded : B.CreateTrunc(Loaded, T));
  }
  for (auto [Phi, Value] : Values)
    Phi->addIncoming(Value, B.GetInsertBlock());
  B.CreateBr(Head);
  Instruction *Old = Front.getTerminator();
  IRBuilder<> AtFront(Old);
  AtFront.CreateCondBr(AtFront.CreateICmpEQ(Begin, AtFront.getInt64(0)), Head,
                       Restore);
  Old->eraseFromParent();
  return B.GetInsertBlock();
}

/// How a launch before the last one ends.
BasicBlock *LoopCutter::addSave() {
  BasicBlock *Save =
      BasicBlock::Create(Copy.getContext(), "dragon.save", &Copy);
  IRBuilder<> B(Save);
  copyShared(B, true);
  copyLocals(B, true);
  for (PHINode *Phi : State.Phis) {
    Type *T = Phi->getType(), *Kept = keptType(T);
    B.CreateStore(Kept == T ? Phi : B.CreateZExt(Phi, Kept), placeOf(B, *Phi));
  }
  B.CreateRetVoid();
  return Save;
}

/// What counts a loop's iterations; a chain has it.
Value *LoopCutter::addIteration(BasicBlock &Front, BasicBlock &Restored) {
  if (OwnIteration)
    return OwnIteration;
  BasicBlock *Head = L.getHeader(), *Latch = L.getLoopLatch();
  IRBuilder<> B(Head, Head->begin());
  PHINode *Iteration = B.CreatePHI(B.getInt64Ty(), 3, "dragon.iteration");
  Iteration->addIncoming(B.getInt64(0), &Front);
  Iteration->addIncoming(Begin, &Restored);
  IRBuilder<> AtLatch(Latch->getTerminator());
  Iteration->addIncoming(AtLatch.CreateAdd(Iteration, AtLatch.getInt64(1), "",
                                           /*HasNUW=*/true),
                         Latch);
  return Iteration;
}

/// The launch does not go on with this iteration.
Value *LoopCutter::isStopped(IRBuilder<> &B, Value *Iteration) {
  if (!Chain)
    return B.CreateICmpEQ(Iteration, End);
  Value *Stops = B.getFalse();
  for (const LoopChain::Phase &Phase : reverse(Chain->Phases)) {
    Value *In = Phase.Loop
                    ? B.CreateICmpUGE(Iteration, argument(6 + *Phase.Loop))
                    : B.getTrue();
    if (Phase.Nest) {
      Value *Last = argument(6 + Chain->NumLoops + *Phase.Nest);
      In = B.CreateOr(B.CreateICmpUGT(Round, Last),
                      B.CreateAnd(B.CreateICmpEQ(Round, Last), In));
    }
    Stops = B.CreateSelect(B.CreateICmpULT(Where, B.getInt32(Phase.Bound)), In,
                           Stops);
  }
  return Stops;
}

void LoopCutter::cut() {
  BasicBlock *Head = L.getHeader(), *Front = L.getLoopPreheader();
  growLocals();
  computePlaces(*Front->getTerminator());
  BasicBlock *Restored = addRestore(*Front);
  BasicBlock *Save = addSave();

  Value *Iteration = addIteration(*Front, *Restored);

  // Head: the phis, then whether this launch goes on; Test: the rest of it.
  BasicBlock *Test =
      Head->splitBasicBlock(Head->getFirstNonPHIIt(), "dragon.test");
  Instruction *Old = Head->getTerminator();
  IRBuilder<> B(Old);
  B.CreateCondBr(isStopped(B, Iteration), Save, Test);
  Old->eraseFromParent();

  // A thread that is done goes on in the last launch.
  auto *Condition = cast<BranchInst>(Test->getTerminator());
  const unsigned Out = L.contains(Condition->getSuccessor(0)) ? 1 : 0;
  BasicBlock *Behind = Condition->getSuccessor(Out);
  BasicBlock *Done =
      BasicBlock::Create(Copy.getContext(), "dragon.done", &Copy, Behind);
  Condition->setSuccessor(Out, Done);
  Behind->replacePhiUsesWith(Test, Done);
  B.SetInsertPoint(Done);
  B.CreateCondBr(B.CreateICmpEQ(End, B.getInt64(UINT64_MAX)), Behind, Save);
}

} // namespace

std::string loopCopyName(StringRef Kernel) {
  return ("__dragon_loop_" + Kernel).str();
}

void addLoopCopy(Function &Kernel, const LoopToCut &Cut,
                 KernelSummary &Summary) {
  LLVMContext &Context = Kernel.getContext();
  Type *Long = Type::getInt64Ty(Context);
  SmallVector<Type *, 10> Types = {
      PointerType::get(Context, 0), Long, Long, Long, Long,
      Type::getInt32Ty(Context)};
  SmallVector<StringRef, 10> Names = {"dragon.state",  "dragon.begin",
                                      "dragon.end",    "dragon.first",
                                      "dragon.blocks", "dragon.dynamic"};
  if (Cut.Chain) {
    Types.append(Cut.Chain->NumLoops + Cut.Chain->NumNests, Long);
    Names.append(Cut.Chain->NumLoops, "dragon.ends");
    Names.append(Cut.Chain->NumNests, "dragon.rounds");
  }
  ValueToValueMapTy Map;
  Function *Copy = cloneWithExtraParameters(
      Cut.Code, Types, Names, loopCopyName(Kernel.getName()), &Map);
  DominatorTree DT(*Copy);
  LoopInfo LI(DT);
  Loop &L = *LI.getLoopFor(cast<BasicBlock>(Map[Cut.L.getHeader()]));
  InsertPreheaderForLoop(&L, &DT, &LI, nullptr, /*PreserveLCSSA=*/false);
  SmallVector<BasicBlock *, 2> Latches;
  L.getLoopLatches(Latches);
  if (Latches.size() > 1)
    SplitBlockPredecessors(L.getHeader(), Latches, ".dragon.latch", &DT, &LI);
  if (Cut.Legality.RemembersExit)
    leaveAtHead(L, DT, LI);
  Cut.Legality.Once.rewrite(Map, L,
                            *Copy->getArg(unsigned(Kernel.arg_size()) + 1));
  LoopCutter Cutter(*Copy, L, Cut, Map);
  Cutter.cut();
  keepCopyOfKernel(Kernel, *Copy);

  const KeptState &State = Cutter.state();
  Summary.LoopName = loopCopyName(Kernel.getName());
  Summary.LoopThreadBytes = uint32_t(State.ThreadBytes);
  Summary.LoopBlockBytes = uint32_t(State.BlockBytes);
  if (State.KeepsDynamic)
    Summary.Flags |= KernelLoopKeepsDynamic;
  if (Cut.Legality.NeedsDistinct)
    Summary.Flags |= KernelLoopNeedsDistinct;
}

} // namespace dragon
