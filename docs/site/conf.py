"""The site: Markdown by MyST, formulas by KaTeX in the reader's browser, figures drawn into the page so that they follow its theme. KaTeX is Debian's
libjs-katex, without a network. scripts/docs lays the sources into build/docs/source and runs it."""
import html, pathlib, re, shutil

from docutils import nodes

project = "Deltaloom"
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["README.md", "decisions/README.md", "figures/README.md", "site"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Deltaloom"
html_static_path = ["static"]
html_css_files = ["katex/katex.min.css", "site.css"]
html_js_files = [("katex/katex.min.js", {"defer": "defer"}), ("formulas.js", {"defer": "defer"})]
html_math_renderer = "katex"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "monokai"


def formula(tag):
    """A formula as TeX in an element that formulas.js renders; readable where no script runs."""
    def visit(translator, node):
        tex = node.astext()
        translator.body.append(f'<{tag} class="formula">{html.escape(tex)}</{tag}>')
        raise nodes.SkipNode
    return visit


def figure(path, alt):
    """An SVG of docs/figures as part of the page: its own style, which is for readers of the file alone, gives way to site.css."""
    text = re.sub(r"<\?xml.*?\?>|<style>.*?</style>", "", path.read_text(), flags=re.S)
    return nodes.raw("", f'<div class="figure" role="img" aria-label="{html.escape(alt)}">{text}</div>', format="html")


def draw_figures(app, doctree, name):
    for image in list(doctree.findall(nodes.image)):
        path = pathlib.Path(app.srcdir) / image["uri"]
        if path.parent.name == "figures" and path.suffix == ".svg":
            place = image.parent if len(image.parent) == 1 and isinstance(image.parent, nodes.paragraph) else image
            place.parent.replace(place, figure(path, image.get("alt", "")))


def copy_katex(app, failure):
    katex = pathlib.Path("/usr/share/javascript/katex")  # Debian's libjs-katex
    if not failure and app.builder.format == "html":
        to = pathlib.Path(app.outdir) / "_static/katex"
        to.mkdir(parents=True, exist_ok=True)
        for name in ("katex.min.css", "katex.min.js"):
            shutil.copy(katex / name, to)
        shutil.copytree(katex / "fonts", to / "fonts", dirs_exist_ok=True)


def setup(app):
    app.add_html_math_renderer("katex", (formula("span"), None), (formula("div"), None))
    app.connect("doctree-resolved", draw_figures)
    app.connect("build-finished", copy_katex)
