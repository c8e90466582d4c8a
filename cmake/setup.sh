# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# What the two front doors, ./ridge and ./test, share: find out what is missing, install it when
# that is allowed, take the lock, build. Sourced, with setup_name (who speaks) and root (the
# checkout, absolute) set. POSIX sh, no GNU-only calls: it also runs on macOS.
#
# Installing is allowed with apt-get as root or with a sudo that asks no password, and with brew.
# RIDGE_NO_INSTALL=1 forbids it. Otherwise the one command that installs everything is printed and
# the exit status is 2, with nothing changed.

setup_cmake_minimum=3.25

# need      apt-get              brew        dnf                  pacman    apk
setup_packages='
cmake       cmake                cmake       cmake                cmake     cmake
cc          gcc,libc6-dev        -           gcc                  gcc       gcc,musl-dev
make        make                 -           make                 make      make
zlib        zlib1g-dev           -           zlib-devel           zlib      zlib-dev
zstd        libzstd-dev          zstd        libzstd-devel        zstd      zstd-dev
lz4         liblz4-dev           lz4         lz4-devel            lz4       lz4-dev
jansson     libjansson-dev       jansson     jansson-devel        jansson   jansson-dev
sqlite3     libsqlite3-dev       sqlite      sqlite-devel         sqlite    sqlite-dev
xxhash      libxxhash-dev        xxhash      xxhash-devel         xxhash    xxhash-dev
pkg-config  pkg-config           pkg-config  pkgconf-pkg-config   pkgconf   pkgconf
cmocka      libcmocka-dev        cmocka      libcmocka-devel      cmocka    cmocka-dev
xz          xz-utils             xz          xz                   xz        xz
python3     python3              python3     python3              python    python3
c++         g++                  -           gcc-c++              gcc       g++
clang       clang                llvm        clang,compiler-rt    clang     clang,compiler-rt
shellcheck  shellcheck           shellcheck  ShellCheck           shellcheck shellcheck
clang-format clang-format-14     -           -                    -         -
clang-tidy  clang-tidy-14        -           -                    -         -
'

say() {
    printf '%s: %s\n' "$setup_name" "$*" >&2
}

die() {
    say "$@"
    exit 2
}

cpu_count() {
    getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2
}

can_write() { # can_write PATH: it, or the folder in which it will be made
    setup_path=$1
    until [ -e "$setup_path" ]; do setup_path=${setup_path%/*}; done
    [ -w "$setup_path" ] && [ -w "$root" ]
}

die_with_command() { # die_with_command WHY COMMAND: the command alone on its line, to be copied
    say "$1; this installs it:"
    printf '    %s\n' "$2" >&2
    exit 2
}

c_compiler() { # prints its name; false when there is none
    for setup_cc in "${CC:-}" cc gcc clang; do
        # CC may carry options; its first word is the program.
        [ -n "$setup_cc" ] && command -v "${setup_cc%% *}" 2>/dev/null && return
    done
    return 1
}

has_header() { # has_header zlib.h: in the usual places, or wherever the compiler looks
    for setup_prefix in /usr /usr/local /opt/homebrew /opt/local "${CMAKE_PREFIX_PATH:-/usr}"; do
        [ -f "$setup_prefix/include/$1" ] && return
    done
    setup_cc=$(c_compiler) &&
        printf '#include <%s>\n' "$1" | "$setup_cc" -E - >/dev/null 2>&1
}

clang_14() { # clang_14 clang-format: prints the name of the tool in version 14, to which it is pinned
    for setup_tool in "$1-14" "$1"; do
        case $("$setup_tool" --version 2>/dev/null) in
        *version\ 14.*) echo "$setup_tool" && return ;;
        esac
    done
    return 1
}

has() {
    case $1 in
    cc) setup_cc=$(c_compiler) &&
        printf '#include <stdio.h>\n' | "$setup_cc" -E - >/dev/null 2>&1 ;;
    make) command -v ninja || command -v make ;;
    zlib) has_header zlib.h ;;
    zstd) has_header zstd.h ;;
    lz4) has_header lz4.h ;;
    jansson) has_header jansson.h ;;
    sqlite3) has_header sqlite3.h ;;
    xxhash) has_header xxhash.h ;;
    cmocka) pkg-config --exists cmocka ;;
    c++) command -v c++ || command -v g++ || command -v clang++ ;;
    clang-format) clang_14 clang-format ;;
    clang-tidy) clang_14 clang-tidy ;;
    *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

missing_of() { # missing_of NEED...: prints those that are not there
    for setup_need in "$@"; do
        has "$setup_need" || printf '%s ' "$setup_need"
    done
}

package_manager() {
    for setup_manager in apt-get brew dnf pacman apk; do
        command -v "$setup_manager" >/dev/null 2>&1 && echo "$setup_manager" && return
    done
    return 1
}

packages_of() { # packages_of MANAGER NEED...: the names of the packages on one line
    printf '%s\n' "$setup_packages" | awk -v manager="$1" -v needs="$*" '
        BEGIN {
            column["apt-get"] = 2; column["brew"] = 3; column["dnf"] = 4
            column["pacman"] = 5; column["apk"] = 6
            count = split(needs, need, " ")
            for (i = 2; i <= count; i++)
                wanted[need[i]] = 1
        }
        $1 in wanted && $column[manager] != "-" {
            gsub(",", " ", $column[manager])
            printf "%s%s", separator, $column[manager]
            separator = " "
        }'
}

install_command() { # install_command MANAGER PACKAGES: what a person would type
    case $1 in
    apt-get) setup_line="apt-get update && apt-get install -y --no-install-recommends $2" ;;
    brew) echo "brew install $2" && return ;;
    dnf) setup_line="dnf install -y $2" ;;
    pacman) setup_line="pacman -S --needed $2" ;;
    apk) setup_line="apk add $2" ;;
    esac
    if [ "$(id -u)" -eq 0 ]; then
        echo "$setup_line"
    elif command -v sudo >/dev/null 2>&1; then
        echo "sudo sh -c '$setup_line'"
    else
        echo "su -c '$setup_line'"
    fi
}

may_install() { # may_install MANAGER
    [ "${RIDGE_NO_INSTALL:-0}" = 0 ] || return 1
    case $1 in
    apt-get) [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null ;;
    brew) [ "$(id -u)" -ne 0 ] ;;
    *) false ;;
    esac
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

run_install() { # run_install MANAGER PACKAGE...
    setup_manager=$1
    shift
    case $setup_manager in
    apt-get)
        # A stale list names versions that are gone, so it is brought up to date first; without a
        # network the packages may still be in the cache.
        as_root apt-get update || true
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
            -o DPkg::Lock::Timeout=300 "$@" ;;
    brew) HOMEBREW_NO_AUTO_UPDATE=1 brew install "$@" ;;
    esac
}

# check_needs NEED...: leaves what is missing in setup_missing. Ends the run, with nothing changed,
# when something is missing that may not be installed.
check_needs() {
    setup_missing=$(missing_of "$@")
    check_cmake_version
    [ -n "$setup_missing" ] || return 0
    setup_manager=$(package_manager) ||
        die "missing: ${setup_missing% }; install that and run this again"
    if [ "$(uname -s)" = Darwin ] && ! has cc; then
        die_with_command 'no C compiler' 'xcode-select --install'
    fi
    # shellcheck disable=SC2086 # a list of words
    setup_wanted=$(packages_of "$setup_manager" $setup_missing)
    if [ -z "$setup_wanted" ]; then
        die "missing: ${setup_missing% } (clang-format and clang-tidy in version 14)"
    fi
    if ! may_install "$setup_manager"; then
        die_with_command "missing: ${setup_missing% }" \
            "$(install_command "$setup_manager" "$setup_wanted")"
    fi
}

check_cmake_version() {
    has cmake || return 0
    setup_version=$(cmake --version | awk 'NR == 1 { print $3 }')
    printf '%s %s\n' "$setup_version" "$setup_cmake_minimum" |
        awk '{ split($1, a, "."); split($2, b, ".");
               exit !(a[1] > b[1] || (a[1] == b[1] && a[2] + 0 >= b[2] + 0)) }' && return
    die_with_command "cmake $setup_version is too old, $setup_cmake_minimum or later is needed" \
        "python3 -m pip install --user 'cmake>=$setup_cmake_minimum'"
}

# install_needs LOG NEED...: after check_needs, under the lock.
install_needs() {
    setup_log=$1
    shift
    check_needs "$@"
    [ -n "$setup_missing" ] || return 0
    say "installing $setup_wanted"
    # shellcheck disable=SC2086 # a list of words
    if ! run_install "$setup_manager" $setup_wanted >"$setup_log" 2>&1 </dev/null; then
        cat "$setup_log" >&2
        die "could not install $setup_wanted; $setup_manager says why above"
    fi
    setup_missing=$(missing_of "$@")
    [ -z "$setup_missing" ] || die "installed, but still not found: $setup_missing"
    check_cmake_version
}

# -- lock ----------------------------------------------------------------------------------------
# A directory, since mkdir is atomic everywhere; it holds the owner's process and machine. When the
# owner died, one of those who wait takes over in place: only one can make taken.PID.

process_lives() { # kill -0 also fails for another user's process; /proc or ps know those
    kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1
}

lock_owner() { # sets setup_owner and setup_host, both empty while the owner has not written them
    setup_owner='' setup_host=''
    [ -r "$setup_lock/owner" ] && read -r setup_owner setup_host <"$setup_lock/owner"
    return 0
}

lock_take_over() { # the owner is dead; false when another was faster
    setup_dead=${setup_owner:-none}
    mkdir "$setup_lock/taken.$setup_dead" 2>/dev/null || return 1
    lock_owner
    [ "${setup_owner:-none}" = "$setup_dead" ] && return
    rmdir "$setup_lock/taken.$setup_dead"
    return 1
}

lock() { # lock DIRECTORY; ends with unlock, or with the shell
    setup_lock=$1
    setup_waited=0
    until mkdir "$setup_lock" 2>/dev/null; do
        lock_owner
        if [ "$setup_host" = "$(uname -n)" ] && ! process_lives "$setup_owner" ||
            [ -z "$setup_owner" ] && [ $setup_waited -ge 10 ]; then
            lock_take_over && break
        fi
        [ $setup_waited -ne 1 ] || say "waiting for another build (process ${setup_owner:-?})"
        [ $setup_waited -lt 1800 ] || die "the lock is still held; remove $setup_lock"
        sleep 1
        setup_waited=$((setup_waited + 1))
    done
    trap unlock EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    echo "$$ $(uname -n)" >"$setup_lock/owner.new"
    mv "$setup_lock/owner.new" "$setup_lock/owner"
}

unlock() {
    rm -rf "$setup_lock"
    trap - EXIT INT TERM HUP
}

# -- build ---------------------------------------------------------------------------------------

# configure PRESET BUILD_DIR OPTION...: the first call chooses the generator. A build folder that
# came along when the checkout was moved or copied is made anew.
configure() {
    setup_preset=$1
    setup_build=$2
    shift 2
    setup_cache=$setup_build/CMakeCache.txt
    if [ -f "$setup_cache" ] &&
        ! grep -q -x -F "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$setup_cache"; then
        rm -rf "$setup_build"
    fi
    if [ ! -f "$setup_cache" ]; then
        command -v ninja >/dev/null 2>&1 && set -- -G Ninja "$@"
        command -v ccache >/dev/null 2>&1 && set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache "$@"
        # ./ridge needs no cmocka; ./test says ON. Either leaves it as the other has set it.
        [ "$setup_preset" != release ] || set -- -DRIDGE_TESTS=OFF "$@"
    fi
    cmake -S "$root" --preset "$setup_preset" -B "$setup_build" "$@"
}

# build PRESET BUILD_DIR TARGET OPTION...: under the lock of that folder. BUILD_DIR/.built gets the
# time at which the build began, so that a source saved meanwhile is newer than it.
build() {
    setup_target=$3
    setup_began=$2.began
    : >"$setup_began"
    setup_preset=$1
    setup_build=$2
    shift 3
    configure "$setup_preset" "$setup_build" "$@" &&
        cmake --build "$setup_build" --target "$setup_target" --parallel "$(cpu_count)" &&
        mv "$setup_began" "$setup_build/.built"
}
