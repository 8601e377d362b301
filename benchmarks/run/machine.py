"""Describes the machine from what Linux says under /proc and /sys.

pyperf has this too, but brings a C extension (psutil) that every newcomer's PyPy would have to
compile before the first example runs. Nothing else of it fits: its timer is time.perf_counter, and
its Runner measures one Python program after the other, while here engines take turns (two
interpreters, or a C program with two libraries) and their answers are compared.
"""

import glob
import os
import platform


def first_line(path):
    """Return a file's first line (str), or None if there is no such file."""
    try:
        with open(path, encoding='utf-8') as file:
            return file.readline().strip()
    except OSError:
        return None


def field(path, name):
    """Return the value (str) of the first `name : value` line of a file, or None."""
    with open(path, encoding='utf-8') as file:
        for line in file:
            key, _, value = line.partition(':')
            if key.strip() == name:
                return value.strip()
    return None


def caches():
    """Return the sizes of the first CPU's caches, as 'L1 Data 48K, L2 Unified 2048K, ...'."""
    found = []
    for folder in sorted(glob.glob('/sys/devices/system/cpu/cpu0/cache/index*')):
        found.append('L%s %s %s' % tuple(first_line(os.path.join(folder, name))
                                         for name in ('level', 'type', 'size')))
    return ', '.join(found)


def describe():
    """Return what of this machine bears on times (dict of str to str or number; None: unknown)."""
    frequency = '/sys/devices/system/cpu/cpu0/cpufreq/'
    return {
        'hostname': platform.node(),
        'platform': platform.platform(),
        'cpu_model': field('/proc/cpuinfo', 'model name'),
        'cpu_mhz': field('/proc/cpuinfo', 'cpu MHz'),
        'cpu_caches': caches(),
        'cpus': os.cpu_count(),
        'cpus_allowed': field('/proc/self/status', 'Cpus_allowed_list'),
        'cpu_governor': first_line(frequency + 'scaling_governor'),
        'turbo_off': first_line('/sys/devices/system/cpu/intel_pstate/no_turbo'),
        'memory': field('/proc/meminfo', 'MemTotal'),
        'aslr': first_line('/proc/sys/kernel/randomize_va_space'),
        'transparent_huge_pages': first_line('/sys/kernel/mm/transparent_hugepage/enabled'),
        'load_average_1min': os.getloadavg()[0],
    }
