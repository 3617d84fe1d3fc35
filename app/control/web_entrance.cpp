#include "app/control/web_entrance.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/control/json_views.hpp"

namespace vmswitch {

namespace {

// Anybody on the machine can connect: less room than on the Unix socket, which its mode protects.
constexpr std::size_t most_connections = 64;
constexpr std::size_t most_streams = 32;

class open_entrance final : public stream_source {
public:
  open_entrance(std::unique_ptr<web_entrance> entrance, std::shared_ptr<std::size_t> count)
      : entrance_{std::move(entrance)}, count_{std::move(count)} {
    ++*count_;
  }
  ~open_entrance() override { --*count_; }
  std::string_view type() const override { return "application/x-ndjson"; }
  bool fill(std::string& out) override {
    if (!std::exchange(is_told_, true))
      out = to_text({{"url", entrance_->url()}});
    return true;
  }
  void on_ready(std::function<void()>) override {}

private:
  const std::unique_ptr<web_entrance> entrance_;
  const std::shared_ptr<std::size_t> count_;
  bool is_told_ = false;
};

} // namespace

result<std::unique_ptr<web_entrance>> web_entrance::open(boost::asio::io_context& context,
                                                         const loopback_endpoint& at,
                                                         control_role role, const router& routes) {
  auto token = make_token();
  if (token.empty())
    return fail("the system gives no random numbers for a token");
  auto door = open_loopback_door(at);
  if (!door)
    return tl::unexpected{door.error()};
  return std::unique_ptr<web_entrance>{
      new web_entrance{context, std::move(*door), std::move(token), role, routes}};
}

web_entrance::web_entrance(boost::asio::io_context& context, loopback_door door, std::string token,
                           control_role role, const router& routes)
    : at_{door.bound}, guard_{std::move(token), at_.port}, role_{role}, routes_{routes} {
  http_limits limits;
  limits.connections = most_connections;
  limits.streams = most_streams;
  server_ = std::make_unique<http_server>(
      context, std::move(door.door),
      [this](http_request request, const responder& answer) { handle(std::move(request), answer); },
      limits);
}

std::string web_entrance::url() const {
  return fmt::format("http://{}/?token={}", to_string(at_), guard_.token());
}

void web_entrance::handle(http_request request, const responder& answer) const {
  if (auto refusal = refuse_foreign(request))
    return answer(std::move(*refusal));
  if (auto refusal = guard_.refuse(request))
    return answer(std::move(*refusal));
  if (auto cookie = guard_.cookie_for(request))
    request.set_cookie = std::move(*cookie);
  request.role = role_;
  routes_.handle(std::move(request), answer);
}

std::unique_ptr<stream_source> keep_open(std::unique_ptr<web_entrance> entrance,
                                         std::shared_ptr<std::size_t> count) {
  return std::make_unique<open_entrance>(std::move(entrance), std::move(count));
}

} // namespace vmswitch
