#include "app/ctl/control_client.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "app/printable.hpp"
#include "transport/connect.hpp"

namespace vmswitch {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

namespace {

constexpr std::size_t largest_answer = std::size_t{256} << 20;
constexpr std::size_t largest_refusal = std::size_t{1} << 20;

client_failure cannot_connect(const std::string& path, const error& why) {
  if (path.empty())
    return {exit_code::unavailable,
            "the control socket is switched off (VMSWITCH_CONTROL=none): give --control PATH"};
  switch (why.code) {
  case ENOENT:
  case ENOTDIR:
    return {exit_code::unavailable,
            fmt::format("there is no {}: is vmswitchd running? Its log names its control socket; "
                        "for another one than this: --control PATH",
                        path)};
  case ECONNREFUSED:
    return {exit_code::unavailable,
            fmt::format("nobody listens on {}: the daemon has ended; start vmswitchd", path)};
  case EACCES: {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
      return {exit_code::no_permission,
              fmt::format("{} cannot be reached by this user: try sudo, or have the daemon put its "
                          "control socket elsewhere",
                          path)};
    return {exit_code::no_permission,
            fmt::format("this user may not connect to {} (it is uid {}'s, mode {:04o}): try sudo, "
                        "or set control_group or control_mode in the daemon's configuration",
                        path, status.st_uid, status.st_mode & 0777U)};
  }
  default:
    return {exit_code::unavailable, fmt::format("{}: {}", path, why.text)};
  }
}

client_failure refused(unsigned status, const std::string& body) {
  const auto parsed = nlohmann::json::parse(body, nullptr, false);
  const auto text = parsed.is_object() && parsed.contains("error") && parsed["error"].is_string()
                        ? parsed["error"].get<std::string>()
                        : fmt::format("the daemon answers with HTTP status {}", status);
  return {status == 403 ? exit_code::no_permission : exit_code::failed, printable_lines(text)};
}

client_failure lost(const std::string& path, const boost::system::error_code& why) {
  if (why == beast::error::timeout)
    return {exit_code::unavailable,
            fmt::format("the daemon at {} does not answer: it is stuck or stopped", path)};
  return {exit_code::unavailable,
          fmt::format("the daemon at {} has hung up: {}", path, why.message())};
}

// One connection. All calls block, for `patience` at most where there is one.
class connection {
public:
  connection(const std::string& path, owned_fd fd)
      : path_{path}, stream_{asio::local::stream_protocol::socket{
                         context_, asio::local::stream_protocol{}, fd.release()}} {}

  template <class Begin>
  client_result<void> wait(std::optional<std::chrono::milliseconds> patience, Begin begin) {
    boost::system::error_code outcome;
    if (patience)
      stream_.expires_after(*patience);
    else
      stream_.expires_never();
    begin([&](const boost::system::error_code& done, std::size_t) { outcome = done; });
    context_.restart();
    context_.run();
    if (outcome && outcome != http::error::need_buffer)
      return tl::unexpected{lost(path_, outcome)};
    return {};
  }

  client_result<void> send(std::string_view method, std::string_view target, std::string_view body,
                           std::chrono::milliseconds patience) {
    http::request<http::string_body> request;
    request.version(11);
    request.method_string({method.data(), method.size()});
    request.target({target.data(), target.size()});
    request.set(http::field::host, "localhost");
    request.set(http::field::user_agent, "vmswitchctl");
    if (!body.empty()) {
      request.set(http::field::content_type, "application/json");
      request.body() = std::string{body};
    }
    request.prepare_payload();
    return wait(patience, [&](auto done) { http::async_write(stream_, request, std::move(done)); });
  }

  auto& stream() noexcept { return stream_; }
  auto& buffer() noexcept { return buffer_; }

private:
  const std::string& path_;
  asio::io_context context_{1};
  beast::basic_stream<asio::local::stream_protocol> stream_;
  beast::flat_buffer buffer_{std::size_t{1} << 20};
};

client_result<owned_fd> connect_to(const std::string& path) {
  auto connected = connect_stream(path);
  if (!connected)
    return tl::unexpected{cannot_connect(path, connected.error())};
  return std::move(*connected);
}

// Reads an answer; the body of a refusal becomes the failure. `patience` is that with each piece.
client_result<void> receive(connection& from, std::chrono::milliseconds for_header,
                            std::optional<std::chrono::milliseconds> patience,
                            const std::function<bool(std::string_view)>& take) {
  // Not a string_body, which makes room for as much as the header says.
  http::response_parser<http::buffer_body> parser;
  // Not "none", with which Beast of Boost 1.74 refuses every answer that has a length.
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  if (auto head = from.wait(for_header,
                            [&](auto done) {
                              http::async_read_header(from.stream(), from.buffer(), parser,
                                                      std::move(done));
                            });
      !head)
    return head;
  const auto status = parser.get().result_int();
  std::string refusal;
  std::array<char, 64 * 1024> piece;
  while (!parser.is_done() && refusal.size() < largest_refusal) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    if (auto got = from.wait(patience,
                             [&](auto done) {
                               http::async_read_some(from.stream(), from.buffer(), parser,
                                                     std::move(done));
                             });
        !got)
      return got;
    const std::string_view more{piece.data(), piece.size() - parser.get().body().size};
    if (status / 100 != 2)
      refusal += more;
    else if (!more.empty() && !take(more))
      return {};
  }
  if (status / 100 != 2)
    return tl::unexpected{refused(status, refusal)};
  return {};
}

} // namespace

client_result<std::string> control_client::call(std::string_view method, std::string_view target,
                                                std::string_view body) const {
  auto fd = connect_to(socket_);
  if (!fd)
    return tl::unexpected{fd.error()};
  connection to{socket_, std::move(*fd)};
  if (auto sent = to.send(method, target, body, patience_); !sent)
    return tl::unexpected{sent.error()};
  std::string answer;
  const auto got = receive(to, patience_, patience_, [&](std::string_view piece) {
    answer += piece;
    return answer.size() <= largest_answer;
  });
  if (!got)
    return tl::unexpected{got.error()};
  if (answer.size() > largest_answer)
    return tl::unexpected{client_failure{
        exit_code::unavailable,
        fmt::format("{} answers without an end: another program than vmswitchd", socket_)}};
  return answer;
}

client_result<void> control_client::stream(std::string_view target,
                                           const std::function<bool(std::string_view)>& take,
                                           const std::function<void(int fd)>& connected,
                                           std::string_view method, std::string_view body) const {
  auto fd = connect_to(socket_);
  if (!fd)
    return tl::unexpected{fd.error()};
  if (connected)
    connected(fd->get());
  connection to{socket_, std::move(*fd)};
  if (auto sent = to.send(method, target, body, patience_); !sent)
    return sent;
  return receive(to, patience_, {}, take);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

} // namespace vmswitch
