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

class FormMemo {
public:
  explicit FormMemo(size_t Expected) { All.reserve(Expected); }

  /// Null: none is known. Valid until the next change.
  const Linear *find(uint32_t Node) const {
    for (const Known &K : All)
      if (K.Node == Node)
        return &K.Form;
    return nullptr;
  }
  void keep(uint32_t Node, const Linear &Form) { All.push_back({Node, Form}); }
  void forget(uint32_t Node) {
    All.erase(std::remove_if(All.begin(), All.end(),
                             [Node](const Known &K) { return K.Node == Node; }),
              All.end());
  }
  size_t size() const { return All.size(); }

private:
  struct Known {
    uint32_t Node;
    Linear Form;
  };
  std::vector<Known> All; ///< few: a search by hash would cost more
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_FORMMEMO_H
