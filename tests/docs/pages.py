"""Code blocks of Markdown pages. A block's info string is its language and then what a test does with it; docs/README.md lists the kinds."""
import pathlib, re
from dataclasses import dataclass

FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")


@dataclass
class Block:
    page: pathlib.Path
    line: int  # of the opening fence
    info: str
    text: str

    @property
    def kind(self):
        return self.info.split("=")[0].split(" ", 1)[-1] if " " in self.info else ""

    @property
    def language(self):
        return self.info.split(" ")[0]

    @property
    def value(self):
        return self.info.split("=", 1)[1] if "=" in self.info else ""

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def blocks(page):
    """Every block of a page in order; one that is indented, and so has no info string, is a block of the kind 'indented'."""
    found, open_fence, previous, in_list = [], None, "", False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if open_fence:
            indent, mark, block = open_fence
            if fence and fence[2].startswith(mark) and not fence[3].strip():
                found.append(block)
                open_fence = None
            else:
                block.text += line[len(indent):] + "\n" if line.startswith(indent) else line.lstrip() + "\n"
        elif fence:
            open_fence = (fence[1], fence[2], Block(page, number, fence[3].strip(), ""))
        else:
            in_list = bool(re.match(r"\s*([-*+]|\d+\.) ", line)) or in_list and (line.startswith(" ") or not line.strip())
            if line.startswith("    ") and line.strip() and not previous.strip() and not in_list:
                found.append(Block(page, number, "indented", line))
        previous = line
    if open_fence:
        found.append(Block(page, open_fence[2].line, "unclosed", ""))
    return found
