#!/usr/bin/env bash
# Builds the core with address and undefined-behaviour sanitizers and runs its tests on it. Usage: sanitize.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
export PATH="$bin:$PATH"
build=build/sanitize
cmake -S . -B "$build" -G Ninja -DGAINFUL_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
    -Dnanobind_DIR="$(python -m nanobind --cmake_dir)" -DPython_EXECUTABLE="$bin/python" >/dev/null
cmake --build "$build" >/dev/null
rm -rf "$build/package" && mkdir -p "$build/package"
cp -r src/gainful "$build/package/"
cp "$build"/_core*.so "$build/package/gainful/kernel/"
# Python itself leaks by design; only what the core does wrong is of interest. With its own allocator, Python would hide
# reads past the end of small texts.
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
    PYTHONMALLOC=malloc PYTHONPATH="$build/package" GAINFUL_REQUIRE_CORE=1 \
    python -m pytest tests/native -q -n 2 -k "not Python" -p no:cacheprovider # what asks only the Python core is left out
