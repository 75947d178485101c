//===- Attributes.cpp - kernel summaries as attributes --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of expressions and guards, and the way from ModuleSummary to the
// attributes and back. Equal attributes are one, so that expressions share
// their parts as they do in an ExprPool.
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Dragon.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace dragon::ir {

namespace {

struct NamedOp {
  ExprOp Op;
  llvm::StringLiteral Name;
};

constexpr NamedOp BinaryOps[] = {
    {ExprOp::Add, "add"},   {ExprOp::Sub, "sub"},   {ExprOp::Mul, "mul"},
    {ExprOp::SDiv, "sdiv"}, {ExprOp::UDiv, "udiv"}, {ExprOp::SRem, "srem"},
    {ExprOp::URem, "urem"}, {ExprOp::SMin, "smin"}, {ExprOp::SMax, "smax"},
    {ExprOp::UMin, "umin"}, {ExprOp::UMax, "umax"}, {ExprOp::Shl, "shl"},
    {ExprOp::LShr, "lshr"}, {ExprOp::AShr, "ashr"}, {ExprOp::And, "and"},
    {ExprOp::Or, "or"},     {ExprOp::Xor, "xor"}};
constexpr NamedOp Casts[] = {
    {ExprOp::SExt, "sext"}, {ExprOp::ZExt, "zext"}, {ExprOp::Trunc, "trunc"}};
constexpr NamedOp LaunchValues[] = {{ExprOp::BlockDim, "bdim"},
                                    {ExprOp::GridDim, "gdim"},
                                    {ExprOp::BlockIdx, "bid"},
                                    {ExprOp::ThreadIdx, "tid"}};
constexpr llvm::StringLiteral Axes = "xyz";

template <typename Table>
const NamedOp *find(const Table &Ops, llvm::StringRef Name) {
  for (const NamedOp &N : Ops)
    if (N.Name == Name)
      return &N;
  return nullptr;
}
template <typename Table> const NamedOp *find(const Table &Ops, ExprOp Op) {
  for (const NamedOp &N : Ops)
    if (N.Op == Op)
      return &N;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Text.
//===----------------------------------------------------------------------===//

class ExprParser {
public:
  explicit ExprParser(AsmParser &Parser) : Parser(Parser) {}

  /// Null after an error.
  ExprAttr parse() {
    const SMLoc At = Parser.getCurrentLocation();
    int64_t Number = 0;
    OptionalParseResult IsNumber = Parser.parseOptionalInteger(Number);
    if (IsNumber.has_value()) {
      unsigned Bits = 64;
      if (failed(*IsNumber) ||
          (succeeded(Parser.parseOptionalColon()) && !bits(Bits)))
        return {};
      return make(ExprOp::Const, Bits, 0, Number);
    }
    StringRef Word;
    if (Parser.parseKeyword(&Word))
      return {};
    auto [Name, Rest] = Word.split('.');
    if (const NamedOp *Leaf = find(LaunchValues, Name);
        Leaf && Rest.size() == 1 && Axes.contains(Rest))
      return make(Leaf->Op, 32, 0, int64_t(Axes.find(Rest)));
    if (const NamedOp *Cast = find(Casts, Word))
      return cast(Cast->Op);
    if (const NamedOp *Binary = find(BinaryOps, Name))
      return binary(Binary->Op, Rest, At);
    if (Word == "arg")
      return argument();
    if (Word == "loop")
      return loop();
    if (Word == "any" || Word == "unknown")
      return variable(Word == "any");
    Parser.emitError(At, "'") << Word << "' is no expression";
    return {};
  }

private:
  ExprAttr make(ExprOp Op, unsigned Bits, unsigned Flags, int64_t Imm,
                ArrayRef<ExprAttr> Operands = {}) {
    return ExprAttr::get(Parser.getContext(), Op, Bits, Flags, Imm, Operands);
  }
  bool bits(unsigned &Bits) {
    const SMLoc At = Parser.getCurrentLocation();
    if (Parser.parseInteger(Bits))
      return false;
    if (Bits >= 1 && Bits <= 64)
      return true;
    Parser.emitError(At, "integers have 1 to 64 bits");
    return false;
  }
  /// `_`, or an expression. False after an error.
  bool optional(ExprAttr &E) {
    if (succeeded(Parser.parseOptionalKeyword("_")))
      return true;
    E = parse();
    return bool(E);
  }

  ExprAttr cast(ExprOp Op) {
    unsigned Bits = 0;
    ExprAttr Of;
    if (Parser.parseLParen() || !(Of = parse()) || Parser.parseComma() ||
        !bits(Bits) || Parser.parseRParen())
      return {};
    return make(Op, Bits, 0, 0, {Of});
  }
  ExprAttr binary(ExprOp Op, StringRef Rest, SMLoc At) {
    unsigned Flags = 0;
    while (!Rest.empty()) {
      auto [Flag, More] = Rest.split('.');
      if (Flag != "nsw" && Flag != "nuw") {
        Parser.emitError(At, "'") << Flag << "' is neither nsw nor nuw";
        return {};
      }
      Flags |= unsigned(Flag == "nsw" ? NoSignedWrap : NoUnsignedWrap);
      Rest = More;
    }
    ExprAttr A, B;
    if (Parser.parseLParen() || !(A = parse()) || Parser.parseComma() ||
        !(B = parse()) || Parser.parseRParen())
      return {};
    if (A.getBits() != B.getBits()) {
      Parser.emitError(At, "operands of ")
          << A.getBits() << " and of " << B.getBits() << " bits";
      return {};
    }
    return make(Op, A.getBits(), Flags, 0, {A, B});
  }
  ExprAttr argument() {
    uint32_t Index = 0;
    unsigned Bits = 0;
    int64_t Offset = 0;
    if (Parser.parseLParen() || Parser.parseInteger(Index) ||
        Parser.parseComma() || !bits(Bits) ||
        (succeeded(Parser.parseOptionalComma()) &&
         Parser.parseInteger(Offset)) ||
        Parser.parseRParen())
      return {};
    // The index of the argument is its first operand.
    return make(ExprOp::Arg, Bits, 0, Offset,
                {make(ExprOp::Const, 32, 0, Index)});
  }
  ExprAttr loop() {
    int64_t Number = 0;
    ExprAttr Count;
    if (Parser.parseLParen() || Parser.parseInteger(Number) ||
        Parser.parseComma() || !optional(Count) || Parser.parseRParen())
      return {};
    return make(ExprOp::Loop, 64, 0, Number, {Count});
  }
  ExprAttr variable(bool Bounded) {
    int64_t Number = 0;
    unsigned Bits = 0;
    ExprAttr Lo, Hi;
    if (Parser.parseLParen() || Parser.parseInteger(Number) ||
        Parser.parseComma() || !bits(Bits))
      return {};
    if (Bounded && (Parser.parseComma() || !optional(Lo) ||
                    Parser.parseComma() || !optional(Hi)))
      return {};
    if (Parser.parseRParen())
      return {};
    if (!Bounded)
      return make(ExprOp::Unknown, Bits, 0, Number);
    return make(ExprOp::Opaque, Bits, 0, Number, {Lo, Hi});
  }

  AsmParser &Parser;
};

void printExpr(AsmPrinter &To, ExprAttr E) {
  if (!E) {
    To << "_";
    return;
  }
  ArrayRef<ExprAttr> Of = E.getOperands();
  const ExprOp Op = E.getOp();
  if (const NamedOp *Leaf = find(LaunchValues, Op)) {
    To << Leaf->Name << "." << Axes[size_t(E.getImm())];
  } else if (const NamedOp *Cast = find(Casts, Op)) {
    To << Cast->Name << "(";
    printExpr(To, Of[0]);
    To << ", " << E.getBits() << ")";
  } else if (const NamedOp *Binary = find(BinaryOps, Op)) {
    To << Binary->Name << (E.getFlags() & NoSignedWrap ? ".nsw" : "")
       << (E.getFlags() & NoUnsignedWrap ? ".nuw" : "") << "(";
    printExpr(To, Of[0]);
    To << ", ";
    printExpr(To, Of[1]);
    To << ")";
  } else if (Op == ExprOp::Const) {
    To << E.getImm();
    if (E.getBits() != 64)
      To << " : " << E.getBits();
  } else if (Op == ExprOp::Arg) {
    To << "arg(" << Of[0].getImm() << ", " << E.getBits();
    if (E.getImm())
      To << ", " << E.getImm();
    To << ")";
  } else if (Op == ExprOp::Loop) {
    To << "loop(" << E.getImm() << ", ";
    printExpr(To, Of[0]);
    To << ")";
  } else if (Op == ExprOp::Opaque) {
    To << "any(" << E.getImm() << ", " << E.getBits() << ", ";
    printExpr(To, Of[0]);
    To << ", ";
    printExpr(To, Of[1]);
    To << ")";
  } else {
    To << "unknown(" << E.getImm() << ", " << E.getBits() << ")";
  }
}

//===----------------------------------------------------------------------===//
// To attributes, and back.
//===----------------------------------------------------------------------===//

class ToAttributes {
public:
  ToAttributes(MLIRContext &Context, const ExprPool &Pool)
      : Context(Context), Pool(Pool) {}

  ExprAttr expr(uint32_t Node) {
    if (Node == NoIndex)
      return {};
    if (ExprAttr Done = Known.lookup(Node))
      return Done;
    const ExprNode &N = Pool.Nodes[Node];
    SmallVector<ExprAttr, 2> Of;
    if (N.Op == ExprOp::Arg)
      Of = {ExprAttr::get(&Context, ExprOp::Const, 32, 0, N.A, {})};
    else if (N.Op == ExprOp::Loop || find(Casts, N.Op))
      Of = {expr(N.A)};
    else if (ExprPool::hasOperands(N.Op))
      Of = {expr(N.A), expr(N.B)};
    return Known[Node] =
               ExprAttr::get(&Context, N.Op, N.Bits, N.Flags, N.Imm, Of);
  }

  AccessAttr access(const AccessSummary &A) {
    SmallVector<GuardAttr> Guards;
    for (const GuardRecord &G : A.Guards)
      Guards.push_back(GuardAttr::get(&Context, Predicate(uint32_t(G.Pred)),
                                      expr(G.Lhs), expr(G.Rhs), expr(G.Loop)));
    return AccessAttr::get(
        &Context, AccessKind(A.Flags), A.Width,
        (A.Flags & AccessUnbounded) ? ExprAttr() : expr(A.Offset), Guards);
  }

  PointerAttr pointer(const PointerSummary &P) {
    SmallVector<AccessAttr> Accesses;
    for (const AccessSummary &A : P.Accesses)
      Accesses.push_back(access(A));
    return PointerAttr::get(
        &Context, P.ArgIndex, StringAttr::get(&Context, P.Name),
        Mode(uint32_t(P.Mode)), Pattern(uint32_t(P.Pattern)),
        PointerKind(P.Flags), Accesses);
  }

private:
  MLIRContext &Context;
  const ExprPool &Pool;
  llvm::DenseMap<uint32_t, ExprAttr> Known;
};

class FromAttributes {
public:
  explicit FromAttributes(ExprPool &Pool) : Pool(Pool) {}

  uint32_t expr(ExprAttr E) {
    if (!E)
      return NoIndex;
    auto It = Known.find(E);
    if (It != Known.end())
      return It->second;
    ArrayRef<ExprAttr> Of = E.getOperands();
    uint32_t A = Of.empty()                 ? NoIndex
                 : E.getOp() == ExprOp::Arg ? uint32_t(Of[0].getImm())
                                            : expr(Of[0]);
    uint32_t B = Of.size() > 1 ? expr(Of[1]) : NoIndex;
    uint32_t Node = E.getOp() == ExprOp::Opaque ? Pool.opaque(E.getBits(), A, B)
                    : E.getOp() == ExprOp::Unknown
                        ? Pool.unknown(E.getBits())
                        : Pool.add(E.getOp(), E.getBits(), A, B, E.getImm(),
                                   uint8_t(E.getFlags()));
    return Known[E] = Node;
  }

  AccessSummary access(AccessAttr From) {
    AccessSummary A;
    A.Flags = uint8_t(From.getKind());
    A.Width = From.getWidth();
    A.Offset = expr(From.getOffset());
    if (A.Offset == NoIndex)
      A.Flags |= AccessUnbounded;
    for (GuardAttr G : From.getGuards()) {
      GuardRecord R{};
      R.Lhs = expr(G.getLhs());
      R.Rhs = expr(G.getRhs());
      R.Loop = expr(G.getLoop());
      R.Pred = GuardPred(uint32_t(G.getPredicate()));
      A.Guards.push_back(R);
    }
    return A;
  }

private:
  ExprPool &Pool;
  llvm::DenseMap<ExprAttr, uint32_t> Known;
};

} // namespace

Attribute ExprAttr::parse(AsmParser &Parser, Type) {
  if (Parser.parseLess())
    return {};
  ExprAttr E = ExprParser(Parser).parse();
  if (!E || Parser.parseGreater())
    return {};
  return E;
}

void ExprAttr::print(AsmPrinter &To) const {
  To << "<";
  printExpr(To, *this);
  To << ">";
}

Attribute GuardAttr::parse(AsmParser &Parser, Type) {
  ExprParser Exprs(Parser);
  const SMLoc At = Parser.getCurrentLocation();
  StringRef Word;
  ExprAttr A, B, Loop;
  if (Parser.parseLess() || Parser.parseKeyword(&Word))
    return {};
  std::optional<Predicate> Pred = symbolizePredicate(Word);
  if (!Pred) {
    Parser.emitError(At, "'") << Word << "' is no comparison";
    return {};
  }
  if (Parser.parseLParen() || !(A = Exprs.parse()) || Parser.parseComma() ||
      !(B = Exprs.parse()) || Parser.parseRParen())
    return {};
  if (succeeded(Parser.parseOptionalKeyword("for")) && !(Loop = Exprs.parse()))
    return {};
  if (Parser.parseGreater())
    return {};
  return GuardAttr::get(Parser.getContext(), *Pred, A, B, Loop);
}

void GuardAttr::print(AsmPrinter &To) const {
  To << "<" << stringifyPredicate(getPredicate()) << "(";
  printExpr(To, getLhs());
  To << ", ";
  printExpr(To, getRhs());
  To << ")";
  if (getLoop()) {
    To << " for ";
    printExpr(To, getLoop());
  }
  To << ">";
}

SummaryAttr toAttribute(MLIRContext &Context, const ExprPool &Pool,
                        const KernelSummary &Kernel) {
  ToAttributes To(Context, Pool);
  SmallVector<PointerAttr> Pointers;
  for (const PointerSummary &P : Kernel.Pointers)
    Pointers.push_back(To.pointer(P));
  auto String = [&](const std::string &Text) {
    return Text.empty() ? StringAttr() : StringAttr::get(&Context, Text);
  };
  return SummaryAttr::get(&Context, KernelKind(Kernel.Flags), Kernel.ArgSizes,
                          Pointers, String(Kernel.SliceName),
                          String(Kernel.WhyNotSliceable));
}

void fromAttribute(SummaryAttr From, llvm::StringRef Name, ModuleSummary &To) {
  FromAttributes Exprs(To.Exprs);
  KernelSummary K;
  K.Name = Name.str();
  K.Flags = uint32_t(From.getKind());
  K.ArgSizes.assign(From.getArgSizes().begin(), From.getArgSizes().end());
  if (From.getSliceName())
    K.SliceName = From.getSliceName().str();
  if (From.getWhyNotSliceable())
    K.WhyNotSliceable = From.getWhyNotSliceable().str();
  for (PointerAttr P : From.getPointers()) {
    PointerSummary Q;
    Q.ArgIndex = P.getArgument();
    Q.Name = P.getName().str();
    Q.Mode = AccessMode(uint8_t(P.getMode()));
    Q.Pattern = AccessPattern(uint8_t(P.getPattern()));
    Q.Flags = uint8_t(P.getKind());
    for (AccessAttr A : P.getAccesses())
      Q.Accesses.push_back(Exprs.access(A));
    K.Pointers.push_back(std::move(Q));
  }
  To.Kernels.push_back(std::move(K));
}

} // namespace dragon::ir
