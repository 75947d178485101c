//===- LibraryFileRows.h - what a file of library summaries says *- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a file (docs/summaries.md), key by key, with names resolved:
// LibraryFile.cpp's own.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIBRARIES_LIBRARYFILEROWS_H
#define DRAGON_PASSES_LIBRARIES_LIBRARYFILEROWS_H

#include "passes/libraries/LibraryFunction.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dragon {

/// A parameter's name in a file, as its number.
struct ParameterName {
  int Index = -1;
};

/// A function that is named only once in its file.
struct NewName {
  std::string Value;
};

/// An expression, and which kind is wanted.
struct NumberText {
  std::optional<LibraryExpression> Value;
};
struct TruthText {
  std::optional<LibraryExpression> Value;
};

struct NumberRow {
  std::string Name;
  int64_t Value = 0;
};
using NumberRows = std::vector<NumberRow>;

struct UseRow {
  ParameterName Pointer;
  LibraryMode Mode = LibraryMode::ReadWrite;
  NumberText Array, Bytes;
  TruthText If, OverwriteIf;
};

enum class HostMode { Read, Write };
struct HostRow {
  ParameterName Pointer;
  HostMode Mode = HostMode::Read;
  NumberText Bytes;
};

struct MoveRow {
  int Index = -1;
  NumberText Bytes;
};
using MoveRows = std::vector<MoveRow>;
struct PieceRow {
  ParameterName Along, Adds;
  MoveRows Moves;
  NumberText One;
  TruthText If, RoundsIf;
};

struct SetsStreamRow {
  ParameterName Of, To;
};

struct FunctionRow {
  std::string Name;
  std::vector<std::string> Suffixes;
  NumberRows Types;
  std::vector<std::string> Parameters;
  std::string Stream;
  ParameterName StreamOf, Creates;
  std::optional<SetsStreamRow> SetsStream;
  bool Compiled = false, Iterators = false;
  std::optional<int64_t> Failure;
  std::vector<UseRow> Uses;
  std::vector<HostRow> Host;
  std::vector<PieceRow> Pieces;
  std::string Through;
};

struct FileRow {
  std::string Library;
  std::vector<std::string> Prefixes;
  NumberRows Constants;
  std::optional<int64_t> Failure;
  std::string GetsStream;
  std::vector<NewName> Neutral, Describing;
  std::vector<FunctionRow> Functions;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIBRARIES_LIBRARYFILEROWS_H
