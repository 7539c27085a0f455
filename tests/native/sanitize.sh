#!/usr/bin/env bash
# Builds the core with address and undefined-behaviour sanitizers and runs its tests on it. Usage: sanitize.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
export PATH="$bin:$PATH"
build=$PWD/build/sanitize
cmake -S . -B "$build" -G Ninja -DGAINFUL_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
    -Dnanobind_DIR="$(python -m nanobind --cmake_dir)" -DPython_EXECUTABLE="$bin/python" >/dev/null
MAKEFLAGS= cmake --build "$build" >/dev/null # Ninja cannot share the jobs of make, and says so
rm -rf "$build/package" && mkdir -p "$build/package"
cp -r src/gainful src/gainful_papers "$build/package/"
cp "$build"/_core*.so "$build/package/gainful/kernel/"
# A developer's install puts itself before all that PYTHONPATH says. In an environment of its own, which finds the
# libraries of the other, there is none.
python -m venv --clear --without-pip "$build/venv"
python -c 'import sys; print(*(path for path in sys.path if path.endswith("site-packages")), sep="\n")' \
    >"$(echo "$build"/venv/lib/python*/site-packages)/libraries.pth"
export PATH="$build/venv/bin:$PATH" PYTHONPATH="$build/package" GAINFUL_REQUIRE_CORE=1
# Python itself leaks by design; only what the core does wrong is of interest. With its own allocator, Python would hide
# reads past the end of small texts.
export ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc
export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
python -c 'import sys; from gainful.kernel import _core; sys.exit(sys.argv[1] not in _core.__file__)' "$build/package"
# What asks only the Python core is left out. So is forking while threads work: of some 800 children, one waited forever
# in free() for a lock of the sanitizer's allocator, held at the fork by a thread that the child does not have.
python -m pytest tests/native -q -n 2 -k "not [Python and not test_children_of_a_process" -p no:cacheprovider
