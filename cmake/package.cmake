# What is installed: headers, the tool, and the CMake package with deltaloom_add_rules.
