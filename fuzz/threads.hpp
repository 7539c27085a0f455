// Threads reused between inputs: starting and ending them took most of a fuzzer's time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fuzz {

/// The part of std::thread that for_each_task uses. A kept thread shares a lock with its owner only: what its task does is ordered
/// after the start and before the join, as with std::thread, and not with other threads, so that their races are seen.
class Thread {
  public:
    template <class Run>
    Thread(Run run, size_t worker) {
        if (idle().empty()) idle().push_back(new Kept);
        kept_ = idle().back();
        idle().pop_back();
        kept_->hand_over([run, worker] { run(worker); });
    }
    Thread(Thread&&) = default;

    void join() {
        kept_->wait();
        idle().push_back(kept_);
    }

  private:
    class Kept {
      public:
        Kept() { std::thread(&Kept::serve, this).detach(); }

        void hand_over(std::function<void()> task) {
            const std::lock_guard<std::mutex> lock(guard_);
            task_ = std::move(task);
            changed_.notify_all();
        }

        void wait() {
            std::unique_lock<std::mutex> lock(guard_);
            changed_.wait(lock, [&] { return !task_; });
        }

      private:
        void serve() {
            for (std::unique_lock<std::mutex> lock(guard_);; changed_.notify_all()) {
                changed_.wait(lock, [&] { return static_cast<bool>(task_); });
                lock.unlock();
                task_();
                lock.lock();
                task_ = nullptr;
            }
        }

        std::mutex guard_;
        std::condition_variable changed_;
        std::function<void()> task_;
    };

    /// Only the fuzzer's main thread starts others.
    static std::vector<Kept*>& idle() {
        static auto& threads = *new std::vector<Kept*>;
        return threads;
    }

    Kept* kept_;
};

}  // namespace fuzz

#define GAINFUL_THREAD fuzz::Thread
#if __has_feature(thread_sanitizer)
// Every thread gets a task, even on a single core: races are detected only between concurrent tasks.
#define GAINFUL_TASK_TAKEN() std::this_thread::yield()
#else
#define GAINFUL_TASK_TAKEN()
#endif
