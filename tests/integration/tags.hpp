#pragma once

#include <vector>

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"
#include "tests/support/frame_socket.hpp"

namespace vmswitch::test {

using tags = std::vector<int>;

/// Reads up to the next frame with this tag: all tags up to then. What has come behind it, of
/// another sender perhaps, stays for the next call.
inline tags tags_until(frame_socket& vm, int last, frame_socket::deadline until) {
  tags heard;
  while (heard.empty() || heard.back() != last)
    REQUIRE(vm.receive(
                  until, [&](std::span<const std::byte> bare) { heard.push_back(tag_of(bare)); }, 1)
                .value_or(0) > 0);
  return heard;
}

} // namespace vmswitch::test
