//===- LibraryExpression.h - sizes and conditions in summaries --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many bytes a library function touches, and when it overwrites them, as
// expressions over its parameters:
//
//   element * (ldc * (n - 1) + m)         *beta == 0 && ldc == m
//   transa == N ? k : m                   max(1, abs(incx))
//   sizeof(0) * num_items                 pointee(1) * num_items
//
// matrix(layout) is what a layout of cublasLt's, which only the library can
// read, says of the bytes of a matrix. sizeof(N) is the size of the N-th
// template argument of a C++ function, pointee(N) that of what the argument
// points to.
//
// Numbers are 64-bit and signed. `*beta == 0` asks whether all bytes of a host
// parameter are zero. An expression is a number or a truth; which of the two is
// known once it is parsed. Who evaluates it brings the arithmetic: on LLVM's
// SCEVs, to compare sizes, or on IR values, to compute them at run time.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIBRARIES_LIBRARYEXPRESSION_H
#define DRAGON_PASSES_LIBRARIES_LIBRARYEXPRESSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dragon {

/// The names that an expression may use.
struct ExpressionNames {
  llvm::ArrayRef<std::string> Parameters;
  const llvm::StringMap<int64_t> *Constants = nullptr;
  bool Element = false;  ///< `element`, the size of the types of a family
  bool Template = false; ///< sizeof(N) and pointee(N), of template arguments
};

class LibraryExpression {
public:
  enum class Op {
    // Numbers.
    Constant,
    Element,
    TypeSize,    ///< of a template argument
    PointeeSize, ///< of what a template argument points to
    Parameter,
    MatrixBytes, ///< that a layout of cublasLt's, a parameter, describes
    Add,
    Subtract,
    Multiply,
    Divide, ///< rounds towards zero
    Maximum,
    Minimum,
    Absolute,
    Select, ///< truth, number, number
    // Truths.
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    And,
    Or,
    Not,
    HostIsZero ///< of a parameter
  };
  struct Node {
    Op Kind;
    int64_t Value = 0; ///< of a constant; a parameter's number
    int Operands[3] = {-1, -1, -1};
  };

  /// Errors say what is wrong and at which column of the text.
  static llvm::Expected<LibraryExpression> parse(llvm::StringRef Text,
                                                 const ExpressionNames &Names);

  bool isTruth() const { return Nodes.back().Kind >= Op::Equal; }
  /// With numbers in place of nodes for which Value knows one. Nothing if sizes
  /// of types are left.
  std::optional<LibraryExpression> resolved(
      llvm::function_ref<std::optional<int64_t>(const Node &)> Value) const;

  /// Arithmetic: Number and Truth, and one function for each kind of node:
  /// constant, parameter, matrixBytes, number(Op, a, b), select,
  /// compare(Op, a, b), logic(Op, a, b), hostIsZero.
  template <typename Arithmetic>
  typename Arithmetic::Number number(Arithmetic &With) const {
    return numberAt(With, Nodes.size() - 1);
  }
  template <typename Arithmetic>
  typename Arithmetic::Truth truth(Arithmetic &With) const {
    return truthAt(With, Nodes.size() - 1);
  }

private:
  friend class ExpressionParser;

  template <typename Arithmetic>
  typename Arithmetic::Number numberAt(Arithmetic &With, int Index) const {
    const Node &N = Nodes[Index];
    switch (N.Kind) {
    case Op::Parameter:
      return With.parameter(static_cast<unsigned>(N.Value));
    case Op::MatrixBytes:
      return With.matrixBytes(static_cast<unsigned>(N.Value));
    case Op::Select:
      return With.select(truthAt(With, N.Operands[0]),
                         numberAt(With, N.Operands[1]),
                         numberAt(With, N.Operands[2]));
    case Op::Absolute: {
      auto Of = numberAt(With, N.Operands[0]);
      return With.number(Op::Maximum, Of,
                         With.number(Op::Subtract, With.constant(0), Of));
    }
    case Op::Constant:
      return With.constant(N.Value);
    default:
      return With.number(N.Kind, numberAt(With, N.Operands[0]),
                         numberAt(With, N.Operands[1]));
    }
  }

  template <typename Arithmetic>
  typename Arithmetic::Truth truthAt(Arithmetic &With, int Index) const {
    const Node &N = Nodes[Index];
    switch (N.Kind) {
    case Op::HostIsZero:
      return With.hostIsZero(static_cast<unsigned>(N.Value));
    case Op::And:
    case Op::Or:
      return With.logic(N.Kind, truthAt(With, N.Operands[0]),
                        truthAt(With, N.Operands[1]));
    case Op::Not:
      return With.negation(truthAt(With, N.Operands[0]));
    default:
      return With.compare(N.Kind, numberAt(With, N.Operands[0]),
                          numberAt(With, N.Operands[1]));
    }
  }

  std::vector<Node> Nodes; ///< operands first; the last one is the whole
};

} // namespace dragon

#endif // DRAGON_PASSES_LIBRARIES_LIBRARYEXPRESSION_H
