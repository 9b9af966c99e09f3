//! The cause of a finding: what it has in common with findings of other instantiations of a template, other launches, and
//! other copies of an unrolled loop.

use super::{Class, Code, Finding, Role, Site};

/// The code of a finding and the lines that it concerns. Findings with the same cause are mended by the same change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause {
    code: Code,
    /// For each site the line it came from, with the lines into which that was inlined.
    places: Vec<(Role, Vec<(String, u32)>)>,
    /// The variables and arguments that the sites access, without the functions that they belong to.
    objects: Vec<String>,
    /// What tells findings apart that have no place, and open ones, which one line can have for several reasons.
    reason: Option<String>,
}

impl Cause {
    /// Returns the cause of a finding in the PTX file `ptx`. Without source lines, the lines are those of the PTX.
    pub fn of(finding: &Finding, ptx: &str) -> Self {
        let lines = |site: &Site| match site.source.as_slice() {
            [] => vec![(ptx.to_owned(), site.ptx.line)],
            source => source.iter().map(|line| (line.file.clone(), line.line)).collect(),
        };
        let mut places: Vec<_> =
            finding.sites.iter().map(|site| (site.role, lines(site))).collect();
        places.sort();
        let reason = match finding.code.class() {
            Class::Open => finding.help.clone().or_else(|| Some(finding.message.clone())),
            Class::Defect | Class::Warning => places.is_empty().then(|| finding.message.clone()),
        };
        let mut objects: Vec<String> =
            finding.sites.iter().filter_map(|site| object(&site.label)).collect();
        objects.sort();
        Self { code: finding.code, places, objects, reason }
    }
}

/// Returns what the label of a site says it accesses: `s` for "4-byte write of `f<float>::s` + 8".
fn object(label: &str) -> Option<String> {
    let (_, object) = label.split_once(" of ")?;
    let object = object.split(" + ").next()?.trim_matches('`');
    Some(object.rsplit("::").next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::SourceLine;
    use crate::ptx::{Position, Span};

    fn race(sites: &[(Role, u32, Option<u32>)]) -> Finding {
        let site = |&(role, ptx, source): &(Role, u32, Option<u32>)| Site {
            role,
            ptx: Position { line: ptx, column: 1 },
            span: Span::default(),
            source: source
                .map(|line| SourceLine { file: "k.cu".into(), line, column: 3 })
                .into_iter()
                .collect(),
            threads: Vec::new(),
            label: String::new(),
        };
        Finding {
            code: Code::SharedRace,
            check: None,
            message: format!("at {sites:?}"),
            sites: sites.iter().map(site).collect(),
            notes: Vec::new(),
            help: None,
            pairs: None,
        }
    }

    #[test]
    fn lines_of_the_source_decide_if_there_are_any() {
        let one = Cause::of(&race(&[(Role::Write, 8, Some(3)), (Role::Read, 9, Some(4))]), "a.ptx");
        let copy = race(&[(Role::Read, 19, Some(4)), (Role::Write, 18, Some(3))]);
        assert_eq!(one, Cause::of(&copy, "b.ptx"));
        let other = race(&[(Role::Read, 9, Some(3)), (Role::Write, 8, Some(4))]);
        assert_ne!(one, Cause::of(&other, "a.ptx"), "the roles are exchanged");
        let bare = race(&[(Role::Write, 8, None)]);
        assert_eq!(Cause::of(&bare, "a.ptx"), Cause::of(&bare, "a.ptx"));
        assert_ne!(Cause::of(&bare, "a.ptx"), Cause::of(&bare, "b.ptx"));
        assert_ne!(Cause::of(&bare, "a.ptx"), Cause::of(&race(&[(Role::Write, 9, None)]), "a.ptx"));
    }

    #[test]
    fn variables_are_told_apart_but_not_instantiations() {
        let of = |label: &str| {
            let mut finding = race(&[(Role::Write, 8, Some(3))]);
            finding.sites[0].label = label.into();
            Cause::of(&finding, "a")
        };
        assert_eq!(
            of("4-byte write of `f<float>::s` + 8"),
            of("8-byte write of `f<double>::s` + 64")
        );
        assert_ne!(of("4-byte write of `f::s` + 8"), of("4-byte write of `f::t` + 8"));
        assert_ne!(of("4-byte write of argument 0 + 8"), of("4-byte write of argument 1 + 8"));
    }

    #[test]
    fn what_is_open_for_different_reasons_is_not_alike() {
        let open = |help: &str| Finding {
            code: Code::DependsOnInput,
            help: Some(help.into()),
            ..race(&[(Role::Here, 8, None)])
        };
        assert_ne!(
            Cause::of(&open("give argument 3"), "a"),
            Cause::of(&open("give argument 4"), "a")
        );
        assert_eq!(
            Cause::of(&open("give argument 3"), "a"),
            Cause::of(&open("give argument 3"), "a")
        );
    }
}
