// Every formula of the page, from its TeX. A formula that KaTeX cannot read stays as it is, in red.
for (const element of document.querySelectorAll(".formula")) {
    const display = element.tagName === "DIV";
    katex.render(element.textContent, element, {displayMode: display, throwOnError: false});
}
