//===- LibrarySummaries.cpp - what library functions do to buffers --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By LLVM's YAML I/O, which knows where each scalar stands. Names are resolved
// while a scalar is read, so that its place is that of the error: the keys that
// make names known (types, parameters) are asked for first.
//
//===----------------------------------------------------------------------===//

#include "passes/access/LibrarySummaries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLTraits.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

namespace {

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
  NumberText Bytes;
  TruthText If, OverwriteIf;
};

enum class HostMode { Read, Write };
struct HostRow {
  ParameterName Pointer;
  HostMode Mode = HostMode::Read;
  NumberText Bytes;
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
};

struct FileRow {
  std::string Library;
  std::vector<std::string> Prefixes;
  NumberRows Constants;
  std::optional<int64_t> Failure;
  std::vector<NewName> Neutral;
  std::vector<FunctionRow> Functions;
};

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
LLVM_YAML_IS_SEQUENCE_VECTOR(dragon::FunctionRow)

namespace llvm::yaml {

using namespace dragon;

template <> struct ScalarTraits<ParameterName> {
  static void output(const ParameterName &, void *, raw_ostream &) {}
  static StringRef input(StringRef Text, void *Context, ParameterName &Value) {
    Reading &R = reading(Context);
    auto It = find(R.Names.Parameters, Text);
    if (It == R.Names.Parameters.end()) {
      R.Message = ("'" + Text + "' is not among the parameters").str();
      return R.Message;
    }
    Value.Index = static_cast<int>(It - R.Names.Parameters.begin());
    return StringRef();
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
    if (Row.Mode == LibraryMode::Keep && (Row.Bytes.Value || Row.If.Value))
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
    R.Names.Parameters = {};
  }
  static std::string validate(IO &In, FunctionRow &Row) {
    bool Family = StringRef(Row.Name).contains("{T}");
    if (Family == Row.Types.empty())
      return Family ? "a name with {T} needs 'types'"
                    : "'types' go with a name that has {T}";
    if (!Row.Stream.empty() && Row.StreamOf.Index >= 0)
      return "'stream' and 'stream-of' exclude each other";
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
    In.mapOptional("neutral", Row.Neutral);
    In.mapOptional("functions", Row.Functions);
  }
};

} // namespace llvm::yaml

namespace dragon {

namespace {

/// Puts numbers into all of a function's expressions. What is overwritten is so
/// only if its size is known.
void resolve(
    LibraryFunction &F,
    function_ref<std::optional<int64_t>(const LibraryExpression::Node &)>
        Value) {
  auto Resolve = [&](std::optional<LibraryExpression> &E) {
    bool Had = E.has_value();
    if (E)
      E = E->resolved(Value);
    return Had && !E;
  };
  for (LibraryUse &Use : F.Uses) {
    if (Resolve(Use.Bytes) || Resolve(Use.OverwriteIf)) {
      Use.OverwriteIf.reset();
      if (Use.Mode == LibraryMode::Overwrite)
        Use.Mode = LibraryMode::Write;
    }
    // It may be used: say what it may do, and nothing that is sure.
    if (Resolve(Use.If)) {
      Use.OverwriteIf.reset();
      if (Use.Mode == LibraryMode::Overwrite)
        Use.Mode = LibraryMode::Write;
    }
  }
  for (LibraryHostUse &Host : F.Host)
    Resolve(Host.Bytes);
}

LibraryFunction functionOf(const FunctionRow &Row, std::optional<int64_t> Bytes,
                           StringRef Library) {
  LibraryFunction F;
  F.Library = Library.str();
  F.Parameters = Row.Parameters;
  F.Compiled = Row.Compiled;
  F.Iterators = Row.Iterators;
  F.Failure = Row.Failure;
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
    F.Uses.push_back({static_cast<unsigned>(Use.Pointer.Index), Use.Mode,
                      Use.Bytes.Value, Use.If.Value, Use.OverwriteIf.Value});
  for (const HostRow &Host : Row.Host)
    F.Host.push_back({static_cast<unsigned>(Host.Pointer.Index),
                      Host.Bytes.Value, Host.Mode == HostMode::Write});
  if (Bytes)
    resolve(F, [&](const LibraryExpression::Node &N) {
      return N.Kind == LibraryExpression::Op::Element ? Bytes : std::nullopt;
    });
  return F;
}

/// "a::b<c::d>::e" -> a, b, e.
SmallVector<StringRef, 4> componentsOf(StringRef Name) {
  SmallVector<StringRef, 4> Result;
  int Depth = 0;
  size_t Begin = 0;
  auto Cut = [&](size_t End) {
    Result.push_back(Name.slice(Begin, End).split('<').first);
  };
  for (size_t I = 0; I < Name.size(); ++I) {
    Depth += Name[I] == '<';
    Depth -= Name[I] == '>';
    if (Depth == 0 && Name.substr(I).starts_with("::")) {
      Cut(I);
      Begin = I + 2;
      ++I;
    }
  }
  Cut(Name.size());
  return Result;
}

/// What a mangled name says of a function.
struct Signature {
  std::string Name; ///< qualified, without template arguments at its end
  std::vector<std::string> TemplateArguments;
  std::vector<std::string> Parameters; ///< their types
};

/// "a<b, c>, d" -> a<b, c> and d.
std::vector<std::string> splitList(StringRef List) {
  std::vector<std::string> Result;
  int Depth = 0;
  size_t Begin = 0;
  for (size_t I = 0; I <= List.size(); ++I) {
    char C = I < List.size() ? List[I] : ',';
    Depth += C == '<' || C == '(';
    Depth -= C == '>' || C == ')';
    if (C != ',' || (Depth > 0 && I < List.size()))
      continue;
    Result.push_back(List.slice(Begin, I).trim().str());
    Begin = I + 1;
  }
  return Result;
}

std::optional<Signature> signatureOf(StringRef Symbol) {
  ItaniumPartialDemangler Parts;
  std::string Mangled = Symbol.str();
  if (!Symbol.starts_with("_Z") || Parts.partialDemangle(Mangled.c_str()) ||
      !Parts.isFunction())
    return std::nullopt;
  auto Take = [](char *Text) {
    std::string Result = Text ? Text : "";
    std::free(Text);
    return Result;
  };
  Signature Result;
  std::string Context =
      Take(Parts.getFunctionDeclContextName(nullptr, nullptr));
  std::string Base = Take(Parts.getFunctionBaseName(nullptr, nullptr));
  Result.Name = Context.empty() ? Base : Context + "::" + Base;
  std::string Whole = Take(Parts.getFunctionName(nullptr, nullptr));
  StringRef Arguments = Whole;
  if (Arguments.consume_front(Result.Name) && Arguments.consume_front("<") &&
      Arguments.consume_back(">"))
    Result.TemplateArguments = splitList(Arguments);
  std::string Parameters = Take(Parts.getFunctionParameters(nullptr, nullptr));
  StringRef List = Parameters;
  if (List.consume_front("(") && List.consume_back(")") && !List.empty() &&
      List != "void")
    Result.Parameters = splitList(List);
  return Result;
}

/// Of a type by its name, on x86-64. Nothing: not known.
std::optional<int64_t> sizeOfType(StringRef Name) {
  Name = Name.trim();
  while (Name.consume_back(" const"))
    Name = Name.trim();
  if (Name.ends_with("*"))
    return 8;
  return StringSwitch<std::optional<int64_t>>(Name)
      .Cases({"char", "signed char", "unsigned char", "bool"}, 1)
      .Cases({"short", "unsigned short", "__half", "__nv_bfloat16"}, 2)
      .Cases({"int", "unsigned int", "float"}, 4)
      .Cases({"long", "unsigned long", "long long", "unsigned long long"}, 8)
      .Case("double", 8)
      .Default(std::nullopt);
}

/// Overloads are told apart by the number of their parameters, and by what is
/// used being a pointer: not a reference, nor a class that holds several.
bool takesPointers(const LibraryFunction &F, const Signature &Of) {
  if (F.Parameters.size() != Of.Parameters.size())
    return false;
  return all_of(F.Uses, [&](const LibraryUse &Use) {
    StringRef Type = Of.Parameters[Use.Parameter];
    while (Type.consume_back(" const"))
      ;
    if (Type.ends_with("*"))
      return true;
    if (!F.Iterators || Type.ends_with("&") || !Type.starts_with("thrust::"))
      return false;
    StringRef Class = componentsOf(Type).back();
    return Class == "device_ptr" || Class == "normal_iterator" ||
           Class == "pointer";
  });
}

std::optional<int64_t> pointeeSize(StringRef Name) {
  Name = Name.trim();
  return Name.consume_back("*") ? sizeOfType(Name) : std::nullopt;
}

/// The name begins and ends as the pattern does; namespaces in between, such as
/// those that carry a version, do not count.
bool matches(StringRef Name, StringRef Pattern) {
  SmallVector<StringRef, 4> Have = componentsOf(Name);
  SmallVector<StringRef, 4> Want = componentsOf(Pattern);
  if (Have.size() < Want.size() || Have.front() != Want.front() ||
      Have.back() != Want.back())
    return false;
  size_t Next = 0;
  for (StringRef Component : Have)
    if (Next < Want.size() && Component == Want[Next])
      ++Next;
  return Next == Want.size();
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

const LibraryUse *LibraryFunction::use(unsigned Parameter) const {
  for (const LibraryUse &U : Uses)
    if (U.Parameter == Parameter)
      return &U;
  return nullptr;
}

const LibraryHostUse *LibraryFunction::hostUse(unsigned Parameter) const {
  for (const LibraryHostUse &U : Host)
    if (U.Parameter == Parameter)
      return &U;
  return nullptr;
}

std::string LibraryFunction::shownName() const {
  StringRef Shown = Name;
  Shown.consume_back("_64");
  if (!Shown.consume_back("_v2"))
    Shown = Name;
  return Shown.str();
}

Error LibrarySummaries::add(MemoryBufferRef File) {
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

  for (const std::string &Prefix : Row.Prefixes)
    Prefixes.emplace_back(Prefix, Row.Library);
  // What this file says of a function counts.
  std::map<std::string, Functions> Qualified;
  auto Add = [&](const std::string &Name, LibraryFunction F) {
    F.Name = Name;
    if (StringRef(Name).contains("::"))
      Qualified[Name].push_back(std::move(F));
    else
      BySymbol[Name] = std::move(F);
  };
  for (const NewName &Name : Row.Neutral) {
    LibraryFunction F;
    F.Library = Row.Library;
    F.Neutral = true;
    Add(Name.Value, std::move(F));
  }
  for (const FunctionRow &Function : Row.Functions)
    for (const auto &[Name, Bytes] : familyOf(Function)) {
      LibraryFunction F = functionOf(Function, Bytes, Row.Library);
      if (!F.Failure)
        F.Failure = Row.Failure;
      Add(Name, std::move(F));
    }
  for (auto &[Name, Overloads] : Qualified) {
    Functions &Known = ByQualifiedName[componentsOf(Name).back().str()];
    erase_if(Known, [&, &Replaced = Name](const LibraryFunction &Old) {
      return Old.Name == Replaced;
    });
    for (LibraryFunction &F : Overloads)
      Known.push_back(std::move(F));
  }
  return Error::success();
}

Expected<LibrarySummaries> LibrarySummaries::read(ArrayRef<std::string> Paths) {
  LibrarySummaries Result;
  for (const std::string &Path : Paths) {
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/true);
    if (!File)
      return createStringError(File.getError(),
                               "cannot read the library summaries '" + Path +
                                   "': " + File.getError().message());
    if (Error Failed = Result.add(**File))
      return std::move(Failed);
  }
  return std::move(Result);
}

const LibraryFunction *LibrarySummaries::find(StringRef Symbol,
                                              unsigned NumArguments) const {
  auto Fits = [&](const LibraryFunction &F) {
    return F.Neutral || F.Parameters.size() == NumArguments;
  };
  if (auto It = BySymbol.find(Symbol); It != BySymbol.end())
    return Fits(It->second) ? &It->second : nullptr;
  if (ByQualifiedName.empty() || !Symbol.starts_with("_Z"))
    return nullptr;
  auto [Known, New] = Instances.try_emplace(Symbol);
  if (New)
    Known->second = instance(Symbol);
  // Each parameter is one argument: none is empty or in several pieces.
  return Known->second && Fits(*Known->second) ? &*Known->second : nullptr;
}

std::optional<LibraryFunction>
LibrarySummaries::instance(StringRef Symbol) const {
  std::optional<Signature> Of = signatureOf(Symbol);
  if (!Of)
    return std::nullopt;
  auto It = ByQualifiedName.find(componentsOf(Of->Name).back().str());
  if (It == ByQualifiedName.end())
    return std::nullopt;
  for (const LibraryFunction &F : It->second) {
    if (!matches(Of->Name, F.Name) || (!F.Neutral && !takesPointers(F, *Of)))
      continue;
    LibraryFunction Result = F;
    resolve(Result, [&](const LibraryExpression::Node &N) {
      auto Index = static_cast<size_t>(N.Value);
      bool IsType = N.Kind == LibraryExpression::Op::TypeSize;
      if ((!IsType && N.Kind != LibraryExpression::Op::PointeeSize) ||
          Index >= Of->TemplateArguments.size())
        return std::optional<int64_t>();
      const std::string &Type = Of->TemplateArguments[Index];
      return IsType ? sizeOfType(Type) : pointeeSize(Type);
    });
    return Result;
  }
  return std::nullopt;
}

void LibrarySummaries::visit(
    function_ref<void(const LibraryFunction &)> See) const {
  for (const auto &Entry : BySymbol)
    See(Entry.second);
  for (const auto &[Name, Overloads] : ByQualifiedName)
    for (const LibraryFunction &F : Overloads)
      See(F);
}

std::vector<StringRef> LibrarySummaries::prefixes() const {
  std::vector<StringRef> Result;
  Result.reserve(Prefixes.size());
  for (const auto &[Prefix, Library] : Prefixes)
    Result.push_back(Prefix);
  return Result;
}

void LibrarySummaries::print(raw_ostream &To) const {
  std::vector<std::string> Lines;
  auto Add = [&](const LibraryFunction &F) {
    Lines.push_back(F.Library + ": " + F.Name + "(" +
                    (F.Neutral ? "..." : join(F.Parameters, ", ")) + ")");
  };
  visit(Add);
  llvm::sort(Lines);
  for (const std::string &Line : Lines)
    To << Line << '\n';
}

StringRef LibrarySummaries::libraryOf(StringRef Symbol) const {
  for (const auto &[Prefix, Library] : Prefixes)
    if (Symbol.starts_with(Prefix))
      return Library;
  return "";
}

} // namespace dragon
