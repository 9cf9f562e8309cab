# Warnings and sanitizers of our own code; consumers of the installed library never see them.
add_library(sampan_build_flags INTERFACE)
target_compile_options(sampan_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-qual -Wformat=2 $<$<BOOL:${SAMPAN_WERROR}>:-Werror>
  # g++ 12 sees overlaps in std::string that are not there (GCC's PR 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
target_compile_definitions(sampan_build_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(SAMPAN_SANITIZE)
  target_compile_options(sampan_build_flags INTERFACE
    -fsanitize=${SAMPAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sampan_build_flags INTERFACE -fsanitize=${SAMPAN_SANITIZE})
endif()
