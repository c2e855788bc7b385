// The svmlight reader: the same rows however the text is cut, and line-numbered refusals.
#include "paring/svmlight.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace paring;

namespace {

void require_at(bool holds, const char* what, int line) {
    if (holds) return;
    std::fprintf(stderr, "test_svmlight.cpp:%d: %s\n", line, what);
    std::exit(1);
}
#define REQUIRE(condition) require_at((condition), #condition, __LINE__)

struct Result {
    std::vector<double> labels, values;
    std::vector<std::int64_t> indptr{0}, indices, query_ids;
    std::int64_t n_features = 0;
    int first_index = 0;
    bool unsorted = false, wide = false;
    std::string error;

    bool operator==(const Result&) const = default;
};

template <class T>
void append(Result& all, SvmlightBlock<T> block) {
    const std::int64_t before = all.indptr.back();
    for (std::size_t i = 1; i < block.indptr.size(); ++i) all.indptr.push_back(before + block.indptr[i]);
    all.labels.insert(all.labels.end(), block.labels.begin(), block.labels.end());
    all.values.insert(all.values.end(), block.values.begin(), block.values.end());
    all.indices.insert(all.indices.end(), block.narrow.begin(), block.narrow.end());
    all.indices.insert(all.indices.end(), block.wide.begin(), block.wide.end());
    all.query_ids.insert(all.query_ids.end(), block.query_ids.begin(), block.query_ids.end());
    all.wide = all.wide || block.is_wide;
}

/// Each piece is a heap block of its own, so that the address sanitizer sees a read beyond it.
template <class T = double>
Result parse(const std::string& text, SvmlightOptions options = {}, std::size_t piece = std::string::npos) {
    Result result;
    SvmlightReader<T> reader(options);
    try {
        for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at)) {
            const std::vector<char> bytes(
                text.begin() + static_cast<std::ptrdiff_t>(at),
                text.begin() + static_cast<std::ptrdiff_t>(at + std::min(piece, text.size() - at)));
            reader.feed(bytes.data(), bytes.size());
            append(result, reader.take());
        }
        reader.finish();
        append(result, reader.take());
    } catch (const SvmlightError& error) {
        result.error = error.what();
        return result;
    }
    REQUIRE(reader.n_rows() == static_cast<std::int64_t>(result.labels.size()));
    REQUIRE(reader.n_entries() == static_cast<std::int64_t>(result.values.size()));
    REQUIRE(result.indptr.back() == reader.n_entries());
    REQUIRE(result.indices.size() == result.values.size());
    result.n_features = reader.n_features();
    result.first_index = reader.first_index();
    result.unsorted = reader.unsorted();
    return result;
}

std::string error_of(const std::string& text, SvmlightOptions options = {}) {
    const std::string whole = parse(text, options).error;
    REQUIRE(!whole.empty());
    REQUIRE(parse(text, options, 1).error == whole);
    return whole;
}

void test_rows() {
    const std::string text =
        "# a comment line\n"
        "+1 1:0.5 3:-2e-3 # tail\r\n"
        "\n"
        "-1.5e1 qid:7 2:+4 5:.25#glued\n"
        "   \t\n"
        "3\n"
        "0 7:1";
    const Result whole = parse(text);
    REQUIRE(whole.error.empty());
    REQUIRE((whole.labels == std::vector<double>{1, -15, 3, 0}));
    REQUIRE((whole.indptr == std::vector<std::int64_t>{0, 2, 4, 4, 5}));
    REQUIRE((whole.indices == std::vector<std::int64_t>{1, 3, 2, 5, 7}));
    REQUIRE((whole.values == std::vector<double>{0.5, -2e-3, 4, 0.25, 1}));
    REQUIRE(whole.first_index == 1 && whole.n_features == 7 && !whole.unsorted && !whole.wide);
    for (std::size_t piece = 1; piece < 40; ++piece) REQUIRE(parse(text, {}, piece) == whole);
}

void test_numbers() {
    const Result r = parse("1 1:1e-999 2:-1e-999 3:1e999 4:-1e999 5:nan 6:inf 7:5e-324 8:1e-0400 9:0.1\n");
    REQUIRE(r.error.empty());
    const double big = std::numeric_limits<double>::infinity();
    REQUIRE(r.values[0] == 0 && r.values[1] == 0 && std::signbit(r.values[1]));
    REQUIRE(r.values[2] == big && r.values[3] == -big && std::isnan(r.values[4]) && r.values[5] == big);
    REQUIRE(r.values[6] == 5e-324 && r.values[7] == 0 && r.values[8] == 0.1);
    const std::string zeros(400, '0');
    REQUIRE(parse("1 1:0." + zeros + "1\n").values[0] == 0);
    REQUIRE(parse("1 1:1" + zeros + "\n").values[0] == big);
    REQUIRE(parse("1 1:1" + zeros + "e-400\n").values[0] == 1);
    REQUIRE(parse("1 1:0." + zeros + "1e401\n").values[0] == 1);
    REQUIRE(parse<float>("1 1:0.1\n").values[0] == static_cast<double>(0.1f));
    REQUIRE(parse<float>("1 1:1e39\n").error == "line 1: the value in '1:1e39' does not fit float32: read float64");
    REQUIRE(std::isinf(parse<float>("1 1:inf\n").values[0]));
}

void test_indices() {
    REQUIRE(parse("1 0:1 4:1\n").first_index == 0);
    REQUIRE(parse("1 0:1 4:1\n").n_features == 5);
    REQUIRE(parse("1\n").first_index == 0);
    REQUIRE(parse("1 2:1\n", {.base = IndexBase::Zero}).n_features == 3);
    REQUIRE(parse("1 3:1 2:1\n").unsorted && parse("1 3:1 3:1\n").unsorted && !parse("1 3:1\n1 2:1\n").unsorted);
    REQUIRE(!parse("1 2147483647:1\n").wide);
    const Result wide = parse("1 5:1 2147483648:2\n1 1:3\n", {}, 3);
    REQUIRE(wide.wide && (wide.indices == std::vector<std::int64_t>{5, 2147483648, 1}));
    REQUIRE(parse("1 5:1 2147483648:2\n1 1:3\n") == wide);
    REQUIRE(parse("1 3:1\n", {.n_features = 3}).error.empty());  // the third of a file that counts from one
}

void test_query_ids() {
    const SvmlightOptions wanted{.query_ids = true};
    const std::string text = "1 qid:3 1:1\n2 qid:-4\n";
    for (std::size_t piece = 1; piece < 20; ++piece) {
        REQUIRE((parse(text, wanted, piece).query_ids == std::vector<std::int64_t>{3, -4}));
    }
    REQUIRE(parse(text).query_ids.empty());
    REQUIRE(error_of("1 qid:3\n1 1:1\n", wanted) == "line 2: expected qid:integer after the label");
    REQUIRE(error_of("1 qid:x\n") == "line 1: expected qid:integer, found 'qid:x'");
    REQUIRE(error_of("1 2:1 qid:1\n") == "line 1: expected 'qid:1' once, right after the label");
}

void test_refusals() {
    REQUIRE(error_of("1 1:1\n\n1 abc\n") == "line 3: expected index:value, found 'abc'");
    REQUIRE(error_of("1 1:\n") == "line 1: expected index:value, found '1:'");
    REQUIRE(error_of("1 1:2:3\n") == "line 1: expected index:value, found '1:2:3'");
    REQUIRE(error_of("1 1:+-2\n") == "line 1: expected index:value, found '1:+-2'");
    REQUIRE(error_of("1 1 :2\n") == "line 1: expected index:value, found '1'");
    REQUIRE(error_of("1:1 2:1\n") == "line 1: expected a label (a number), found '1:1'");
    REQUIRE(error_of("# x\nyes 2:1\n") == "line 2: expected a label (a number), found 'yes'");
    REQUIRE(error_of("1,2 2:1\n") ==
            "line 1: expected one label, found '1,2': multi-label files are not read; "
            "write one label a line");
    REQUIRE(error_of("1 -3:1\n") == "line 1: index -3 is negative");
    REQUIRE(error_of("1 99999999999999999999:1\n") == "line 1: the index in '99999999999999999999:1' is too large");
    REQUIRE(error_of("1 4611686018427387904:1\n") == "line 1: index 4611686018427387904 is too large");
    REQUIRE(error_of("1 5:1\n", {.n_features = 4}) == "line 1: index 5 is out of range for n_features=4");
    REQUIRE(error_of("1 0:1\n1 4:1\n1 2:1\n", {.n_features = 4}) ==
            "line 2: index 4 is out of range: the file counts from 0 and n_features=4");
    REQUIRE(error_of("1 0:1\n", {.base = IndexBase::One}) ==
            "line 1: index 0 in a file that counts from 1 (zero_based=False)");
    REQUIRE(error_of("1 1:nan\n", {.refuse_nonfinite = true}) == "line 1: the value in '1:nan' is not finite");
    REQUIRE(error_of("inf\n", {.refuse_nonfinite = true}) == "line 1: the label 'inf' is not finite");
    REQUIRE(error_of(std::string("\x93NUMPY\x01\x00", 8)) ==
            "line 1: expected a label (a number), found '\\x93NUMPY\\x01\\x00'");
    REQUIRE(error_of("1 1:1\n1 2:" + std::string(60, '9') + "x\n") ==
            "line 2: expected index:value, found '2:" + std::string(38, '9') + "...'");
}

void test_limits() {
    const std::string endless(1 << 20, 'x');
    REQUIRE(parse(endless, {}, 4096).error.find("line 1: ") == 0);
    SvmlightOptions options;
    options.max_line = 100;
    std::string row = "1";
    for (int i = 1; i < 40; ++i)
        row.append(" ").append(std::to_string(i)).append(":1");  // " " + string: a false alarm of GCC 12
    const std::string expected = "line 2: expected a line end, found more than 100 bytes in one line";
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
        REQUIRE(parse("1 1:1\n" + row + "\n", options, piece).error == expected);
        REQUIRE(parse("1 1:1\n# " + std::string(200, ' ') + "\n", options, piece).error == expected);
    }
    REQUIRE(parse("1 1:1\n" + row + "\n").error.empty());
    for (const std::size_t piece : {std::size_t{7}, std::string::npos}) {
        const std::string value = "1 1:0." + std::string(5000, '1') + "\n";
        REQUIRE(parse(value, {}, piece).error ==
                "line 1: expected index:value, found more than 4096 bytes without a blank");
    }
}

void test_closed() {
    SvmlightReader<double> reader({});
    reader.finish();
    bool thrown = false;
    try {
        reader.feed("1\n", 2);
    } catch (const std::logic_error&) {
        thrown = true;
    }
    REQUIRE(thrown && reader.n_rows() == 0 && reader.n_features() == 0);
}

/// Any bytes: rows or a refusal, the same however they are cut. The alphabet makes valid rows likely.
void test_fuzz() {
    const std::string alphabet = "0123456789:::   \n\n#+-.eqidnaf,\r\t\xff";
    std::mt19937 random(0);
    int read = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text(random() % 40, ' ');
        for (char& c : text) c = alphabet[random() % alphabet.size()];
        if (round % 2) text = "1 1:" + std::to_string(random() % 9) + text;
        const Result whole = parse(text);
        read += whole.error.empty() && !whole.labels.empty();
        const Result cut = parse(text, {}, 1 + random() % 7);
        REQUIRE(cut.error == whole.error);
        bool has_nan = false;
        for (const auto* numbers : {&whole.labels, &whole.values}) {
            for (const double x : *numbers) has_nan = has_nan || std::isnan(x);
        }
        if (whole.error.empty() && !has_nan) REQUIRE(cut == whole);
    }
    REQUIRE(read > 500);
}

}  // namespace

int main() {
    test_rows();
    test_numbers();
    test_indices();
    test_query_ids();
    test_refusals();
    test_limits();
    test_closed();
    test_fuzz();
    std::puts("svmlight: ok");
}
