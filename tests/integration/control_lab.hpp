#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>

#include "app/ctl/control_client.hpp"
#include "tests/integration/daemon_lab.hpp"
#include "transport/connect.hpp"

namespace vmswitch::test {

/// A client of the control socket that says exactly what it is told to.
class raw_client {
public:
  explicit raw_client(const std::string& path) {
    auto connected = connect_stream(path);
    REQUIRE(connected);
    fd_ = std::move(*connected);
    const timeval patience{30, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }

  /// False if the other side does not take it any more.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const auto sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// What comes until `end` has come, or the other side hangs up.
  std::string until(std::string_view end) {
    while (received_.find(end) == std::string::npos) {
      char piece[4096];
      const auto got = ::recv(fd_.get(), piece, sizeof piece, 0);
      if (got <= 0)
        return std::exchange(received_, {});
      received_.append(piece, static_cast<std::size_t>(got));
    }
    const auto size = received_.find(end) + end.size();
    auto text = received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }
  std::string until_hangup() { return until("no answer has this in it"); }
  void half_close() const { ::shutdown(fd_.get(), SHUT_WR); }

private:
  owned_fd fd_;
  std::string received_;
};

/// A daemon_lab whose daemon has the control socket "c".
class control_lab : public daemon_lab {
public:
  std::string control() const { return folder / "c"; }
  child_process start(words more = {"--vmnet-mode=isolated"}) const {
    more.push_back("--control=" + control());
    return daemon_lab::start(more);
  }

  nlohmann::json get(std::string_view target) const {
    const auto body = control_client{control()}.call("GET", target);
    INFO(target << ": " << (body ? *body : body.error().text));
    REQUIRE(body);
    return nlohmann::json::parse(*body);
  }
  /// The only answer to one request that asks for the end of the connection.
  std::string ask(const std::string& request) const {
    raw_client client{control()};
    client.send(request);
    return client.until_hangup();
  }
  std::string status_of(const std::string& method, const std::string& target) const {
    const auto answer = ask(method + " " + target + " HTTP/1.1\r\nConnection: close\r\n\r\n");
    return answer.size() > 12 ? answer.substr(9, 3) : answer;
  }

  /// vmswitchctl with these arguments, at this daemon.
  outcome ctl(words arguments) const {
    arguments.insert(arguments.begin(),
                     {VMSWITCH_BIN_DIR "/vmswitchctl", "--control=" + control()});
    child_process::plan how;
    how.command = std::move(arguments);
    auto started = child_process::start(how);
    REQUIRE(started);
    const auto code = started->wait(soon());
    return {code.value_or(-1), started->output(), started->error_output()};
  }
};

} // namespace vmswitch::test
