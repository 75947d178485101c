# mpirun.sh NAME ARGUMENT...: mpirun of that implementation, with a folder for its files that it shares with no other run. All runs
# of Open MPI share one otherwise: one that ends removes it while another one begins, which then fails.
name=$1
shift
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
TMPDIR=$folder "mpirun.$name" "$@" &
job=$!
trap 'kill "$job"' TERM
wait "$job"
status=$?
# A signal for this shell ends the wait, not the job.
while kill -0 "$job" 2>/dev/null; do
  wait "$job"
  status=$?
done
exit "$status"
