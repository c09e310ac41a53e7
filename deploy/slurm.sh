#!/bin/sh
# An array of Slurm, each task of which archives a part of the packages:
#
#   sbatch --array=0-7 slurm.sh /shared/packages /shared/btf
#
# The tasks that have failed can be run again alone, if the number of all shards is given:
#
#   BTFLITE_SHARDS=8 sbatch --array=3,7 slurm.sh /shared/packages /shared/btf
#
#SBATCH --job-name=btf
#SBATCH --cpus-per-task=2
#SBATCH --mem=256M
#SBATCH --requeue
# A node that goes away runs the task again; what was done is left out then.
packages=$1 archive=$2
# --tmp: one ELF file of up to a gigabyte lies on the local disk.
exec "${BTFLITE:-btflite}" archive --shard=auto -j2 --btf_features=default --lang_exclude=rust --tmp="${TMPDIR:-/tmp}" -o "$archive" "$packages"/*
