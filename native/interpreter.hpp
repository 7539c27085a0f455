// The interpreter's lock, given back while the core works, and not taken again by other threads once the interpreter ends.
//
// A thread that asks for the lock of an interpreter that is ending is ended by it on the spot, in the middle of our
// functions, which the C++ runtime answers by ending the process. So whoever comes back too late waits for the end here.
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
    /// To be passed before the lock is asked for: lets no thread through once the interpreter ends, but the one ending it.
    void enter() {
        while (!admits()) std::this_thread::sleep_for(std::chrono::hours(1));
    }

    /// The same, but says whether it let the thread through.
    bool admits() {
        ++returning_;
        if (!closing_ || std::this_thread::get_id() == closer_) return true;
        --returning_;
        return false;
    }

    /// Once the lock is there, or no longer needed.
    void leave() { --returning_; }

    /// In a child process that fork made, whose other threads are gone.
    void forget_others() { returning_ = 0; }

    /// Called with the lock when the interpreter begins to end, while it still gives the lock to everybody.
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

/// Has the gate closed when the interpreter ends, and right in processes that fork makes.
template <class Register>
void watch_interpreter(Register at_exit) {
    at_exit([] { interpreter_gate.close(); });
#if !defined(_WIN32)
    pthread_atfork(nullptr, nullptr, [] { interpreter_gate.forget_others(); });
#endif
}

/// As long as it lives, a thread of ours has the interpreter's lock, unless the interpreter ends, which waits for it.
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

/// As long as it lives, this thread works without the interpreter's lock.
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
