# try-installed.sh FOLDER OPTION...: compiles an example with the dragon-cc of PATH and runs it below its footprint; calls the other
# tools. The examples are those that are installed with it.
set -e
cd "$1"
shift
dragon-cc --version
examples=$(dirname "$(dragon-cc --version | sed -n 's/^InstalledDir: //p')")/share/doc/dragon-cc/examples
dragon-cc -O2 --dragon-targets=cpu "$@" "$examples/vectorAdd/vectorAdd.cu" -o vectorAdd
for tool in gen check; do
  dragon-cc -O1 -std=c++17 -pthread --cudart=none "$examples/vectorAdd/$tool.cpp" -o "$tool"
done
./gen 1M a.bin b.bin
DRAGON_BACKEND=cpu DRAGON_DEVICE_MEMORY=4M DRAGON_QUIET=1 ./vectorAdd 1M a.bin b.bin c.bin
./check 1M a.bin b.bin c.bin
DRAGON_BACKEND=cpu dragon-info --no-rates
dragon-report --help
