//! Finds the mutants of a source file: the places where a small change gives another program of the same types.
//!
//! Tests, constants, `const` functions, types, patterns, attributes and arguments of macros are not mutated.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Lit, Pat, ReturnType, Signature, Stmt, Type, UnOp};

/// Methods whose closure returns a `bool`.
const TESTS: [&str; 12] = [
    "all",
    "any",
    "filter",
    "find",
    "is_none_or",
    "is_some_and",
    "partition",
    "position",
    "retain",
    "rposition",
    "skip_while",
    "take_while",
];

/// One change of a file.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// The path of the file, from the root of the workspace.
    pub(crate) file: String,
    /// Line of the change, from 1.
    pub(crate) line: usize,
    /// Column of the change in characters, from 1.
    pub(crate) column: usize,
    /// Description of the change.
    pub(crate) change: String,
    /// The expression that is replaced, as a byte range of the file.
    pub(crate) site: Range<usize>,
    /// Whether the expression is a statement whose value is not used.
    pub(crate) is_statement: bool,
    /// The text that replaces the expression.
    pub(crate) text: String,
}

/// Returns the mutants of a file, outer expressions before those within them.
pub(crate) fn find(file: &str, source: &str) -> syn::Result<Vec<Mutant>> {
    let mut finder = Finder { file, source, found: Vec::new() };
    finder.visit_file(&syn::parse_file(source)?);
    finder.found.sort_by_key(|mutant| (mutant.site.start, usize::MAX - mutant.site.end));
    Ok(finder.found)
}

struct Finder<'a> {
    file: &'a str,
    source: &'a str,
    found: Vec<Mutant>,
}

impl Finder<'_> {
    /// Adds the mutant that replaces `part` of the expression `site` by `new`.
    fn change(&mut self, site: &impl Spanned, part: Span, new: &str) {
        let (site, at, inner) = (site.span().byte_range(), part.start(), part.byte_range());
        // Only the removal of a statement has an empty text; every other change leaves a value.
        let is_statement = new.is_empty();
        let text = [&self.source[site.start..inner.start], new, &self.source[inner.end..site.end]];
        let mutant = Mutant {
            file: self.file.to_owned(),
            line: at.line,
            column: at.column + 1,
            change: format!("{} becomes {}", short(&self.source[inner]), short(new)),
            site,
            is_statement,
            text: text.concat(),
        };
        let is_same = |own: &Mutant| (&own.site, &own.text) == (&mutant.site, &mutant.text);
        if !self.found.iter().any(is_same) {
            self.found.push(mutant);
        }
    }

    fn negate(&mut self, value: &impl Spanned) {
        let negated = format!("!({})", &self.source[value.span().byte_range()]);
        self.change(value, value.span(), &negated);
    }

    /// Adds the mutants of a `bool` expression: its negation, `true` and `false`. Operands of `&&` that bind names are
    /// kept.
    fn truth(&mut self, value: &Expr) {
        match value {
            Expr::Binary(own) if matches!(own.op, BinOp::And(_)) && binds(value) => {
                self.truth(&own.left);
                self.truth(&own.right);
            }
            Expr::Let(_) | Expr::Block(_) | Expr::If(_) | Expr::Match(_) => {}
            _ => {
                // Comparisons and `!` are negated by changes of their own.
                if !matches!(value, Expr::Unary(_)) && !is_comparison(value) {
                    self.negate(value);
                }
                self.change(value, value.span(), "true");
                self.change(value, value.span(), "false");
            }
        }
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, body: &Block) {
        if is_test(attributes) || signature.constness.is_some() {
            return;
        }
        let gives_truth = matches!(&signature.output, ReturnType::Type(_, own) if is_bool(own));
        if let (true, Some(Stmt::Expr(last, None))) = (gives_truth, body.stmts.last()) {
            self.truth(last);
        }
        self.visit_block(body);
    }
}

/// Shortens a text to one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("`{}...`", &line[..end]),
        None if line.is_empty() => "nothing".to_owned(),
        None => format!("`{line}`"),
    }
}

/// Whether the expression is a `let`, or has one as an operand of `&&`.
fn binds(value: &Expr) -> bool {
    match value {
        Expr::Let(_) => true,
        Expr::Binary(own) if matches!(own.op, BinOp::And(_)) => {
            binds(&own.left) || binds(&own.right)
        }
        _ => false,
    }
}

fn is_comparison(value: &Expr) -> bool {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let Expr::Binary(own) = value else { return false };
    matches!(own.op, Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}

fn is_bool(own: &Type) -> bool {
    matches!(own, Type::Path(own) if own.path.is_ident("bool"))
}

/// Whether the attributes have `#[test]` or a `cfg` that contains `test`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|own| {
        let names_test = |list: &syn::MetaList| list.tokens.to_string().contains("test");
        own.path().is_ident("test")
            || own.path().is_ident("cfg") && own.meta.require_list().is_ok_and(names_test)
    })
}

/// Returns the operators that replace an operator: similar in meaning, with the same types.
const fn others(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::BitAnd(_) => &["|"],
        BinOp::BitOr(_) => &["&"],
        BinOp::AddAssign(_) => &["-="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::BitAndAssign(_) => &["|="],
        BinOp::BitOrAssign(_) => &["&="],
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        _: &'ast syn::AngleBracketedGenericArguments,
    ) {
    }
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_item_mod(&mut self, own: &'ast syn::ItemMod) {
        if !is_test(&own.attrs) {
            visit::visit_item_mod(self, own);
        }
    }

    fn visit_item_impl(&mut self, own: &'ast syn::ItemImpl) {
        if !is_test(&own.attrs) {
            visit::visit_item_impl(self, own);
        }
    }

    fn visit_item_fn(&mut self, own: &'ast syn::ItemFn) {
        self.function(&own.attrs, &own.sig, &own.block);
    }

    fn visit_impl_item_fn(&mut self, own: &'ast syn::ImplItemFn) {
        self.function(&own.attrs, &own.sig, &own.block);
    }

    fn visit_trait_item_fn(&mut self, own: &'ast syn::TraitItemFn) {
        if let Some(body) = &own.default {
            self.function(&own.attrs, &own.sig, body);
        }
    }

    fn visit_pat(&mut self, own: &'ast Pat) {
        if let Pat::Guard(own) = own {
            self.truth(&own.guard);
            self.visit_expr(&own.guard);
        }
    }

    fn visit_stmt(&mut self, own: &'ast Stmt) {
        if let Stmt::Expr(value, Some(_)) = own {
            let has_effect = match value {
                Expr::Assign(_) | Expr::Binary(_) | Expr::Call(_) | Expr::MethodCall(_) => true,
                Expr::Try(own) => matches!(*own.expr, Expr::Call(_) | Expr::MethodCall(_)),
                _ => false,
            };
            if has_effect {
                self.change(value, value.span(), "");
            }
        }
        visit::visit_stmt(self, own);
    }

    fn visit_expr_if(&mut self, own: &'ast syn::ExprIf) {
        self.truth(&own.cond);
        visit::visit_expr_if(self, own);
    }

    fn visit_expr_while(&mut self, own: &'ast syn::ExprWhile) {
        self.truth(&own.cond);
        visit::visit_expr_while(self, own);
    }

    fn visit_expr_binary(&mut self, own: &'ast syn::ExprBinary) {
        if !binds(&own.left) && !binds(&own.right) {
            for other in others(&own.op) {
                self.change(own, own.op.span(), other);
            }
        }
        visit::visit_expr_binary(self, own);
    }

    fn visit_expr_unary(&mut self, own: &'ast syn::ExprUnary) {
        if let UnOp::Not(operator) = &own.op {
            self.change(own, operator.span(), " ");
        }
        visit::visit_expr_unary(self, own);
    }

    fn visit_expr_method_call(&mut self, own: &'ast syn::ExprMethodCall) {
        let name = own.method.to_string();
        let other = match name.as_str() {
            "min" => "max",
            "max" => "min",
            "any" => "all",
            "all" => "any",
            _ => "",
        };
        if !other.is_empty() && own.args.len() == 1 {
            self.change(own, own.method.span(), other);
        }
        if let (true, Some(Expr::Closure(test))) = (TESTS.contains(&&*name), own.args.first()) {
            self.truth(&test.body);
        }
        visit::visit_expr_method_call(self, own);
    }

    fn visit_expr_call(&mut self, own: &'ast syn::ExprCall) {
        if matches!(&*own.func, Expr::Path(path) if path.path.is_ident("Some")) {
            self.change(own, own.span(), "None");
        }
        visit::visit_expr_call(self, own);
    }

    fn visit_expr_macro(&mut self, own: &'ast syn::ExprMacro) {
        if own.mac.path.is_ident("matches") {
            self.negate(own);
        }
    }

    fn visit_expr_repeat(&mut self, own: &'ast syn::ExprRepeat) {
        self.visit_expr(&own.expr);
    }

    fn visit_expr_lit(&mut self, own: &'ast syn::ExprLit) {
        let other = match &own.lit {
            Lit::Bool(lit) => Some((!lit.value).to_string()),
            Lit::Int(lit) => lit.base10_parse::<u128>().ok().and_then(|value| {
                let value = if value == 1 { 0 } else { value.checked_add(1)? };
                Some(format!("{value}{}", lit.suffix()))
            }),
            _ => None,
        };
        if let Some(other) = other {
            self.change(own, own.span(), &other);
        }
    }
}
