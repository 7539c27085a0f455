// The interpreter lock: released while the core works, and not requested by other threads once the interpreter ends.
//
// An interpreter that is ending terminates any thread that requests its lock, in the middle of our functions, which makes
// the C++ runtime end the process. Threads that come too late therefore wait here for the end.
#pragma once

#include <Python.h>

#include <atomic>
#include <chrono>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace gainful {

class InterpreterGate {
  public:
    /// To be passed before requesting the lock: once the interpreter ends, admits only the thread that ends it.
    void enter() {
        while (!admits()) std::this_thread::sleep_for(std::chrono::hours(1));
    }

    /// Likewise, but returns whether the thread was admitted.
    bool admits() {
        ++returning_;
        if (!closing_ || std::this_thread::get_id() == closer_) return true;
        --returning_;
        return false;
    }

    /// To be called once the lock is held, or no longer needed.
    void leave() { --returning_; }

    /// To be called in a forked child process, which has no other threads.
    void forget_others() { returning_ = 0; }

    /// Called with the lock held when the interpreter begins to end, while other threads can still get the lock.
    void close() {
        closer_ = std::this_thread::get_id();
        closing_ = true;
        PyThreadState* const state = PyEval_SaveThread();
        while (returning_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
        PyEval_RestoreThread(state);
    }

  private:
    std::atomic<int> returning_{0};
    std::atomic<bool> closing_{false};
    std::thread::id closer_;
};

inline InterpreterGate interpreter_gate;

/// Closes the gate when the interpreter ends, and resets it in forked processes.
template <class Register>
void watch_interpreter(Register at_exit) {
    at_exit([] { interpreter_gate.close(); });
#if !defined(_WIN32)
    pthread_atfork(nullptr, nullptr, [] { interpreter_gate.forget_others(); });
#endif
}

/// Holds the interpreter lock during its lifetime, unless the interpreter ends, which waits for it.
class WithInterpreter {
  public:
    WithInterpreter() : is_there_(interpreter_gate.admits()) {
        if (is_there_) state_ = PyGILState_Ensure();
    }
    WithInterpreter(const WithInterpreter&) = delete;
    WithInterpreter& operator=(const WithInterpreter&) = delete;
    ~WithInterpreter() {
        if (!is_there_) return;
        PyGILState_Release(state_);
        interpreter_gate.leave();
    }

    explicit operator bool() const { return is_there_; }

  private:
    const bool is_there_;
    PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

/// Releases the interpreter lock of this thread during its lifetime.
class WithoutInterpreter {
  public:
    WithoutInterpreter() : state_(PyEval_SaveThread()) {}
    WithoutInterpreter(const WithoutInterpreter&) = delete;
    WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;
    ~WithoutInterpreter() {
        interpreter_gate.enter();
        PyEval_RestoreThread(state_);
        interpreter_gate.leave();
    }

  private:
    PyThreadState* state_;
};

}  // namespace gainful
