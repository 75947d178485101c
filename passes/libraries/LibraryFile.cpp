//===- LibraryFile.cpp - one file of library summaries --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file is read by LLVM's YAML I/O, which knows where each scalar stands.
// Names are resolved while a scalar is read, so that its place is that of the
// error: the keys that make names known (types, parameters) are read first.
//
//===----------------------------------------------------------------------===//

#include "passes/libraries/LibraryFile.h"

#include "dragon/CompilerABI.h"
#include "passes/libraries/LibraryFileRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLTraits.h"

using namespace llvm;

namespace dragon {

namespace {

/// `blas{T}gemm` of the types S and D, with the suffix _v2: blasSgemm_v2,
/// blasDgemm_v2, each with the size of its type.
std::vector<std::pair<std::string, std::optional<int64_t>>>
familyOf(const FunctionRow &Row) {
  std::vector<std::pair<std::string, std::optional<int64_t>>> Family, Result;
  auto [Before, After] = StringRef(Row.Name).split("{T}");
  for (const NumberRow &Type : Row.Types)
    Family.emplace_back((Before + Type.Name + After).str(), Type.Value);
  if (Family.empty())
    Family.emplace_back(Row.Name, std::nullopt);
  for (const auto &[Name, Bytes] : Family) {
    if (Row.Suffixes.empty())
      Result.emplace_back(Name, Bytes);
    for (const std::string &Suffix : Row.Suffixes)
      Result.emplace_back(Name + Suffix, Bytes);
  }
  return Result;
}

/// What is known while a file is read.
struct Reading {
  StringMap<int64_t> Constants;
  ExpressionNames Names;
  /// Described already; C++ names with their number of parameters.
  StringSet<> Described;
  /// Of the last scalar that was refused: YAML I/O keeps a reference to it.
  std::string Message;

  /// Keeps the message if there is none of that name.
  bool findParameter(StringRef Name, int &Index) {
    const auto *It = find(Names.Parameters, Name);
    if (It == Names.Parameters.end()) {
      Message = ("'" + Name + "' is not among the parameters").str();
      return false;
    }
    Index = static_cast<int>(It - Names.Parameters.begin());
    return true;
  }
  /// Keeps the message if the function is described already.
  StringRef describe(StringRef Name, size_t NumParameters) {
    bool IsQualified = Name.contains("::");
    std::string Key = Name.str();
    if (IsQualified)
      Key += "/" + std::to_string(NumParameters);
    if (Described.insert(Key).second)
      return StringRef();
    Message = ("'" + Name + "' is described twice").str();
    return Message;
  }
};

Reading &reading(void *Context) { return *static_cast<Reading *>(Context); }

StringRef readExpression(StringRef Text, void *Context, bool Truth,
                         std::optional<LibraryExpression> &Value) {
  Reading &R = reading(Context);
  Expected<LibraryExpression> Parsed = LibraryExpression::parse(Text, R.Names);
  if (!Parsed) {
    R.Message = toString(Parsed.takeError());
    return R.Message;
  }
  if (Parsed->isTruth() != Truth)
    return Truth ? "a condition is wanted, as 'ldc == m'"
                 : "a number is wanted, as '4 * n'";
  Value = std::move(*Parsed);
  return StringRef();
}

} // namespace

} // namespace dragon

LLVM_YAML_IS_SEQUENCE_VECTOR(dragon::NewName)
LLVM_YAML_IS_SEQUENCE_VECTOR(dragon::UseRow)
LLVM_YAML_IS_SEQUENCE_VECTOR(dragon::HostRow)
LLVM_YAML_IS_SEQUENCE_VECTOR(dragon::PieceRow)
LLVM_YAML_IS_SEQUENCE_VECTOR(dragon::FunctionRow)

namespace llvm::yaml {

using namespace dragon;

template <> struct ScalarTraits<ParameterName> {
  static void output(const ParameterName &, void *, raw_ostream &) {}
  static StringRef input(StringRef Text, void *Context, ParameterName &Value) {
    Reading &R = reading(Context);
    return R.findParameter(Text, Value.Index) ? StringRef() : R.Message;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<NewName> {
  static void output(const NewName &, void *, raw_ostream &) {}
  static StringRef input(StringRef Text, void *Context, NewName &Value) {
    Value.Value = Text.str();
    return reading(Context).describe(Text, 0);
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<NumberText> {
  static void output(const NumberText &, void *, raw_ostream &) {}
  static StringRef input(StringRef Text, void *Context, NumberText &Value) {
    return readExpression(Text, Context, /*Truth=*/false, Value.Value);
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<TruthText> {
  static void output(const TruthText &, void *, raw_ostream &) {}
  static StringRef input(StringRef Text, void *Context, TruthText &Value) {
    return readExpression(Text, Context, /*Truth=*/true, Value.Value);
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<LibraryMode> {
  static void output(const LibraryMode &, void *, raw_ostream &) {}
  static StringRef input(StringRef Text, void *Context, LibraryMode &Value) {
    auto Mode = StringSwitch<std::optional<LibraryMode>>(Text)
                    .Case("read", LibraryMode::Read)
                    .Case("write", LibraryMode::Write)
                    .Case("read-write", LibraryMode::ReadWrite)
                    .Case("overwrite", LibraryMode::Overwrite)
                    .Case("keep", LibraryMode::Keep)
                    .Default(std::nullopt);
    if (Mode) {
      Value = *Mode;
      return StringRef();
    }
    reading(Context).Message = ("'" + Text +
                                "' is no mode; the modes are read, write, "
                                "read-write, overwrite and keep")
                                   .str();
    return reading(Context).Message;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarEnumerationTraits<HostMode> {
  static void enumeration(IO &In, HostMode &Value) {
    In.enumCase(Value, "read", HostMode::Read);
    In.enumCase(Value, "write", HostMode::Write);
  }
};

template <> struct CustomMappingTraits<NumberRows> {
  static void inputOne(IO &In, StringRef Key, NumberRows &Rows) {
    NumberRow Row;
    Row.Name = Key.str();
    In.mapRequired(Row.Name.c_str(), Row.Value);
    Rows.push_back(std::move(Row));
  }
  static void output(IO &, NumberRows &) {}
};

template <> struct MappingTraits<UseRow> {
  static void mapping(IO &In, UseRow &Row) {
    In.mapRequired("pointer", Row.Pointer);
    In.mapRequired("mode", Row.Mode);
    In.mapOptional("array", Row.Array);
    In.mapOptional("bytes", Row.Bytes);
    In.mapOptional("if", Row.If);
    In.mapOptional("overwrite-if", Row.OverwriteIf);
  }
  static std::string validate(IO &, UseRow &Row) {
    bool Sure = Row.Mode == LibraryMode::Overwrite || Row.OverwriteIf.Value;
    if (Sure && !Row.Bytes.Value)
      return "what is overwritten needs 'bytes'";
    if (Row.OverwriteIf.Value && Row.Mode != LibraryMode::ReadWrite &&
        Row.Mode != LibraryMode::Write)
      return "'overwrite-if' goes with the modes write and read-write";
    if (Row.Mode == LibraryMode::Keep &&
        (Row.Array.Value || Row.Bytes.Value || Row.If.Value))
      return "the mode keep is of all of the buffer, always";
    return "";
  }
};

template <> struct MappingTraits<HostRow> {
  static void mapping(IO &In, HostRow &Row) {
    In.mapRequired("pointer", Row.Pointer);
    In.mapOptional("mode", Row.Mode, HostMode::Read);
    In.mapOptional("bytes", Row.Bytes);
  }
};

template <> struct CustomMappingTraits<MoveRows> {
  static void inputOne(IO &In, StringRef Key, MoveRows &Rows) {
    Reading &R = reading(In.getContext());
    MoveRow Row;
    if (!R.findParameter(Key, Row.Index)) {
      In.setError(R.Message);
      return;
    }
    In.mapRequired(R.Names.Parameters[size_t(Row.Index)].c_str(), Row.Bytes);
    Rows.push_back(std::move(Row));
  }
  static void output(IO &, MoveRows &) {}
};

template <> struct MappingTraits<PieceRow> {
  static void mapping(IO &In, PieceRow &Row) {
    In.mapRequired("along", Row.Along);
    In.mapRequired("moves", Row.Moves);
    In.mapOptional("adds", Row.Adds);
    In.mapOptional("one", Row.One);
    In.mapOptional("if", Row.If);
    In.mapOptional("rounds-if", Row.RoundsIf);
  }
  static std::string validate(IO &, PieceRow &Row) {
    const bool Adds = Row.Adds.Index >= 0;
    if (Adds != Row.One.Value.has_value())
      return "'adds' and 'one' go together";
    return Row.RoundsIf.Value && !Adds ? "'rounds-if' goes with 'adds'" : "";
  }
};

template <> struct MappingTraits<SetsStreamRow> {
  static void mapping(IO &In, SetsStreamRow &Row) {
    In.mapRequired("of", Row.Of);
    In.mapRequired("to", Row.To);
  }
};

template <> struct MappingTraits<FunctionRow> {
  static void mapping(IO &In, FunctionRow &Row) {
    Reading &R = reading(In.getContext());
    In.mapRequired("name", Row.Name);
    In.mapOptional("suffixes", Row.Suffixes);
    In.mapOptional("types", Row.Types);
    In.mapRequired("parameters", Row.Parameters);
    R.Names.Parameters = Row.Parameters;
    R.Names.Element = !Row.Types.empty();
    R.Names.Template = StringRef(Row.Name).contains("::");
    In.mapOptional("stream", Row.Stream);
    In.mapOptional("stream-of", Row.StreamOf);
    In.mapOptional("creates", Row.Creates);
    In.mapOptional("sets-stream", Row.SetsStream);
    In.mapOptional("compiled", Row.Compiled);
    In.mapOptional("iterators", Row.Iterators);
    In.mapOptional("failure", Row.Failure);
    In.mapOptional("host", Row.Host);
    In.mapOptional("uses", Row.Uses);
    In.mapOptional("pieces", Row.Pieces);
    In.mapOptional("through", Row.Through);
    R.Names.Parameters = {};
  }
  static std::string problemOf(ArrayRef<PieceRow> Pieces,
                               const FunctionRow &Row) {
    if (Pieces.size() > DRAGON_LIBRARY_MOST_PIECES)
      return ("pieces are along at most " + Twine(DRAGON_LIBRARY_MOST_PIECES) +
              " parameters")
          .str();
    auto isAmong = [](const auto &Rows, int Index) {
      return any_of(
          Rows, [&](const auto &One) { return One.Pointer.Index == Index; });
    };
    for (const PieceRow &Piece : Pieces) {
      for (const MoveRow &Move : Piece.Moves)
        if (!isAmong(Row.Uses, Move.Index))
          return "'" + Row.Parameters[Move.Index] +
                 "' is moved, but not among 'uses'";
      if (Piece.Adds.Index >= 0 && !isAmong(Row.Host, Piece.Adds.Index))
        return "adds: '" + Row.Parameters[Piece.Adds.Index] +
               "' is not among 'host'";
    }
    return "";
  }
  static std::string validate(IO &In, FunctionRow &Row) {
    bool Family = StringRef(Row.Name).contains("{T}");
    if (Family == Row.Types.empty())
      return Family ? "a name with {T} needs 'types'"
                    : "'types' go with a name that has {T}";
    if (!Row.Stream.empty() && Row.StreamOf.Index >= 0)
      return "'stream' and 'stream-of' exclude each other";
    if (!Row.Through.empty() && Row.Through != "__dragon_light_matmul")
      return "through: '" + Row.Through + "' is no function of the runtime's";
    if (!Row.Stream.empty() && Row.Stream != "default" &&
        !is_contained(Row.Parameters, Row.Stream))
      return "stream: '" + Row.Stream +
             "' is neither a parameter nor 'default'";
    for (size_t I = 0; I < Row.Parameters.size(); ++I)
      if (is_contained(ArrayRef(Row.Parameters).take_front(I),
                       Row.Parameters[I]))
        return "two parameters are called '" + Row.Parameters[I] + "'";
    std::vector<bool> Described(Row.Parameters.size());
    auto Describe = [&](const ParameterName &P) {
      bool Twice = P.Index >= 0 && Described[P.Index];
      if (P.Index >= 0)
        Described[P.Index] = true;
      return Twice ? "'" + Row.Parameters[P.Index] + "' is described twice"
                   : std::string();
    };
    std::string Problem;
    for (const UseRow &Use : Row.Uses)
      if (Problem.empty())
        Problem = Describe(Use.Pointer);
    for (const HostRow &Host : Row.Host)
      if (Problem.empty())
        Problem = Describe(Host.Pointer);
    if (Problem.empty())
      Problem = problemOf(Row.Pieces, Row);
    Reading &R = reading(In.getContext());
    for (const auto &[Name, Bytes] : familyOf(Row))
      if (Problem.empty())
        Problem = R.describe(Name, Row.Parameters.size()).str();
    return Problem;
  }
};

template <> struct MappingTraits<FileRow> {
  static void mapping(IO &In, FileRow &Row) {
    Reading &R = reading(In.getContext());
    In.mapRequired("library", Row.Library);
    In.mapOptional("prefixes", Row.Prefixes);
    In.mapOptional("constants", Row.Constants);
    for (const NumberRow &Constant : Row.Constants)
      R.Constants[Constant.Name] = Constant.Value;
    R.Names.Constants = &R.Constants;
    In.mapOptional("failure", Row.Failure);
    In.mapOptional("gets-stream", Row.GetsStream);
    In.mapOptional("neutral", Row.Neutral);
    In.mapOptional("describing", Row.Describing);
    In.mapOptional("functions", Row.Functions);
  }
};

} // namespace llvm::yaml

namespace dragon {

namespace {

LibraryFunction functionOf(const FunctionRow &Row, std::optional<int64_t> Bytes,
                           StringRef Library) {
  LibraryFunction F;
  F.Library = Library.str();
  F.Parameters = Row.Parameters;
  F.Compiled = Row.Compiled;
  F.Iterators = Row.Iterators;
  F.Failure = Row.Failure;
  F.Through = Row.Through;
  F.InDefaultStream = Row.Stream == "default";
  if (auto It = find(Row.Parameters, Row.Stream); It != Row.Parameters.end())
    F.Stream = static_cast<int>(It - Row.Parameters.begin());
  F.StreamOf = Row.StreamOf.Index;
  F.Creates = Row.Creates.Index;
  if (Row.SetsStream) {
    F.SetsStreamOf = Row.SetsStream->Of.Index;
    F.SetsStreamTo = Row.SetsStream->To.Index;
  }
  for (const UseRow &Use : Row.Uses)
    F.Uses.push_back({static_cast<unsigned>(Use.Pointer.Index), Use.Array.Value,
                      Use.Mode, Use.Bytes.Value, Use.If.Value,
                      Use.OverwriteIf.Value});
  for (const HostRow &Host : Row.Host)
    F.Host.push_back({static_cast<unsigned>(Host.Pointer.Index),
                      Host.Bytes.Value, Host.Mode == HostMode::Write});
  for (const PieceRow &Piece : Row.Pieces) {
    LibraryPiece &New = F.Pieces.emplace_back();
    New.Along = static_cast<unsigned>(Piece.Along.Index);
    for (const MoveRow &Move : Piece.Moves)
      if (Move.Bytes.Value)
        New.Moves.push_back(
            {static_cast<unsigned>(Move.Index), *Move.Bytes.Value});
    // The reader has no order of keys.
    llvm::sort(New.Moves, [](const auto &A, const auto &B) {
      return A.Parameter < B.Parameter;
    });
    New.Scale = Piece.Adds.Index;
    New.One = Piece.One.Value;
    New.If = Piece.If.Value;
    New.RoundsIf = Piece.RoundsIf.Value;
  }
  if (Bytes)
    F.resolve([&](const LibraryExpression::Node &N) {
      return N.Kind == LibraryExpression::Op::Element ? Bytes : std::nullopt;
    });
  return F;
}

struct Diagnosed {
  std::string First;
};

void keepFirst(const SMDiagnostic &Diagnostic, void *Context) {
  std::string &First = static_cast<Diagnosed *>(Context)->First;
  if (First.empty())
    First =
        (Diagnostic.getFilename() + ":" + Twine(Diagnostic.getLineNo()) + ":" +
         Twine(Diagnostic.getColumnNo() + 1) + ": " + Diagnostic.getMessage())
            .str();
}

} // namespace

Expected<LibraryFile> readLibraryFile(MemoryBufferRef File) {
  Reading Context;
  Diagnosed Problem;
  yaml::Input In(File, &Context, keepFirst, &Problem);
  FileRow Row;
  In >> Row;
  if (In.error() || !Problem.First.empty())
    return createStringError(Problem.First.empty()
                                 ? (File.getBufferIdentifier() +
                                    ": cannot be read as library summaries")
                                       .str()
                                 : Problem.First);

  LibraryFile Result;
  Result.Library = Row.Library;
  Result.Prefixes = std::move(Row.Prefixes);
  for (NewName &Name : Row.Neutral) {
    LibraryFunction F;
    F.Name = std::move(Name.Value);
    F.Library = Row.Library;
    F.Neutral = true;
    Result.Functions.push_back(std::move(F));
  }
  for (NewName &Name : Row.Describing)
    Result.Describing.push_back(std::move(Name.Value));
  for (const FunctionRow &Function : Row.Functions)
    for (const auto &[Name, Bytes] : familyOf(Function)) {
      LibraryFunction F = functionOf(Function, Bytes, Row.Library);
      F.Name = Name;
      if (!F.Failure)
        F.Failure = Row.Failure;
      if (F.StreamOf >= 0)
        F.GetsStream = Row.GetsStream;
      Result.Functions.push_back(std::move(F));
    }
  return Result;
}

} // namespace dragon
