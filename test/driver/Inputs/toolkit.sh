# toolkit.sh FOLDER CUDA_VERSION: what dragon-cc looks for in a toolkit, empty.
set -e
mkdir -p "$1/include" "$1/nvvm/libdevice" "$1/bin" "$1/lib"
touch "$1/include/cuda_runtime_api.h" "$1/nvvm/libdevice/libdevice.10.bc" "$1/bin/ptxas" "$1/bin/fatbinary"
echo "#define CUDA_VERSION $2" >"$1/include/cuda.h"
