//! What a host needs to know of a module of PTX: its kernels with their parameters and limits, and its variables.
//!
//! Takes PTX text and gives [`Signatures`]. Only declarations are read (PTX ISA, "Kernel and function directives", "Variables",
//! "Performance-tuning directives"); instructions are not judged. Text that does not start with `.version`, and declarations
//! that do not end, are refused with a reason.

use crate::scanner::{Cursor, tokens};

/// The declarations of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Signatures {
    /// The architecture that it is compiled for, such as 90 for `sm_90a`; 0 where none is named.
    pub(crate) target: u32,
    /// Kernels with bodies, in the order of the text.
    pub(crate) kernels: Vec<Signature>,
    /// Variables in global and constant memory.
    pub(crate) variables: Vec<Variable>,
}

/// A kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Its name.
    pub(crate) name: String,
    /// Its parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// `.maxntid`: most threads of a block.
    pub(crate) most_threads: Option<u32>,
    /// `.reqntid`: the block.
    pub(crate) block: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the cluster.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Bytes of shared memory that it declares.
    pub(crate) shared: u64,
}

impl Signature {
    /// Returns the bytes of all parameters together.
    pub(crate) fn size(&self) -> usize {
        self.parameters.last().map_or(0, |last| last.offset + last.size)
    }
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Bytes before it.
    pub(crate) offset: usize,
    /// Its bytes.
    pub(crate) size: usize,
}

/// A variable of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) size: u64,
    /// The bytes that it has when the module is loaded; `None` where they are not plain integers. Without an initial value the
    /// manual says zeros.
    pub(crate) contents: Option<Vec<u8>>,
    /// Whether the host can use it as well (`.attribute(.managed)`).
    pub(crate) managed: bool,
}

/// Reads the declarations of PTX text.
pub(crate) fn read(text: &str) -> Result<Signatures, String> {
    let tokens = tokens(text);
    let mut cursor = Cursor::new(&tokens);
    if !cursor.take(".version") {
        return Err("the text does not start with .version".to_owned());
    }
    let is_version = |token: &str| token.starts_with(|letter: char| letter.is_ascii_digit());
    cursor.next().filter(|token| is_version(token)).ok_or("the .version is not a number")?;
    let mut found = Signatures::default();
    let (mut shared, mut bodies) = (Vec::new(), Vec::new());
    let mut external = false;
    while let Some(token) = cursor.next() {
        match token {
            ".extern" => external = true,
            ".target" => found.target = cursor.peek().map_or(0, target),
            ".entry" => {
                if let Some((kernel, body)) = kernel(&mut cursor)? {
                    bodies.push(body);
                    found.kernels.push(kernel);
                }
            }
            "{" => drop(cursor.bracketed("{", "}").ok_or("a brace is not closed")?),
            "}" => return Err("a brace is closed that was not opened".to_owned()),
            ".global" | ".const" | ".shared" => {
                let list = variables(&mut cursor)?;
                if token == ".shared" {
                    shared.extend(list);
                } else if !external {
                    found.variables.extend(list);
                }
            }
            _ => {}
        }
        // Linkage is said in front of what it is of.
        external &= token == ".extern";
    }
    for (kernel, body) in found.kernels.iter_mut().zip(bodies) {
        let used = shared.iter().filter(|variable| body.contains(&variable.name.as_str()));
        kernel.shared += used.map(|variable| variable.size).sum::<u64>();
    }
    Ok(found)
}

/// Returns the number in the name of an architecture: its digits.
fn target(token: &str) -> u32 {
    let digits: String = token.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// Reads a kernel behind `.entry`; `None` if it is only declared. Gives the tokens of its body too.
fn kernel<'t>(cursor: &mut Cursor<'t>) -> Result<Option<(Signature, &'t [&'t str])>, String> {
    let name = cursor.next().ok_or("an .entry has no name")?;
    let mut kernel = Signature { name: name.to_owned(), ..Signature::default() };
    if cursor.take("(") {
        let open = || format!("the parameters of {name} do not end");
        kernel.parameters = parameters(cursor.bracketed("(", ")").ok_or_else(open)?)?;
    }
    loop {
        let directive = cursor.next().ok_or_else(|| format!("{name} has no body"))?;
        match directive {
            ";" => return Ok(None),
            "{" => break,
            ".pragma" => while cursor.next().is_some_and(|token| token != ";") {},
            ".maxntid" => {
                let product = triple(cursor).into_iter().try_fold(1, u32::checked_mul);
                kernel.most_threads = product;
            }
            ".reqntid" => kernel.block = Some(triple(cursor)),
            ".reqnctapercluster" => kernel.cluster = Some(triple(cursor)),
            _ => {}
        }
    }
    let open = || format!("the body of {name} does not end");
    let body = cursor.bracketed("{", "}").ok_or_else(open)?;
    kernel.shared = own_shared(body);
    Ok(Some((kernel, body)))
}

/// Returns the bytes of the shared variables that a body declares.
fn own_shared(body: &[&str]) -> u64 {
    let mut inside = Cursor::new(body);
    let (mut sum, mut before) = (0, ";");
    while let Some(token) = inside.next() {
        // A declaration starts a statement; an instruction has the state space behind its name: `st.shared.v2.f32`.
        if token == ".shared" && matches!(before, ";" | "{" | "}" | ":") {
            let mut ahead = inside.clone();
            if let Ok(list) = variables(&mut ahead) {
                sum += list.iter().map(|variable| variable.size).sum::<u64>();
                inside = ahead;
            }
        }
        before = token;
    }
    sum
}

/// Reads up to three numbers; those that are not there are 1.
fn triple(cursor: &mut Cursor) -> [u32; 3] {
    let mut numbers = [1; 3];
    for number in &mut numbers {
        let Some(value) = cursor.peek().and_then(integer).and_then(|v| u32::try_from(v).ok())
        else {
            break;
        };
        *number = value;
        cursor.next();
        if !cursor.take(",") {
            break;
        }
    }
    numbers
}

/// Reads the parameters between the brackets of a kernel.
fn parameters(tokens: &[&str]) -> Result<Vec<Parameter>, String> {
    let mut found: Vec<Parameter> = Vec::new();
    let mut end = 0_usize;
    for declaration in tokens.split(|token| *token == ",").filter(|tokens| !tokens.is_empty()) {
        let mut cursor = Cursor::new(declaration);
        if !cursor.take(".param") {
            return Err(format!(
                "a parameter is declared without .param: {}",
                declaration.join(" ")
            ));
        }
        let own = declarator(&mut cursor, true)?;
        let size = usize::try_from(own.size).map_err(|_| "a parameter is too large")?;
        let align = usize::try_from(own.align).map_err(|_| "an alignment is too large")?.max(1);
        let offset = end.next_multiple_of(align);
        end = offset.checked_add(size).ok_or("the parameters are too large")?;
        found.push(Parameter { offset, size });
    }
    Ok(found)
}

/// A name with its type.
struct Declarator {
    name: String,
    size: u64,
    align: u64,
    element: u64,
    /// `[]`: as long as the initial value.
    open: bool,
    managed: bool,
}

/// Returns the bytes of a fundamental or opaque type.
fn type_size(token: &str) -> Option<u64> {
    Some(match token {
        ".b8" | ".u8" | ".s8" => 1,
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => 2,
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => 4,
        ".b64" | ".u64" | ".s64" | ".f64" | ".texref" | ".samplerref" | ".surfref" => 8,
        ".b128" => 16,
        _ => return None,
    })
}

/// Reads type, attributes, name and dimensions.
fn declarator(cursor: &mut Cursor, is_parameter: bool) -> Result<Declarator, String> {
    let (mut element, mut lanes, mut align, mut managed) = (None, 1, None, false);
    let mut pointer = false;
    let name = loop {
        match cursor.next().ok_or("a declaration has no name")? {
            ".align" => {
                let value = cursor.next().and_then(integer).ok_or("an .align has no number")?;
                // The alignment behind `.ptr` is that of what the parameter points to.
                align = if pointer && is_parameter { align } else { Some(value) };
            }
            ".ptr" => pointer = true,
            ".v2" => lanes = 2,
            ".v4" => lanes = 4,
            ".v8" => lanes = 8,
            ".attribute" => {
                let inside = cursor.take("(").then(|| cursor.bracketed("(", ")")).flatten();
                managed |= inside.is_some_and(|list| list.contains(&".managed"));
            }
            token if token.starts_with('.') => element = type_size(token).or(element),
            token => break token.to_owned(),
        }
    };
    let element = element.ok_or_else(|| format!("{name} has no type"))? * lanes;
    let (mut count, mut open) = (1_u64, false);
    while cursor.take("[") {
        let inside =
            cursor.bracketed("[", "]").ok_or_else(|| format!("the size of {name} does not end"))?;
        match inside {
            [] => open = true,
            [number] => {
                let dimension =
                    integer(number).ok_or_else(|| format!("the size of {name} is no number"))?;
                count =
                    count.checked_mul(dimension).ok_or_else(|| format!("{name} is too large"))?;
            }
            _ => return Err(format!("the size of {name} is no number")),
        }
    }
    let size = element.checked_mul(count).ok_or_else(|| format!("{name} is too large"))?;
    let size = if open { 0 } else { size };
    Ok(Declarator { name, size, align: align.unwrap_or(element), element, open, managed })
}

/// Reads the variables behind a state space, up to the semicolon.
fn variables(cursor: &mut Cursor) -> Result<Vec<Variable>, String> {
    let mut found: Vec<Variable> = Vec::new();
    let own = declarator(cursor, false)?;
    let mut variable = Variable {
        contents: usize::try_from(own.size)
            .ok()
            .filter(|size| *size <= 1 << 26)
            .map(|size| vec![0; size]),
        name: own.name,
        size: own.size,
        managed: own.managed,
    };
    loop {
        match cursor
            .next()
            .ok_or_else(|| format!("the declaration of {} does not end", variable.name))?
        {
            ";" => break,
            "=" if cursor.take("{") => {
                let list = cursor.bracketed("{", "}").ok_or("an initial value does not end")?;
                if own.open {
                    variable.size = own.element * elements(list);
                }
                variable.contents = initial(list, own.element, variable.size);
            }
            "=" => {
                let value = cursor.next().ok_or("an initial value is missing")?;
                variable.contents = initial(&[value], own.element, variable.size);
            }
            // More names of the same type.
            "," => {
                let name = cursor.next().ok_or("a name is missing")?.to_owned();
                let next = Variable { name, ..variable.clone() };
                found.push(std::mem::replace(&mut variable, next));
            }
            _ => {}
        }
    }
    found.push(variable);
    Ok(found)
}

/// Number of elements of an initial value without nested braces.
fn elements(list: &[&str]) -> u64 {
    let separators = list.iter().filter(|token| **token == ",").count() as u64;
    if list.is_empty() { 0 } else { separators + 1 }
}

/// Returns the bytes of an initial value of plain integers, with zeros up to `size`.
fn initial(list: &[&str], element: u64, size: u64) -> Option<Vec<u8>> {
    let width = usize::try_from(element).ok().filter(|width| *width <= 8)?;
    let mut bytes = Vec::new();
    for value in list.split(|token| *token == ",") {
        let value = match value {
            ["-", number] => integer(number)?.wrapping_neg(),
            [number] => integer(number)?,
            _ => return None,
        };
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
    }
    let size = usize::try_from(size).ok()?;
    (bytes.len() <= size).then(|| {
        bytes.resize(size, 0);
        bytes
    })
}

/// Reads an integer of PTX: decimal, hexadecimal, octal or binary, perhaps with `U`.
fn integer(token: &str) -> Option<u64> {
    let digits = token.strip_suffix('U').unwrap_or(token);
    let lower = digits.to_ascii_lowercase();
    if let Some(hexadecimal) = lower.strip_prefix("0x") {
        return u64::from_str_radix(hexadecimal, 16).ok();
    }
    if let Some(binary) = lower.strip_prefix("0b") {
        return u64::from_str_radix(binary, 2).ok();
    }
    match lower.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        _ => lower.parse().ok(),
    }
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
