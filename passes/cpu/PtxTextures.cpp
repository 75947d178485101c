//===- PtxTextures.cpp - inline PTX: textures and surfaces ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's texture functions are statements of inline PTX in clang's headers:
//
//   tex.a2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];
//
// becomes a call of dragon_cpu_texture with the coordinates in an array in one
// order for all geometries. The texture itself says what a texel is, so the
// types of the result do not matter: its words are what is written.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxTextures.h"
#include "dragon/CompilerABI.h"
#include "passes/cpu/RuntimeFunctions.h"

using namespace llvm;

namespace dragon {

namespace {

struct Geometry {
  uint32_t Kind = 0;
  unsigned Coordinates = 0; ///< without the layer
};

/// The geometry among the modifiers; kind 0: there is none that is known.
Geometry geometryOf(const PtxInstruction &In) {
  struct Known {
    StringRef Name;
    Geometry Is;
  };
  static const Known All[] = {
      {"1d", {1, 1}},
      {"2d", {2, 2}},
      {"3d", {3, 3}},
      {"cube", {DRAGON_TEXTURE_CUBE, 3}},
      {"a1d", {1 | DRAGON_TEXTURE_LAYERED, 1}},
      {"a2d", {2 | DRAGON_TEXTURE_LAYERED, 2}},
      {"acube", {DRAGON_TEXTURE_CUBE | DRAGON_TEXTURE_LAYERED, 3}}};
  for (const Known &Entry : All)
    if (In.has(Entry.Name))
      return Entry.Is;
  return {};
}

/// The operands of `{a, b}`, or the one that there is.
ArrayRef<PtxOperand> parts(const PtxOperand &Op) {
  return Op.Kind == PtxOperand::Vector ? ArrayRef<PtxOperand>(Op.Parts)
                                       : ArrayRef<PtxOperand>(Op);
}

/// [object, {coordinates}]
bool isObjectAddress(const PtxOperand &Op) {
  return Op.Kind == PtxOperand::Address && Op.Parts.size() == 2 && !Op.Bits;
}

constexpr unsigned LayerAt = 3, LevelAt = 4, GradientWords = 3, Words = 10;

} // namespace

AllocaInst *PtxTextures::makeWords(unsigned Count) {
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> AtEntry(&Entry, Entry.begin());
  return AtEntry.CreateAlloca(ArrayType::get(AtEntry.getInt32Ty(), Count));
}

void PtxTextures::storeWords(ArrayRef<PtxOperand> From, Value *To,
                             unsigned At) {
  for (const PtxOperand &Op : From)
    B.CreateStore(readBits(Op, 32),
                  B.CreateConstGEP1_32(B.getInt32Ty(), To, At++));
}

/// tex[.level|.grad].geometry.v4.type.type {d}, [object, {coordinates}]
/// [, level | , {dx}, {dy}]; tld4.component.2d.v4.type.f32 likewise.
bool PtxTextures::texture(const PtxInstruction &In) {
  Geometry Shape = geometryOf(In);
  auto Types = In.types();
  const auto &Ops = In.Operands;
  if (!Shape.Kind || Types.size() != 2 || Ops.size() < 2 ||
      Ops[0].Kind != PtxOperand::Vector || Ops[0].Parts.size() != 4 ||
      !isObjectAddress(Ops[1]) || Types[1].Width != 32)
    return false;
  uint32_t Kind = Shape.Kind;
  size_t Extra = 0;
  if (!Types[1].isFloat())
    Kind |= DRAGON_TEXTURE_INTEGER;
  if (In.has("level"))
    Kind |= DRAGON_TEXTURE_LEVEL, Extra = 1;
  if (In.has("grad"))
    Kind |= DRAGON_TEXTURE_GRADIENTS, Extra = 2;
  if (In.opcode() == "tld4") {
    uint32_t Component = In.has("r")   ? 0
                         : In.has("g") ? 1
                         : In.has("b") ? 2
                                       : 3;
    Kind |= DRAGON_TEXTURE_GATHER | Component << DRAGON_TEXTURE_COMPONENT_SHIFT;
  }
  bool Layered = Kind & DRAGON_TEXTURE_LAYERED;
  ArrayRef<PtxOperand> At = parts(Ops[1].Parts[1]);
  if (Ops.size() != 2 + Extra || At.size() < Shape.Coordinates + Layered)
    return false;

  AllocaInst *Where = makeWords(Words), *Texel = makeWords(4);
  if (Layered) {
    storeWords(At.take_front(), Where, LayerAt);
    At = At.drop_front();
  }
  storeWords(At.take_front(Shape.Coordinates), Where, 0);
  for (size_t I = 0; I < Extra; ++I) {
    ArrayRef<PtxOperand> More = parts(Ops[2 + I]);
    storeWords(More.take_front(std::min<size_t>(More.size(), GradientWords)),
               Where, LevelAt + I * GradientWords);
  }
  B.CreateCall(
      runtimeFunction(*F.getParent(), RuntimeFunction::dragon_cpu_texture),
      {readBits(Ops[1].Parts[0], 64), B.getInt32(Kind), Where, Texel});
  for (unsigned I = 0; I < 4; ++I)
    write(Ops[0].Parts[I],
          B.CreateLoad(B.getInt32Ty(),
                       B.CreateConstGEP1_32(B.getInt32Ty(), Texel, I)));
  return true;
}

/// suld.b.geometry[.vector].type.mode {d}, [object, {coordinates}], and sust
/// with the operands the other way around.
bool PtxTextures::surface(const PtxInstruction &In) {
  bool IsStore = In.opcode() == "sust";
  Geometry Shape = geometryOf(In);
  auto Types = In.types();
  const auto &Ops = In.Operands;
  if (!Shape.Kind || !In.has("b") || Types.size() != 1 || Ops.size() != 2)
    return false;
  const PtxOperand &Object = Ops[IsStore ? 0 : 1];
  ArrayRef<PtxOperand> Data = parts(Ops[IsStore ? 1 : 0]);
  uint32_t Kind = Shape.Kind;
  bool Layered = Kind & DRAGON_TEXTURE_LAYERED;
  unsigned Width = Types[0].totalWidth(), Bytes = Width / 8 * Data.size();
  if (!isObjectAddress(Object) || Bytes > 16)
    return false;
  ArrayRef<PtxOperand> At = parts(Object.Parts[1]);
  if (At.size() < Shape.Coordinates + Layered)
    return false;
  if (IsStore)
    Kind |= DRAGON_SURFACE_STORE;
  if (In.has("clamp"))
    Kind |= DRAGON_SURFACE_CLAMP;
  if (In.has("zero"))
    Kind |= DRAGON_SURFACE_ZERO;

  AllocaInst *Where = makeWords(4), *Bits = makeWords(4);
  if (Layered) {
    storeWords(At.take_front(), Where, LayerAt);
    At = At.drop_front();
  }
  storeWords(At.take_front(Shape.Coordinates), Where, 0);
  IntegerType *Element = B.getIntNTy(Width);
  auto Slot = [&](unsigned I) {
    return B.CreateConstGEP1_32(Element, Bits, I);
  };
  if (IsStore)
    for (unsigned I = 0; I < Data.size(); ++I)
      B.CreateStore(readBits(Data[I], Width), Slot(I));
  B.CreateCall(
      runtimeFunction(*F.getParent(), RuntimeFunction::dragon_cpu_surface),
      {readBits(Object.Parts[0], 64), B.getInt32(Kind), Where,
       B.getInt32(Bytes), Bits});
  if (!IsStore)
    for (unsigned I = 0; I < Data.size(); ++I)
      write(Data[I], B.CreateLoad(Element, Slot(I)));
  return true;
}

} // namespace dragon
