#include "app/program_name.hpp"

namespace vmswitch {

std::string program_name(int argc, const char* const* argv, const char* usual) {
  const std::string path = argc > 0 ? argv[0] : "";
  const auto name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  return name.empty() ? usual : name;
}

} // namespace vmswitch
