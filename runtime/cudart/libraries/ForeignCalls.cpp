//===- ForeignCalls.cpp - library calls of other compilers' code ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/libraries/ForeignCalls.h"

#include "runtime/cudart/libraries/Libraries.h"

#ifdef __x86_64__

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace dragon;

namespace {

enum class Kind : uint8_t { Uses, Keeps, Neutral };

struct KnownFunction {
  std::string_view name;
  unsigned parameters;
  Kind kind;
  int64_t failure;
};

constexpr KnownFunction KnownFunctions[] = {
#define DRAGON_LIBRARY_FUNCTION(name, parameters, kind, failure)               \
  {name, parameters, Kind::kind, failure},
#define DRAGON_LIBRARY_PREFIX(prefix)
#include "LibraryTable.inc"
#undef DRAGON_LIBRARY_FUNCTION
#undef DRAGON_LIBRARY_PREFIX
};

constexpr std::string_view Prefixes[] = {
    // Described nowhere.
    "cusolver", "cutensor", "cudss", "npp", "nccl",
#define DRAGON_LIBRARY_FUNCTION(name, parameters, kind, failure)
#define DRAGON_LIBRARY_PREFIX(prefix) prefix,
#include "LibraryTable.inc"
#undef DRAGON_LIBRARY_FUNCTION
#undef DRAGON_LIBRARY_PREFIX
};

const KnownFunction *find(std::string_view name) {
  const auto *found = std::lower_bound(
      std::begin(KnownFunctions), std::end(KnownFunctions), name,
      [](const KnownFunction &a, std::string_view b) { return a.name < b; });
  return found != std::end(KnownFunctions) && found->name == name ? found
                                                                  : nullptr;
}

constexpr unsigned Registers = 6; // of integers and pointers
/// More words than any undescribed function has arguments on the stack.
constexpr unsigned MostWords = 24;
constexpr unsigned MostParameters = 64;
static_assert(std::ranges::all_of(KnownFunctions, [](const KnownFunction &one) {
  return one.parameters <= MostParameters;
}));

/// A function that a trampoline stands for.
struct Foreign {
  const char *name;
  void *real;
  const KnownFunction *known; ///< null: of a library, by its prefix
};

constexpr unsigned Trampolines = 1024; // as the assembler text has it
std::array<Foreign, Trampolines> foreign;
unsigned used = 0;
std::mutex lock;

} // namespace

/// In the trampoline's frame.
struct DragonForeignCall {
  void *token;
  void *real; ///< null: not to be called
  uint64_t words;
  int64_t result;
};

extern "C" {
__attribute__((visibility("hidden"))) void dragonForeignTrampolines();

__attribute__((visibility("hidden"))) void
dragonForeignEnter(uint64_t index, const uint64_t *registers,
                   const uint64_t *stack, DragonForeignCall *call) {
  const Foreign &function = foreign[index];
  unsigned parameters =
      function.known ? function.known->parameters : Registers + MostWords;
  // Parameters in floating-point registers make it less.
  unsigned inRegisters = std::min(parameters, Registers);
  call->words = parameters > Registers ? parameters - Registers : 0;
  call->real = function.real;
  call->token = nullptr;
  call->result = function.known ? function.known->failure : -1;
  if (isAnnounced(function.name))
    return;
  std::array<uintptr_t, MostParameters> words;
  std::copy_n(registers, inRegisters, words.begin());
  std::copy_n(stack, call->words, words.begin() + inRegisters);
  bool stay = !function.known || function.known->kind == Kind::Keeps;
  if (!enterForeignCall(function.name,
                        {words.data(), inRegisters + call->words}, stay,
                        call->token))
    call->real = nullptr;
}

__attribute__((visibility("hidden"))) void dragonForeignLeave(void *token) {
  leaveForeignCall(token);
}
}

// Each trampoline is 16 bytes. The frame below rbp, downwards: the caller's
// rbx, r12, r13, r14; then from rsp upwards the vector registers (0), the
// others with arguments (128), rax (176), a DragonForeignCall (192).
asm(R"(
	.text
	.p2align 4
	.globl dragonForeignTrampolines
	.hidden dragonForeignTrampolines
	.type dragonForeignTrampolines, @function
dragonForeignTrampolines:
	.set dragon_index, 0
	.rept 1024
	.p2align 4
	endbr64
	movl $dragon_index, %r11d
	jmp .Ldragon_foreign
	.set dragon_index, dragon_index + 1
	.endr
	.p2align 4
.Ldragon_foreign:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	.cfi_offset %rbx, -24
	.cfi_offset %r12, -32
	.cfi_offset %r13, -40
	.cfi_offset %r14, -48
	subq $224, %rsp
	movaps %xmm0, 0(%rsp)
	movaps %xmm1, 16(%rsp)
	movaps %xmm2, 32(%rsp)
	movaps %xmm3, 48(%rsp)
	movaps %xmm4, 64(%rsp)
	movaps %xmm5, 80(%rsp)
	movaps %xmm6, 96(%rsp)
	movaps %xmm7, 112(%rsp)
	movq %rdi, 128(%rsp)
	movq %rsi, 136(%rsp)
	movq %rdx, 144(%rsp)
	movq %rcx, 152(%rsp)
	movq %r8, 160(%rsp)
	movq %r9, 168(%rsp)
	movq %rax, 176(%rsp)
	movl %r11d, %edi
	leaq 128(%rsp), %rsi
	leaq 16(%rbp), %rdx
	leaq 192(%rsp), %rcx
	call dragonForeignEnter
	movq 192(%rsp), %r12
	movq 200(%rsp), %r13
	movq 208(%rsp), %rcx
	movq 216(%rsp), %rax
	testq %r13, %r13
	jz 2f
	leaq 1(%rcx), %rdx
	andq $-2, %rdx
	shlq $3, %rdx
	subq %rdx, %rsp
	leaq 16(%rbp), %rsi
	movq %rsp, %rdi
	cld
	rep movsq
	movaps -256(%rbp), %xmm0
	movaps -240(%rbp), %xmm1
	movaps -224(%rbp), %xmm2
	movaps -208(%rbp), %xmm3
	movaps -192(%rbp), %xmm4
	movaps -176(%rbp), %xmm5
	movaps -160(%rbp), %xmm6
	movaps -144(%rbp), %xmm7
	movq -128(%rbp), %rdi
	movq -120(%rbp), %rsi
	movq -112(%rbp), %rdx
	movq -104(%rbp), %rcx
	movq -96(%rbp), %r8
	movq -88(%rbp), %r9
	movq -80(%rbp), %rax
	call *%r13
	movaps %xmm0, -256(%rbp)
	movaps %xmm1, -240(%rbp)
	movq %rax, -128(%rbp)
	movq %rdx, -120(%rbp)
	movq %r12, %rdi
	call dragonForeignLeave
	movaps -256(%rbp), %xmm0
	movaps -240(%rbp), %xmm1
	movq -128(%rbp), %rax
	movq -120(%rbp), %rdx
2:
	leaq -32(%rbp), %rsp
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size dragonForeignTrampolines, .-dragonForeignTrampolines
)");

namespace {

/// What is needed of a loaded program or library.
struct Module {
  struct Range {
    uintptr_t begin = 0, end = 0;
  };
  struct Relocations {
    const ElfW(Rela) *first = nullptr;
    size_t count = 0;
  };

  explicit Module(const dl_phdr_info &info) : base(info.dlpi_addr) {
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr) &header = info.dlpi_phdr[i];
      uintptr_t begin = base + header.p_vaddr;
      if (header.p_type == PT_LOAD)
        loaded.push_back({begin, begin + header.p_memsz});
      else if (header.p_type == PT_GNU_RELRO)
        readOnly = {begin, begin + header.p_memsz};
      else if (header.p_type == PT_DYNAMIC)
        read(reinterpret_cast<const ElfW(Dyn) *>(begin));
    }
  }

  bool contains(uintptr_t address) const {
    return std::any_of(loaded.begin(), loaded.end(), [&](const Range &range) {
      return address >= range.begin && address < range.end;
    });
  }

  /// (symbol's name, slot) of each slot with a function of another module.
  template <typename See> void visitSlots(See see) const {
    if (!symbols || !strings)
      return;
    for (const Relocations &part : {plt, data})
      for (size_t i = 0; i < part.count; ++i) {
        const ElfW(Rela) &one = part.first[i];
        auto type = ELF64_R_TYPE(one.r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
          continue;
        const ElfW(Sym) &symbol = symbols[ELF64_R_SYM(one.r_info)];
        if (symbol.st_shndx == SHN_UNDEF)
          see(strings + symbol.st_name,
              reinterpret_cast<void **>(base + one.r_offset));
      }
  }

  /// Tables may have been made read-only once they were filled.
  bool write(void **slot, void *value) const {
    auto address = reinterpret_cast<uintptr_t>(slot);
    auto store = [&] {
      std::atomic_ref<void *>(*slot).store(value, std::memory_order_release);
    };
    // Others may write the rest of the last page: it stays writable.
    auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    uintptr_t mask = ~(page - 1);
    if (address < (readOnly.begin & mask) || address >= (readOnly.end & mask)) {
      store();
      return true;
    }
    auto *start = reinterpret_cast<void *>(address & mask);
    if (::mprotect(start, page, PROT_READ | PROT_WRITE))
      return false;
    store();
    (void)::mprotect(start, page, PROT_READ);
    return true;
  }

  void read(const ElfW(Dyn) * entry) {
    // glibc has made addresses of most; those of the vDSO are not.
    auto at = [&](const ElfW(Dyn) & one) {
      return one.d_un.d_ptr < base ? base + one.d_un.d_ptr : one.d_un.d_ptr;
    };
    for (; entry->d_tag != DT_NULL; ++entry)
      switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym) *>(at(*entry));
        break;
      case DT_STRTAB:
        strings = reinterpret_cast<const char *>(at(*entry));
        break;
      case DT_JMPREL:
        plt.first = reinterpret_cast<const ElfW(Rela) *>(at(*entry));
        break;
      case DT_PLTRELSZ:
        plt.count = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        data.first = reinterpret_cast<const ElfW(Rela) *>(at(*entry));
        break;
      case DT_RELASZ:
        data.count = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      default:
        break;
      }
  }

  uintptr_t base;
  std::vector<Range> loaded;
  Range readOnly;
  const ElfW(Sym) *symbols = nullptr;
  const char *strings = nullptr;
  Relocations plt, data;
};

/// The library's function, wherever `slot` may point before its first call.
void *realFunction(const Module &module, const char *name, void *slot) {
  auto isReal = [&](void *address) {
    return address && !module.contains(reinterpret_cast<uintptr_t>(address));
  };
  if (isReal(slot))
    return slot;
  for (void *where : {RTLD_DEFAULT, RTLD_NEXT})
    if (void *address = ::dlsym(where, name); isReal(address))
      return address;
  return nullptr;
}

/// Others may have functions of such names. cublas: libcublasLt.so.13 as well.
bool isOfLibrary(void *function, std::string_view prefix) {
  Dl_info where;
  if (!function || !::dladdr(function, &where) || !where.dli_fname)
    return false;
  std::string_view path = where.dli_fname;
  std::string_view file = path.substr(path.rfind('/') + 1);
  return file.starts_with("lib") && file.substr(3).starts_with(prefix);
}

constexpr size_t TrampolineBytes = 16;
char *firstTrampoline() {
  return reinterpret_cast<char *>(&dragonForeignTrampolines);
}

/// The trampoline of a function; null if there are no more.
void *trampolineFor(const char *name, void *real, const KnownFunction *known) {
  unsigned index = 0;
  while (index < used && foreign[index].real != real)
    ++index;
  if (index == Trampolines)
    return nullptr;
  if (index == used)
    foreign[used++] = {name, real, known};
  return firstTrampoline() + TrampolineBytes * index;
}

std::vector<std::span<const LedCall>> led; ///< under `lock`

const LedCall *findLed(std::string_view name) {
  for (std::span<const LedCall> calls : led)
    for (const LedCall &call : calls)
      if (name == call.name)
        return &call;
  return nullptr;
}

void lead(const Module &module, const LedCall &call, void **slot) {
  if (*slot == call.ours)
    return;
  if (call.real && !*call.real) {
    void *real = realFunction(module, call.name.data(), *slot);
    if (!real || (call.fits && !call.fits(real)))
      return;
    *call.real = real;
  }
  (void)module.write(slot, call.ours);
}

void watch(const dl_phdr_info &info) {
  Module module(info);
  module.visitSlots([&](const char *name, void **slot) {
    std::string_view text = name;
    if (const LedCall *call = findLed(text)) {
      lead(module, *call, slot);
      return;
    }
    char *first = firstTrampoline();
    if (*slot >= first && *slot < first + TrampolineBytes * Trampolines)
      return;
    const auto *prefix = std::find_if(
        std::begin(Prefixes), std::end(Prefixes),
        [&](std::string_view one) { return text.starts_with(one); });
    if (prefix == std::end(Prefixes))
      return;
    const KnownFunction *known = find(text);
    if (known && known->kind == Kind::Neutral)
      return;
    void *real = realFunction(module, name, *slot);
    if (!known && !isOfLibrary(real, *prefix))
      return;
    if (void *entry = real ? trampolineFor(name, real, known) : nullptr)
      (void)module.write(slot, entry);
  });
}

/// NVIDIA's own, and this library.
bool isLeftAlone(const dl_phdr_info &info) {
  std::string_view path = info.dlpi_name ? info.dlpi_name : "";
  std::string_view file = path.substr(path.rfind('/') + 1);
  for (std::string_view prefix :
       {"libcublas",   "libcuda.",     "libcudart.",  "libcudnn",
        "libcudss",    "libcufft",     "libcupti",    "libcurand",
        "libcusolver", "libcusparse",  "libcutensor", "libnccl",
        "libnpp",      "libnvidia-",   "libnvjpeg",   "libnvJitLink",
        "libnvrtc",    "libdragonrt.", "linux-vdso",  "ld-linux",
        "libc.",       "libm."})
    if (file.starts_with(prefix))
      return true;
  return false;
}

} // namespace

void dragon::leadCallsTo(std::span<const LedCall> calls) {
  std::lock_guard<std::mutex> guard(lock);
  led.push_back(calls);
}

bool dragon::isLed(std::string_view name) {
  std::lock_guard<std::mutex> guard(lock);
  const LedCall *call = findLed(name);
  return call && call->real && *call->real;
}

void dragon::watchForeignCalls() {
  static std::atomic<unsigned long long> seen = 0;
  struct Found {
    unsigned long long adds = 0;
    std::vector<dl_phdr_info> modules;
  } found;
  // The dynamic linker's lock is held: what needs it otherwise comes later.
  ::dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *to) {
        auto &found = *static_cast<Found *>(to);
        found.adds = info->dlpi_adds;
        if (seen.load(std::memory_order_acquire) == info->dlpi_adds)
          return 1;
        if (!isLeftAlone(*info))
          found.modules.push_back(*info);
        return 0;
      },
      &found);
  if (found.modules.empty())
    return;
  std::lock_guard<std::mutex> guard(lock);
  for (const dl_phdr_info &info : found.modules)
    watch(info);
  seen.store(found.adds, std::memory_order_release);
}

#else

void dragon::leadCallsTo(std::span<const LedCall>) {}
bool dragon::isLed(std::string_view) { return false; }
void dragon::watchForeignCalls() {}

#endif
