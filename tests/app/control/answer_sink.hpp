#pragma once

#include <memory>
#include <utility>

#include "app/control/http_types.hpp"

namespace vmswitch::test {

/// Keeps the last answer to a request; a stream has the status 200.
struct answer_sink final : responder::target {
  void answer(http_response response) override { last = std::move(response); }
  void answer(std::unique_ptr<stream_source> source) override {
    last.status = 200;
    stream = std::move(source);
  }
  http_response last{0, {}};
  std::unique_ptr<stream_source> stream;
};

} // namespace vmswitch::test
