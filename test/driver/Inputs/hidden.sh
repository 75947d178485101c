# hidden.sh EMPTY CUDA COMMAND...: runs the command where the folder CUDA and /usr/local are empty.
set -e
empty=$1 cuda=$(readlink -f "$2")
shift 2
exec unshare --user --map-root-user --mount sh -ec '
  mount --bind "$1" "$2"
  mount --bind "$1" /usr/local
  shift 2
  exec "$@"' hidden "$empty" "$cuda" "$@"
