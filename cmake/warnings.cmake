# Warnings are errors; an enumeration without a case fails to compile, so that adding an operation says where it must be taught.
add_library(deltaloom_warnings INTERFACE)
target_compile_options(deltaloom_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -Werror=switch)
if(DELTALOOM_WERROR)
  target_compile_options(deltaloom_warnings INTERFACE -Werror)
endif()
