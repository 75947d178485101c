//===- UnitBitcode.cpp - a unit for the link to analyse -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/UnitBitcode.h"

#include "dragon/CompilerABI.h"
#include "passes/Options.h"
#include "passes/libraries/LibrarySummaries.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/lifetime/SummaryJoin.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon {

namespace {

/// What clang instruments by passes of its own, later on.
bool isInstrumented(const Module &M) {
  for (const Function &F : M) {
    if (F.getName().starts_with("llvm.instrprof"))
      return true;
    for (Attribute::AttrKind Kind :
         {Attribute::SanitizeAddress, Attribute::SanitizeHWAddress,
          Attribute::SanitizeMemory, Attribute::SanitizeThread,
          Attribute::SanitizeMemTag, Attribute::SanitizeType,
          Attribute::SanitizeRealtime, Attribute::SanitizeNumericalStability})
      if (F.hasFnAttribute(Kind))
        return true;
  }
  return false;
}

Error linkCpuModule(Module &M, StringRef Path) {
  auto File = MemoryBuffer::getFile(Path);
  if (!File)
    return createStringError("cannot read '" + Path +
                             "': " + File.getError().message());
  Expected<std::unique_ptr<Module>> Kernels =
      parseBitcodeFile(**File, M.getContext());
  if (!Kernels)
    return Kernels.takeError();
  if (Linker::linkModules(M, std::move(*Kernels)))
    return createStringError("cannot link the kernels of '" + Path +
                             "' into their unit");
  return Error::success();
}

/// Name and text of each file that describes something of the module's.
Expected<MDNode *> librariesOf(const Module &M) {
  LLVMContext &Context = M.getContext();
  SmallVector<Metadata *, 4> Rows;
  for (const std::string &Path : options::librarySummaries()) {
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/true);
    if (!File)
      return createStringError("cannot read the library summaries '" + Path +
                               "': " + File.getError().message());
    LibrarySummaries Library;
    if (Error Failed = Library.add(**File))
      return std::move(Failed);
    bool Used = any_of(M, [&](const Function &F) {
      return !F.isIntrinsic() && (Library.find(F.getName(), F.arg_size()) ||
                                  !Library.libraryOf(F.getName()).empty());
    });
    if (!Used)
      continue;
    Rows.push_back(MDString::get(Context, sys::path::filename(Path)));
    Rows.push_back(MDString::get(Context, (*File)->getBuffer()));
  }
  return MDNode::get(Context, Rows);
}

void addLinkMark(Module &M) {
  Type *Pointer = PointerType::getUnqual(M.getContext());
  FunctionCallee Mark =
      M.getOrInsertFunction(LinkMark, Type::getVoidTy(M.getContext()));
  auto *Reference = new GlobalVariable(
      M, Pointer, /*isConstant=*/true, GlobalValue::InternalLinkage,
      cast<Constant>(Mark.getCallee()), "dragon.link");
  appendToUsed(M, {Reference});
}

constexpr StringLiteral ValueKind = "dragon.value";

void keepNames(Module &M) {
  LLVMContext &Context = M.getContext();
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (isa<AllocaInst, GetElementPtrInst>(I) && I.hasName())
        I.setMetadata(
            ValueKind,
            MDNode::get(Context, MDString::get(Context, I.getName())));
}

Error describeUnit(Module &M, const EmbeddingOptions &Embedding) {
  LLVMContext &Context = M.getContext();
  if (const Function *Register = M.getFunction("__cudaRegisterFunction"))
    for (const User *U : Register->users())
      if (auto *Call = dyn_cast<CallBase>(U))
        const_cast<Function *>(Call->getFunction())
            ->addFnAttr(UnitAttribute, Embedding.ModuleId);

  Expected<MDNode *> Libraries = librariesOf(M);
  if (!Libraries)
    return Libraries.takeError();
  auto Number = [&](unsigned N) -> Metadata * {
    return ConstantAsMetadata::get(
        ConstantInt::get(Type::getInt32Ty(Context), N));
  };
  GlobalVariable *Summary =
      M.getGlobalVariable("dragon.summary", /*AllowInternal=*/true);
  // What the device link has left in the module that registers its result.
  NamedMDNode *Linked = M.getNamedMetadata(LinkedUnitsName);
  Metadata *Row[] = {
      Number(UnitFormat),
      Number(DRAGON_MODULE_VERSION),
      MDString::get(Context, Embedding.ModuleId),
      MDString::get(Context, Embedding.Source),
      Summary ? ConstantAsMetadata::get(Summary) : nullptr,
      ConstantAsMetadata::get(
          ConstantInt::getBool(Context, options::staging())),
      ConstantAsMetadata::get(
          ConstantInt::getBool(Context, options::wavefront())),
      Number(options::flattenLimit()),
      *Libraries,
      Linked && Linked->getNumOperands() ? Linked->getOperand(0) : nullptr,
  };
  if (Linked)
    Linked->eraseFromParent();
  M.getOrInsertNamedMetadata(UnitsName)->addOperand(MDNode::get(Context, Row));
  keepNames(M);
  addLinkMark(M);
  return Error::success();
}

Error makeUnit(Module &M, const UnitOptions &Options) {
  embedModule(M, Options.Embedding);
  if (!Options.CpuFile.empty())
    if (Error Failed = linkCpuModule(M, Options.CpuFile))
      return Failed;
  return describeUnit(M, Options.Embedding);
}

} // namespace

Expected<std::string> unitBitcode(const Module &M, const UnitOptions &Options) {
  std::string Bitcode;
  if (isInstrumented(M))
    return Bitcode;
  std::unique_ptr<Module> Unit = CloneModule(M);
  if (Error Failed = makeUnit(*Unit, Options))
    return std::move(Failed);
  raw_string_ostream Out(Bitcode);
  WriteBitcodeToFile(*Unit, Out);
  return Bitcode;
}

void restoreNames(Module &M) {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (const MDNode *Name = I.getMetadata(ValueKind)) {
        if (!I.hasName() && Name->getNumOperands() == 1)
          if (auto *Text = dyn_cast<MDString>(Name->getOperand(0)))
            I.setName(Text->getString());
        I.setMetadata(ValueKind, nullptr);
      }
}

void embedBitcode(Module &M, StringRef Bitcode) {
  embedBufferInModule(M, MemoryBufferRef(Bitcode, M.getModuleIdentifier()),
                      ".llvm.lto");
}

PreservedAnalyses UnitPass::run(Module &M, ModuleAnalysisManager &) {
  const std::string Summary = givenSummaries(M);
  UnitOptions Options;
  Options.Embedding = EmbeddingOptions::given(M, Summary);
  if (Error Failed = makeUnit(M, Options))
    M.getContext().emitError(toString(std::move(Failed)));
  return PreservedAnalyses::none();
}

} // namespace dragon
