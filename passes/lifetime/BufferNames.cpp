//===- BufferNames.cpp - the user's names for buffers ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/BufferNames.h"

#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/RelevantFunctions.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

namespace {

/// Values get numbers where names clash: names are metadata, as long as the
/// copy exists.
constexpr StringLiteral NameKind = "dragon.name";
/// Marks the variables that markOutSlot was given.
constexpr StringLiteral SlotKind = "dragon.slot";

void setBufferName(CallBase &Allocation, StringRef Name) {
  LLVMContext &Context = Allocation.getContext();
  if (!Name.empty() && !Allocation.getMetadata(NameKind))
    Allocation.setMetadata(NameKind,
                           MDNode::get(Context, MDString::get(Context, Name)));
}

std::string elementName(const std::string &Array, int64_t Index) {
  return Array.empty() ? Array : Array + "[" + std::to_string(Index) + "]";
}

/// What the user calls a variable: `d`, an element: `d[1]`, or a field. Sets
/// Exact to false where it is known of the array only.
std::string variableName(Value &Variable, const RelevantFunctions &Relevant,
                         bool &Exact) {
  auto First = [](const std::string &Name, const Type *T) {
    return T->isArrayTy() ? elementName(Name, 0) : Name;
  };
  if (auto *Address = dyn_cast<GEPOperator>(&Variable)) {
    if (Address->getSourceElementType()->isStructTy()) {
      std::string Field = Relevant.fieldName(*Address);
      // The library's own.
      if (Field.empty() || StringRef(Field).starts_with("_"))
        return variableName(*Address->getPointerOperand(), Relevant, Exact);
      return First(Field, Address->getResultElementType());
    }
    Value &Array = *Address->getPointerOperand();
    // `&d[0]` has become `d`.
    std::string Name;
    if (auto *Field = dyn_cast<GEPOperator>(&Array))
      Name = Relevant.fieldName(*Field);
    else if (isa<AllocaInst>(Array))
      Name = userName(Array.getName()).str();
    if (auto *Index = dyn_cast<ConstantInt>((Address->idx_end() - 1)->get()))
      return elementName(Name, Index->getSExtValue());
    Exact = false;
    return Name;
  }
  if (isa<GlobalVariable>(Variable))
    return demangle(Variable.getName());
  std::string Name = userName(Variable.getName()).str();
  for (DbgVariableRecord *Record : findDVRDeclares(&Variable))
    if (!Record->getExpression()->getFragmentInfo())
      Name = Record->getVariable()->getName().str();
  auto *Local = dyn_cast<AllocaInst>(&Variable);
  if (!Local)
    return Name;
  // The address of the first field has become that of the structure.
  std::string Field = Relevant.firstFieldName(Local->getAllocatedType());
  return First(Field.empty() || StringRef(Field).starts_with("_") ? Name
                                                                  : Field,
               Local->getAllocatedType());
}

bool isUserVariable(const AllocaInst &Variable) {
  StringRef Name = Variable.getName();
  return !Name.contains(".addr") && !Name.starts_with("retval") &&
         !Name.contains("tmp");
}

} // namespace

StringRef userName(StringRef Name) {
  // Parameters have ".addr", inlining appends ".i12", unrolling ".1", SROA
  // ".sroa.0". There is no dot in a name of the user's.
  return Name.split('.').first;
}

/// `h_A = (float *)malloc(n)`, `std::vector<float> h_A(n)`: the variable that
/// the result is stored to.
void BufferNames::note(CallBase &Call) {
  const CallEffect *Effect = callEffect(Call);
  bool IsDescriptor = Effect && Effect->Kind == CallKind::FileOpen;
  if (!Call.getType()->isPointerTy() && !IsDescriptor)
    return;
  SmallVector<Value *, 4> Results{&Call};
  for (User *U : Call.users())
    if (isa<PHINode>(U))
      Results.push_back(U);
  for (Value *Result : Results)
    for (User *U : Result->users()) {
      auto *Store = dyn_cast<StoreInst>(U);
      if (!Store || Store->getValueOperand() != Result)
        continue;
      Value *To = Store->getPointerOperand();
      auto *Local = dyn_cast<AllocaInst>(To);
      if (((Local && isUserVariable(*Local)) ||
           isa<GlobalVariable, GEPOperator>(To)) &&
          add(Call, *To))
        return;
    }
}

bool BufferNames::add(CallBase &Call, Value &Variable) {
  bool Exact = true;
  std::string Name = variableName(Variable, Relevant, Exact);
  // The library's own variables.
  if (Name.empty() || StringRef(Name).starts_with("__"))
    return false;
  (Exact ? Names : RoughNames).emplace_back(&Call, std::move(Name));
  return true;
}

/// A function that allocates and returns null where it fails has become both.
static Value *whereNotNull(Value *V) {
  auto *Phi = dyn_cast_or_null<PHINode>(V);
  if (!Phi)
    return V;
  Value *Only = nullptr;
  for (Value *Incoming : Phi->incoming_values()) {
    if (isa<ConstantPointerNull>(Incoming) || Incoming == Only)
      continue;
    if (Only)
      return V;
    Only = Incoming;
  }
  return Only ? Only : V;
}

/// The call that made the value: `deviceAlloc<float>(n)` has become a load of
/// what cudaMalloc wrote.
static CallBase *makerOf(Value *V) {
  V = whereNotNull(V);
  auto *Load = dyn_cast_or_null<LoadInst>(V);
  if (!Load || !isOutSlot(Load->getPointerOperand()))
    return dyn_cast_or_null<CallBase>(V);
  for (User *U : Load->getPointerOperand()->users())
    if (auto *Call = dyn_cast<CallBase>(U); Call && outParameter(*Call) >= 0)
      return Call;
  return nullptr;
}

void BufferNames::apply() {
  for (const auto *List : {&Names, &RoughNames})
    for (const auto &[Handle, Name] : *List)
      if (CallBase *Call = makerOf(Handle))
        setBufferName(*Call, Name);
}

void BufferNames::noteAll(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      note(*Call);
}

void markOutSlot(AllocaInst &Slot) {
  Slot.setMetadata(SlotKind, MDNode::get(Slot.getContext(), {}));
}

void removeBufferNames(Function &F) {
  for (Instruction &I : instructions(F)) {
    I.setMetadata(NameKind, nullptr);
    I.setMetadata(SlotKind, nullptr);
  }
}

bool isOutSlot(const Value *V) {
  auto *Local = dyn_cast<AllocaInst>(V);
  return Local && Local->hasMetadata(SlotKind);
}

std::string bufferName(const CallBase &Call) {
  if (const MDNode *Node = Call.getMetadata(NameKind))
    return cast<MDString>(Node->getOperand(0))->getString().str();
  return "buffer";
}

} // namespace dragon
