//===- NvccVariables.cpp - variables that only nvcc has -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/NvccVariables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr StringLiteral ManagedMark = "dragon-managed";
constexpr StringLiteral ClusterMark = "dragon-cluster";

/// Takes what has the mark out of llvm.global.annotations, and gives it and the
/// annotation's arguments (or null) to `Visit`.
bool takeMarked(Module &M, StringRef Mark,
                function_ref<void(GlobalObject &, const Constant *)> Visit) {
  GlobalVariable *All = M.getNamedGlobal("llvm.global.annotations");
  auto *List =
      All ? dyn_cast_or_null<ConstantArray>(All->getInitializer()) : nullptr;
  if (!List)
    return false;
  bool Found = false;
  SmallVector<Constant *, 8> Others;
  for (Value *Entry : List->operands()) {
    auto *Fields = dyn_cast<ConstantStruct>(Entry);
    auto *Text = Fields ? dyn_cast<GlobalVariable>(
                              Fields->getOperand(1)->stripPointerCasts())
                        : nullptr;
    auto *Data = Text && Text->hasInitializer()
                     ? dyn_cast<ConstantDataSequential>(Text->getInitializer())
                     : nullptr;
    if (!Data || !Data->isCString() || Data->getAsCString() != Mark) {
      Others.push_back(cast<Constant>(Entry));
      continue;
    }
    Found = true;
    auto *Args = Fields->getNumOperands() > 4
                     ? dyn_cast<GlobalVariable>(
                           Fields->getOperand(4)->stripPointerCasts())
                     : nullptr;
    if (auto *Marked =
            dyn_cast<GlobalObject>(Fields->getOperand(0)->stripPointerCasts()))
      Visit(*Marked,
            Args && Args->hasInitializer() ? Args->getInitializer() : nullptr);
  }
  if (!Found)
    return false;
  if (!Others.empty()) {
    auto *Type =
        ArrayType::get(List->getType()->getElementType(), Others.size());
    auto *Fewer =
        new GlobalVariable(M, Type, All->isConstant(), All->getLinkage(),
                           ConstantArray::get(Type, Others));
    Fewer->setSection(All->getSection());
    Fewer->takeName(All);
  }
  All->eraseFromParent();
  return true;
}

SmallVector<GlobalVariable *, 4> takeManaged(Module &M) {
  SmallVector<GlobalVariable *, 4> Managed;
  takeMarked(M, ManagedMark, [&](GlobalObject &Marked, const Constant *) {
    // A declaration and the definition may both have it.
    if (auto *Variable = dyn_cast<GlobalVariable>(&Marked);
        Variable && !is_contained(Managed, Variable))
      Managed.push_back(Variable);
  });
  // The host's, by their section: extern ones of other files too.
  for (GlobalVariable &Variable : M.globals()) {
    if (Variable.getSection() != ManagedMark)
      continue;
    Variable.setSection("");
    if (!is_contained(Managed, &Variable))
      Managed.push_back(&Variable);
  }
  return Managed;
}

/// Kernels whose blocks come in clusters: "nvvm.cluster_dim"="x,y,z".
bool lowerClusters(Module &M) {
  return takeMarked(
      M, ClusterMark, [](GlobalObject &Marked, const Constant *Args) {
        auto *Kernel = dyn_cast<Function>(&Marked);
        if (!Kernel || !Args)
          return;
        uint64_t Extents[3] = {1, 1, 1};
        for (unsigned I = 0; I < 3; ++I)
          if (auto *Extent =
                  dyn_cast_or_null<ConstantInt>(Args->getAggregateElement(I)))
            Extents[I] = Extent->getZExtValue();
        Kernel->addFnAttr("nvvm.cluster_dim",
                          (Twine(Extents[0]) + "," + Twine(Extents[1]) + "," +
                           Twine(Extents[2]))
                              .str());
      });
}

/// The address of a managed variable, out of the host's pointer to it:
/// modules are loaded when they are first needed.
Function *addressFunction(Module &M) {
  constexpr StringLiteral Name = "dragon.managed.address";
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &Context = M.getContext();
  Type *Pointer = PointerType::getUnqual(Context);
  auto *F = Function::Create(FunctionType::get(Pointer, {Pointer}, false),
                             GlobalValue::InternalLinkage, Name, M);
  auto *Entry = BasicBlock::Create(Context, "entry", F);
  auto *Load = BasicBlock::Create(Context, "load", F);
  auto *Done = BasicBlock::Create(Context, "done", F);
  Value *Slot = F->getArg(0);
  IRBuilder<> Builder(Entry);
  Value *First = Builder.CreateLoad(Pointer, Slot);
  Builder.CreateCondBr(Builder.CreateIsNull(First), Load, Done);
  Builder.SetInsertPoint(Load);
  Builder.CreateCall(
      M.getOrInsertFunction("__cudaInitModule",
                            FunctionType::get(Builder.getInt8Ty(), {Pointer},
                                              /*isVarArg=*/false)),
      {ConstantPointerNull::get(cast<PointerType>(Pointer))});
  Value *Second = Builder.CreateLoad(Pointer, Slot);
  Builder.CreateBr(Done);
  Builder.SetInsertPoint(Done);
  PHINode *Address = Builder.CreatePHI(Pointer, 2);
  Address->addIncoming(First, Entry);
  Address->addIncoming(Second, Load);
  Builder.CreateRet(Address);
  return F;
}

/// Clang declares it with the parameters that HIP's has.
FunctionCallee registerManaged(Module &M) {
  constexpr StringLiteral Name = "__cudaRegisterManagedVar";
  if (Function *Theirs = M.getFunction(Name);
      Theirs && Theirs->use_empty() && Theirs->isDeclaration())
    Theirs->eraseFromParent();
  LLVMContext &Context = M.getContext();
  Type *Pointer = PointerType::getUnqual(Context);
  Type *Int = Type::getInt32Ty(Context);
  return M.getOrInsertFunction(
      Name, FunctionType::get(Type::getVoidTy(Context),
                              {Pointer, Pointer, Pointer, Pointer, Int,
                               Type::getInt64Ty(Context), Int, Int},
                              /*isVarArg=*/false));
}

/// Whether a constant is only part of llvm.used and the like, or of clang's
/// list of other files' variables.
bool isKeptAlive(const Constant &User) {
  if (auto *Global = dyn_cast<GlobalVariable>(&User))
    return Global->getName().starts_with("llvm.") ||
           Global->getName() == "__clang_gpu_used_external";
  return all_of(User.users(), [](const llvm::User *Of) {
    auto *Other = dyn_cast<Constant>(Of);
    return Other && isKeptAlive(*Other);
  });
}

Error lowerManaged(GlobalVariable &Variable) {
  Module &M = *Variable.getParent();
  auto Refuse = [&](const Twine &What) {
    return createStringError("managed variable '" + Variable.getName() + "' " +
                             What);
  };
  auto *Pointer = PointerType::getUnqual(M.getContext());
  std::string Name = (Variable.getName() + ".managed").str();
  auto *Slot = cast<GlobalVariable>(M.getOrInsertGlobal(Name, Pointer));
  bool Elsewhere = Variable.isDeclaration();
  if (!Elsewhere) {
    Slot->setLinkage(Variable.getLinkage());
    if (Variable.hasComdat())
      Slot->setComdat(M.getOrInsertComdat(Name));
    Slot->setInitializer(ConstantPointerNull::get(Pointer));
  }
  convertUsersOfConstantsToInstructions({&Variable});
  Variable.removeDeadConstantUsers();

  bool Registered = false;
  for (Use &U : make_early_inc_range(Variable.uses())) {
    auto *I = dyn_cast<Instruction>(U.getUser());
    if (!I) {
      if (isKeptAlive(*cast<Constant>(U.getUser())))
        continue;
      return Refuse("has its address in an initialiser of a static variable, "
                    "where it is not known yet; take it in a function");
    }
    if (auto *Call = dyn_cast<CallBase>(I);
        Call && Call->getCalledFunction() &&
        Call->getCalledFunction()->getName() == "__cudaRegisterVar") {
      SmallVector<Value *, 8> Args(Call->args());
      Args[1] = Slot;
      IRBuilder<>(Call).CreateCall(registerManaged(M), Args);
      Call->eraseFromParent();
      Registered = true;
      continue;
    }
    Instruction *Before = I;
    if (auto *Phi = dyn_cast<PHINode>(I))
      Before = Phi->getIncomingBlock(U)->getTerminator();
    U.set(IRBuilder<>(Before).CreateCall(addressFunction(M), {Slot}));
  }
  if (!Registered && !Elsewhere)
    return Refuse("is not registered by this unit");
  // Nothing mirrors the shadow.
  if (!Elsewhere) {
    Variable.setLinkage(GlobalValue::InternalLinkage);
    Variable.setComdat(nullptr);
    return Error::success();
  }
  removeFromUsedLists(
      M, [&Variable](Constant *Kept) { return Kept == &Variable; });
  Variable.replaceAllUsesWith(ConstantPointerNull::get(Pointer));
  Variable.eraseFromParent();
  return Error::success();
}

} // namespace

bool lowerDeviceVariables(Module &M) {
  SmallVector<GlobalVariable *, 4> Managed = takeManaged(M);
  NamedMDNode *Annotations = M.getNamedMetadata("nvvm.annotations");
  bool Changed = lowerClusters(M) || !Managed.empty();
  if (Annotations) {
    SmallVector<MDNode *, 8> Kept;
    for (MDNode *One : Annotations->operands()) {
      auto *Key = One->getNumOperands() >= 2
                      ? dyn_cast_or_null<MDString>(One->getOperand(1))
                      : nullptr;
      auto *Texture =
          Key && Key->getString() == "texture"
              ? mdconst::dyn_extract_or_null<GlobalVariable>(One->getOperand(0))
              : nullptr;
      if (!Texture) {
        Kept.push_back(One);
        continue;
      }
      // The host writes it, whatever its linkage in the source.
      Texture->setLinkage(GlobalValue::ExternalLinkage);
      Texture->setExternallyInitialized(true);
      Texture->setInitializer(Constant::getNullValue(Texture->getValueType()));
    }
    if (Kept.size() != Annotations->getNumOperands()) {
      Changed = true;
      Annotations->clearOperands();
      for (MDNode *One : Kept)
        Annotations->addOperand(One);
    }
  }
  LLVMContext &Context = M.getContext();
  for (GlobalVariable *Variable : Managed)
    M.getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(
            MDNode::get(Context, {ConstantAsMetadata::get(Variable),
                                  MDString::get(Context, "managed"),
                                  ConstantAsMetadata::get(ConstantInt::get(
                                      Type::getInt32Ty(Context), 1))}));
  return Changed;
}

Expected<bool> lowerManagedVariables(Module &M) {
  SmallVector<GlobalVariable *, 4> Managed = takeManaged(M);
  for (GlobalVariable *Variable : Managed)
    if (Error Failed = lowerManaged(*Variable))
      return std::move(Failed);
  return !Managed.empty();
}

} // namespace dragon
