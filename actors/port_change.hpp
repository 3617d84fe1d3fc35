#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace vmswitch {

/// What somebody wants of a port; what is absent stays as it is.
struct port_change {
  std::optional<std::string> alias; ///< another name for it; empty: none any more
  std::optional<bool> isolated;
  std::optional<bool> up;
};

/// What came of it.
struct port_answer {
  enum class what : std::uint8_t {
    done,       ///< it is in force
    no_port,    ///< there is none of that name, or no more
    name_taken, ///< another port has the alias
  } kind;
  std::string text; // why it was not done
};

/// Where the answer goes: the first one counts. Without any, since the network or the port ends
/// while the question is under way, it is that the port has gone.
class port_reply {
public:
  /// `to` is called once, on any thread, and must only send or post.
  explicit port_reply(std::function<void(port_answer)> to) : to_{std::move(to)} {}
  port_reply(const port_reply&) = delete;
  port_reply& operator=(const port_reply&) = delete;
  ~port_reply() { answer({port_answer::what::no_port, "the port has just gone"}); }

  void answer(port_answer with) {
    if (!answered_.exchange(true))
      to_(std::move(with));
  }

private:
  const std::function<void(port_answer)> to_;
  std::atomic<bool> answered_{false};
};

/// anyone -> network: change this port. Plain data without CAF.
struct change_port {
  std::string port; // its name, or its alias
  port_change change;
  std::string by; // who asks, for the log and those who watch
  std::shared_ptr<port_reply> reply;
};

} // namespace vmswitch
