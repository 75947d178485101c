# What the scripts share: messages, logs, packages, the CUDA toolkit, building. Sourced, not run.
#
# Everything made goes under $BUILD (build/ in the source tree, or DRAGON_BUILD_ROOT). The output of each command goes to a
# file in $BUILD/logs, and its end is shown if the command fails.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${DRAGON_BUILD_ROOT:-$ROOT/build}
LOGS=$BUILD/logs
LLVM_BIN=/usr/lib/llvm-22/bin
mkdir -p "$LOGS"

PACKAGES=(
  # LLVM, to build with and against, and the tools of the tests.
  clang-22 clang-tools-22 llvm-22-dev llvm-22-tools libclang-22-dev libclang-cpp22-dev libclang-rt-22-dev libmlir-22-dev
  mlir-22-tools lld-22 libomp-22-dev clang-format-22 clang-tidy-22 clangd-22
  # The runtime's libraries, and those of its tests.
  liburing-dev libfmt-dev nlohmann-json3-dev liblemon-dev libboost-context-dev libgtest-dev libgmock-dev
  # The block device (docs/nbd.md) and its tests.
  nbdkit nbdkit-plugin-dev libnbd-bin python3-libnbd fio
  # MPI, for tests of MPI programs (docs/mpi.md): both binary interfaces.
  openmpi-bin libopenmpi-dev mpich libmpich-dev
  # To build with.
  cmake ninja-build g++ make git gdb python3 python3-pip python3-setuptools python3-wheel python3-yaml ca-certificates file
  dpkg-dev help2man python3-jsonschema
)
# The CUDA parts that clang needs, as wheels of PyPI.
WHEELS=(
  'nvidia-cuda-nvcc==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cccl==13.0.*' 'nvidia-nvvm==13.0.*'
  'nvidia-cuda-crt==13.0.*' 'nvidia-curand==10.4.0.*'
)

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# logged NAME COMMAND...: runs quietly; on failure shows the end of the log and where all of it is.
logged() {
  local log=$LOGS/$1.log
  shift
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    printf 'error: %s failed; all of its output is in %s\n' "$1" "$log" >&2
    return 1
  fi
}

# state LOG: how far a build is by the last line that ninja wrote to its log: "step 12 of 345, 3 %". Nothing before it plans.
state() {
  local last done total
  last=$(tail -c 4096 "$1" 2>/dev/null | grep -aoE '^\[[0-9]+/[0-9]+\]' | tail -n 1 | tr -d '[]')
  done=${last%/*} total=${last#*/}
  [ "${total:-0}" -lt 3 ] || printf 'step %d of %d, %d %%, ' "$done" "$total" $((100 * done / total))
}

# report TITLE LOG: says how far a command is while it and this script run.
report() {
  local start=$SECONDS said=0
  while sleep 0.2 && kill -0 $$ 2>/dev/null; do
    if [ -t 1 ]; then
      printf '\r%s: %s%d s\033[K' "$1" "$(state "$2")" $((SECONDS - start))
    elif [ $((SECONDS - start - said)) -ge 5 ]; then
      said=$((SECONDS - start))
      say "$1: $(state "$2")$said s"
    fi
  done
}

# watched TITLE NAME COMMAND...: as logged, and says how far it is: on a terminal in one line that is rewritten, else by a line
# every five seconds. The command stays in the foreground, so that Ctrl-C ends it.
watched() {
  local title=$1 start=$SECONDS status=0 reporter
  shift
  report "$title" "$LOGS/$1.log" &
  reporter=$!
  logged "$@" || status=$?
  kill $reporter
  wait $reporter 2>/dev/null || true
  [ ! -t 1 ] || printf '\r\033[K'
  [ $status != 0 ] || say "$title: done in $((SECONDS - start)) s"
  return $status
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "neither root nor sudo: cannot run '$*'" >&2
    return 1
  fi
}

missing_packages() {
  local package
  for package in "${PACKAGES[@]}"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      echo "$package"
    fi
  done
}

install_packages() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# Installs what is missing and nothing else; asks for new lists only when the present ones will not do.
setup_packages() {
  command -v apt-get >/dev/null || fail "no apt-get: this script knows Debian; install by hand: ${PACKAGES[*]}"
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} = 0 ] && return
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  if apt-get -s install --no-install-recommends "${missing[@]}" >/dev/null 2>&1 &&
    watched "installing packages" apt-install install_packages "${missing[@]}" 2>/dev/null; then
    return
  fi
  logged apt-update as_root apt-get update || exit 1
  local package unknown=()
  for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 || unknown+=("$package")
  done
  if [ ${#unknown[@]} != 0 ]; then
    fail "no Debian package ${unknown[*]} in the repositories that apt knows; LLVM 22 for Debian 12 is in" \
      "bookworm-security and at https://apt.llvm.org (llvm-toolchain-bookworm-22)"
  fi
  watched "installing packages" apt-install install_packages "${missing[@]}" || exit 1
}

# is_toolkit DIR: a CUDA 13 toolkit with all that clang needs.
is_toolkit() {
  [ -n "$1" ] && [ -x "$1/bin/ptxas" ] && [ -x "$1/bin/fatbinary" ] && [ -f "$1/nvvm/libdevice/libdevice.10.bc" ] &&
    [ -f "$1/include/cuda_runtime.h" ] && [ -f "$1/include/curand_mtgp32_kernel.h" ] &&
    grep -q '^#define CUDA_VERSION 13' "$1/include/cuda.h" 2>/dev/null
}

unpack_wheels() { # FROM TO
  rm -rf "$2"
  mkdir -p "$2"
  python3 - "$1" "$2" <<'PYTHON'
import glob
import os
import sys
import zipfile

source, target = sys.argv[1:]
for wheel in sorted(glob.glob(os.path.join(source, "*.whl"))):
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            parts = entry.filename.split("/")
            if parts[:2] != ["nvidia", "cu13"] or len(parts) < 4 or entry.is_dir():
                continue
            path = os.path.join(target, *parts[2:])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(entry) as data, open(path, "wb") as file:
                file.write(data.read())
            if "bin" in parts:
                os.chmod(path, 0o755)
PYTHON
  ln -s lib "$2/lib64"
  ln -s libcudart.so.13 "$2/lib/libcudart.so"
}

# Sets CUDA: an installed toolkit, else the wheels under the build tree.
setup_cuda() {
  local candidate nvcc
  nvcc=$(command -v nvcc || true)
  for candidate in "${CUDA_PATH:-}" "${CUDA_HOME:-}" "${nvcc:+$(dirname "$(dirname "$(readlink -f "${nvcc:-/}")")")}" \
    /usr/local/cuda "$BUILD/cuda"; do
    if is_toolkit "$candidate"; then
      CUDA=$candidate
      return
    fi
  done
  say "no CUDA 13 toolkit here: fetching its compiler parts from PyPI into $BUILD/cuda"
  rm -rf "$BUILD/wheels"
  watched "fetching the toolkit" pip-download python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    -d "$BUILD/wheels" "${WHEELS[@]}" || exit 1
  logged unpack-wheels unpack_wheels "$BUILD/wheels" "$BUILD/cuda" || exit 1
  rm -rf "$BUILD/wheels"
  is_toolkit "$BUILD/cuda" || fail "the CUDA wheels of PyPI do not hold what clang needs (in $BUILD/cuda)"
  CUDA=$BUILD/cuda
}

# build PRESET TARGET...: configures (again only if need be) and builds into $BUILD/PRESET.
build() {
  local preset=$1 options=()
  shift
  command -v ccache >/dev/null && options=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # Several files at a time: all is built, and once. Not in a folder that somebody works in.
  [ -f "$BUILD/$preset/CMakeCache.txt" ] || options+=(-DDRAGON_UNITY_PRODUCT=ON)
  logged "configure-$preset" cmake -S "$ROOT" --preset "$preset" -B "$BUILD/$preset" -DDRAGON_CUDA_PATH="$CUDA" \
    "${options[@]}" || return 1
  watched "building $preset" "build-$preset" ninja -C "$BUILD/$preset" "$@"
}
