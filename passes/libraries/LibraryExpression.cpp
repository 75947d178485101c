//===- LibraryExpression.cpp - sizes and conditions in summaries ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By recursive descent, in the order of C's precedences:
//   choice      any ('?' choice ':' choice)
//   any         all ('||' all)...          all         comparison ('&&' ...)...
//   comparison  sum (('==' ...) sum)       sum         product (('+'|'-')
//   ...)... product     factor (('*'|'/') ...)... factor      number | name |
//   '-' factor | '!' factor | '*' name | '(' choice
//               ')' | max(a, b) | min(a, b) | abs(a) | matrix(name)
//
//===----------------------------------------------------------------------===//

#include "passes/libraries/LibraryExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dragon {

using Op = LibraryExpression::Op;

class ExpressionParser {
public:
  ExpressionParser(StringRef Text, const ExpressionNames &Names)
      : Text(Text), Names(Names) {}

  Expected<LibraryExpression> parse() {
    int Root = choice();
    if (Root >= 0 && !atEnd())
      Root = fail("unexpected '" + Text.substr(At).take_front(1) + "'");
    if (Root < 0)
      return createStringError(Problem);
    return std::move(Result);
  }

private:
  // Text.
  bool atEnd() {
    At = std::min(Text.find_first_not_of(" \t\n", At), Text.size());
    return At == Text.size();
  }
  bool take(StringRef Token) {
    if (atEnd() || !Text.substr(At).starts_with(Token))
      return false;
    At += Token.size();
    return true;
  }
  int fail(const Twine &What) {
    if (Problem.empty())
      Problem =
          (What + " at column " + Twine(At + 1) + " of '" + Text + "'").str();
    return -1;
  }

  // Nodes.
  int add(Op Kind, int64_t Value, int A = -1, int B = -1, int C = -1) {
    Result.Nodes.push_back({Kind, Value, {A, B, C}});
    return static_cast<int>(Result.Nodes.size()) - 1;
  }
  bool isTruth(int Node) const { return Result.Nodes[Node].Kind >= Op::Equal; }
  bool want(int Node, bool Truth) {
    if (Node < 0)
      return false;
    if (isTruth(Node) == Truth)
      return true;
    fail(Truth ? "a condition is wanted, not a number,"
               : "a number is wanted, not a condition,");
    return false;
  }
  int binary(Op Kind, int A, int B) {
    bool OfTruths = Kind == Op::And || Kind == Op::Or;
    return want(A, OfTruths) && want(B, OfTruths) ? add(Kind, 0, A, B) : -1;
  }

  // Grammar.
  int choice() {
    int Condition = any();
    if (Condition < 0 || !take("?"))
      return Condition;
    if (!want(Condition, true))
      return -1;
    int Then = choice();
    if (!want(Then, false))
      return -1;
    if (!take(":"))
      return fail("':' is wanted");
    int Else = choice();
    return want(Else, false) ? add(Op::Select, 0, Condition, Then, Else) : -1;
  }
  int any() {
    int Left = all();
    while (Left >= 0 && take("||"))
      Left = binary(Op::Or, Left, all());
    return Left;
  }
  int all() {
    int Left = comparison();
    while (Left >= 0 && take("&&"))
      Left = binary(Op::And, Left, comparison());
    return Left;
  }
  int comparison();
  int sum() {
    int Left = product();
    while (Left >= 0) {
      if (take("+"))
        Left = binary(Op::Add, Left, product());
      else if (take("-"))
        Left = binary(Op::Subtract, Left, product());
      else
        break;
    }
    return Left;
  }
  int product() {
    int Left = factor();
    while (Left >= 0) {
      if (take("*"))
        Left = binary(Op::Multiply, Left, factor());
      else if (take("/"))
        Left = binary(Op::Divide, Left, factor());
      else
        break;
    }
    return Left;
  }
  int factor();
  int name(StringRef Name);
  int call(StringRef Name);
  StringRef word() {
    if (atEnd() || !(isAlpha(Text[At]) || Text[At] == '_'))
      return "";
    return Text.substr(At).take_while(
        [](char C) { return isAlnum(C) || C == '_'; });
  }

  StringRef Text;
  const ExpressionNames &Names;
  size_t At = 0;
  std::string Problem;
  LibraryExpression Result;
};

/// `*beta == 0` is the one thing that is asked of a host parameter.
int ExpressionParser::comparison() {
  if (take("*")) {
    StringRef Name = word();
    auto It = find(Names.Parameters, Name);
    if (Name.empty() || It == Names.Parameters.end())
      return fail("'" + Name + "' is no parameter");
    At += Name.size();
    bool Equal = take("==");
    if (!Equal && !take("!="))
      return fail("'*" + Name + "' can only be compared with 0");
    if (!take("0"))
      return fail("'*" + Name + "' can only be compared with 0");
    int Zero = add(Op::HostIsZero, It - Names.Parameters.begin());
    return Equal ? Zero : add(Op::Not, 0, Zero);
  }
  int Left = sum();
  if (Left < 0)
    return -1;
  struct {
    const char *Token;
    Op Kind;
    bool Swapped;
  } const Comparisons[] = {
      {"==", Op::Equal, false},       {"!=", Op::NotEqual, false},
      {"<=", Op::LessOrEqual, false}, {">=", Op::LessOrEqual, true},
      {"<", Op::Less, false},         {">", Op::Less, true}};
  for (const auto &C : Comparisons)
    if (take(C.Token)) {
      int Right = sum();
      return C.Swapped ? binary(C.Kind, Right, Left)
                       : binary(C.Kind, Left, Right);
    }
  return Left;
}

int ExpressionParser::factor() {
  if (atEnd())
    return fail("the expression ends too early");
  if (take("(")) {
    int Inner = choice();
    if (Inner >= 0 && !take(")"))
      return fail("')' is wanted");
    return Inner;
  }
  if (take("-")) {
    int Of = factor();
    return want(Of, false) ? add(Op::Subtract, 0, add(Op::Constant, 0), Of)
                           : -1;
  }
  if (!Text.substr(At).starts_with("!=") && take("!")) {
    int Of = factor();
    return want(Of, true) ? add(Op::Not, 0, Of) : -1;
  }
  if (isDigit(Text[At])) {
    StringRef Digits = Text.substr(At).take_while(isAlnum);
    int64_t Value;
    if (Digits.getAsInteger(0, Value))
      return fail("'" + Digits + "' is no number");
    At += Digits.size();
    return add(Op::Constant, Value);
  }
  StringRef Word = word();
  if (Word.empty())
    return fail("unexpected '" + Text.substr(At).take_front(1) + "'");
  At += Word.size();
  if (take("("))
    return call(Word);
  return name(Word);
}

int ExpressionParser::call(StringRef Name) {
  bool Two = Name == "max" || Name == "min";
  if (Names.Template && (Name == "sizeof" || Name == "pointee")) {
    StringRef Digits = atEnd() ? "" : Text.substr(At).take_while(isDigit);
    int64_t Index;
    if (Digits.getAsInteger(10, Index))
      return fail("the number of a template argument is wanted");
    At += Digits.size();
    if (!take(")"))
      return fail("')' is wanted");
    return add(Name == "sizeof" ? Op::TypeSize : Op::PointeeSize, Index);
  }
  if (Name == "matrix") {
    StringRef Layout = word();
    auto It = find(Names.Parameters, Layout);
    if (Layout.empty() || It == Names.Parameters.end())
      return fail("'" + Layout + "' is no parameter");
    At += Layout.size();
    if (!take(")"))
      return fail("')' is wanted");
    return add(Op::MatrixBytes, It - Names.Parameters.begin());
  }
  if (!Two && Name != "abs")
    return fail("there is no function '" + Name +
                "' (max, min, abs and matrix are" +
                (Names.Template ? ", and sizeof and pointee)" : ")"));
  int First = choice();
  if (!want(First, false))
    return -1;
  int Second = -1;
  if (Two) {
    if (!take(","))
      return fail("',' is wanted");
    Second = choice();
    if (!want(Second, false))
      return -1;
  }
  if (!take(")"))
    return fail("')' is wanted");
  if (!Two)
    return add(Op::Absolute, 0, First);
  return add(Name == "max" ? Op::Maximum : Op::Minimum, 0, First, Second);
}

int ExpressionParser::name(StringRef Name) {
  auto It = find(Names.Parameters, Name);
  if (It != Names.Parameters.end())
    return add(Op::Parameter, It - Names.Parameters.begin());
  if (Names.Constants)
    if (auto Constant = Names.Constants->find(Name);
        Constant != Names.Constants->end())
      return add(Op::Constant, Constant->second);
  if (Name == "element" && Names.Element)
    return add(Op::Element, 0);
  At -= Name.size();
  return fail("'" + Name + "' is neither a parameter nor a constant");
}

Expected<LibraryExpression>
LibraryExpression::parse(StringRef Text, const ExpressionNames &Names) {
  return ExpressionParser(Text, Names).parse();
}

std::optional<LibraryExpression> LibraryExpression::resolved(
    function_ref<std::optional<int64_t>(const Node &)> Value) const {
  LibraryExpression Result = *this;
  for (Node &N : Result.Nodes) {
    if (std::optional<int64_t> Known = Value(N)) {
      N = Node();
      N.Kind = Op::Constant;
      N.Value = *Known;
    }
    if (N.Kind == Op::TypeSize || N.Kind == Op::PointeeSize)
      return std::nullopt;
  }
  return Result;
}

} // namespace dragon
