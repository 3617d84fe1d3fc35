#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace vmswitch::test {

/// A new, private, empty folder with a short path; removed with all that is in it.
class temporary_folder {
public:
  temporary_folder() {
    char name[] = "/tmp/vmswitch-test-XXXXXX";
    if (!::mkdtemp(name))
      throw std::runtime_error{"mkdtemp failed"};
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  /// Creates a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{*this / name, std::ios::binary} << text;
    return *this / name;
  }
  std::string read(const std::string& name) const {
    std::ifstream in{*this / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  /// A file, or a link even to nothing, has this name.
  bool has(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(*this / name));
  }
  auto count() const { return std::distance(std::filesystem::directory_iterator{path_}, {}); }

private:
  std::string path_;
};

} // namespace vmswitch::test
