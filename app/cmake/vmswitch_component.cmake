# Language standard, warnings and sanitizers in one INTERFACE target that everything of ours links.
option(VMSWITCH_WERROR "Treat warnings as errors" OFF)
set(VMSWITCH_SANITIZE "" CACHE STRING "Sanitizers for our code, such as address,undefined")

add_library(vmswitch_build INTERFACE)
target_compile_features(vmswitch_build INTERFACE cxx_std_20)
target_include_directories(vmswitch_build INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(vmswitch_build INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                                -Wconversion -Wno-sign-conversion)
if(VMSWITCH_WERROR)
  target_compile_options(vmswitch_build INTERFACE -Werror)
endif()
if(VMSWITCH_SANITIZE)
  target_compile_options(vmswitch_build INTERFACE -fsanitize=${VMSWITCH_SANITIZE}
                                                  -fno-omit-frame-pointer)
  target_link_options(vmswitch_build INTERFACE -fsanitize=${VMSWITCH_SANITIZE})
  # CAF 0.17 reads through a null reference in these headers; that is not ours to fix.
  if(VMSWITCH_SANITIZE MATCHES undefined)
    # Not vptr: its check opens a pipe, and a process that has run out of descriptors is among the
    # things tested; CAF's own classes are not instrumented anyway.
    target_compile_options(vmswitch_build INTERFACE -fno-sanitize=vptr
                                                    -fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      target_compile_options(vmswitch_build INTERFACE
        -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/app/cmake/sanitize-ignore.txt)
    endif()
  endif()
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A file named x_linux.cpp or x_darwin.cpp belongs to that system only.
function(vmswitch_sources variable)
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  if(APPLE)
    list(FILTER found EXCLUDE REGEX "_linux\\.cpp$")
  else()
    list(FILTER found EXCLUDE REGEX "_darwin\\.cpp$")
  endif()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# vmswitch_library(name SOURCES globs... LINK targets...): the link line is the arrow diagram.
function(vmswitch_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  vmswitch_sources(sources ${arg_SOURCES})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC vmswitch_build ${arg_LINK})
endfunction()

function(vmswitch_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE vmswitch_build ${arg_LINK})
endfunction()
