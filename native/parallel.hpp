// Threads that share a counter of tasks, report progress and can be cancelled.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#ifndef GAINFUL_THREAD  // the fuzzers define their own
#define GAINFUL_THREAD std::thread
#define GAINFUL_TASK_TAKEN()
#endif

namespace gainful {

#if defined(__cpp_lib_atomic_ref)
inline void add_to_cell(int64_t& cell, int64_t amount) {
    std::atomic_ref<int64_t>(cell).fetch_add(amount, std::memory_order_relaxed);
}
inline int64_t read_cell(int64_t& cell) { return std::atomic_ref<int64_t>(cell).load(std::memory_order_relaxed); }
#elif defined(__GNUC__)  // also Clang, whose own library long lacked atomic_ref
inline void add_to_cell(int64_t& cell, int64_t amount) { __atomic_fetch_add(&cell, amount, __ATOMIC_RELAXED); }
inline int64_t read_cell(int64_t& cell) { return __atomic_load_n(&cell, __ATOMIC_RELAXED); }
#else
#error "cells that several threads share need std::atomic_ref"
#endif

/// Two cells shared with the caller during a call: the work done, and whether to cancel. Background work may have its own
/// flag to stop it, which leaves the caller's cells unchanged.
class Progress {
  public:
    explicit Progress(int64_t* cells, const std::atomic<bool>* abandoned = nullptr) : cells_(cells), abandoned_(abandoned) {}

    void add(int64_t amount) const {
        add_to_cell(cells_[0], amount);
        const bool is_abandoned = abandoned_ && abandoned_->load(std::memory_order_relaxed);
        if (is_abandoned || read_cell(cells_[1])) throw std::runtime_error("cancelled");
    }

  private:
    int64_t* cells_;
    const std::atomic<bool>* abandoned_;
};

/// Calls work(worker, task) for every task. The assignment to workers varies: results must not depend on it.
template <class Work>
void for_each_task(size_t tasks, size_t workers, Work work) {
    workers = std::max<size_t>(1, std::min(workers, tasks));
    std::atomic<size_t> next{0};
    std::mutex guard;
    std::exception_ptr failure;
    const auto run = [&](size_t worker) {
        try {
            for (size_t task; (task = next.fetch_add(1)) < tasks;) {
                GAINFUL_TASK_TAKEN();
                work(worker, task);
            }
        } catch (...) {
            next = tasks;
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<GAINFUL_THREAD> others;
    try {
        others.reserve(workers - 1);
        for (size_t worker = 1; worker < workers; ++worker) others.emplace_back(run, worker);
    } catch (const std::exception&) {
        // No more threads or memory are available: the threads that started, and this one, do all tasks.
    }
    run(0);
    for (GAINFUL_THREAD& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

/// Likewise for tasks that may be many and small: a worker takes several at a time.
template <class Work>
void for_each_in_groups(size_t tasks, size_t workers, Work work) {
    const size_t size = std::clamp<size_t>(tasks / (16 * std::max<size_t>(1, workers)), 1, 256);
    for_each_task((tasks + size - 1) / size, workers, [&](size_t worker, size_t group) {
        const size_t end = std::min(tasks, (group + 1) * size);
        for (size_t task = group * size; task < end; ++task) work(worker, task);
    });
}

}  // namespace gainful
