//! `cargo weft explain CODE`: prints the page about a finding code.

use anstyle::Style;
use weft_core::finding::Code;

use crate::exit::{Exit, Failure};
use crate::print::{Printer, wrap};

/// The width of a line in columns.
const WIDTH: usize = 80;

/// Prints the page about a code for a terminal: headings in bold, code indented, paragraphs wrapped. Without a code, lists all.
pub(crate) fn run(code: Option<Code>, printer: &mut Printer) -> Result<Exit, Failure> {
    let Some(code) = code else { return list(printer) };
    let heading = if printer.styled { Style::new().bold() } else { Style::new() };
    for part in parts(code.page()) {
        match part {
            PagePart::Heading(text) => printer.line(&format!("{heading}{text}{heading:#}\n"))?,
            PagePart::Paragraph(text) => printer.line(&(wrap(&text, WIDTH).join("\n") + "\n"))?,
            PagePart::Code(lines) => {
                let indented = lines.iter().map(|line| format!("    {line}").trim_end().to_owned());
                printer.line(&(indented.collect::<Vec<_>>().join("\n") + "\n"))?;
            }
        }
    }
    Ok(Exit::Clean)
}

/// Prints a line for each code: its name, its class and what it says.
fn list(printer: &mut Printer) -> Result<Exit, Failure> {
    let width = Code::ALL.iter().map(|code| code.name().len()).max().unwrap_or_default();
    for code in Code::ALL {
        let class = code.class().in_words();
        printer.line(&format!("{:width$}  {class:16}  {}", code.name(), code.summary()))?;
    }
    Ok(Exit::Clean)
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
enum PagePart<'t> {
    Heading(&'t str),
    Paragraph(String),
    Code(Vec<&'t str>),
}

/// Returns the parts of a page, which is Markdown with headings, paragraphs and fenced code.
fn parts(page: &str) -> Vec<PagePart<'_>> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            found.push(PagePart::Code(
                lines.by_ref().take_while(|own| !own.starts_with("```")).collect(),
            ));
        } else if let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("# ")) {
            found.push(PagePart::Heading(heading));
        } else if !line.is_empty() {
            let rest = lines.by_ref().take_while(|own| !own.is_empty());
            let text = std::iter::once(line).chain(rest).collect::<Vec<_>>().join(" ");
            found.push(PagePart::Paragraph(text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_headings_paragraphs_and_code() {
        let page = "# a: b\n\nOne\ntwo.\n\n## C\n\n```cuda\nx;\n\n    y;\n```\n\nThree.\n";
        let paragraph = |text: &str| PagePart::Paragraph(text.to_owned());
        assert_eq!(
            parts(page),
            [
                PagePart::Heading("a: b"),
                paragraph("One two."),
                PagePart::Heading("C"),
                PagePart::Code(vec!["x;", "", "    y;"]),
                paragraph("Three."),
            ]
        );
    }
}
