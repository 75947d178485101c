# interrupt.sh SIGNAL COMMAND...: runs the command, sends it the signal once its child has written the file `child`, and
# prints the command's status and what became of the child.
signal=$1
shift
rm -f child
"$@" &
command=$!
until [ -s child ]; do
  kill -0 $command || exit 1
  sleep 0.05
done
kill -"$signal" $command
wait $command
echo "status $?"
kill -0 "$(cat child)" 2>/dev/null && echo "child alive" || echo "child gone"
