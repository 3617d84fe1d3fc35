#include "tests/support/process_usage.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace vmswitch::test {

std::optional<process_usage> usage_of(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  process_usage usage;

  // proc(5): the name, in parentheses, may hold anything; utime and stime are fields 14 and 15.
  std::string stat;
  if (!std::getline(std::ifstream{folder + "/stat"}, stat))
    return std::nullopt;
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos)
    return std::nullopt;
  std::istringstream fields{stat.substr(name_end + 1)};
  std::string skipped;
  for (int field = 3; field < 14; ++field)
    fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  usage.cpu_seconds = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));

  std::ifstream status{folder + "/status"};
  for (std::string line; std::getline(status, line);)
    for (const auto& [key, value] :
         {std::pair{"VmHWM:", &usage.peak_resident_mib}, std::pair{"VmRSS:", &usage.resident_mib}})
      if (line.starts_with(key))
        *value = std::stod(line.substr(6)) / 1024;
  return usage;
}

std::optional<thread_usage> threads_of(pid_t process) {
  std::error_code gone;
  thread_usage usage;
  for (const auto& each :
       std::filesystem::directory_iterator{"/proc/" + std::to_string(process) + "/task", gone}) {
    ++usage.threads;
    std::ifstream status{each.path() / "status"};
    for (std::string line; std::getline(status, line);)
      if (line.find("voluntary_ctxt_switches:") != std::string::npos) // "non..." too
        usage.context_switches += std::stoull(line.substr(line.find(':') + 1));
  }
  if (gone || usage.threads == 0)
    return std::nullopt;
  return usage;
}

std::size_t descriptors_of(pid_t process) {
  std::error_code gone;
  const std::filesystem::directory_iterator all{"/proc/" + std::to_string(process) + "/fd", gone};
  return gone ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

pid_t peer_process(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

} // namespace vmswitch::test
