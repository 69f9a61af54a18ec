//! How much work a component is for the compiler, found out before it begins.
//!
//! Time and memory for a function grow with the square of its size in the worst case: with its
//! variables times the places where control joins, and with the values that calls and blocks bring
//! along, of which an instruction of three bytes can have a thousand. What compilers emit is far
//! below the limits here, and `docs/components.md` says what the limits leave.

use wasmparser::{
    BlockType, CompositeInnerType, FuncType, FunctionBody, Operator, Parser, Payload, TypeRef,
    WasmFeatures,
};

use super::fault::ComponentError;

/// Functions of all modules together; an interpreter with its standard library has some thirteen
/// thousand.
const MAX_FUNCTIONS: usize = 200_000;
/// Bytes of all functions together.
const MAX_CODE: usize = 64 << 20;
/// Bytes of one function; the largest of an interpreter has some four hundred thousand.
const MAX_FUNCTION: usize = 1 << 20;
/// Variables of one function times its branches and blocks. The interpreters of Python and
/// JavaScript have up to half a million; a million take four seconds where they are made for it.
const MAX_JOINS: usize = 1 << 22;
/// Values that the blocks and calls of one function bring along: these take 140 MiB of the compiler.
const MAX_VALUES: usize = 1 << 18;

/// Refuses a component that is too much work. It has been examined: its outline is in order.
pub(super) fn weigh(bytes: &[u8]) -> Result<(), ComponentError> {
    let mut parser = Parser::new(0);
    parser.set_features(WasmFeatures::all());
    let mut weight = Weight::default();
    for payload in parser.parse_all(bytes) {
        weight.add(payload?)?;
    }
    Ok(())
}

#[derive(Default)]
struct Weight {
    /// The modules and components that the reading is inside of.
    open: Vec<Module>,
    functions: usize,
    code: usize,
}

/// What is known of a module before its code.
#[derive(Default)]
struct Module {
    types: Vec<Signature>,
    /// The types of its functions, imported ones first.
    functions: Vec<u32>,
    imported: usize,
    bodies: usize,
}

/// How many values a function or a block takes and gives.
#[derive(Clone, Copy, Default)]
struct Signature {
    takes: usize,
    gives: usize,
}

/// What one function has of all that makes work.
#[derive(Default)]
struct Measure {
    variables: usize,
    branches: usize,
    values: usize,
}

impl Weight {
    fn add(&mut self, payload: Payload<'_>) -> Result<(), ComponentError> {
        match payload {
            Payload::Version { .. } => self.open.push(Module::default()),
            Payload::End(_) => {
                self.open.pop();
            }
            payload => {
                if let Some(module) = self.open.last_mut() {
                    let measured = module.add(payload)?;
                    self.functions += usize::from(measured > 0);
                    self.code += measured;
                }
            }
        }
        match (self.functions > MAX_FUNCTIONS, self.code > MAX_CODE) {
            (true, _) => Err(ComponentError::too_many("functions", MAX_FUNCTIONS)),
            (_, true) => Err(too_large("its functions together have", MAX_CODE, "bytes")),
            _ => Ok(()),
        }
    }
}

impl Module {
    /// Looks at a part, and says how many bytes of a function it has.
    fn add(&mut self, payload: Payload<'_>) -> Result<usize, ComponentError> {
        match payload {
            Payload::TypeSection(section) => {
                for group in section {
                    let types = group?.into_types();
                    self.types
                        .extend(types.map(|it| signature(&it.composite_type.inner)));
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    if let TypeRef::Func(kind) | TypeRef::FuncExact(kind) = import?.ty {
                        self.functions.push(kind);
                        self.imported += 1;
                    }
                }
            }
            Payload::FunctionSection(section) => {
                for kind in section {
                    self.functions.push(kind?);
                }
            }
            Payload::CodeSectionEntry(body) => return self.function(&body),
            _ => {}
        }
        Ok(0)
    }

    fn function(&mut self, body: &FunctionBody<'_>) -> Result<usize, ComponentError> {
        let bytes = body.range().len();
        if bytes > MAX_FUNCTION {
            return Err(too_large("a function has", MAX_FUNCTION, "bytes"));
        }
        let own = self.called((self.imported + self.bodies) as u32);
        self.bodies += 1;
        let mut measure = Measure {
            variables: own.takes + own.gives,
            ..Measure::default()
        };
        for locals in body.get_locals_reader()? {
            let (count, _) = locals?;
            measure.variables = measure.variables.saturating_add(count as usize);
        }
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            self.measure(&operators.read()?, &mut measure);
        }
        measure.within_limits()?;
        Ok(bytes)
    }

    fn measure(&self, operator: &Operator<'_>, measure: &mut Measure) {
        match operator {
            Operator::Block { blockty } | Operator::Loop { blockty } | Operator::If { blockty } => {
                let Signature { takes, gives } = self.of_block(*blockty);
                measure.branches += 1;
                measure.values += takes + gives;
            }
            Operator::Else | Operator::Br { .. } | Operator::BrIf { .. } | Operator::Return => {
                measure.branches += 1;
            }
            Operator::BrTable { targets } => measure.branches += targets.len() as usize + 1,
            Operator::Call { function_index } => {
                measure.values += self.called(*function_index).gives;
            }
            Operator::CallIndirect { type_index, .. } => {
                measure.values += self.typed(*type_index).gives;
            }
            _ => {}
        }
    }

    fn called(&self, function: u32) -> Signature {
        let kind = self.functions.get(function as usize);
        kind.map_or_else(Signature::default, |kind| self.typed(*kind))
    }

    fn typed(&self, kind: u32) -> Signature {
        self.types.get(kind as usize).copied().unwrap_or_default()
    }

    fn of_block(&self, kind: BlockType) -> Signature {
        match kind {
            BlockType::Empty => Signature::default(),
            BlockType::Type(_) => Signature { takes: 0, gives: 1 },
            BlockType::FuncType(kind) => self.typed(kind),
        }
    }
}

impl Measure {
    fn within_limits(&self) -> Result<(), ComponentError> {
        if self.variables.saturating_mul(self.branches) > MAX_JOINS {
            let what = "variables times branches of a function are";
            return Err(too_large(what, MAX_JOINS, ""));
        }
        match self.values > MAX_VALUES {
            true => Err(too_large(
                "blocks and calls of a function carry",
                MAX_VALUES,
                "values",
            )),
            false => Ok(()),
        }
    }
}

fn signature(kind: &CompositeInnerType) -> Signature {
    let of = |function: &FuncType| Signature {
        takes: function.params().len(),
        gives: function.results().len(),
    };
    match kind {
        CompositeInnerType::Func(function) => of(function),
        _ => Signature::default(),
    }
}

fn too_large(what: &str, most: usize, of: &str) -> ComponentError {
    ComponentError::part_too_large(format!("{what} more than {most} {of}").trim_end())
}
