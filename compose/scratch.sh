#!/bin/sh
# Prints the folder for the files of servers under test: memory where there is room, else the usual one. Brokers and
# databases flush every write, so that on a slow disk a test would be one of the disk. Killing a process loses nothing
# that the kernel has, on a disk or in memory.
set -u
memory=/dev/shm
needed_kib=6291456
free_kib=$(df -Pk "$memory" 2>/dev/null | awk 'END { print $4 }')
# A file system in memory says what it may take; the machine may have less.
available_kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null)
if [ "$(stat -f -c %T "$memory" 2>/dev/null)" = tmpfs ] && [ -w "$memory" ] &&
    [ "${free_kib:-0}" -ge "$needed_kib" ] && [ "${available_kib:-0}" -ge $((2 * needed_kib)) ]; then
    echo "$memory"
else
    echo "${TMPDIR:-/tmp}"
fi
