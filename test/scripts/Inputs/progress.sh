# progress.sh SAID STATUS: a build that waits after its second step until its progress is in the file SAID, and ends with STATUS.
. "$(dirname "$0")/../../../scripts/common.sh"
watched building build bash -c "echo '[1/8] compiling'; echo '[2/8] compiling'; until grep -q 'step 2' $1; do sleep 0.1; done; exit $2"
