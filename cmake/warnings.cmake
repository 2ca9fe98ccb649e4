# Warnings are errors; an enumeration without a case fails to compile, so that adding an operation says where it must be taught.
add_library(deltaloom_warnings INTERFACE)
target_compile_options(deltaloom_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -Werror=switch)
# g++ 12 sees overlapping copies in "(" + std::string(...) where there are none (GCC bug 105651, gone in 13).
target_compile_options(deltaloom_warnings INTERFACE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(DELTALOOM_WERROR)
  target_compile_options(deltaloom_warnings INTERFACE -Werror)
endif()
