//! Renders a chart of a kernel's synchronization as an SVG picture, without fonts or scripts of its own.
//!
//! `levels` says which rows are above which, `text` breaks and escapes text, `plan` finds places for everything,
//! `lines` draws the lanes of the warps, `shapes` what happens in them, and `frame` what is around them: caption, heads
//! of lanes, legend. Each row with a label has its height for itself, and its label stands right of all lanes, so that
//! nothing overlaps.

mod frame;
mod levels;
mod lines;
mod plan;
mod shapes;
mod text;

use crate::finding::Chart;
use plan::PicturePlan;
use text::Canvas;
pub(super) use text::xml;

/// Colours for a light and a dark background. The classes have a prefix, since the rules of a picture that is part of a
/// page hold for the whole page.
pub(super) const STYLE: &str = "\
.weft-bg{fill:#fff}.weft-text{fill:#1f2328;font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\
.weft-title{font-size:16px;font-weight:600}.weft-strong{font-weight:600}.weft-soft{fill:#59636e}.weft-bad-text{fill:#c3202b}\
.weft-lane{stroke:#59636e;stroke-width:2;fill:none}.weft-wait{stroke-dasharray:1 5;stroke-linecap:round}\
.weft-halo{stroke:#fff;stroke-width:8;fill:none}.weft-leader{stroke:#d1d9e0;stroke-width:1}\
.weft-bar{fill:#ddf4ff;stroke:#0969da;stroke-width:1.5}.weft-dot{fill:#0969da}\
.weft-hollow{fill:#fff;stroke:#0969da;stroke-width:2}.weft-edge{stroke:#0969da;stroke-width:1.5;fill:none}\
.weft-bad-bar{fill:#ffebe9;stroke:#c3202b;stroke-width:1.5;stroke-dasharray:5 3}.weft-bad{stroke:#c3202b;stroke-width:2;fill:none}\
.weft-order{stroke:#c3202b;stroke-width:2;stroke-dasharray:6 4;fill:none}.weft-mark{fill:#c3202b}\
.weft-number{fill:#fff;font-size:11px;font-weight:700;text-anchor:middle}.weft-middle{text-anchor:middle}\
.weft-soft-bar{fill:none;stroke:#59636e;stroke-width:1.5;stroke-dasharray:5 3}\
@media(prefers-color-scheme:dark){.weft-bg{fill:#0d1117}.weft-text{fill:#e6edf3}.weft-soft{fill:#9198a1}.weft-bad-text{fill:#ff7b72}\
.weft-lane,.weft-soft-bar{stroke:#9198a1}.weft-halo{stroke:#0d1117}.weft-leader{stroke:#3d444d}\
.weft-bar{fill:#11253f;stroke:#4493f8}.weft-dot{fill:#4493f8}.weft-hollow{fill:#0d1117;stroke:#4493f8}.weft-edge{stroke:#4493f8}\
.weft-bad-bar{fill:#3a1517;stroke:#ff7b72}.weft-bad,.weft-order{stroke:#ff7b72}.weft-mark{fill:#ff7b72}.weft-number{fill:#0d1117}}";

/// Returns the picture of a chart, as the text of an SVG file.
pub fn chart(chart: &Chart) -> String {
    drawn(chart, "weft", &format!("<style>{STYLE}</style>\n"))
}

/// Returns the picture as an element of a page that has [`STYLE`]. `prefix`: that of its identifiers in the page.
pub(super) fn element(chart: &Chart, prefix: &str) -> String {
    drawn(chart, prefix, "")
}

fn drawn(chart: &Chart, prefix: &str, style: &str) -> String {
    let plan = PicturePlan::new(chart);
    let mut canvas = Canvas::default();
    frame::caption(&mut canvas, &plan);
    shapes::behind(&mut canvas, &plan);
    lines::lanes(&mut canvas, &plan);
    shapes::before(&mut canvas, &plan);
    frame::heads(&mut canvas, &plan);
    frame::labels(&mut canvas, &plan);
    frame::legend(&mut canvas, &plan);
    let (width, height) = (plan.width, plan.height);
    let (title, description) = frame::words(chart, &plan);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"{prefix}-title {prefix}-desc\">\n<title id=\"{prefix}-title\">{title}</title>\n<desc \
         id=\"{prefix}-desc\">{description}</desc>\n{style}<rect class=\"weft-bg\" width=\"{width}\" \
         height=\"{height}\"/>\n{}</svg>\n",
        canvas.out
    )
}
