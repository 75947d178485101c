//===- FormMemo.h - forms that have been computed ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear form of each expression is computed once (ExprForms.h): what is
// opaque in it is one variable wherever it is used.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_FORMMEMO_H
#define DRAGON_DETAIL_FORMMEMO_H

#include "dragon/detail/LinearSystem.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragon {
namespace detail {

/// Forms have few terms of those that they may have: these alone are kept.
class FormMemo {
public:
  explicit FormMemo(size_t Expected) {
    Nodes.reserve(Expected);
    Forms.reserve(Expected);
    Terms.reserve(2 * Expected);
  }

  /// The node's form, if it is known.
  bool find(uint32_t Node, Linear &Form) const {
    // They are few: a search by hash would cost more.
    const auto At = std::find(Nodes.begin(), Nodes.end(), Node);
    if (At == Nodes.end())
      return false;
    const Known &K = Forms[size_t(At - Nodes.begin())];
    Form = Linear(K.C, Terms.data() + K.First, K.Count);
    return true;
  }
  void keep(uint32_t Node, const Linear &Form) {
    Nodes.push_back(Node);
    Forms.push_back({Form.C, uint32_t(Terms.size()), Form.size()});
    Terms.insert(Terms.end(), Form.begin(), Form.end());
  }
  void forget(uint32_t Node) {
    for (size_t I = Nodes.size(); I-- > 0;)
      if (Nodes[I] == Node) {
        Nodes.erase(Nodes.begin() + ptrdiff_t(I));
        Forms.erase(Forms.begin() + ptrdiff_t(I));
      }
  }
  size_t size() const { return Nodes.size(); }

private:
  struct Known {
    int64_t C;
    uint32_t First, Count; ///< of Terms
  };
  std::vector<uint32_t> Nodes;
  std::vector<Known> Forms; ///< of these nodes
  std::vector<Linear::Term> Terms;
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_FORMMEMO_H
