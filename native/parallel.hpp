// Threads that share a counter of tasks, report progress and can be told to stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace gainful {

/// Two cells that the caller can see while a call runs: how much is done, and whether to give up.
class Progress {
  public:
    explicit Progress(int64_t* cells = nullptr) : cells_(cells) {}

    void add(int64_t amount) const {
        if (!cells_) return;
        std::atomic_ref<int64_t>(cells_[0]).fetch_add(amount, std::memory_order_relaxed);
        if (std::atomic_ref<int64_t>(cells_[1]).load(std::memory_order_relaxed)) throw std::runtime_error("cancelled");
    }

  private:
    int64_t* cells_;
};

/// Calls work(worker, task) for every task. Which worker takes which task is up to chance: results must not depend on it.
template <class Work>
void for_each_task(size_t tasks, size_t workers, Work work) {
    workers = std::max<size_t>(1, std::min(workers, tasks));
    std::atomic<size_t> next{0};
    std::mutex guard;
    std::exception_ptr failure;
    const auto run = [&](size_t worker) {
        try {
            for (size_t task; (task = next.fetch_add(1)) < tasks;) work(worker, task);
        } catch (...) {
            next = tasks;
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (size_t worker = 1; worker < workers; ++worker) others.emplace_back(run, worker);
    } catch (const std::system_error&) {
        // The machine gives no more threads: those that started, and this one, do all the tasks.
    }
    run(0);
    for (std::thread& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace gainful
