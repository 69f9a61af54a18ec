//! How much work a component is for the compiler, found out before it begins.
//!
//! Time and memory for a function grow with the square of its size in the worst case: with its
//! variables times the places where control joins; with the values that calls, blocks and branches
//! carry, of which an instruction of two bytes can have a thousand; and with what a loop has around
//! it, which is kept through all of it. What compilers emit is far below the limits here, and
//! `docs/components.md` says what the limits leave.

use wasmparser::{
    BlockType, CompositeInnerType, FuncToValidate, FuncType, FunctionBody, Operator, Parser,
    Payload, TypeRef, ValidPayload, Validator, ValidatorResources, WasmFeatures,
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
/// Values that the blocks, calls and branches of one function carry: these take 140 MiB of the
/// compiler.
const MAX_VALUES: usize = 1 << 18;
/// Values and loops that the loops of one function have around them, each as often as a loop has
/// it: these take about a second. Compilers of languages leave next to none there.
const MAX_AROUND: usize = 1 << 22;

/// Refuses a component that is too much work. It has been examined: its outline is in order.
pub(super) fn weigh(bytes: &[u8]) -> Result<(), ComponentError> {
    let features = WasmFeatures::all();
    let mut validator = Validator::new_with_features(features);
    let mut parser = Parser::new(0);
    parser.set_features(features);
    let mut weight = Weight::default();
    for payload in parser.parse_all(bytes) {
        let payload = payload?;
        match validator.payload(&payload)? {
            ValidPayload::Func(function, body) => weight.function(function, &body)?,
            _ => weight.add(payload)?,
        }
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
    around: usize,
    /// The blocks that the reading is inside of, the function's own first.
    open: Vec<Block>,
    loops: usize,
}

/// A block, by what a branch to it carries and what its end does.
struct Block {
    carries: usize,
    gives: usize,
    is_loop: bool,
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
                    module.add(payload)?;
                }
            }
        }
        Ok(())
    }

    fn function(
        &mut self,
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
    ) -> Result<(), ComponentError> {
        let bytes = body.range().len();
        self.functions += 1;
        self.code += bytes;
        if self.functions > MAX_FUNCTIONS {
            return Err(ComponentError::too_many("functions", MAX_FUNCTIONS));
        }
        if self.code > MAX_CODE {
            return Err(too_large("its functions together have", MAX_CODE, "bytes"));
        }
        if bytes > MAX_FUNCTION {
            return Err(too_large("a function has", MAX_FUNCTION, "bytes"));
        }
        match self.open.last() {
            Some(module) => module.function(function, body),
            None => Ok(()),
        }
    }
}

impl Module {
    fn add(&mut self, payload: Payload<'_>) -> Result<(), ComponentError> {
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
                    }
                }
            }
            Payload::FunctionSection(section) => {
                for kind in section {
                    self.functions.push(kind?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a function as far as it is valid: the compiler goes no further either.
    fn function(
        &self,
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
    ) -> Result<(), ComponentError> {
        let own = self.typed(function.ty);
        let mut validator = function.into_validator(Default::default());
        let mut reader = body.get_binary_reader();
        if validator.read_locals(&mut reader).is_err() {
            return Ok(());
        }
        let mut measure = Measure {
            variables: validator.len_locals() as usize + own.gives,
            ..Measure::default()
        };
        measure.enter(own.gives, own.gives, false);
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset()?;
            let height = validator.operand_stack_height() as usize;
            if validator.op(offset, &operator).is_err() {
                break;
            }
            self.measure(&operator, height, &mut measure);
            measure.within_limits()?;
        }
        Ok(())
    }

    fn measure(&self, operator: &Operator<'_>, height: usize, measure: &mut Measure) {
        match operator {
            Operator::Block { blockty } | Operator::If { blockty } => {
                let Signature { takes, gives } = self.of_block(*blockty);
                measure.branches += 1;
                measure.values += takes + gives;
                measure.enter(gives, gives, false);
            }
            Operator::Loop { blockty } => {
                let Signature { takes, gives } = self.of_block(*blockty);
                measure.branches += 1;
                measure.values += takes + gives;
                measure.around += height + measure.loops;
                measure.enter(takes, gives, true);
            }
            Operator::Else => {
                measure.branches += 1;
                measure.values += measure.open.last().map_or(0, |block| block.gives);
            }
            Operator::End => measure.leave(),
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => {
                measure.branch(*relative_depth);
            }
            Operator::BrTable { targets } => {
                measure.branch(targets.default());
                for target in targets.targets().flatten() {
                    measure.branch(target);
                }
            }
            Operator::Return => measure.branch(measure.open.len().saturating_sub(1) as u32),
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
    fn enter(&mut self, carries: usize, gives: usize, is_loop: bool) {
        self.loops += usize::from(is_loop);
        self.open.push(Block {
            carries,
            gives,
            is_loop,
        });
    }

    /// Control that reaches the end of a block carries what it gives, as a branch does.
    fn leave(&mut self) {
        if let Some(block) = self.open.pop() {
            self.values += block.gives;
            self.loops -= usize::from(block.is_loop);
        }
    }

    fn branch(&mut self, outwards: u32) {
        let at = self.open.len().checked_sub(1 + outwards as usize);
        self.branches += 1;
        self.values += at.map_or(0, |at| self.open[at].carries);
    }

    fn within_limits(&self) -> Result<(), ComponentError> {
        if self.variables.saturating_mul(self.branches) > MAX_JOINS {
            let what = "variables times branches of a function are";
            return Err(too_large(what, MAX_JOINS, ""));
        }
        if self.values > MAX_VALUES {
            let what = "blocks, calls and branches of a function carry";
            return Err(too_large(what, MAX_VALUES, "values"));
        }
        match self.around > MAX_AROUND {
            true => Err(too_large(
                "loops of a function have",
                MAX_AROUND,
                "values and loops around them",
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
