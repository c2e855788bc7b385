// A streaming reader of the svmlight (libsvm) text format:
//
//     <label> [qid:<integer>] <index>:<value> <index>:<value> ... [# comment]
//
// Text is pushed in pieces that may end anywhere; whole rows are taken out whenever the caller likes. Nothing
// a file declares is allocated: memory grows with the entries actually read, and with the caller's piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace paring {

/// The text is not svmlight; `what()` begins with "line N: ", lines counted from 1.
class SvmlightError : public std::runtime_error {
  public:
    SvmlightError(std::int64_t at, const std::string& problem)
        : std::runtime_error("line " + std::to_string(at) + ": " + problem), line(at) {}
    std::int64_t line;
};

/// Where the file starts to count features. Auto: from one, unless an index 0 occurs (scikit-learn's rule).
enum class IndexBase { Zero, One, Auto };

struct SvmlightOptions {
    IndexBase base = IndexBase::Auto;
    std::int64_t n_features = 0;                    // 0: not declared
    bool query_ids = false;                         // return `qid:`, which every row must then have; else skip it
    bool refuse_nonfinite = false;                  // else nan and inf are read as such
    std::int64_t max_line = std::int64_t{1} << 30;  // bytes; a row lives in memory whole
};

/// Whole rows in CSR form, indices as written in the file (see SvmlightReader::first_index).
template <class T>
struct SvmlightBlock {
    std::vector<double> labels;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> narrow;  // the indices, unless one of them needs 64 bits:
    std::vector<std::int64_t> wide;    // then all of them are here
    bool is_wide = false;
    std::vector<T> values;
    std::vector<std::int64_t> query_ids;
};

template <class T>
class SvmlightReader {
  public:
    explicit SvmlightReader(SvmlightOptions options);

    /// Reads the next `n` bytes. Throws SvmlightError; the reader is then closed.
    void feed(const char* data, std::size_t n);
    /// Ends the last line and settles the index base. Throws SvmlightError.
    void finish();
    /// Moves the rows read so far out; entries of an unfinished row stay.
    SvmlightBlock<T> take();

    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_entries() const { return n_entries_; }
    /// One more than the largest index, counted from zero; after finish().
    std::int64_t n_features() const { return n_entries_ == 0 ? 0 : max_index_ + 1 - first_index_; }
    /// 0 or 1: what the caller subtracts from every index; after finish().
    int first_index() const { return first_index_; }
    /// True once a row had unsorted or repeated indices (kept as read).
    bool unsorted() const { return unsorted_; }

  private:
    enum class Where { LineStart, Entries, Comment };  // a comment hides the rest of its line

    void parse(const char* p, const char* end, std::int64_t offset);
    const char* read_label(const char* p, const char* end);
    const char* read_entry(const char* p, const char* end);
    const char* read_query_id(const char* p, const char* end);
    const char* complete_carry(const char* p, const char* end);
    void carry(const char* p, const char* end);
    void add(std::int64_t index, double value, std::string_view token);
    void check_large(double value, std::string_view token) const;
    [[noreturn]] void refuse_index(std::int64_t index) const;
    void end_line();
    void check_token_length(std::size_t length) const;
    void check_line_length(std::int64_t offset) const;
    [[noreturn]] void fail(const std::string& problem) const;

    SvmlightOptions options_;
    SvmlightBlock<T> block_;
    std::string carry_;  // the start of a token that the next piece completes
    Where where_ = Where::LineStart;
    bool in_row_ = false, has_query_id_ = false, unsorted_ = false, closed_ = false;
    int first_index_ = 0;
    std::int64_t line_ = 1, line_offset_ = 0, offset_ = 0;  // bytes before this line, bytes read
    std::int64_t previous_index_ = -1, min_index_ = std::numeric_limits<std::int64_t>::max(), max_index_ = -1,
                 max_index_line_ = 0;
    std::int64_t least_index_ = 0, last_index_ = 0;  // what the options allow
    std::int64_t n_rows_ = 0, n_entries_ = 0;
};

extern template class SvmlightReader<float>;
extern template class SvmlightReader<double>;

}  // namespace paring
