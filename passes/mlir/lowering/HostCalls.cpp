//===- HostCalls.cpp - calls of the runtime in the LLVM dialect -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lowering/HostCalls.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace dragon::ir {

HostCalls::HostCalls(ModuleOp Module)
    : PtrType(LLVM::LLVMPointerType::get(Module.getContext())),
      I32Type(IntegerType::get(Module.getContext(), 32)),
      I64Type(IntegerType::get(Module.getContext(), 64)),
      VoidType(LLVM::LLVMVoidType::get(Module.getContext())), Module(Module) {}

//===----------------------------------------------------------------------===//
// Calls.
//===----------------------------------------------------------------------===//

Value HostCalls::call(OpBuilder &Builder, Location Loc, StringRef Function,
                      Type Result, ValueRange Args) {
  auto Callee = Module.lookupSymbol<LLVM::LLVMFuncOp>(Function);
  if (!Callee) {
    auto AtEnd = OpBuilder::atBlockEnd(Module.getBody());
    Callee = LLVM::LLVMFuncOp::create(
        AtEnd, Builder.getUnknownLoc(), Function,
        LLVM::LLVMFunctionType::get(Result, llvm::to_vector(Args.getTypes())));
  }
  auto Made = LLVM::CallOp::create(Builder, Loc, Callee, Args);
  return isa<LLVM::LLVMVoidType>(Result) ? Value() : Made.getResult();
}

void HostCalls::require(OpBuilder &Builder, Location Loc, StringRef Check,
                        StringRef Function, Value Error) {
  call(Builder, Loc, Check, VoidType,
       {Error, text(Builder, Loc, Function), source(Builder, Loc)});
}

void HostCalls::cuda(OpBuilder &Builder, Location Loc, StringRef Function,
                     ValueRange Args) {
  require(Builder, Loc, "__dragon_require_cuda", Function,
          call(Builder, Loc, Function, I32Type, Args));
}

void HostCalls::dragon(OpBuilder &Builder, Location Loc, StringRef Function,
                       ValueRange Args) {
  // As the header has it: the functions' own names are another API's symbols.
  StringRef Symbol = llvm::StringSwitch<StringRef>(Function)
                         .Case("dragon_map", "dragon_map_file")
                         .Case("dragon_unmap", "dragon_unmap_file")
                         .Default(Function);
  require(Builder, Loc, "__dragon_require", Function,
          call(Builder, Loc, Symbol, I32Type, Args));
}

//===----------------------------------------------------------------------===//
// The stack.
//===----------------------------------------------------------------------===//

Value HostCalls::stack(OpBuilder &Builder, Location Loc, Type Ty,
                       int64_t Count) {
  auto Place = LLVM::AllocaOp::create(Builder, Loc, PtrType, Ty,
                                      i64(Builder, Loc, Count));
  Places.push_back(Place);
  return Place;
}

Value HostCalls::argumentArray(OpBuilder &Builder, Location Loc,
                               ValueRange Args) {
  if (Args.empty())
    return null(Builder, Loc);
  Value Array = stack(Builder, Loc, PtrType, int64_t(Args.size()));
  for (auto [i, Arg] : llvm::enumerate(Args)) {
    Value Place = stack(Builder, Loc, Arg.getType());
    LLVM::StoreOp::create(Builder, Loc, Arg, Place);
    Value Entry = LLVM::GEPOp::create(Builder, Loc, PtrType, PtrType, Array,
                                      LLVM::GEPArg(int32_t(i)));
    LLVM::StoreOp::create(Builder, Loc, Place, Entry);
  }
  return Array;
}

void HostCalls::hoistStack() {
  for (LLVM::AllocaOp Place : Places) {
    auto Function = Place->getParentOfType<LLVM::LLVMFuncOp>();
    Operation *Count = Place.getArraySize().getDefiningOp();
    if (!Function || !Count)
      continue;
    Block &Entry = Function.getBody().front();
    Place->moveBefore(&Entry, Entry.begin());
    Operation *Own = Count->clone();
    OpBuilder(Place).insert(Own);
    Place.getArraySizeMutable().assign(Own->getResult(0));
    if (Count->use_empty())
      Count->erase();
  }
}

//===----------------------------------------------------------------------===//
// Constants.
//===----------------------------------------------------------------------===//

Value HostCalls::i32(OpBuilder &Builder, Location Loc, int64_t V) {
  return LLVM::ConstantOp::create(Builder, Loc, I32Type, V);
}

Value HostCalls::i64(OpBuilder &Builder, Location Loc, int64_t V) {
  return LLVM::ConstantOp::create(Builder, Loc, I64Type, V);
}

Value HostCalls::null(OpBuilder &Builder, Location Loc) {
  return LLVM::ZeroOp::create(Builder, Loc, PtrType);
}

LLVM::GlobalOp HostCalls::global(Type Ty, const Twine &Name, Attribute V) {
  auto AtBegin = OpBuilder::atBlockBegin(Module.getBody());
  return LLVM::GlobalOp::create(AtBegin, AtBegin.getUnknownLoc(), Ty,
                                /*isConstant=*/true, LLVM::Linkage::Internal,
                                Name.str(), V);
}

LLVM::GlobalOp HostCalls::textGlobal(StringRef Text) {
  LLVM::GlobalOp &Known = Texts[Text];
  if (!Known) {
    std::string Bytes = Text.str();
    Bytes.push_back('\0');
    Known = global(LLVM::LLVMArrayType::get(
                       IntegerType::get(Module.getContext(), 8), Bytes.size()),
                   "dragon.text." + Twine(Texts.size() - 1),
                   StringAttr::get(Module.getContext(), Bytes));
  }
  return Known;
}

Value HostCalls::text(OpBuilder &Builder, Location Loc, StringRef Text) {
  return LLVM::AddressOfOp::create(Builder, Loc, textGlobal(Text));
}

std::string HostCalls::stubName(StringRef Kernel) {
  return ("__device_stub__" + Kernel).str();
}

Value HostCalls::stub(OpBuilder &Builder, Location Loc, StringRef Kernel) {
  Launched.insert(Kernel);
  const std::string Name = stubName(Kernel);
  auto Known = Module.lookupSymbol<LLVM::GlobalOp>(Name);
  if (!Known) {
    // Its address is all that counts: it must be no other's.
    Known = global(IntegerType::get(Module.getContext(), 8), Name,
                   Builder.getI8IntegerAttr(0));
  }
  return LLVM::AddressOfOp::create(Builder, Loc, Known);
}

/// The name that a location gives: the innermost around the place.
static StringRef nameIn(Location Loc) {
  StringRef Name;
  Loc->walk([&](Location Part) {
    if (auto Named = dyn_cast<NameLoc>(Part)) {
      Name = Named.getName();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return Name;
}

Value HostCalls::source(OpBuilder &Builder, Location Loc) {
  auto [It, IsNew] = Sources.try_emplace(Loc);
  if (IsNew) {
    auto Row = LLVM::LLVMStructType::getLiteral(
        Module.getContext(), {PtrType, PtrType, I32Type, I32Type});
    const StringRef Name = nameIn(Loc);
    auto Place = Loc->findInstanceOf<FileLineColLoc>();
    LLVM::GlobalOp NameText, FileText;
    if (!Name.empty())
      NameText = textGlobal(Name);
    if (Place)
      FileText = textGlobal(Place.getFilename());
    It->second =
        global(Row, "dragon.source." + Twine(Sources.size() - 1), Attribute());
    OpBuilder Inside(Module.getContext());
    Inside.createBlock(&It->second.getInitializerRegion());
    const Location None = Inside.getUnknownLoc();
    auto address = [&](LLVM::GlobalOp Global) -> Value {
      return Global ? LLVM::AddressOfOp::create(Inside, None, Global)
                    : null(Inside, None);
    };
    Value Fields[] = {address(NameText), address(FileText),
                      i32(Inside, None, Place ? Place.getLine() : 0),
                      i32(Inside, None, Place ? Place.getColumn() : 0)};
    Value V = LLVM::UndefOp::create(Inside, None, Row);
    for (auto [i, Field] : llvm::enumerate(Fields))
      V = LLVM::InsertValueOp::create(Inside, None, V, Field, int64_t(i));
    LLVM::ReturnOp::create(Inside, None, V);
  }
  return LLVM::AddressOfOp::create(Builder, Loc, It->second);
}

} // namespace dragon::ir
