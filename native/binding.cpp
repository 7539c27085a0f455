// The binding; only this file and interpreter.hpp use Python. Arrays in, arrays out; the lock is released meanwhile.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "blocks.hpp"
#include "files.hpp"
#include "flips.hpp"
#include "interpreter.hpp"
#include "join_text.hpp"
#include "judgments.hpp"
#include "letor.hpp"
#include "lists.hpp"
#include "lookups.hpp"
#include "memory.hpp"
#include "permutations.hpp"
#include "run_columns.hpp"
#include "tables.hpp"

namespace nb = nanobind;
using namespace gainful;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T, size_t dimensions>
using Output = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<int64_t, nb::shape<2>, nb::c_contig, nb::device::cpu>;

/// Transfers a vector to NumPy without copying it.
template <class As, size_t dimensions, class T>
nb::object to_shape(std::vector<T>&& values, const size_t (&shape)[dimensions]) {
    static_assert(sizeof(As) == sizeof(T));
    values.reserve(1);  // gives empty arrays an address
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    void* data = owned->data();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();
    return nb::cast(nb::ndarray<nb::numpy, As>(data, dimensions, shape, owner));
}

template <class As, class T>
nb::object to_array(std::vector<T>&& values) {
    const size_t shape[] = {values.size()};
    return to_shape<As>(std::move(values), shape);
}

template <class T>
nb::object to_array(std::vector<T>&& values) {
    return to_array<T, T>(std::move(values));
}

template <class Text>
nb::list to_list(const std::vector<Text>& ids) {
    nb::list result;
    for (const Text& id : ids) result.append(nb::bytes(id.data(), id.size()));
    return result;
}

void put_faults(nb::dict& result, const Faults& faults) {
    nb::list rows;
    for (const Fault& fault : faults.earliest()) {
        rows.append(nb::make_tuple(fault.where, static_cast<int64_t>(fault.code), fault.detail));
    }
    result["faults"] = rows;
    result["fault_count"] = faults.count();
}

/// IDs that live as long as their sequence.
template <class Sequence>
std::vector<Id> to_ids(const Sequence& ids) {
    std::vector<Id> result;
    result.reserve(ids.size());
    for (const nb::handle id : ids) {
        const nb::bytes bytes = nb::cast<nb::bytes>(id);
        result.emplace_back(bytes.c_str(), bytes.size());
    }
    return result;
}

std::vector<std::string> to_strings(const nb::list& ids) {
    const std::vector<Id> found = to_ids(ids);
    return {found.begin(), found.end()};
}

const char* begin_of(const Input<uint8_t>& data) { return reinterpret_cast<const char*>(data.data()); }
const char* end_of(const Input<uint8_t>& data) { return begin_of(data) + data.size(); }

size_t at_least_one(int threads) { return threads < 1 ? 1 : static_cast<size_t>(threads); }

void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

nb::dict to_dict(JudgmentColumns&& columns) {
    nb::dict result;
    result["query_ids"] = to_list(columns.query_ids);
    result["query"] = to_array(std::move(columns.query));
    result["subtopic_ids"] = to_list(columns.subtopic_ids);
    result["subtopic"] = to_array(std::move(columns.subtopic));
    result["document_start"] = to_array(std::move(columns.document_start));
    result["document_length"] = to_array(std::move(columns.document_length));
    result["grade"] = to_array(std::move(columns.grade));
    result["line"] = to_array(std::move(columns.line));
    put_faults(result, columns.faults);
    return result;
}

nb::dict read_judgments_py(Input<uint8_t> data, int threads) {
    JudgmentColumns columns;
    {
        const WithoutInterpreter release;
        columns = read_judgments(begin_of(data), end_of(data), at_least_one(threads));
    }
    return to_dict(std::move(columns));
}

nb::dict read_run_py(Input<uint8_t> data, int threads) {
    RunColumns columns;
    {
        const WithoutInterpreter release;
        columns = read_run(begin_of(data), end_of(data), at_least_one(threads));
    }
    nb::dict result;
    result["query_ids"] = to_list(columns.query_ids);
    result["list_offsets"] = to_array(std::move(columns.list_offsets));
    result["document_start"] = to_array(std::move(columns.document_start));
    result["document_length"] = to_array(std::move(columns.document_length));
    result["score"] = to_array(std::move(columns.score));
    result["rank"] = to_array(std::move(columns.rank));
    result["line"] = to_array(std::move(columns.line));
    put_faults(result, columns.faults);
    return result;
}

/// The index with the bytes that it refers to.
struct Index {
    Input<uint8_t> data;
    std::shared_ptr<const JudgmentIndex> judgments;

    Index(Input<uint8_t> bytes, std::shared_ptr<const JudgmentIndex> built)
        : data(std::move(bytes)), judgments(std::move(built)) {}

    Index(const nb::list& query_ids, Input<int64_t> query, Input<uint8_t> bytes, Input<int64_t> start,
          Input<int64_t> length)
        : data(std::move(bytes)) {
        require(query.size() == start.size() && query.size() == length.size(), "the columns differ in length");
        const nb::tuple kept(query_ids);  // the caller could change the list meanwhile
        const std::vector<Id> ids = to_ids(kept);
        const WithoutInterpreter release;
        const DocumentSpans documents(begin_of(data), data.size(), start.data(), length.data(), start.size());
        judgments = std::make_shared<const JudgmentIndex>(ids, query.data(), query.size(), documents);
    }

    /// A column of the judgments as a read-only array, without copying.
    nb::object shared(const std::vector<int64_t>& column) const {
        auto owned = std::make_unique<std::shared_ptr<const JudgmentIndex>>(judgments);
        nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::shared_ptr<const JudgmentIndex>*>(p); });
        owned.release();
        return nb::cast(nb::ndarray<nb::numpy, const int64_t>(column.data(), {column.size()}, owner));
    }
};

/// Checks that offsets ascend from 0 to the number of rows.
void require_offsets(const Input<int64_t>& offsets, size_t rows) {
    const int64_t* const at = offsets.data();
    const size_t size = offsets.size();
    require(size > 0 && at[0] == 0 && at[size - 1] == static_cast<int64_t>(rows), "the list offsets do not fit the rows");
    for (size_t i = 0; i + 1 < size; ++i) require(at[i] <= at[i + 1], "the list offsets do not fit the rows");
}

nb::tuple find_hits_py(const Index& index, Input<int64_t> query, Input<int64_t> list_offsets, Input<uint8_t> data,
                       Input<int64_t> start, Input<int64_t> length, int threads) {
    require(start.size() == length.size(), "the columns differ in length");
    require_offsets(list_offsets, start.size());
    require(query.size() + 1 == list_offsets.size(), "each list needs the position of its query");
    for (size_t i = 0; i < query.size(); ++i) {
        require(query.data()[i] < static_cast<int64_t>(index.judgments->query_count()), "each list needs the position of its query");
    }
    Hits hits;
    {
        const WithoutInterpreter release;
        const auto documents = DocumentSpans::unchecked(begin_of(data), data.size(), start.data(), length.data());
        hits = find_hits(*index.judgments, query.data(), list_offsets.data(), query.size(), documents, at_least_one(threads));
    }
    return nb::make_tuple(to_array(std::move(hits.place)), to_array(std::move(hits.list)), to_array(std::move(hits.item)), hits.has_repeats);
}

nb::object find_repeats_py(Input<int64_t> group_offsets, Input<uint8_t> data, Input<int64_t> start, Input<int64_t> length,
                           int threads) {
    require(start.size() == length.size(), "the columns differ in length");
    require_offsets(group_offsets, start.size());
    std::vector<uint8_t> repeats;
    {
        const WithoutInterpreter release;
        const auto documents = DocumentSpans::unchecked(begin_of(data), data.size(), start.data(), length.data());
        repeats = find_repeats(group_offsets.data(), group_offsets.size() - 1, documents, at_least_one(threads));
    }
    return to_array<bool>(std::move(repeats));
}

nb::dict to_dict(const std::vector<ListFacts>& facts, const std::vector<Id>& list_ids) {
    nb::dict result;
    result["query_ids"] = to_list(list_ids);
    const auto column = [&](auto member) {
        std::vector<std::remove_cvref_t<decltype(facts[0].*member)>> values;
        values.reserve(facts.size());
        for (const ListFacts& list : facts) values.push_back(list.*member);
        return to_array(std::move(values));
    };
    for (const auto& [name, member] : kCountFields) result[name] = column(member);
    result["lowest_rank"] = column(&ListFacts::lowest_rank);
    result["highest_rank"] = column(&ListFacts::highest_rank);
    return result;
}

nb::dict to_dict(Joined&& joined, bool with_facts) {
    nb::dict result;
    result["answered"] = to_array<bool>(std::move(joined.answered));
    result["retrieved"] = to_array(std::move(joined.retrieved));
    result["hit_offsets"] = to_array(std::move(joined.hit_offsets));
    result["hit_rank"] = to_array(std::move(joined.hit_rank));
    result["hit_item"] = to_array(std::move(joined.hit_item));
    result["tied_hit"] = to_array(std::move(joined.tied_hit));
    result["tied_first"] = to_array(std::move(joined.tied_first));
    result["tied_last"] = to_array(std::move(joined.tied_last));
    result["scores"] = to_array(std::move(joined.scores));
    result["rows"] = to_array(std::move(joined.rows));
    result["extra_ids"] = to_list(joined.extra_ids);
    result["list_count"] = joined.list_count;
    result["row_count"] = joined.row_count;
    result["duplicate_count"] = joined.duplicate_count;
    result["rank_conflicts"] = joined.rank_conflicts;
    result["float32_ties"] = joined.float32_ties;
    result["tied_count"] = joined.tied_count;
    result["inexact_ties"] = joined.inexact_ties;
    result["facts"] = with_facts ? nb::object(to_dict(joined.facts, joined.list_ids)) : nb::object(nb::none());
    put_faults(result, joined.faults);
    return result;
}

nb::dict join_text_py(Input<uint8_t> data, const Index& index, const JoinOptions& options, int threads, Cells progress_cells) {
    Joined joined;
    {
        const WithoutInterpreter release;
        joined = join_text(begin_of(data), end_of(data), *index.judgments, options, at_least_one(threads),
                           Progress(progress_cells.data()));
    }
    return to_dict(std::move(joined), options.want_facts);
}

/// The result of a join that may have needed the whole text.
nb::object to_dict_or_none(std::optional<Joined>&& joined) {
    return joined ? nb::object(to_dict(std::move(*joined), false)) : nb::object(nb::none());
}

void require_no_places(const JoinOptions& options) {
    require(!options.want_rows && !options.want_facts, "places in a text need the whole text");
}

/// A BlockJoin with the objects that it refers to.
class TextBlocks {
  public:
    TextBlocks(const Index& index, const JoinOptions& options, int threads, Cells progress_cells, size_t most, size_t block)
        : data_(index.data), judgments_(index.judgments), progress_cells_(std::move(progress_cells)),
          join_(*judgments_, options, at_least_one(threads), Progress(progress_cells_.data()), most, block) {
        require_no_places(options);
    }

    bool feed(Input<uint8_t> bytes) {
        const WithoutInterpreter release;
        return join_.feed(begin_of(bytes), bytes.size());
    }

    nb::object finish() {
        std::optional<Joined> joined;
        {
            const WithoutInterpreter release;
            joined = join_.finish();
        }
        return to_dict_or_none(std::move(joined));
    }

  private:
    Input<uint8_t> data_;
    std::shared_ptr<const JudgmentIndex> judgments_;
    Cells progress_cells_;
    BlockJoin join_;
};

/// The bytes of a Python iterator, read by one of our threads like a file. Its errors are not reported here.
class Pieces {
  public:
    explicit Pieces(nb::object iterator) : iterator_(std::move(iterator)) {}

    int64_t read(char* into, size_t size) {
        while (rest_.empty()) {
            const WithInterpreter lock;
            if (!lock) return -1;
            piece_ = nb::steal(PyIter_Next(iterator_.ptr()));
            const bool is_over = !piece_.is_valid() && !PyErr_Occurred();
            if (!piece_.is_valid() || !PyBytes_Check(piece_.ptr())) {
                PyErr_Clear();
                return is_over ? 0 : -1;
            }
            rest_ = Id(PyBytes_AsString(piece_.ptr()), static_cast<size_t>(PyBytes_Size(piece_.ptr())));
        }
        const size_t part = std::min(size, rest_.size());
        std::memcpy(into, rest_.data(), part);
        rest_.remove_prefix(part);
        return static_cast<int64_t>(part);
    }

    size_t size() const { return BlockJoin::kBlock; }
    bool is_unchanged() const { return true; }  // the iterator checks that itself

  private:
    nb::object iterator_, piece_;
    Id rest_;
};

/// Joins a file block by block. Returns nothing if it must be read whole, changes or cannot be read; reading it otherwise
/// then reports the error.
template <class File>
std::optional<Joined> join_blocks(File& file, const JudgmentIndex& index, const JoinOptions& options, size_t workers,
                                  const Progress& progress, size_t most) {
    // One byte more than needed, so that a small file is one block.
    BlockJoin join(index, options, workers, progress, most, std::min(BlockJoin::kBlock, file.size() + 1));
    while (true) {
        const auto [room, size] = join.room();
        const int64_t bytes = file.read(room, size);
        progress.add(0);  // detects cancellation
        if (bytes < 0 || (bytes > 0 && !join.taken(static_cast<size_t>(bytes)))) return std::nullopt;
        if (bytes == 0) return file.is_unchanged() ? join.finish() : std::nullopt;
    }
}

nb::object join_file_py(const nb::bytes& path, const Index& index, const JoinOptions& options, int threads, Cells progress_cells,
                        size_t most) {
    require_no_places(options);
    std::optional<Joined> joined;
    const std::string name(path.c_str(), path.size());
    {
        const WithoutInterpreter release;
        OpenFile file(name);
        joined = join_blocks(file, *index.judgments, options, at_least_one(threads), Progress(progress_cells.data()), most);
    }
    return to_dict_or_none(std::move(joined));
}

/// Reads judgments and joins the runs of some files with them on its own threads, while Python continues.
class JoinJob {
  public:
    JoinJob(Input<uint8_t> qrels, const nb::list& runs, const JoinOptions& options, int threads, Cells progress_cells, size_t most)
        : qrels_(std::move(qrels)), options_(options), progress_cells_(std::move(progress_cells)), most_(most) {
        require(!options.want_rows, "places in a text need the whole text");
        for (const nb::handle run : runs) {
            runs_.push_back(std::make_unique<RunJob>());
            if (PyIter_Check(run.ptr())) {
                require(!options.want_facts, "places in a text need the whole text");
                runs_.back()->pieces.emplace(nb::borrow(run));
            } else {
                const nb::bytes path = nb::cast<nb::bytes>(run);
                runs_.back()->path.assign(path.c_str(), path.size());
            }
        }
        thread_ = std::thread([this, workers = at_least_one(threads)] { run(workers); });
    }

    ~JoinJob() {
        abandoned_ = true;
        const WithoutInterpreter release;
        thread_.join();
    }

    /// Returns the judgments' columns; can be called once.
    nb::dict judgments() {
        wait(judged_future_);
        require(!std::exchange(judgments_given_, true), "the judgments were asked for already");
        return to_dict(std::exchange(columns_, {}));
    }

    Index index() {
        wait(judged_future_);
        require(index_ != nullptr, "the judgments have faults");
        return Index(qrels_, index_);
    }

    /// Returns the join of a run, or None if it must be read otherwise; can be called once. With facts, includes the text.
    nb::object joined(size_t run) {
        require(run < runs_.size(), "there is no such run");
        RunJob& job = *runs_[run];
        wait(job.done);
        require(!std::exchange(job.was_given, true), "the join was asked for already");
        if (!options_.want_facts || !job.joined) return nb::make_tuple(to_dict_or_none(std::move(job.joined)), nb::none());
        const nb::dict joined = to_dict(std::move(*job.joined), true);
        return nb::make_tuple(joined, to_array<uint8_t>(std::move(job.text)));
    }

  private:
    struct RunJob {
        std::string path;
        std::optional<Pieces> pieces;  // instead of a path
        std::vector<char> text;  // with facts, which refer to places in it
        std::optional<Joined> joined;
        bool was_given = false;
        std::promise<void> promise;
        std::shared_future<void> done = promise.get_future().share();
    };

    /// Waits, unless a signal handler raises meanwhile.
    static void wait(const std::shared_future<void>& future) {
        for (auto state = std::future_status::timeout; state != std::future_status::ready;) {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            const WithoutInterpreter release;
            state = future.wait_for(std::chrono::milliseconds(50));
        }
        future.get();
    }

    void run(size_t workers) {
        try {
            columns_ = read_judgments(begin_of(qrels_), end_of(qrels_), workers);
            if (!columns_.faults.count()) index_ = build_index();
            return_freed_memory();
            judged_.set_value();
        } catch (...) {
            judged_.set_exception(std::current_exception());
        }
        const size_t each = std::max<size_t>(1, workers / std::max<size_t>(1, runs_.size()));
        for_each_task(runs_.size(), workers, [&](size_t, size_t i) {
            RunJob& job = *runs_[i];
            try {
                require(index_ != nullptr, "the judgments have faults");
                const Progress progress(progress_cells_.data(), &abandoned_);
                if (job.pieces) {
                    job.joined = join_blocks(*job.pieces, *index_, options_, each, progress, most_);
                } else {
                    OpenFile file(job.path);
                    job.joined = options_.want_facts ? join_whole(job, file, each, progress)
                                                     : join_blocks(file, *index_, options_, each, progress, most_);
                }
                job.promise.set_value();
            } catch (...) {
                job.promise.set_exception(std::current_exception());
            }
        });
        return_freed_memory();
    }

    std::optional<Joined> join_whole(RunJob& job, const OpenFile& file, size_t workers, const Progress& progress) const {
        size_t used = 0;
        for (int64_t bytes = 1; bytes > 0; used += static_cast<size_t>(bytes)) {
            if (job.text.size() - used < kPiece) job.text.resize(std::max(used + kPiece, used + used / 4));
            bytes = file.read(job.text.data() + used, kPiece);
            if (bytes < 0) return std::nullopt;
        }
        job.text.resize(used);
        if (!file.is_unchanged()) return std::nullopt;
        return join_text(job.text.data(), job.text.data() + used, *index_, options_, workers, progress);
    }

    std::shared_ptr<const JudgmentIndex> build_index() const {
        const DocumentSpans documents(begin_of(qrels_), qrels_.size(), columns_.document_start.data(),
                                      columns_.document_length.data(), columns_.document_start.size());
        return std::make_shared<const JudgmentIndex>(columns_.query_ids, columns_.query.data(), columns_.query.size(), documents);
    }

    static constexpr size_t kPiece = size_t{1} << 22;

    Input<uint8_t> qrels_;
    std::vector<std::unique_ptr<RunJob>> runs_;
    JoinOptions options_;
    Cells progress_cells_;
    const size_t most_;
    JudgmentColumns columns_;
    std::shared_ptr<const JudgmentIndex> index_;
    bool judgments_given_ = false;
    std::atomic<bool> abandoned_{false};
    std::promise<void> judged_;
    std::shared_future<void> judged_future_ = judged_.get_future().share();
    std::thread thread_;
};

/// The lists of a run in columns; list i has the rows list_offsets[i] : list_offsets[i + 1].
struct ListColumns {
    std::vector<std::string> query_ids;
    Input<int64_t> list_offsets;
    Input<uint8_t> data;
    Input<int64_t> start, length;
    Input<double> score, rank;

    ListColumns(const nb::list& ids, Input<int64_t> offsets, Input<uint8_t> bytes, Input<int64_t> document_start,
                Input<int64_t> document_length, Input<double> scores, Input<double> ranks)
        : query_ids(to_strings(ids)), list_offsets(std::move(offsets)), data(std::move(bytes)),
          start(std::move(document_start)), length(std::move(document_length)), score(std::move(scores)), rank(std::move(ranks)) {}

    /// To be called before use: the arrays belong to Python and may have been changed since.
    void check() const {
        require(list_offsets.size() == query_ids.size() + 1, "the list offsets do not fit the rows");
        require_offsets(list_offsets, score.size());
        require(start.size() == score.size() && length.size() == score.size(), "the columns differ in length");
        require(rank.size() == score.size() || rank.size() == 0, "the columns differ in length");
    }
};

nb::dict join_columns_py(const ListColumns& run, const Index& index, const JoinOptions& options, int threads,
                         Cells progress_cells) {
    run.check();
    const bool has_ranks = run.rank.size() > 0;
    require(has_ranks || run.score.size() == 0 || !options.needs_rank(), "there is no rank column");
    Joined joined;
    std::vector<Id> queries(run.query_ids.begin(), run.query_ids.end());
    {
        const WithoutInterpreter release;
        IdTable distinct;
        for (const Id id : queries) distinct.number_of(id);
        require(distinct.ids().size() == queries.size(), "the query ids are not distinct");
        const DocumentSpans documents(begin_of(run.data), run.data.size(), run.start.data(), run.length.data(), run.start.size());
        const Progress progress(progress_cells.data());
        const auto read = [&](size_t list, ListJoiner& joiner) {
            const int64_t first = run.list_offsets.data()[list], last = run.list_offsets.data()[list + 1];
            for (int64_t i = first; i < last; ++i) {
                require(!std::isnan(run.score.data()[i]), "a score is not a number");  // cannot be sorted
                const double row_rank = has_ranks ? run.rank.data()[i] : std::numeric_limits<double>::quiet_NaN();
                if (options.needs_rank() && std::isnan(row_rank)) {
                    joiner.log.form.add(i, FaultCode::rank);
                    continue;
                }
                const Id document = documents[static_cast<size_t>(i)];
                joiner.rows.push_back({document, hash_id(document), run.score.data()[i], row_rank, 0.0, i});
            }
            return last - first;
        };
        joined = join_lists(queries, *index.judgments, options, at_least_one(threads), progress, read);
    }
    return to_dict(std::move(joined), options.want_facts);
}

/// The data of spans: the array itself if it holds everything, else a new one with more bytes appended.
nb::object with_extra(nb::handle array, const Input<uint8_t>& data, const std::string& extra) {
    if (extra.empty()) return nb::borrow(array);
    std::vector<char> joined;
    joined.reserve(data.size() + extra.size());
    joined.insert(joined.end(), begin_of(data), end_of(data));
    joined.insert(joined.end(), extra.begin(), extra.end());
    return to_array<uint8_t>(std::move(joined));
}

/// For calls that return the array itself.
Input<uint8_t> to_input(nb::handle array) {
    Input<uint8_t> data;
    if (!nb::try_cast(array, data)) throw nb::type_error("expected an array of bytes");
    return data;
}

std::vector<int64_t> to_ints(const nb::list& values) {
    std::vector<int64_t> result;
    for (const nb::handle value : values) {
        result.emplace_back();
        if (!nb::try_cast(value, result.back())) throw nb::type_error("expected integers");
    }
    return result;
}

nb::dict read_table_py(nb::handle array, int64_t first, int separator, int64_t fields, const nb::list& id_fields,
                       const nb::list& number_fields, const nb::list& optional_fields) {
    require(separator >= 0 && separator < 256, "the separator is not a byte");
    const Input<uint8_t> data = to_input(array);
    const TableShape shape{static_cast<char>(separator), fields, to_ints(id_fields), to_ints(number_fields),
                           to_ints(optional_fields)};
    TableColumns columns;
    {
        const WithoutInterpreter release;
        columns = read_table(begin_of(data), end_of(data), first, shape);
    }
    const nb::object bytes = with_extra(array, data, columns.extra);
    nb::list ids, numbers;
    for (TableColumns::Spans& spans : columns.ids) {
        ids.append(nb::make_tuple(bytes, to_array(std::move(spans.start)), to_array(std::move(spans.length))));
    }
    for (std::vector<double>& column : columns.numbers) numbers.append(to_array(std::move(column)));
    nb::dict result;
    result["ids"] = ids;
    result["numbers"] = numbers;
    result["line"] = to_array(std::move(columns.line));
    put_faults(result, columns.faults);
    return result;
}

nb::dict read_letor_py(nb::handle array, int64_t feature) {
    const Input<uint8_t> data = to_input(array);
    LetorColumns columns;
    {
        const WithoutInterpreter release;
        columns = read_letor(begin_of(data), end_of(data), feature);
    }
    nb::object documents = nb::borrow(array);
    if (!columns.documents.empty()) documents = to_array<uint8_t>(std::move(columns.documents));
    nb::dict result;
    result["query"] =
        nb::make_tuple(array, to_array(std::move(columns.query_start)), to_array(std::move(columns.query_length)));
    result["document"] = nb::make_tuple(documents, to_array(std::move(columns.document_start)),
                                        to_array(std::move(columns.document_length)));
    result["grade"] = to_array(std::move(columns.grade));
    result["value"] = to_array(std::move(columns.value));
    result["feature_count"] = columns.feature_count;
    result["line"] = to_array(std::move(columns.line));
    put_faults(result, columns.faults);
    return result;
}

nb::tuple number_ids_py(Input<uint8_t> data, Input<int64_t> start, Input<int64_t> length) {
    require(start.size() == length.size(), "the columns differ in length");
    IdTable distinct;
    std::vector<Id> ids;
    std::vector<int64_t> numbers;
    {
        const WithoutInterpreter release;
        reserve_room(numbers, start.size());
        const DocumentSpans spans(begin_of(data), data.size(), start.data(), length.data(), start.size());
        distinct.number_all(spans, start.size(), [&](uint32_t number) { numbers.push_back(number); });
        const ByteOrder order(distinct.ids());
        for (int64_t& number : numbers) number = order.place[static_cast<size_t>(number)];
        ids = order.apply(distinct.ids());
    }
    return nb::make_tuple(to_list(ids), to_array(std::move(numbers)));
}

/// Concatenates IDs.
class IdPacker {
  public:
    /// Adds the ID for a value; returns false, and adds an empty ID, if it is not an ID.
    bool add(PyObject* value) {
        start.push_back(static_cast<int64_t>(data.size()));
        append(value);
        length.push_back(static_cast<int64_t>(data.size()) - start.back());
        return length.back() > 0;
    }

    /// Adds a text; returns false if it is empty or not plain UTF-8.
    bool add_plain_text(PyObject* text) {
        Py_ssize_t size = 0;
        const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
        if (!bytes) {
            forgive(PyExc_UnicodeEncodeError);
            return false;
        }
        start.push_back(static_cast<int64_t>(data.size()));
        length.push_back(static_cast<int64_t>(size));
        append(bytes, size);
        return size > 0;
    }

    std::vector<char> data;
    std::vector<int64_t> start, length;

  private:
    void append(PyObject* value) {
        if (PyUnicode_Check(value)) {
            append_text(value);
        } else if (PyBytes_Check(value)) {
            append(PyBytes_AsString(value), PyBytes_Size(value));
        } else if (PyIndex_Check(value) && !is_bool(value)) {
            append_integer(value);
        }
    }

    void append(const char* bytes, Py_ssize_t size) { data.insert(data.end(), bytes, bytes + size); }

    /// Treats a Python error as "not an ID" if the value caused it.
    static void forgive(PyObject* kind) {
        if (!PyErr_ExceptionMatches(kind)) throw nb::python_error();
        PyErr_Clear();
    }

    void append_text(PyObject* text) {
        Py_ssize_t size = 0;
        if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &size)) {
            append(bytes, size);
            return;
        }
        forgive(PyExc_UnicodeEncodeError);
        const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"));
        if (!encoded) {
            forgive(PyExc_UnicodeEncodeError);
        } else {
            append(PyBytes_AsString(encoded.ptr()), PyBytes_Size(encoded.ptr()));
        }
    }

    /// Returns whether a value is a bool, including NumPy's. Only the type's name shows that; lists are mostly of one type.
    bool is_bool(PyObject* value) {
        if (type_.ptr() != reinterpret_cast<PyObject*>(Py_TYPE(value))) {
            type_ = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(value)));
            const nb::str module(type_.attr("__module__")), name(type_.attr("__name__"));
            is_bool_ = PyBool_Check(value) || (std::strcmp(module.c_str(), "numpy") == 0 &&
                                               (std::strcmp(name.c_str(), "bool") == 0 ||
                                                std::strcmp(name.c_str(), "bool_") == 0));  // NumPy 1's name
        }
        return is_bool_;
    }

    void append_integer(PyObject* value) {
        const nb::object integer = nb::steal(PyNumber_Index(value));
        if (!integer) {
            forgive(PyExc_TypeError);
            return;
        }
        int overflow = 0;
        const long long small = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
        if (!overflow) {
            char digits[24];
            append(digits, std::to_chars(digits, digits + sizeof digits, small).ptr - digits);
            return;
        }
        const nb::object decimal = nb::steal(PyObject_Str(integer.ptr()));
        if (!decimal) {
            forgive(PyExc_ValueError);  // Python limits the digits of integers
        } else {
            append_text(decimal.ptr());
        }
    }

    nb::object type_;  // the last type checked
    bool is_bool_ = false;
};

nb::tuple pack_ids_py(const nb::list& values) {
    IdPacker packer;
    int64_t first_fault = -1;
    packer.start.reserve(values.size());
    packer.length.reserve(values.size());
    // A value's own code may run here and change the list: read its length each time, and keep the value.
    for (Py_ssize_t i = 0; i < PyList_Size(values.ptr()); ++i) {
        const nb::object value = nb::borrow(PyList_GetItem(values.ptr(), i));
        if (!packer.add(value.ptr()) && first_fault < 0) first_fault = i;
    }
    return nb::make_tuple(to_array<uint8_t>(std::move(packer.data)), to_array(std::move(packer.start)),
                          to_array(std::move(packer.length)), first_fault);
}

/// Returns the number in a plain value: a float, or an int that fits into one; not NaN or infinity.
std::optional<double> plain_number(PyObject* value) {
    double number = 0;
    if (PyFloat_Check(value)) {
        number = PyFloat_AsDouble(value);
    } else if (PyLong_CheckExact(value)) {
        number = PyLong_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return std::nullopt;
        }
    } else {
        return std::nullopt;
    }
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// Concatenates dicts of IDs and numbers. No Python code runs here, so no dict can change meanwhile.
class DictPacker {
  public:
    explicit DictPacker(size_t total) {
        ids_.start.reserve(total);
        ids_.length.reserve(total);
        values_.reserve(total);
    }

    /// Adds the entries of a dict; returns false if one is not plain.
    bool add(PyObject* dict) {
        entries_.clear();
        PyObject *key = nullptr, *value = nullptr;
        Py_ssize_t position = 0;
        while (PyDict_Next(dict, &position, &key, &value)) entries_.emplace_back(key, value);
        for (size_t i = 0; i < entries_.size(); ++i) {
            // Keys and values are scattered in memory: waiting for each in turn would take most of the time.
            if (i + kAhead < entries_.size()) {
                prefetch(entries_[i + kAhead].first);
                prefetch(entries_[i + kAhead].second);
            }
            if (!add(entries_[i].first, entries_[i].second)) return false;
        }
        offsets_.push_back(static_cast<int64_t>(values_.size()));
        return true;
    }

    nb::tuple columns() {
        return nb::make_tuple(to_array<uint8_t>(std::move(ids_.data)), to_array(std::move(ids_.start)),
                              to_array(std::move(ids_.length)), to_array(std::move(values_)),
                              to_array(std::move(offsets_)), all_texts_);
    }

  private:
    bool add(PyObject* key, PyObject* value) {
        const std::optional<double> number = plain_number(value);
        if (!number) return false;
        values_.push_back(*number);
        if (PyUnicode_Check(key)) return ids_.add_plain_text(key);
        all_texts_ = false;
        return (PyBytes_Check(key) || PyLong_CheckExact(key)) && ids_.add(key);
    }

    static constexpr size_t kAhead = 16;
    IdPacker ids_;
    std::vector<double> values_;
    std::vector<int64_t> offsets_{0};
    std::vector<std::pair<PyObject*, PyObject*>> entries_;
    bool all_texts_ = true;
};

nb::object pack_dicts_py(const nb::list& dicts) {
    size_t total = 0;
    for (const nb::handle dict : dicts) {
        if (!PyDict_CheckExact(dict.ptr())) return nb::none();
        total += static_cast<size_t>(PyDict_Size(dict.ptr()));
    }
    DictPacker packer(total);
    for (const nb::handle dict : dicts) {
        if (!packer.add(dict.ptr())) return nb::none();
    }
    return packer.columns();
}

/// Moves the stream out of its capsule, which has nothing left to release.
ArrowArrayStream take_stream(nb::handle capsule) {
    constexpr const char* kName = "arrow_array_stream";
    if (!PyCapsule_CheckExact(capsule.ptr())) throw nb::type_error("expected a PyCapsule");
    require(PyCapsule_IsValid(capsule.ptr(), kName), "expected a PyCapsule named arrow_array_stream");
    auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), kName));
    require(stream->release != nullptr, "the Arrow stream was consumed already");
    const ArrowArrayStream taken = *stream;
    stream->release = nullptr;
    return taken;
}

void open_arrow(ArrowTable* place, nb::handle capsule) {
    const ArrowArrayStream stream = take_stream(capsule);
    // A producer may use other threads that need the interpreter lock.
    const WithoutInterpreter release;
    new (place) ArrowTable(stream);
}

template <class Column>
Column read_arrow(const ArrowTable& table, int64_t column) {
    if (column < 0 || static_cast<size_t>(column) >= table.columns()) throw nb::index_error("there is no such column");
    const WithoutInterpreter release;
    return table.read<Column>(static_cast<size_t>(column));
}

nb::tuple arrow_ids(const ArrowTable& table, int64_t column) {
    ArrowIds ids = read_arrow<ArrowIds>(table, column);
    std::vector<int64_t> empty;
    for (size_t i = 0; i < ids.length.size() && empty.size() < 10; ++i) {
        if (ids.length[i] == 0) empty.push_back(static_cast<int64_t>(i));
    }
    return nb::make_tuple(to_array<uint8_t>(std::move(ids.data)), to_array(std::move(ids.start)),
                          to_array(std::move(ids.length)), to_array(std::move(empty)));
}

nb::tuple arrow_numbers(const ArrowTable& table, int64_t column) {
    ArrowNumbers numbers = read_arrow<ArrowNumbers>(table, column);
    return nb::make_tuple(to_array(std::move(numbers.values)), to_array(std::move(numbers.nulls)));
}

/// Returns a text for every column.
template <std::string (ArrowTable::*text)(size_t) const>
nb::list of_columns(const ArrowTable& table) {
    nb::list result;
    for (size_t i = 0; i < table.columns(); ++i) {
        const std::string bytes = (table.*text)(i);
        const Py_ssize_t size = static_cast<Py_ssize_t>(bytes.size());
        PyObject* const decoded = PyUnicode_DecodeUTF8(bytes.data(), size, "surrogateescape");
        if (!decoded) throw nb::python_error();
        result.append(nb::steal(decoded));
    }
    return result;
}

template <class T>
Matrix<T> matrix_of(const Rows<T>& rows) {
    return {rows.data(), rows.shape(0), rows.shape(1)};
}

nb::object flipped_sums_py(const Rows<double>& steps, const Rows<uint8_t>& flips, int threads) {
    require(8 * flips.shape(1) >= steps.shape(0), "a query has no flips");
    const size_t shape[] = {steps.shape(1), flips.shape(0)};
    std::vector<double> found;
    {
        const WithoutInterpreter release;
        found = flipped_sums(matrix_of(steps), matrix_of(flips), at_least_one(threads));
    }
    return to_shape<double>(std::move(found), shape);
}

nb::tuple count_extremes_py(const Rows<double>& sums, Input<int64_t> first, Input<int64_t> second, Input<double> weight,
                            Input<double> edge, Input<double> reach, int threads) {
    std::vector<FlippedPair> pairs(first.size());
    for (const size_t size : {second.size(), weight.size(), edge.size(), reach.size()}) {
        require(size == pairs.size(), "the columns differ in length");
    }
    const int64_t rows = static_cast<int64_t>(sums.shape(0));
    for (size_t i = 0; i < pairs.size(); ++i) {
        const int64_t one = first.data()[i], other = second.data()[i];
        require(0 <= one && one < rows && 0 <= other && other < rows, "there is no such row");
        pairs[i] = {static_cast<size_t>(one), static_cast<size_t>(other), weight.data()[i], edge.data()[i], reach.data()[i]};
    }
    Extremes found;
    {
        const WithoutInterpreter release;
        found = count_extremes(matrix_of(sums), pairs, at_least_one(threads));
    }
    return nb::make_tuple(to_array(std::move(found.alone)), to_array(std::move(found.among)),
                          to_array(std::move(found.largest)));
}

template <class Key>
void random_keys_py(const Output<uint64_t, 1>& state, const Output<Key, 2>& keys) {
    require(state.size() == 4, "a state has four words");
    if (keys.size() == 0) return;
    const WithoutInterpreter release;
    std::array<uint64_t, 4> words;
    std::copy_n(state.data(), words.size(), words.begin());
    random_keys(words, keys.data(), keys.shape(0), keys.shape(1));
    std::copy(words.begin(), words.end(), state.data());
}

template <class Key>
void add_at_places_py(const Output<double, 2>& sums, const Input<double>& values, const Rows<Key>& keys) {
    require(sums.shape(0) == keys.shape(0) && sums.shape(1) == keys.shape(1) && values.size() == keys.shape(1),
            "the shapes differ");
    if (keys.size() == 0) return;
    const WithoutInterpreter release;
    add_at_places(sums.data(), values.data(), keys.data(), keys.shape(0), keys.shape(1));
}

template <class Key>
void define_permutations(nb::module_& module) {
    module.def("random_keys", &random_keys_py<Key>, nb::arg("state").noconvert(), nb::arg("keys").noconvert());
    module.def("add_at_places", &add_at_places_py<Key>, nb::arg("sums").noconvert(), nb::arg("values"),
               nb::arg("keys").noconvert());
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "Parse bytes, intern ids, order, join, flip signs. See _core.pyi.";
    module.attr("KIND") = "C++";
    nb::set_leak_warnings(false);  // an interrupted process may end while a thread still holds an index
    watch_interpreter([](auto close) { nb::module_::import_("atexit").attr("register")(nb::cpp_function(close)); });
    module.def("read_judgments", &read_judgments_py, nb::arg("data"), nb::arg("threads"));
    module.def("read_run", &read_run_py, nb::arg("data"), nb::arg("threads"));
    nb::class_<Index>(module, "JudgmentIndex")
        .def(nb::init<const nb::list&, Input<int64_t>, Input<uint8_t>, Input<int64_t>, Input<int64_t>>(), nb::arg("query_ids"),
             nb::arg("query"), nb::arg("data"), nb::arg("document_start"), nb::arg("document_length"))
        .def_prop_ro("item", [](const Index& index) { return index.shared(index.judgments->item()); })
        .def_prop_ro("item_offsets", [](const Index& index) { return index.shared(index.judgments->item_offsets()); })
        .def("find_hits", &find_hits_py, nb::arg("query"), nb::arg("list_offsets"), nb::arg("data"),
             nb::arg("document_start"), nb::arg("document_length"), nb::arg("threads"));
    module.def("find_repeats", &find_repeats_py, nb::arg("group_offsets"), nb::arg("data"), nb::arg("document_start"),
               nb::arg("document_length"), nb::arg("threads"));
    nb::class_<JoinOptions>(module, "JoinOptions")
        .def(nb::init<int, int, bool, bool, int64_t, bool, bool, bool>(), nb::arg("order"), nb::arg("ties"), nb::arg("float32"),
             nb::arg("keep_first"), nb::arg("depth"), nb::arg("want_scores") = false, nb::arg("want_rows") = false,
             nb::arg("want_facts") = false);
    nb::class_<ListColumns>(module, "ListColumns")
        .def(nb::init<const nb::list&, Input<int64_t>, Input<uint8_t>, Input<int64_t>, Input<int64_t>, Input<double>, Input<double>>(),
             nb::arg("query_ids"), nb::arg("list_offsets"), nb::arg("data"), nb::arg("document_start"),
             nb::arg("document_length"), nb::arg("score"), nb::arg("rank"));
    module.def("join_text", &join_text_py, nb::arg("data"), nb::arg("index"), nb::arg("options"), nb::arg("threads"),
               nb::arg("progress"));
    module.def("join_file", &join_file_py, nb::arg("path"), nb::arg("index"), nb::arg("options"), nb::arg("threads"),
               nb::arg("progress"), nb::arg("most") = BlockJoin::kMost);
    nb::class_<TextBlocks>(module, "TextBlocks")
        .def(nb::init<const Index&, const JoinOptions&, int, Cells, size_t, size_t>(), nb::arg("index"), nb::arg("options"),
             nb::arg("threads"), nb::arg("progress"), nb::arg("most") = BlockJoin::kMost, nb::arg("block") = BlockJoin::kBlock)
        .def("feed", &TextBlocks::feed, nb::arg("data"))
        .def("finish", &TextBlocks::finish);
    module.def("join_columns", &join_columns_py, nb::arg("run"), nb::arg("index"), nb::arg("options"), nb::arg("threads"),
               nb::arg("progress"));
    nb::class_<JoinJob>(module, "JoinJob")
        .def(nb::init<Input<uint8_t>, const nb::list&, const JoinOptions&, int, Cells, size_t>(), nb::arg("qrels"), nb::arg("runs"),
             nb::arg("options"), nb::arg("threads"), nb::arg("progress"), nb::arg("most") = BlockJoin::kMost)
        .def("judgments", &JoinJob::judgments)
        .def("index", &JoinJob::index)
        .def("joined", &JoinJob::joined, nb::arg("run"));
    module.def("read_table", &read_table_py, nb::arg("data"), nb::arg("first"), nb::arg("separator"), nb::arg("fields"),
               nb::arg("id_fields"), nb::arg("number_fields"), nb::arg("optional_fields") = nb::list());
    module.def("read_letor", &read_letor_py, nb::arg("data"), nb::arg("feature"));
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const UnsupportedFormat& error) {
            PyErr_SetString(PyExc_TypeError, error.what());
        }
    });
    nb::class_<ArrowTable>(module, "ArrowTable")
        .def("__init__", &open_arrow, nb::arg("capsule").none())
        .def_prop_ro("names", &of_columns<&ArrowTable::name>)
        .def_prop_ro("formats", &of_columns<&ArrowTable::format>)
        .def_prop_ro("rows", &ArrowTable::rows)
        .def("ids", &arrow_ids, nb::arg("column"))
        .def("numbers", &arrow_numbers, nb::arg("column"));
    module.def("hash_id", [](const nb::bytes& id) { return hash_id(Id(id.c_str(), id.size())); }, nb::arg("identifier"));
    module.def("pack_ids", &pack_ids_py, nb::arg("values"));
    module.def("pack_dicts", &pack_dicts_py, nb::arg("dicts"));
    module.def("number_ids", &number_ids_py, nb::arg("data"), nb::arg("start"), nb::arg("length"));
    module.def("flipped_sums", &flipped_sums_py, nb::arg("steps"), nb::arg("flips"), nb::arg("threads"));
    module.def("count_extremes", &count_extremes_py, nb::arg("sums"), nb::arg("first"), nb::arg("second"), nb::arg("weight"),
               nb::arg("edge"), nb::arg("reach"), nb::arg("threads"));
    define_permutations<uint32_t>(module);
    define_permutations<uint64_t>(module);
}
