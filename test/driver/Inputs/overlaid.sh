# overlaid.sh FOLDER COMMAND...: runs the command where what is in FOLDER is in /usr, too.
exec unshare --user --map-root-user --mount sh -ec '
  mount -t overlay overlay -o "lowerdir=$1:/usr" /usr
  shift
  exec "$@"' overlaid "$@"
