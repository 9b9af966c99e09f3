//! Renders a report in the style of rustc: every finding with its source and PTX lines, then what the verdict holds
//! for.
//!
//! The caller decides which source files can be read and how; a file that it does not give is named in a note.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, Title};

use super::excerpt::{Excerpt, Excerpts, excerpts};
use super::{ReportContext, escape};
use crate::finding::{Advice, Assumption, Class, Finding, Report, Verdict};
use crate::launch::{Allocation, Arg, Launch};

/// Renders the findings of `report` that a reader is told ([`Report::told`]) and its summary, separated by empty lines.
pub fn report(context: ReportContext<'_>, report: &Report) -> String {
    let mut out = String::new();
    for each in report.told() {
        out.push_str(&finding(context, each));
        out.push('\n');
    }
    out.push_str(&summary(context, report));
    out
}

/// Renders one finding; ends with a line break.
pub fn finding(context: ReportContext<'_>, finding: &Finding) -> String {
    let level = match finding.code.class() {
        Class::Defect => Level::ERROR,
        Class::Open => Level::WARNING.with_name("open"),
        Class::Warning => Level::WARNING,
    };
    let excerpts = excerpts(context, &finding.sites);
    let title = level.primary_title(escape(&finding.message)).id(finding.code.name());
    let mut group = noted(title, excerpts, &finding.notes);
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(lines(help)));
    }
    render(&group, context.color)
}

/// Makes a text of several lines safe to print.
fn lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Renders advice to a kernel's author; ends with a line break. What the advice holds for is in the summary of the
/// kernel's report.
pub fn advice(context: ReportContext<'_>, advice: &Advice) -> String {
    suggestion("advice", context, advice)
}

/// Renders a change that makes a kernel clean; ends with a line break.
pub fn change(context: ReportContext<'_>, advice: &Advice) -> String {
    suggestion("help", context, advice)
}

fn suggestion(word: &'static str, context: ReportContext<'_>, advice: &Advice) -> String {
    let excerpts = excerpts(context, &advice.sites);
    let level = Level::HELP.with_name(word);
    let title = level.primary_title(escape(&advice.message)).id(advice.change);
    render(&noted(title, excerpts, &advice.notes), context.color)
}

/// Renders the verdict with the launch, the assumptions and the coverage; ends with a line break.
pub fn summary(context: ReportContext<'_>, report: &Report) -> String {
    let verdict = report.verdict();
    let level = match verdict {
        Verdict::Clean => Level::NOTE,
        Verdict::Open => Level::WARNING,
        Verdict::Defect => Level::ERROR,
    };
    let (block, grid) = (report.block_in_words(), report.grid_in_words());
    let kernel = escape(context.kernel);
    let title = match report.proved_in_words() {
        Some(proved) => format!("kernel `{kernel}` for {proved}"),
        None => format!("kernel `{kernel}` with block {block}, grid {grid}"),
    };
    let word = if context.is_allowed { "allowed" } else { verdict.name() };
    let mut group = Group::with_title(level.with_name(word).primary_title(title));
    for line in facts(report, context.is_allowed) {
        group = group.element(Level::NOTE.message(line));
    }
    render(&group, context.color)
}

/// Returns what the verdict holds for, one fact per line.
pub(super) fn facts(report: &Report, is_allowed: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if report.coverage.sites == 0 {
        lines.push("the kernel has no memory access and no barrier to check".to_owned());
    } else if report.block.is_some() || report.proved.is_some() {
        let coverage = report.coverage;
        lines.push(format!(
            "{} of {} access and barrier sites reached",
            coverage.reached, coverage.sites
        ));
    }
    lines.extend(given(&report.launch));
    match report.proved {
        Some(_) if !is_allowed => {
            lines.push("proved for every content of memory and every schedule".to_owned());
        }
        None if report.verdict() == Verdict::Clean && !is_allowed => lines
            .push("proved for every schedule and every content of the inputs left open".to_owned()),
        _ => {}
    }
    lines.extend(report.assumptions.iter().map(|assumption| match assumption {
        Assumption::Required(all) => format!("required: {}", all.join(", ")),
        _ => format!("assumed: {}", assumption.sentence()),
    }));
    lines
}

/// The most buffers that are described: a launch with lists of pointers in memory can have thousands.
const MOST_BUFFERS: usize = 26;

/// Returns a line with the arguments and the dynamic shared memory of a launch, if it gives any.
fn given(launch: &Launch) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(cluster) = launch.cluster {
        parts.push(format!("clusters of {cluster} ctas"));
    }
    if let Some(bytes) = launch.shared {
        parts.push(format!("{bytes} bytes of dynamic shared memory"));
    }
    let buffers = launch.buffers.iter().take(MOST_BUFFERS);
    parts.extend(buffers.map(|(name, buffer)| buffer_text(name, buffer)));
    let more = launch.buffers.len().saturating_sub(MOST_BUFFERS);
    if more > 0 {
        parts.push(format!("{more} more buffers"));
    }
    for (position, arg) in &launch.args {
        let name = match launch.names.get(*position) {
            Some(name) => format!("{} (argument {position})", escape(name)),
            None => format!("argument {position}"),
        };
        match arg {
            Arg::Fields(fields) => {
                let all = fields.bytes.iter();
                parts.extend(all.map(|bytes| format!("{name} = {} given bytes", bytes.len())));
                parts.extend(
                    fields
                        .fields
                        .iter()
                        .map(|(first, field)| format!("{name} + {first} = {}", value(field))),
                );
            }
            _ => parts.push(format!("{name} = {}", value(arg))),
        }
    }
    (!parts.is_empty()).then(|| format!("launched with {}", parts.join(", ")))
}

fn value(arg: &Arg) -> String {
    match arg {
        Arg::Integer(value) => value.to_string(),
        Arg::Float(value) => format!("{value:?}"),
        Arg::Buffer(buffer) => match &buffer.contents {
            None => "a buffer".to_owned(),
            Some(bytes) => format!("a buffer of {} given bytes", bytes.len()),
        },
        Arg::Fields(_) => "a structure".to_owned(),
        Arg::Tensor(tensor) => format!("a tensor map with boxes of {} bytes", tensor.bytes),
        Arg::Within(within) => format!("buffer {} + {}", escape(&within.buffer), within.offset),
    }
}

fn buffer_text(name: &str, buffer: &Allocation) -> String {
    let size = match buffer.size {
        Some(bytes) => format!("{bytes} bytes"),
        None => "open size".to_owned(),
    };
    let known = match (buffer.known(), buffer.pointers.len()) {
        (0, 0) => String::new(),
        (bytes, 0) => format!(" ({bytes} of them given)"),
        (bytes, count) => format!(" ({bytes} of them and {count} pointers given)"),
    };
    format!("buffer {} of {size}{known}", escape(name))
}

fn snippet<'a>(excerpt: Excerpt) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let marks = excerpt.marks.into_iter().map(|mark| {
        let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(mark.start..mark.end).label(mark.label)
    });
    Snippet::source(excerpt.text)
        .line_start(excerpt.first as usize)
        .path(excerpt.path)
        .annotations(marks)
}

/// Returns the title with the excerpts, their notes and further notes.
fn noted<'a>(title: Title<'a>, excerpts: Excerpts, notes: &'a [String]) -> Group<'a> {
    let shown = Group::with_title(title).elements(excerpts.shown.into_iter().map(snippet));
    let own = excerpts.notes.into_iter().map(|note| Level::NOTE.message(note));
    shown.elements(own).elements(notes.iter().map(|note| Level::NOTE.message(escape(note))))
}

fn render(group: &Group<'_>, color: bool) -> String {
    let renderer = if color { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
    let mut text = renderer.render(std::slice::from_ref(group));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::{ReportContext, SourceText};
    use super::given;
    use crate::finding::{Check, Code, Finding, Role, Site, SourceLine, Thread};
    use crate::launch::{Allocation, Launch};
    use crate::ptx::{self, Module, Position, Span};
    use crate::report::short;

    const PTX: &str = ".version 8.0\n\tst.shared.u32 [%r1], %r2;\n\tld.shared.u32 %r2, [%r1+4];\n";

    fn site(role: Role, line: u32, source: &[(&str, u32, u32)], lane: u32) -> Site {
        let source = source.iter().map(|&(file, line, column)| SourceLine {
            file: file.into(),
            line,
            column,
        });
        Site {
            role,
            ptx: Position { line, column: 2 },
            span: Span { start: 14, end: 38 },
            source: source.collect(),
            threads: vec![Thread { cta: [0; 3], thread: [lane, 0, 0] }],
            label: format!("4-byte {} of buf+4", role.name()),
        }
    }

    fn race(sites: Vec<Site>) -> Finding {
        Finding {
            code: Code::SharedRace,
            check: Some(Check::Shared),
            message: "two threads access `buf` without \u{1b}order".into(),
            sites,
            notes: vec!["a note".into()],
            help: Some("put a barrier between them".into()),
            pairs: None,
        }
    }

    fn source(name: &str) -> Option<Rc<SourceText>> {
        let text = "a();\n  buf[i] = v;\u{1b}\n\n\n  x = buf[i + 1];\n";
        (name == "k.cu").then(|| Rc::new(SourceText::from(text.to_owned())))
    }

    fn context<'a>(module: &'a Module, ptx: &'a str, color: bool) -> ReportContext<'a> {
        ReportContext {
            module,
            ptx,
            kernel: "k",
            name: "k.ptx::k",
            sources: &source,
            is_allowed: false,
            color,
        }
    }

    #[test]
    fn sites_are_shown_in_source_and_ptx() {
        let module = ptx::parse(PTX);
        let finding = race(vec![
            site(Role::Write, 2, &[("k.cu", 2, 3)], 0),
            site(Role::Read, 3, &[("inner.h", 9, 1), ("k.cu", 5, 7)], 1),
        ]);
        let expected = r"error[shared-race]: two threads access `buf` without \u{1b}order
 --> k.cu:2:3
  |
2 |   buf[i] = v;\u{1b}
  |   ^^^ 4-byte write of buf+4, thread 0 of cta 0
...
5 |   x = buf[i + 1];
  |       --- 4-byte read of buf+4, thread 1 of cta 0
  |
 ::: k.ptx:2:2
  |
2 |  st.shared.u32 [%r1], %r2;
  |  ^^^^^^^^^^^^^^^^^^^^^^^^ write
3 |  ld.shared.u32 %r2, [%r1+4];
  |  ------------------------ read
  |
  = note: the read comes from `inner.h:9`, inlined into `k.cu:5`
  = note: a note
  = help: put a barrier between them
";
        assert_eq!(super::finding(context(&module, "k.ptx", false), &finding), expected);
    }

    #[test]
    fn nonsense_places_do_no_harm() {
        let module = ptx::parse(PTX);
        let odd = site(Role::Here, 99, &[("k.cu", 99, 0)], 0);
        let mut far = site(Role::Here, 3, &[("k.cu", 3, 80)], 0);
        far.ptx.column = 500;
        let text = super::finding(context(&module, "k.ptx", true), &race(vec![odd, far]));
        assert!(text.contains("k.cu:99"), "{text}");
        assert!(!super::finding(context(&module, "", false), &race(Vec::new())).is_empty());
    }

    #[test]
    fn short_is_one_line_at_the_source() {
        let finding = race(vec![site(Role::Write, 2, &[("k.cu", 2, 0)], 0)]);
        let expected =
            "k.cu:2:1: shared-race: two threads access `buf` without \\u{1b}order [k.ptx::k]";
        let module = ptx::parse(PTX);
        assert_eq!(short::finding(context(&module, "k.ptx", false), &finding), expected);
    }

    #[test]
    fn of_many_buffers_the_first_are_described() {
        let with = |count: u32| {
            let own = Allocation { size: Some(4), ..Allocation::default() };
            let buffers = (0..count).map(|at| (format!("b{at:04}"), own.clone())).collect();
            given(&Launch { buffers, ..Launch::default() }).expect("it has buffers")
        };
        assert!(with(26).ends_with(", buffer b0025 of 4 bytes"));
        assert!(with(2048).ends_with(", buffer b0025 of 4 bytes, 2022 more buffers"));
    }

    #[test]
    fn short_is_at_the_line_that_the_other_formats_show() {
        let module = ptx::parse(PTX);
        let place = |source: &[(&str, u32, u32)]| {
            short::place(context(&module, "k.ptx", false), &site(Role::Write, 2, source, 0))
        };
        let header = "/cuda/include/device_atomic_functions.hpp";
        assert_eq!(place(&[(header, 112, 3), ("k.cu", 5, 7)]), "k.cu:5:7");
        assert_eq!(place(&[("k.cu", 2, 3), ("k.cu", 5, 7)]), "k.cu:2:3");
        // Nothing is at hand, or the file is shorter by now.
        assert_eq!(
            place(&[(header, 112, 3), ("/elsewhere/own.cu", 5, 7)]),
            "/elsewhere/own.cu:5:7"
        );
        assert_eq!(place(&[("k.cu", 999, 1)]), "k.cu:999:1");
        assert_eq!(place(&[]), "k.ptx:2:2");
    }
}
