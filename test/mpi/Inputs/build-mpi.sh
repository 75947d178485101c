# build-mpi.sh OPTION... SOURCE: builds program.NAME by each implementation of MPI, as its users do: dragon-cc is its compiler.
for name in $MPI_IMPLEMENTATIONS; do
  OMPI_CXX=$MPI_COMPILER MPICH_CXX=$MPI_COMPILER "mpicxx.$name" "$@" -o "program.$name" || exit 1
done
