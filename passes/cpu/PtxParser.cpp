//===- PtxParser.cpp - inline PTX, parsed ---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Ptx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace dragon {

bool PtxType::parse(StringRef Name, PtxType &Out) {
  if (Name == "pred") {
    Out = {Predicate, 1, 1};
    return true;
  }
  PtxType Result;
  if (Name.consume_front("bf"))
    Result.Kind = BFloat;
  else if (Name.consume_front("u"))
    Result.Kind = Unsigned;
  else if (Name.consume_front("s"))
    Result.Kind = Signed;
  else if (Name.consume_front("b"))
    Result.Kind = Bits;
  else if (Name.consume_front("f"))
    Result.Kind = Float;
  else
    return false;
  if (Name.consumeInteger(10, Result.Width))
    return false;
  if (Name.consume_front("x")) {
    if (Name.consumeInteger(10, Result.Lanes))
      return false;
  }
  unsigned Width = Result.Width;
  bool Known = Result.Kind == BFloat ? Width == 16
               : Result.Kind == Float
                   ? Width == 16 || Width == 32 || Width == 64
                   : Width == 8 || Width == 16 || Width == 32 || Width == 64 ||
                         Width == 128;
  if (!Name.empty() || !Known)
    return false;
  Out = Result;
  return true;
}

const PtxOperand &PtxOperands::operator[](size_t Number) const {
  static const PtxOperand *Missing = [] {
    auto *Label = new PtxOperand;
    Label->Kind = PtxOperand::Label;
    return Label;
  }();
  return Number < size() ? data()[Number] : *Missing;
}

bool PtxInstruction::has(StringRef Modifier) const {
  return is_contained(Modifiers, Modifier);
}

SmallVector<PtxType, 3> PtxInstruction::types() const {
  SmallVector<PtxType, 3> Result;
  for (StringRef Modifier :
       ArrayRef(Modifiers).drop_front(std::min<size_t>(1, Modifiers.size()))) {
    PtxType Type;
    if (PtxType::parse(Modifier, Type))
      Result.push_back(Type);
  }
  return Result;
}

namespace {

/// The statement's text as PTX: `$$` is a dollar, comments are gone.
std::string cleaned(StringRef Asm) {
  std::string Result;
  while (!Asm.empty()) {
    if (Asm.consume_front("//")) {
      Asm = Asm.drop_until([](char C) { return C == '\n'; });
    } else if (Asm.consume_front("/*")) {
      Asm = Asm.substr(Asm.find("*/"));
      Asm.consume_front("*/");
    } else if (Asm.consume_front("$$")) {
      Result += '\1'; // a letter of names, told from operands
    } else {
      Result += Asm.front();
      Asm = Asm.drop_front();
    }
  }
  return Result;
}

bool isNameChar(char C) {
  return isAlnum(C) || C == '_' || C == '\1' || C == '%' || C == '$';
}

/// No statement has more. Texts that nobody wrote might.
constexpr unsigned MostRegisters = 1 << 16;
constexpr unsigned DeepestBrackets = 8;

class Parser {
public:
  explicit Parser(PtxProgram &Out) : Out(Out), Rest(Out.Text) {}
  Error run();

private:
  Error error(const Twine &What) { return createStringError(What); }
  void skipSpace() { Rest = Rest.ltrim(); }
  bool eat(StringRef Token) {
    skipSpace();
    return Rest.consume_front(Token);
  }
  StringRef name();
  Error statement();
  Error declaration();
  Error operand(PtxOperand &Op, unsigned Depth = 0);
  Error simpleOperand(PtxOperand &Op);
  Error number(PtxOperand &Op);
  int findRegister(StringRef Name) const;
  unsigned label(StringRef Name);

  PtxProgram &Out;
  StringRef Rest;
  SmallVector<StringMap<unsigned>, 4> Scopes;
  StringMap<unsigned> Labels;
};

StringRef Parser::name() {
  skipSpace();
  StringRef Name = Rest.take_while(isNameChar);
  Rest = Rest.drop_front(Name.size());
  return Name;
}

int Parser::findRegister(StringRef Name) const {
  for (const auto &Scope : reverse(Scopes))
    if (auto Found = Scope.find(Name); Found != Scope.end())
      return static_cast<int>(Found->second);
  return -1;
}

unsigned Parser::label(StringRef Name) {
  auto [Entry, New] = Labels.try_emplace(Name, Out.NumLabels);
  Out.NumLabels += New;
  return Entry->second;
}

/// .reg .b32 a, b, c<4>;   (the word .reg is gone)
Error Parser::declaration() {
  if (!eat("."))
    return error("a declaration without a type");
  PtxType Type;
  StringRef TypeName = name();
  if (!PtxType::parse(TypeName, Type))
    return error("the type '." + TypeName + "'");
  do {
    StringRef Name = name();
    if (Name.empty())
      return error("a declaration without a name");
    unsigned Count = 0;
    if (eat("<")) {
      skipSpace();
      if (Rest.consumeInteger(10, Count) || !eat(">") ||
          Count > MostRegisters - Out.Registers.size())
        return error("the declaration of '" + Name + "'");
      for (unsigned I = 0; I < Count; ++I) {
        Scopes.back()[(Name + Twine(I)).str()] = Out.Registers.size();
        Out.Registers.push_back(Type);
      }
    } else if (Out.Registers.size() < MostRegisters) {
      Scopes.back()[Name] = Out.Registers.size();
      Out.Registers.push_back(Type);
    } else {
      return error("so many registers");
    }
  } while (eat(","));
  return Error::success();
}

/// 12  0x1fU  0f3F800000  0d3FF0000000000000  1.5
Error Parser::number(PtxOperand &Op) {
  StringRef Text = Rest.take_while(
      [](char C) { return isAlnum(C) || C == '.' || C == '_'; });
  Rest = Rest.drop_front(Text.size());
  StringRef Digits = Text;
  if (Digits.consume_front_insensitive("0f")) {
    Op.Kind = PtxOperand::Float32;
    if (Digits.getAsInteger(16, Op.Bits))
      return error("the number '" + Text + "'");
    return Error::success();
  }
  if (Digits.consume_front_insensitive("0d")) {
    Op.Kind = PtxOperand::Float64;
    if (Digits.getAsInteger(16, Op.Bits))
      return error("the number '" + Text + "'");
    return Error::success();
  }
  if (Text.contains('.')) {
    double Value;
    if (Text.getAsDouble(Value))
      return error("the number '" + Text + "'");
    Op.Kind = PtxOperand::Float64;
    Op.Bits = bit_cast<uint64_t>(Value);
    return Error::success();
  }
  Digits.consume_back("U");
  Op.Kind = PtxOperand::Integer;
  if (Digits.getAsInteger(0, Op.Bits))
    return error("the number '" + Text + "'");
  return Error::success();
}

Error Parser::simpleOperand(PtxOperand &Op) {
  skipSpace();
  if (eat("!")) {
    Op.Negated = true;
    skipSpace();
  }
  if (Rest.empty())
    return error("an operand is missing");
  if (eat("-")) {
    skipSpace();
    if (Error E = number(Op))
      return E;
    if (Op.Kind == PtxOperand::Integer)
      Op.Bits = -Op.Bits;
    else if (Op.Kind == PtxOperand::Float32)
      Op.Bits ^= 1ull << 31;
    else
      Op.Bits ^= 1ull << 63;
    return Error::success();
  }
  if (isDigit(Rest.front()))
    return number(Op);
  if (Rest.consume_front("$")) {
    // ${3:x} has a modifier that changes nothing here.
    bool Braces = Rest.consume_front("{");
    Op.Kind = PtxOperand::Statement;
    if (Rest.consumeInteger(10, Op.Number))
      return error("the operand '$" + Rest.take_front(4) + "'");
    if (Braces)
      Rest = Rest.split('}').second;
    return Error::success();
  }
  StringRef Name = Rest.take_while(
      [](char C) { return isNameChar(C) || C == '.' || C == ':'; });
  if (int Register = findRegister(Name.take_while(isNameChar)); Register >= 0) {
    Rest = Rest.drop_front(Name.take_while(isNameChar).size());
    Op.Kind = PtxOperand::Register;
    Op.Number = static_cast<unsigned>(Register);
    return Error::success();
  }
  Rest = Rest.drop_front(Name.size());
  if (Name == "_") {
    Op.Kind = PtxOperand::Sink;
    return Error::success();
  }
  if (Name == "WARP_SZ") {
    Op.Kind = PtxOperand::Integer;
    Op.Bits = 32;
    return Error::success();
  }
  if (Name.consume_front("%")) {
    Op.Kind = PtxOperand::Special;
    Op.Name = Name.str();
    return Error::success();
  }
  if (Name.empty())
    return error("'" + Rest.take_front(12) + "'");
  Op.Kind = PtxOperand::Label;
  Op.Name = Name.str();
  Op.Number = label(Name);
  return Error::success();
}

Error Parser::operand(PtxOperand &Op, unsigned Depth) {
  if (Depth > DeepestBrackets)
    return error("brackets in brackets");
  if (eat("{") || eat("[")) {
    bool IsVector = Rest.data()[-1] == '{';
    Op.Kind = IsVector ? PtxOperand::Vector : PtxOperand::Address;
    do {
      Op.Parts.emplace_back();
      if (Error E = IsVector ? simpleOperand(Op.Parts.back())
                             : operand(Op.Parts.back(), Depth + 1))
        return E;
    } while (eat(","));
    if (!IsVector && (eat("+") || (skipSpace(), Rest.starts_with("-")))) {
      PtxOperand Offset;
      if (Error E = simpleOperand(Offset))
        return E;
      if (Offset.Kind != PtxOperand::Integer)
        return error("an address with two registers");
      Op.Bits = Offset.Bits;
    }
    if (!eat(IsVector ? "}" : "]"))
      return error("an unclosed bracket");
    return Error::success();
  }
  if (Error E = simpleOperand(Op))
    return E;
  if (eat("|")) {
    PtxOperand Pair;
    Pair.Kind = PtxOperand::Vector;
    Pair.Parts.push_back(Op);
    Pair.Parts.emplace_back();
    if (Error E = simpleOperand(Pair.Parts.back()))
      return E;
    Op = std::move(Pair);
  }
  return Error::success();
}

Error Parser::statement() {
  StringRef Start = Rest;
  if (eat(".")) {
    StringRef Directive = name();
    if (Directive != "reg")
      return error("the directive '." + Directive + "'");
    if (Error E = declaration())
      return E;
    return eat(";") ? Error::success() : error("a declaration without an end");
  }
  PtxInstruction I;
  if (eat("@")) {
    I.GuardNegated = eat("!");
    StringRef Name = name();
    I.Guard = findRegister(Name);
    if (I.Guard < 0)
      return error("the predicate '" + Name + "'");
  }
  skipSpace();
  StringRef Opcode = Rest.take_while(
      [](char C) { return isNameChar(C) || C == '.' || C == ':'; });
  // A label ends in a colon; an opcode may contain '::'.
  if (Opcode.ends_with(":") && I.Guard < 0) {
    Rest = Rest.drop_front(Opcode.size());
    I.Label = static_cast<int>(label(Opcode.drop_back()));
    Out.Instructions.push_back(std::move(I));
    return Error::success();
  }
  Rest = Rest.drop_front(Opcode.size());
  if (Opcode.empty())
    return error("'" + Start.take_front(20).trim() + "'");
  Opcode.split(I.Modifiers, '.', -1, /*KeepEmpty=*/false);
  skipSpace();
  if (I.Modifiers.empty())
    return error("'" + Opcode + "'");
  if (!Rest.starts_with(";") && !Rest.starts_with("}") && !Rest.empty())
    do {
      I.Operands.emplace_back();
      if (Error E = operand(I.Operands.back()))
        return joinErrors(error("in '" + Opcode + "': "), std::move(E));
    } while (eat(","));
  I.Text = Start.take_front(Start.size() - Rest.size()).trim().str();
  // The last instruction of a block may lack its semicolon.
  if (!eat(";") && !(skipSpace(), Rest.empty() || Rest.starts_with("}")))
    return error("'" + I.Text + "'");
  Out.Instructions.push_back(std::move(I));
  return Error::success();
}

Error Parser::run() {
  Scopes.emplace_back();
  while (true) {
    skipSpace();
    if (Rest.empty())
      break;
    if (Rest.consume_front("{")) {
      Scopes.emplace_back();
    } else if (Rest.consume_front("}")) {
      if (Scopes.size() == 1)
        return error("an unmatched '}'");
      Scopes.pop_back();
    } else if (!Rest.consume_front(";")) {
      if (Error E = statement())
        return E;
    }
  }
  return Error::success();
}

} // namespace

Error parsePtx(StringRef Asm, PtxProgram &Out) {
  Out.Text = cleaned(Asm);
  return Parser(Out).run();
}

} // namespace dragon
