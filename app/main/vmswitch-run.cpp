#include <cstdio>

#include "app/launcher.hpp"
#include "app/program_name.hpp"

int main(int argc, char** argv) {
  using namespace vmswitch;
  const auto request = parse_launch(argc, argv);
  if (request && !request->text.empty()) {
    std::fputs(request->text.c_str(), stdout);
    return static_cast<int>(exit_code::ok);
  }
  const auto failure = request ? launch(*request) : request.error();
  std::fprintf(stderr, "%s: %s\n", program_name(argc, argv, "vmswitch-run").c_str(),
               failure.text.c_str());
  return static_cast<int>(failure.code);
}
