#!/bin/sh
# Installs what is missing from Debian's archive, and says so first.
#
# usage: tools/install.sh run|test|upstream|browser|languages|npm
#   run   what `make` needs: PyPy 3 with venv and headers (Debian's, unless PYPY names another), a C compiler, the C
#         library's headers
#   test  what `make test` needs besides: headers for the translation, a CPython to test against,
#         programs to run on the library
#   upstream  what SQLite's own test suite needs besides: Tcl, with headers, and zlib's
#   browser  a headless Chromium, in which `make test-site` looks at the documentation site
#   languages  what `make test-languages` needs besides: dqlite, with its client for Go, libclang, with which
#         rusqlite is built, and Perl's and PHP's modules. Go and Cargo it doesn't install: those of Debian 12 are too old
#   npm   the last resort for obtaining SQLite
#
# As root, or with a sudo that asks no password, it installs. Otherwise it stops with the command.
set -eu

system=$(uname -s 2>/dev/null || echo Linux)
if [ "$system" != Linux ]; then
    echo "error: SQPyte is built on Linux, and this is $system. A Linux container does:" >&2
    echo "    docker run -it -v \"\$PWD\":/sqpyte -w /sqpyte debian:13    # then, in it: apt-get update;" >&2
    echo "    apt-get install --yes make git; make" >&2
    exit 1
fi

missing=""

# need COMMAND-THAT-SUCCEEDS-IF-PRESENT PACKAGE...
need() {
    probe=$1
    shift
    if ! sh -c "$probe" >/dev/null 2>&1; then
        missing="$missing $*"
    fi
}

header() {
    echo "echo '#include <$1>' | ${CC:-gcc} -E -"
}

# own PROBE WHAT-IT-LACKS: the same for a PyPy that the user has named, which no package completes.
own() {
    if ! sh -c "$1" >/dev/null 2>&1; then
        echo "error: PYPY=$PYPY: $2" >&2
        exit 1
    fi
}

# The probes expand it themselves, since its path may hold blanks.
pypy=${PYPY:-pypy3}
export pypy
headers="test -e \"\$(\"\$pypy\" -c 'import sysconfig; print(sysconfig.get_paths()[\"include\"])')/Python.h\""

case "${1:-}" in
run)
    if [ "$pypy" = pypy3 ]; then
        need "command -v pypy3" pypy3
        need "pypy3 -c 'import ensurepip; ensurepip.version()'" pypy3-venv
        need "$headers" pypy3-dev
    else
        own "\"\$pypy\" -c 'import sys; sys.exit(sys.implementation.name != \"pypy\" or sys.version_info < (3, 9))'" \
            "there is no such PyPy, or it is older than 3.9"
        own "\"\$pypy\" -c 'import venv, ensurepip; ensurepip.version()'" "it has no venv, or no ensurepip"
        own "$headers" "it has no headers (Python.h)"
    fi
    need "command -v ${CC:-gcc}" gcc
    need "$(header stdio.h)" libc6-dev
    # Where this PyPy, which downloads SQLite, looks for them; SSL_CERT_FILE says another place.
    need "\"\$pypy\" -c 'import os, ssl, sys
paths = ssl.get_default_verify_paths()
sys.exit(not (paths.cafile or paths.capath and os.listdir(paths.capath)))'" ca-certificates
    ;;
test)
    need "$(header ffi.h)" libffi-dev
    need "command -v pkg-config" pkg-config
    need "python3 -c 'import venv, ensurepip; ensurepip.version()'" python3-venv
    # Programs that libsqpyte.so is tried with in libsqlite3's place: the shell, and CPython's tests
    # (of the name that they have from 3.11 on).
    need "command -v sqlite3" sqlite3
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true)
    need "test -z '$version' || python3 -c 'import sys
if sys.version_info >= (3, 11): import test.test_sqlite3'" "libpython$version-testsuite"
    ;;
upstream)
    need "command -v tclsh" tcl
    need "ls /usr/lib/tclConfig.sh /usr/lib/*/tclConfig.sh /usr/lib/tcl8*/tclConfig.sh 2>/dev/null | grep -q ." \
        tcl-dev
    need "$(header zlib.h)" zlib1g-dev
    ;;
browser)
    # Debian's: the one that playwright would download is on a host of its own.
    need "command -v chromium-headless-shell || command -v chromium || command -v google-chrome" chromium-headless-shell
    ;;
languages)
    need "$(header dqlite.h)" libdqlite-dev
    need "$(header sqlite3.h)" libsqlite3-dev
    need "test -d /usr/share/gocode/src/github.com/canonical/go-dqlite" golang-github-canonical-go-dqlite-dev
    need "ls /usr/lib/llvm-*/lib/libclang.so* | grep -q ." libclang-dev
    need "perl -e 'require DBD::SQLite; require Test::NoWarnings'" libdbd-sqlite3-perl libtest-nowarnings-perl
    need "php -r 'new SQLite3(\":memory:\");'" php-cli php-sqlite3
    ;;
npm)
    need "command -v npm" npm
    ;;
*)
    echo "usage: $0 run|test|upstream|browser|languages|npm" >&2
    exit 2
    ;;
esac

[ -n "$missing" ] || exit 0

# $missing is a list of words.
# shellcheck disable=SC2086
set -- $missing
install="apt-get install --yes --no-install-recommends $*"

if ! command -v apt-get >/dev/null 2>&1; then
    echo "error: these are missing, and there is no apt-get to install them with: $*" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "error: these Debian packages are missing: $*" >&2
    echo "Type this, then run make again:" >&2
    if command -v sudo >/dev/null 2>&1; then
        echo "    sudo apt-get update && sudo $install" >&2
    else
        echo "    su -c 'apt-get update && $install'" >&2
    fi
    exit 1
fi
echo "sqpyte: installing from Debian: $*" >&2

$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive $install -qq -o Dpkg::Use-Pty=0
