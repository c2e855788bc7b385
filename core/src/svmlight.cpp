#include "paring/svmlight.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace paring {
namespace {

// Longer than any number that is worth writing, short enough that garbage is refused early.
constexpr std::size_t max_token = 4096;
// d + 1 and d * sizeof(T) must not overflow in whoever uses the index.
constexpr std::int64_t index_limit = std::int64_t{1} << 62;
constexpr std::int64_t narrow_limit = std::numeric_limits<std::int32_t>::max();

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool ends_token(char c) { return is_blank(c) || c == '\n' || c == '#'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* token_end(const char* p, const char* end) {
    while (p != end && !ends_token(*p)) ++p;
    return p;
}

/// The token as an error message shows it: printable, short, in quotes.
std::string quoted(const char* p, const char* end) {
    constexpr std::size_t shown = 40;
    static const char hex[] = "0123456789abcdef";
    const std::string_view token(p, static_cast<std::size_t>(token_end(p, end) - p));
    std::string text = "'";
    for (const char c : token.substr(0, shown)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f) {
            text += c;
        } else {
            text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        }
    }
    return text + (token.size() > shown ? "...'" : "'");
}

/// from_chars does not tell 1e-999 from 1e999: is this (valid, decimal) number below one?
bool is_tiny(const char* p, const char* end) {
    std::int64_t magnitude = 0;  // decimal digits before the point, counted from the first nonzero digit
    bool nonzero = false, point = false;
    for (; p != end && *p != 'e' && *p != 'E'; ++p) {
        if (*p == '.') point = true;
        if (!is_digit(*p)) continue;
        nonzero = nonzero || *p != '0';
        if (point && !nonzero) --magnitude;
        if (!point && nonzero) ++magnitude;
    }
    if (p == end) return magnitude <= 0;
    ++p;
    const bool negative = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) ++p;
    std::int64_t exponent = 0;  // a token is short, so clamping changes no answer
    for (; p != end && is_digit(*p); ++p) exponent = std::min<std::int64_t>(10 * exponent + (*p - '0'), 1 << 20);
    return magnitude + (negative ? -exponent : exponent) <= 0;
}

/// Reads a number as Python's float() does (a plus sign, nan, inf; too large is inf, too small is 0).
/// Returns where it ends, or null.
const char* read_number(const char* p, const char* end, double& value) {
    if (p != end && *p == '+') {
        ++p;
        if (p != end && *p == '-') return nullptr;
    }
    const auto [stop, error] = std::from_chars(p, end, value);
    if (error == std::errc::invalid_argument) return nullptr;
    if (error == std::errc::result_out_of_range) {
        const double size = is_tiny(p, stop) ? 0.0 : std::numeric_limits<double>::infinity();
        value = *p == '-' ? -size : size;
    }
    return stop;
}

template <class V>
void move_tail(V& from, V& to, std::int64_t start) {
    to.assign(from.begin() + start, from.end());
    from.resize(static_cast<std::size_t>(start));
}

}  // namespace

template <class T>
SvmlightReader<T>::SvmlightReader(SvmlightOptions options) : options_(options) {
    least_index_ = options.base == IndexBase::One ? 1 : 0;
    // While the base is unknown, an index equal to n_features may still be the last feature of a file from one.
    const std::int64_t last = options.n_features - (options.base == IndexBase::Zero ? 1 : 0);
    last_index_ = options.n_features > 0 ? std::min(last, index_limit - 1) : index_limit - 1;
}

// -- pieces: only whole tokens reach parse() ---

template <class T>
void SvmlightReader<T>::feed(const char* data, std::size_t n) {
    if (closed_) throw std::logic_error("the svmlight reader is closed");
    closed_ = true;  // an exception below leaves it closed
    const char* const end = data + n;
    const char* const start = carry_.empty() ? data : complete_carry(data, end);
    const char* cut = end;
    while (cut != start && !ends_token(cut[-1])) --cut;
    if (cut != start && cut[-1] == '#') cut = end;  // the rest is comment
    parse(start, cut, offset_ + (start - data));
    if (where_ != Where::Comment) carry(cut, end);
    offset_ += static_cast<std::int64_t>(n);
    check_line_length(offset_);
    closed_ = false;
}

template <class T>
void SvmlightReader<T>::carry(const char* p, const char* end) {
    check_token_length(carry_.size() + static_cast<std::size_t>(end - p));
    carry_.append(p, end);
}

/// Completes and parses the carried token; returns where the next one may start.
template <class T>
const char* SvmlightReader<T>::complete_carry(const char* p, const char* end) {
    const char* const stop = token_end(p, end);
    carry(p, stop);
    if (stop == end) return end;
    const std::string token = std::exchange(carry_, {}) + ' ';
    parse(token.data(), token.data() + token.size(), 0);
    return stop;
}

template <class T>
void SvmlightReader<T>::finish() {
    if (in_row_ || !carry_.empty()) feed("\n", 1);
    if (closed_) throw std::logic_error("the svmlight reader is closed");
    closed_ = true;
    const bool from_one =
        options_.base == IndexBase::Auto ? n_entries_ > 0 && min_index_ > 0 : options_.base == IndexBase::One;
    first_index_ = from_one ? 1 : 0;
    if (options_.n_features > 0 && n_features() > options_.n_features) {
        line_ = max_index_line_;
        fail("index " + std::to_string(max_index_) +
             " is out of range: the file counts from 0 and n_features=" + std::to_string(options_.n_features));
    }
}

template <class T>
SvmlightBlock<T> SvmlightReader<T>::take() {
    SvmlightBlock<T> rest;
    const std::int64_t whole = block_.indptr.back();
    move_tail(block_.narrow, rest.narrow, block_.is_wide ? 0 : whole);
    move_tail(block_.wide, rest.wide, block_.is_wide ? whole : 0);
    move_tail(block_.values, rest.values, whole);
    move_tail(block_.labels, rest.labels, static_cast<std::int64_t>(block_.indptr.size()) - 1);
    const auto n_queries = static_cast<std::int64_t>(block_.query_ids.size()) - (has_query_id_ && options_.query_ids);
    move_tail(block_.query_ids, rest.query_ids, n_queries);
    rest.is_wide = block_.is_wide;
    return std::exchange(block_, std::move(rest));
}

// -- the grammar ---

/// `offset`: bytes of the file before `p`. The last byte ends a token, or lies in a comment.
template <class T>
void SvmlightReader<T>::parse(const char* p, const char* end, std::int64_t offset) {
    const char* const begin = p;
    while (p != end) {
        if (*p == '\n') {
            ++p;
            check_line_length(offset + (p - begin));
            end_line();
            line_offset_ = offset + (p - begin);
        } else if (where_ == Where::Comment) {
            const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
            p = newline ? static_cast<const char*>(newline) : end;
        } else if (is_blank(*p)) {
            ++p;
        } else if (*p == '#') {
            where_ = Where::Comment;
        } else {
            const char* const token = p;
            p = where_ == Where::LineStart ? read_label(p, end) : read_entry(p, end);
            check_token_length(static_cast<std::size_t>(p - token));  // as for a token that was carried
        }
    }
}

template <class T>
const char* SvmlightReader<T>::read_label(const char* p, const char* end) {
    double label = 0;
    const char* const stop = read_number(p, end, label);
    if (stop && stop != end && *stop == ',') {
        fail("expected one label, found " + quoted(p, end) +
             ": multi-label files are not read; write one label a line");
    }
    if (!stop || stop == end || !ends_token(*stop)) fail("expected a label (a number), found " + quoted(p, end));
    if (options_.refuse_nonfinite && !std::isfinite(label)) fail("the label " + quoted(p, end) + " is not finite");
    block_.labels.push_back(label);
    where_ = Where::Entries;
    in_row_ = true;
    previous_index_ = -1;
    return stop;
}

template <class T>
const char* SvmlightReader<T>::read_entry(const char* p, const char* end) {
    std::int64_t index = 0;
    const auto [colon, error] = std::from_chars(p, end, index);
    if (colon == end || *colon != ':' || error == std::errc::invalid_argument) {
        if (*p == 'q') return read_query_id(p, end);
        fail("expected index:value, found " + quoted(p, end));
    }
    if (error == std::errc::result_out_of_range) fail("the index in " + quoted(p, end) + " is too large");
    double value = 0;
    const char* const stop = read_number(colon + 1, end, value);
    if (!stop || stop == end || !ends_token(*stop)) fail("expected index:value, found " + quoted(p, end));
    add(index, value, std::string_view(p, static_cast<std::size_t>(stop - p)));
    return stop;
}

template <class T>
const char* SvmlightReader<T>::read_query_id(const char* p, const char* end) {
    constexpr std::string_view prefix = "qid:";
    const std::string_view token(p, static_cast<std::size_t>(token_end(p, end) - p));
    if (!token.starts_with(prefix)) fail("expected index:value, found " + quoted(p, end));
    if (has_query_id_ || previous_index_ >= 0) fail("expected " + quoted(p, end) + " once, right after the label");
    std::int64_t id = 0;
    const char* const stop = p + token.size();
    const auto [after, error] = std::from_chars(p + prefix.size(), stop, id);
    if (error != std::errc{} || after != stop) fail("expected qid:integer, found " + quoted(p, end));
    if (options_.query_ids) block_.query_ids.push_back(id);
    has_query_id_ = true;
    return stop;
}

template <class T>
void SvmlightReader<T>::add(std::int64_t index, double value, std::string_view token) {
    if (index < least_index_ || index > last_index_) refuse_index(index);
    // False for nan, too.
    if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max()))) check_large(value, token);
    if (index > narrow_limit && !block_.is_wide) {
        block_.wide.assign(block_.narrow.begin(), block_.narrow.end());
        block_.narrow = {};
        block_.is_wide = true;
    }
    if (block_.is_wide) {
        block_.wide.push_back(index);
    } else {
        block_.narrow.push_back(static_cast<std::int32_t>(index));
    }
    block_.values.push_back(static_cast<T>(value));
    unsorted_ = unsorted_ || index <= previous_index_;
    previous_index_ = index;
    min_index_ = std::min(min_index_, index);
    if (index > max_index_) {
        max_index_ = index;
        max_index_line_ = line_;
    }
    ++n_entries_;
}

template <class T>
void SvmlightReader<T>::check_large(double value, std::string_view token) const {
    const char* problem = std::isfinite(value)        ? " does not fit float32: read float64"
                          : options_.refuse_nonfinite ? " is not finite"
                                                      : nullptr;
    if (problem) fail("the value in " + quoted(token.data(), token.data() + token.size()) + problem);
}

template <class T>
void SvmlightReader<T>::refuse_index(std::int64_t index) const {
    const std::string name = "index " + std::to_string(index);
    if (index < 0) fail(name + " is negative");
    if (index == 0) fail(name + " in a file that counts from 1 (zero_based=False)");
    if (options_.n_features == 0) fail(name + " is too large");
    fail(name + " is out of range for n_features=" + std::to_string(options_.n_features));
}

template <class T>
void SvmlightReader<T>::end_line() {
    if (in_row_) {
        if (options_.query_ids && !has_query_id_) fail("expected qid:integer after the label");
        block_.indptr.push_back(static_cast<std::int64_t>(block_.values.size()));
        ++n_rows_;
    }
    in_row_ = has_query_id_ = false;
    where_ = Where::LineStart;
    ++line_;
}

template <class T>
void SvmlightReader<T>::check_token_length(std::size_t length) const {
    if (length > max_token) {
        fail("expected index:value, found more than " + std::to_string(max_token) + " bytes without a blank");
    }
}

template <class T>
void SvmlightReader<T>::check_line_length(std::int64_t offset) const {
    if (offset - line_offset_ > options_.max_line) {
        fail("expected a line end, found more than " + std::to_string(options_.max_line) + " bytes in one line");
    }
}

template <class T>
void SvmlightReader<T>::fail(const std::string& problem) const {
    throw SvmlightError(line_, problem);
}

template class SvmlightReader<float>;
template class SvmlightReader<double>;

}  // namespace paring
