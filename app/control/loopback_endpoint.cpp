#include "app/control/loopback_endpoint.hpp"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "app/setting_values.hpp"

namespace vmswitch {

result<loopback_endpoint> parse_loopback_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto port = colon == std::string_view::npos
                        ? result<std::int64_t>{tl::unexpected{error{}}}
                        : parse_integer(text.substr(colon + 1), 0, 65535);
  auto host = text.substr(0, colon);
  if (host == "localhost")
    host = "127.0.0.1";
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed)
    host = host.substr(1, host.size() - 2);
  boost::system::error_code problem;
  const auto address = boost::asio::ip::make_address(std::string{host}, problem);
  if (problem || !port || (address.is_v6() && !is_bracketed))
    return fail(fmt::format("\"{}\" is not ADDRESS:PORT, as in 127.0.0.1:8080", text));
  if (!address.is_loopback())
    return fail(fmt::format("{} can be reached from other machines: only 127.0.0.1 or [::1], and "
                            "from elsewhere through ssh -L",
                            host));
  return loopback_endpoint{address.to_string(), static_cast<std::uint16_t>(*port)};
}

std::string to_string(const loopback_endpoint& endpoint) {
  const bool is_v6 = endpoint.address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", endpoint.address, endpoint.port)
               : fmt::format("{}:{}", endpoint.address, endpoint.port);
}

} // namespace vmswitch
