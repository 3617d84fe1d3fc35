#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp> // std::expected is C++23; this is its reference implementation

namespace vmswitch {

/// Why an operation failed, in words that tell a person what to do.
/// `code` is the errno value behind it, or 0 where there is none.
struct error {
  std::string text;
  int code = 0;
};

template <class T>
using result = tl::expected<T, error>;

/// Makes a failed `result`: `return fail("...", errno);`
inline tl::unexpected<error> fail(std::string text, int code = 0) {
  return tl::unexpected<error>{error{std::move(text), code}};
}

/// "what: strerror(code)", for a failed system call. Thread-safe.
tl::unexpected<error> fail_errno(const std::string& what, int code);

} // namespace vmswitch
