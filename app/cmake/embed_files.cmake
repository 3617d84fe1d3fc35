# cmake -D OUTPUT=FILE -D FILES=PATH|PATH... -P embed_files.cmake
# Writes a source file that holds what dashboard_files.hpp declares.
cmake_minimum_required(VERSION 3.22)
string(REPLACE "|" ";" files "${FILES}")
set(types
  html text/html
  css text/css
  js text/javascript
  svg image/svg+xml
  txt text/plain)
set(arrays "")
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  get_filename_component(suffix ${file} LAST_EXT)
  string(SUBSTRING "${suffix}" 1 -1 suffix)
  list(FIND types "${suffix}" at)
  math(EXPR at "${at} + 1")
  list(GET types ${at} type)
  file(SHA256 ${file} digest)
  string(SUBSTRING ${digest} 0 32 digest)
  file(READ ${file} content HEX)
  string(LENGTH "${content}" size)
  math(EXPR size "${size} / 2")
  # Lines of 32 octets, each as two digits behind 0x.
  string(REPEAT "." 64 line)
  string(REGEX REPLACE "(${line})" "\\1\n" content "${content}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," content "${content}")
  string(MAKE_C_IDENTIFIER "${name}" symbol)
  string(APPEND arrays "const unsigned char ${symbol}[] = {\n${content}};\n")
  string(APPEND rows
    "    {\"${name}\", \"${type}; charset=utf-8\", \"\\\"${digest}\\\"\",\n"
    "     text(${symbol}, ${size})},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by embed_files.cmake.
#include \"app/dashboard/dashboard_files.hpp\"

namespace vmswitch {

namespace {

${arrays}
std::string_view text(const unsigned char* octets, std::size_t size) {
  return {reinterpret_cast<const char*>(octets), size};
}

} // namespace

std::span<const dashboard_file> dashboard_files() noexcept {
  static const dashboard_file files[] = {
${rows}  };
  return files;
}

} // namespace vmswitch
")
