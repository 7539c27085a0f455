#!/usr/bin/env bash
# Builds the fuzzers and runs each for a while. Usage: run.sh SECONDS
#
# Inputs that they learn stay in build/fuzz/corpus for the next run. Inputs that fail are put into
# build/fuzz/found; once fixed, add them to fuzz/corpus, from which every run starts.
set -euo pipefail
seconds=$1
cd "$(dirname "$0")/.."
command -v clang++ >/dev/null || { echo "make fuzz needs clang with libFuzzer: install clang"; exit 1; }
build=build/fuzz
mkdir -p "$build/found"

# A harness and its sanitizers; only texts are read by several threads.
FUZZERS="text:address,undefined tables:address,undefined letor:address,undefined arrow:address,undefined text:thread"
program() { local name=${1/:/-}; echo "$build/${name%%,*}"; }

compile() {
    local harness=${1%%:*} sanitizers=${1##*:} out
    out=$(program "$1")
    [[ -x $out && -z $(find native fuzz -name '*.?pp' -newer "$out") ]] && return
    # Coverage counters would race between threads: only code that runs on the main thread alone may have them.
    local counted=()
    [[ $sanitizers == thread ]] && counted=(-fsanitize-coverage-allowlist=fuzz/counted_functions.txt)
    # Cut even short texts and few lists into pieces for the threads, which fuzz/threads.hpp keeps.
    nice clang++ -std=c++20 -O1 -gline-tables-only -Wall -Wextra -DGAINFUL_SMALLEST_PIECE=16 -DGAINFUL_GROUPS_A_PIECE=2 -pthread \
        -include fuzz/threads.hpp -fsanitize="fuzzer,$sanitizers" -fno-sanitize-recover=undefined "${counted[@]}" \
        "fuzz/$harness.cpp" -o "$out"
}
export build; export -f compile program
printf '%s\n' $FUZZERS | xargs -P 2 -I{} bash -euc 'compile {}'

# Inputs are chosen without regard to how rare their features are (-entropic=0): while all of them are rare, keeping count
# takes half of the time and finds no more.
row='%-7s %-18s %10s %10s %8s %8s\n'
report=$(printf "$row" fuzzer sanitizer executions "per second" edges features)
for fuzzer in $FUZZERS; do
    harness=${fuzzer%%:*} out=$(program "$fuzzer")
    learnt=$build/corpus/$harness log=$out.log
    mkdir -p "$learnt"
    if ! "$out" -max_total_time="$seconds" -max_len=1024 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -entropic=0 \
        -dict=fuzz/words.dict -artifact_prefix="$build/found/${out##*/}-" "$learnt" "fuzz/corpus/$harness" >"$log" 2>&1; then
        tail -n 60 "$log"
        echo "$out failed: what broke it is in $build/found, all it said in $log. Once more: $out FILE"
        exit 1
    fi
    statistic() { sed -n "s/^stat::$1: *//p" "$log"; }
    covered() { sed -n "s/.*DONE .*$1: \([0-9]*\).*/\1/p" "$log"; }
    report+=$'\n'$(printf "$row" "$harness" "${fuzzer##*:}" "$(statistic number_of_executed_units)" \
        "$(statistic average_exec_per_sec)" "$(covered cov)" "$(covered ft)")
done
echo "$report"
