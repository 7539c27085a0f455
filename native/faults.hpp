// Faults of an input and their places: all are counted, the first ten kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gainful {

enum class FaultCode : int64_t {
    fields = 1,
    number = 2,
    overflow = 3,
    rank = 4,
    duplicate = 5,
    empty = 6,
    quote = 7,
    line_end = 8,
    unnamed = 9
};

struct Fault {
    int64_t where;
    FaultCode code;
    int64_t detail;
    bool operator<(const Fault& other) const { return where < other.where; }
};

class Faults {
  public:
    void add(int64_t where, FaultCode code, int64_t detail = 0) {
        ++count_;
        keep({where, code, detail});
    }

    void merge(const Faults& other) {
        count_ += other.count_;
        for (const Fault& fault : other.earliest_) keep(fault);
    }

    int64_t count() const { return count_; }
    const std::vector<Fault>& earliest() const { return earliest_; }

  private:
    static constexpr size_t kKept = 10;

    void keep(const Fault& fault) {
        if (earliest_.size() == kKept && !(fault < earliest_.back())) return;
        earliest_.insert(std::upper_bound(earliest_.begin(), earliest_.end(), fault), fault);
        if (earliest_.size() > kKept) earliest_.pop_back();
    }

    int64_t count_ = 0;
    std::vector<Fault> earliest_;
};

/// Faults of form hide duplicates: duplicates in a list that could not be read are not reported.
struct FaultLog {
    Faults form;
    Faults duplicates;

    void merge(const FaultLog& other) {
        form.merge(other.form);
        duplicates.merge(other.duplicates);
    }
    bool is_empty() const { return !form.count() && !duplicates.count(); }
    const Faults& reported() const { return form.count() ? form : duplicates; }
};

}  // namespace gainful
