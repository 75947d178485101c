//===- Kernels.cpp - registration of kernels ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What clang makes for a translation unit with Kernels: the wrapper of the fat
// binary, by the name that the compiler plugin looks for, a constructor that
// registers binary and kernels, and what takes them back at exit. The plugin
// puts the bytes in the place of @dragon.fat_binary (passes/rewrite/
// LinkedUnit.h), and tells the runtime of the summaries first.
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lowering/Patterns.h"

using namespace mlir;

namespace dragon::ir {

namespace {

constexpr int32_t WrapperMagic = 1180844977; // of the CUDA runtime
/// One after that of passes/rewrite/ModuleEmbedding.cpp.
constexpr int32_t ConstructorPriority = 101;

class Registration {
public:
  Registration(ModuleOp Module, HostCalls &Calls)
      : Calls(Calls), Builder(OpBuilder::atBlockEnd(Module.getBody())),
        Loc(Builder.getUnknownLoc()) {}

  void make() {
    Binary = global(Builder.getI8Type(), "dragon.fat_binary",
                    LLVM::Linkage::External, /*constant=*/true);
    makeWrapper();
    Handle = global(Calls.PtrType, "dragon.kernels", LLVM::Linkage::Internal,
                    /*constant=*/false);
    fill(Handle, [&](OpBuilder &Inside) { return Calls.null(Inside, Loc); });
    LLVM::LLVMFuncOp Unregister = makeUnregister();
    LLVM::LLVMFuncOp Ctor = makeRegister(Unregister);
    LLVM::GlobalCtorsOp::create(
        Builder, Loc,
        Builder.getArrayAttr(FlatSymbolRefAttr::get(Ctor.getSymNameAttr())),
        Builder.getI32ArrayAttr(ConstructorPriority),
        Builder.getArrayAttr(LLVM::ZeroAttr::get(Builder.getContext())));
  }

private:
  LLVM::GlobalOp global(Type Ty, StringRef Name, LLVM::Linkage Link,
                        bool Constant) {
    return LLVM::GlobalOp::create(Builder, Loc, Ty, Constant, Link, Name,
                                  Attribute(), /*alignment=*/8);
  }

  void fill(LLVM::GlobalOp Global,
            llvm::function_ref<Value(OpBuilder &)> Make) {
    OpBuilder Inside(Builder.getContext());
    Inside.createBlock(&Global.getInitializerRegion());
    Value V = Make(Inside);
    LLVM::ReturnOp::create(Inside, Loc, V);
  }

  void makeWrapper() {
    auto Ty = LLVM::LLVMStructType::getLiteral(
        Builder.getContext(),
        {Calls.I32Type, Calls.I32Type, Calls.PtrType, Calls.PtrType});
    Wrapper = global(Ty, "__cuda_fatbin_wrapper", LLVM::Linkage::Internal,
                     /*constant=*/true);
    Wrapper.setSection(".nvFatBinSegment");
    fill(Wrapper, [&](OpBuilder &Inside) {
      Value Fields[] = {Calls.i32(Inside, Loc, WrapperMagic),
                        Calls.i32(Inside, Loc, 1),
                        LLVM::AddressOfOp::create(Inside, Loc, Binary),
                        Calls.null(Inside, Loc)};
      Value V = LLVM::UndefOp::create(Inside, Loc, Ty);
      for (auto [i, Field] : llvm::enumerate(Fields))
        V = LLVM::InsertValueOp::create(Inside, Loc, V, Field, int64_t(i));
      return V;
    });
  }

  LLVM::LLVMFuncOp function(StringRef Name) {
    auto Made = LLVM::LLVMFuncOp::create(
        Builder, Loc, Name, LLVM::LLVMFunctionType::get(Calls.VoidType, {}),
        LLVM::Linkage::Internal);
    Made.addEntryBlock(Builder);
    return Made;
  }

  LLVM::LLVMFuncOp makeUnregister() {
    LLVM::LLVMFuncOp Made = function("dragon.unregister_kernels");
    OpBuilder Inside = OpBuilder::atBlockBegin(&Made.getBody().front());
    Value Known =
        LLVM::LoadOp::create(Inside, Loc, Calls.PtrType,
                             LLVM::AddressOfOp::create(Inside, Loc, Handle));
    Calls.call(Inside, Loc, "__cudaUnregisterFatBinary", Calls.VoidType, Known);
    LLVM::ReturnOp::create(Inside, Loc, ValueRange());
    return Made;
  }

  LLVM::LLVMFuncOp makeRegister(LLVM::LLVMFuncOp Unregister) {
    LLVM::LLVMFuncOp Made = function("dragon.register_kernels");
    OpBuilder Inside = OpBuilder::atBlockBegin(&Made.getBody().front());
    Value Known =
        Calls.call(Inside, Loc, "__cudaRegisterFatBinary", Calls.PtrType,
                   LLVM::AddressOfOp::create(Inside, Loc, Wrapper).getResult());
    LLVM::StoreOp::create(Inside, Loc, Known,
                          LLVM::AddressOfOp::create(Inside, Loc, Handle));
    const SmallVector<StringRef> Kernels(Calls.kernels().getArrayRef());
    for (StringRef Kernel : Kernels) {
      Value Name = Calls.text(Inside, Loc, Kernel);
      Value Null = Calls.null(Inside, Loc);
      Calls.call(Inside, Loc, "__cudaRegisterFunction", Calls.I32Type,
                 {Known, Calls.stub(Inside, Loc, Kernel), Name, Name,
                  Calls.i32(Inside, Loc, -1), Null, Null, Null, Null, Null});
    }
    Calls.call(Inside, Loc, "__cudaRegisterFatBinaryEnd", Calls.VoidType,
               Known);
    Calls.call(Inside, Loc, "atexit", Calls.I32Type,
               LLVM::AddressOfOp::create(Inside, Loc, Unregister).getResult());
    LLVM::ReturnOp::create(Inside, Loc, ValueRange());
    return Made;
  }

  HostCalls &Calls;
  OpBuilder Builder;
  Location Loc;
  LLVM::GlobalOp Binary, Wrapper, Handle;
};

} // namespace

void registerKernels(ModuleOp Module, HostCalls &Calls) {
  if (!Calls.kernels().empty())
    Registration(Module, Calls).make();
}

} // namespace dragon::ir
