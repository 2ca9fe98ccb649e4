#!/usr/bin/env python3
"""docs/abi.md names every field and every enumerator of the C interface's header, docs/language.md every function and operand of the language.
Environment: DELTALOOM_ROOT the repository."""
import os, pathlib, re, unittest

ROOT = pathlib.Path(os.environ["DELTALOOM_ROOT"])


def declared(header):
    """The fields of each struct, and the constants."""
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    fields = {}
    for struct in re.finditer(r"struct (dl_\w+) \{(.*?)\n\};", header, re.S):
        declarations = [re.sub(r"\(\*(\w+)\)\(.*", r" \1", d.strip(), flags=re.S) for d in struct[2].split(";")]
        names = [re.findall(r"\w+", re.sub(r"\[.*?\]", "", part)) for d in declarations if d for part in d.split(",")]
        fields[struct[1]] = [n[-1] for n in names if n]
    return fields, sorted(set(re.findall(r"\bDL_[A-Z0-9_]+\b", header)))


class Interface(unittest.TestCase):
    def test_everything_is_named(self):
        fields, constants = declared((ROOT / "runtime/include/deltaloom/runtime/abi/deltaloom.h").read_text())
        self.assertEqual(set(fields), {"dl_operand", "dl_rule", "dl_tensor", "dl_call", "dl_status"})
        self.assertIn("parallel_for", fields["dl_call"])
        self.assertGreater(len(constants), 25)
        page = (ROOT / "docs/abi.md").read_text()
        for name in [*constants, *(f for of in fields.values() for f in of)]:
            self.assertRegex(page, rf"`[^`\n]*\b{name}\b[^`\n]*`")

    def test_the_language(self):
        header = (ROOT / "dsl/include/deltaloom/dsl.hpp").read_text()
        names = re.findall(r"\bast::(\w+)", header) + re.findall(r"DELTALOOM_[A-Z]+\((\w+)", header)
        macros = re.findall(r"#define (DELTALOOM_(?:DIM|STATE|INPUT|GATE|PARAMETER|OUTPUT))\b", (ROOT / "dsl/include/deltaloom/dsl/operands.hpp").read_text())
        self.assertIn("previous", names)
        self.assertEqual(len(set(macros)), 6)
        page = (ROOT / "docs/language.md").read_text()
        for name in names + macros:
            self.assertRegex(page, rf"`[^`\n]*\b{name}\b[^`\n]*`|\b{name}\(")


if __name__ == "__main__":
    unittest.main()
