// Reads the bytes of a file from its beginning, and checks that it did not change.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace gainful {

/// A file that cannot be opened counts as unreadable.
class OpenFile {
  public:
    explicit OpenFile(const std::string& path) : descriptor_(opened(path)), before_(state()) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (descriptor_ < 0) return;
#if defined(_WIN32)
        _close(descriptor_);
#else
        close(descriptor_);
#endif
    }

    /// Reads up to `size` bytes. Returns 0 at the end and a negative number on failure.
    int64_t read(char* into, size_t size) const {
#if defined(_WIN32)
        return _read(descriptor_, into, static_cast<unsigned>(size));
#else
        return ::read(descriptor_, into, size);
#endif
    }

    /// Returns the number of bytes, 0 if unknown.
    size_t size() const { return before_ ? static_cast<size_t>(before_->size) : 0; }

    bool is_unchanged() const { return before_ && before_ == state(); }

  private:
    static int opened(const std::string& path) {
#if defined(_WIN32)
        return _open(path.c_str(), _O_RDONLY | _O_BINARY);
#else
        return open(path.c_str(), O_RDONLY | O_CLOEXEC);
#endif
    }

    struct State {
        int64_t size, modified, changed, nanoseconds;
        bool operator==(const State&) const = default;
    };

    std::optional<State> state() const {
#if defined(_WIN32)
        struct _stat64 found;
        if (_fstat64(descriptor_, &found) != 0) return std::nullopt;
        const int64_t nanoseconds = 0;
#else
        struct stat found;
        if (fstat(descriptor_, &found) != 0) return std::nullopt;
#if defined(__APPLE__)
        const int64_t nanoseconds = found.st_mtimespec.tv_nsec;
#else
        const int64_t nanoseconds = found.st_mtim.tv_nsec;
#endif
#endif
        return State{found.st_size, found.st_mtime, found.st_ctime, nanoseconds};
    }

    int descriptor_;
    std::optional<State> before_;
};

}  // namespace gainful
